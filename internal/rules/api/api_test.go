package api

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"

	"github.com/isr-sim/isr-sim/internal/rules/must"
)

const (
	file   = "../../../docs/API.txt"
	update = "go test ./internal/rules/api -api.update"
	// mostNames bounds the promised names: each is kept for as long as anybody uses it. A new one needs a user who
	// cannot do without it.
	mostNames = 750
)

var updates = flag.Bool("api.update", false, "write docs/API.txt")

// TestAPI compares docs/API.txt with what the promised packages export, and refuses what a caller cannot name.
func TestAPI(t *testing.T) {
	readSources(t)
	promised := load(t,
		packages.NeedName|packages.NeedTypes|packages.NeedExportFile|packages.NeedImports, full(Promised)...)
	if len(promised) != len(Promised) {
		t.Fatalf("found %d packages, %d are promised", len(promised), len(Promised))
	}
	slices.SortFunc(promised, func(a, b *packages.Package) int { return strings.Compare(a.PkgPath, b.PkgPath) })
	counts := map[string]*Count{}
	for name, before := range Before {
		counts[name] = &Count{Package: name, Before: before}
	}
	var lines []string
	allowed := map[string]bool{}
	for _, pkg := range promised {
		name := strings.TrimPrefix(pkg.PkgPath, Module+"/")
		surface := Of(Module, pkg.Types)
		if len(surface.Lines) == 0 {
			t.Errorf("%s is promised and exports nothing", name)
		}
		lines = append(lines, surface.Lines...)
		if counts[name] == nil {
			counts[name] = &Count{Package: name}
		}
		counts[name].Now = len(surface.Lines)
		for _, hidden := range surface.Hidden {
			allowed[hidden] = true
			if Allowed[hidden] == "" {
				t.Errorf("a caller cannot name what this line shows:\n\t%s", hidden)
			}
		}
	}
	for hidden := range Allowed {
		if !allowed[hidden] {
			t.Errorf("an exception is about nothing: %s", hidden)
		}
	}

	var list []Count
	for _, c := range counts {
		list = append(list, *c)
	}
	table := Table(list)
	t.Log("names exported before this file was kept, and now:\n" + table)
	want := []byte("# The exported names of the packages that docs/INSTALL.md promises, one a line.\n" +
		"# Written by " + update + "\n#\n# before: in commit af11106.\n#\n" + table + "\n" + strings.Join(lines, "\n") +
		"\n")
	if *updates {
		must.OK(t, os.WriteFile(file, want, 0o644))
		return
	}
	got := must.Of(os.ReadFile(file))(t)
	if len(lines) > mostNames {
		t.Errorf("%d names are promised, expected at most %d: take one back for each new one", len(lines), mostNames)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("docs/API.txt is not what the packages export (- the file, + the code).\n"+
			"If the change is meant: %s\n%s", update, difference(string(got), string(want)))
	}
}

// TestEveryPackageIsPromisedOrNot: no package of the module is public by accident.
func TestEveryPackageIsPromisedOrNot(t *testing.T) {
	readSources(t)
	for _, pkg := range load(t, packages.NeedName, Module+"/...") {
		path := strings.Split(strings.TrimPrefix(pkg.PkgPath, Module+"/"), "/")
		if slices.Contains(path, "internal") || slices.Contains(Commands, path[0]) {
			continue
		}
		if name := strings.Join(path, "/"); !slices.Contains(Promised, name) {
			t.Errorf("%s can be imported and is not promised: move it under internal, or add it to Promised", name)
		}
	}
}

// TestSurface lists made-up packages: one has each kind of name, and each way to show a type without a name outside.
func TestSurface(t *testing.T) {
	for _, tc := range []struct {
		name, source  string
		lines, hidden []string // without "pkg p, "
	}{
		{
			name: "names",
			source: `
				const A, b = 1, 2
				const C D = "x"
				var E, F = 1, map[string]D{}
				type D string
				func (D) G(n int, rest ...string) (ok bool, err error) { return }
				func (d *D) H() {}
				func (D) i() {}
				func J[T ~int](t T) T { return t }
				type k int
				func (k) L() {}`,
			lines: []string{
				`const A = 1`, `const C D = "x"`, `func J[T ~int](t T) T`,
				`method (*D) H()`, `method (D) G(n int, rest ...string) (ok bool, err error)`,
				`type D string`, `var E int`, `var F map[string]D`,
			},
		},
		{
			name: "structs and interfaces",
			source: `
				type A struct { B int; c int; D; *E }
				type D interface { F() error; g(); error }
				type E struct{}
				type H = func(E)
				type I[T any] struct { J T }
				func (*I[T]) K() {}`,
			lines: []string{
				`method (*I[T]) K()`, `type A struct`, `type A struct, B int`, `type A struct, embedded *E`,
				`type A struct, embedded D`, `type D interface`, `type D interface, F() error`,
				`type D interface, embedded error`, `type D interface, unexported methods`, `type E struct`,
				`type H = func(E)`, `type I[T any] struct`, `type I[T any] struct, J T`,
			},
		},
		{
			name: "not exported",
			source: `
				type a int
				type B struct { C []a; d a; a }
				func E(map[a]int) {}
				func F() chan<- *a { return nil }
				type G = a
				type H interface { I(func(a)) }
				type J [2]a
				var K struct { L a }
				const M a = 1
				func N[T interface{ ~int; o(a) }](T) {}
				type P[T any] struct{}
				var Q P[a]`,
			lines: []string{
				`const M a = 1`, `func E(map[a]int)`, `func F() chan<- *a`, `func N[T interface{o(a); ~int}](T)`,
				`type B struct`, `type B struct, C []a`, `type G = a`, `type H interface`,
				`type H interface, I(func(a))`, `type J [2]a`, `type P[T any] struct`,
				`var K struct{L a}`, `var Q P[a]`,
			},
			hidden: []string{
				`const M a = 1: a is not exported`, `func E(map[a]int): a is not exported`,
				`func F() chan<- *a: a is not exported`, `func N[T interface{o(a); ~int}](T): a is not exported`,
				`type B struct, C []a: a is not exported`,
				`type G = a: a is not exported`, `type H interface, I(func(a)): a is not exported`,
				`type J [2]a: a is not exported`, `var K struct{L a}: a is not exported`,
				`var Q P[a]: a is not exported`,
			},
		},
		{
			name: "promoted",
			source: `
				type A struct { *b; E }
				type b struct { C int; d int; f }
				func (*b) D() {}
				func (*b) h() {}
				func (*b) K() {}
				func (A) K() {}
				type E struct{}
				func (E) F() {}
				type f struct { G b2 }
				func (f) I() {}
				type b2 int`,
			lines: []string{
				`method (*A) D()`, `method (*A) I()`, `method (A) K()`, `method (E) F()`, `type A struct`,
				`type A struct, C int`, `type A struct, G b2`, `type A struct, embedded E`, `type E struct`,
			},
			hidden: []string{`type A struct, G b2: b2 is not exported`},
		},
		{
			name: "internal",
			source: `
				import "m/internal/x"
				type A struct { B x.X }
				type C = x.X
				func D() (x.X, error) { return 0, nil }`,
			lines: []string{`func D() (x.X, error)`, `type A struct`, `type A struct, B x.X`, `type C int`},
			hidden: []string{
				`func D() (x.X, error): x.X is of internal/x, which is internal`,
				`type A struct, B x.X: x.X is of internal/x, which is internal`,
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := check(t, nil, "m/internal/x", "package x; type X int")
			surface := Of("m", check(t, x, "m/p", "package p;"+tc.source))
			for _, part := range []struct {
				name      string
				got, want []string
			}{{"lines", surface.Lines, tc.lines}, {"hidden", surface.Hidden, tc.hidden}} {
				var got []string
				for _, line := range part.got {
					got = append(got, strings.TrimPrefix(line, "pkg p, "))
				}
				if diff := cmp.Diff(part.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", part.name, diff)
				}
			}
		})
	}
}

func TestDifference(t *testing.T) {
	got := difference("# a 1\nb\nc\nd\n", "# a 2\nb\nd\ne\n")
	if want := "- # a 1\n- c\n+ # a 2\n+ e\n"; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// difference lists the lines that only one of two texts has. Both are sorted, so positions do not matter.
func difference(file, code string) string {
	var out strings.Builder
	only := func(sign, text, other string) {
		has := map[string]bool{}
		for line := range strings.Lines(other) {
			has[line] = true
		}
		for line := range strings.Lines(text) {
			if !has[line] {
				fmt.Fprintf(&out, "%s %s", sign, line)
			}
		}
	}
	only("-", file, code)
	only("+", code, file)
	return out.String()
}

func check(t *testing.T, imported *types.Package, path, source string) *types.Package {
	t.Helper()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "p.go", source, 0)
	must.OK(t, err)
	// unused imports and names
	config := types.Config{Importer: only{imported, importer.Default()}, Error: func(error) {}}
	pkg, err := config.Check(path, files, []*ast.File{parsed}, nil)
	must.OK(t, err)
	return pkg
}

// only imports one package.
type only struct {
	pkg  *types.Package
	rest types.Importer
}

func (o only) Import(path string) (*types.Package, error) {
	if o.pkg != nil && path == o.pkg.Path() {
		return o.pkg, nil
	}
	return o.rest.Import(path)
}

func full(names []string) (paths []string) {
	for _, name := range names {
		paths = append(paths, Module+"/"+name)
	}
	return paths
}

func load(t *testing.T, mode packages.LoadMode, patterns ...string) []*packages.Package {
	t.Helper()
	loaded := must.Of(packages.Load(&packages.Config{Context: t.Context(), Dir: "../../..", Mode: mode}, patterns...))(
		t,
	)
	for _, pkg := range loaded {
		for _, problem := range pkg.Errors {
			t.Fatal(problem)
		}
	}
	return loaded
}

// readSources looks at every Go file of the module. go test caches this test's result, and runs it again
// only when a file that it has asked for has changed; it cannot see what the go command reads.
func readSources(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("../../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && len(entry.Name()) > 2 && entry.Name()[0] == '.':
			return fs.SkipDir // .git and the like
		case strings.HasSuffix(path, ".go") || entry.Name() == "go.mod":
			_, err = os.Stat(path)
		}
		return err
	})
	must.OK(t, err)
}

const root = "../../.."

var updatesBudget = flag.Bool("budget.update", false, "write testdata/budget.txt")

// budgetHead explains the table.
const budgetHead = `# How many lines of Go each folder may have: without its tests, and tests. A commit that raises one says why.
# Written by go test ./internal/rules/api -budget.update: what there is, rounded up to a multiple of 50.
`

// lines counts the lines of a folder's Go files.
type lines struct{ code, tests int }

// TestBudget holds the lines of each folder below its budget. Growth is a decision: a review sees it as a change of the
// table.
func TestBudget(t *testing.T) {
	found := count(t)
	if *updatesBudget {
		text := bytes.NewBufferString(budgetHead)
		for _, folder := range slices.Sorted(maps.Keys(found)) {
			n := found[folder]
			fmt.Fprintf(text, "%-45s %6d %6d\n", folder, (n.code+49)/50*50, (n.tests+49)/50*50)
		}
		must.OK(t, os.WriteFile("testdata/budget.txt", text.Bytes(), 0o644))
	}
	budget := map[string]lines{}
	for line := range strings.Lines(string(must.Of(os.ReadFile("testdata/budget.txt"))(t))) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var folder string
		var n lines
		must.Done(t)(fmt.Sscan(line, &folder, &n.code, &n.tests))
		budget[folder] = n
	}
	for _, folder := range slices.Sorted(maps.Keys(found)) {
		n, most := found[folder], budget[folder]
		if n.code > most.code || n.tests > most.tests {
			t.Errorf("%s has %d lines of code and %d of tests, expected at most %d and %d: write less, or raise its "+
				"budget (-budget.update), and say why in the commit", folder, n.code, n.tests, most.code, most.tests)
		}
		delete(budget, folder)
	}
	for _, folder := range slices.Sorted(maps.Keys(budget)) {
		t.Errorf("%s has a budget and no Go file: -budget.update takes it out", folder)
	}
}

// count counts the lines of all Go files of the repository, including those below .ci.
func count(t *testing.T) map[string]lines {
	t.Helper()
	found := map[string]lines{}
	must.OK(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == ".cache" || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		text := must.Of(os.ReadFile(path))(t)
		folder := filepath.ToSlash(must.Of(filepath.Rel(root, filepath.Dir(path)))(t))
		n := found[folder]
		if strings.HasSuffix(path, "_test.go") {
			n.tests += bytes.Count(text, []byte("\n"))
		} else {
			n.code += bytes.Count(text, []byte("\n"))
		}
		found[folder] = n
		return nil
	}))
	return found
}
