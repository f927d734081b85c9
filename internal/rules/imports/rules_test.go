package imports

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// TestRules applies made-up rules to made-up graphs: a good one, and one that breaks each rule.
func TestRules(t *testing.T) {
	rules := Rules{
		Module: "example.org/m",
		Levels: [][]string{{"low", "other"}, {"middle"}, {"top", "top/tool"}},
		Bans: []Ban{
			{From: []string{"low", "middle"}, To: []string{"heavy.org/..."}, Reason: "light"},
			{From: []string{"top/..."}, Except: []string{"top/tool"}, To: []string{"testing"},
				Directly: true, Reason: "tests"},
			{From: []string{"middle"}, To: []string{"./other"}, Reason: "alone"},
		},
	}
	good := func() Graph {
		return Graph{
			"example.org/m/low":      {"fmt"},
			"example.org/m/other":    {"fmt"},
			"example.org/m/middle":   {"example.org/m/low"},
			"example.org/m/top":      {"example.org/m/middle", "example.org/m/other", "heavy.org/a"},
			"example.org/m/top/tool": {"testing", "heavy.org/a/b"},
			"heavy.org/a":            {"testing"},
			"light.org/x":            {"light.org/y"},
			"light.org/y":            {"heavy.org/a/b"},
		}
	}
	for _, tc := range []struct {
		name   string
		change func(Graph)
		want   []string // a part of each complaint
	}{
		{name: "good", change: func(Graph) {}},
		{
			name:   "upwards",
			change: func(g Graph) { g["example.org/m/low"] = []string{"example.org/m/middle"} },
			want:   []string{"low (level 1) imports middle (level 2)"},
		},
		{
			name:   "sideways",
			change: func(g Graph) { g["example.org/m/low"] = []string{"example.org/m/other"} },
			want:   []string{"low (level 1) imports other (level 1)", "middle imports low imports other: alone"},
		},
		{
			name:   "missing package",
			change: func(g Graph) { delete(g, "example.org/m/other") },
			want:   []string{"other has a level but does not exist"},
		},
		{
			name:   "package without a level",
			change: func(g Graph) { g["example.org/m/new"] = nil },
			want:   []string{"new has no level"},
		},
		{
			name:   "forbidden, directly",
			change: func(g Graph) { g["example.org/m/middle"] = []string{"heavy.org/a"} },
			want:   []string{"middle imports heavy.org/a: light"},
		},
		{
			name:   "forbidden, three imports away",
			change: func(g Graph) { g["example.org/m/low"] = []string{"light.org/x"} },
			want: []string{
				"low imports light.org/x imports light.org/y imports heavy.org/a/b: light",
				"middle imports low imports light.org/x imports light.org/y imports heavy.org/a/b: light",
			},
		},
		{
			name:   "forbidden directly only, and imported directly",
			change: func(g Graph) { g["example.org/m/top"] = []string{"testing"} },
			want:   []string{"top imports testing: tests"},
		},
		{
			name:   "exception about nothing",
			change: func(g Graph) { delete(g, "example.org/m/top/tool") },
			want:   []string{"top/tool has a level but does not exist", "a ban names top/tool, which"},
		},
		{
			name: "ban about nothing",
			change: func(g Graph) {
				delete(g, "example.org/m/middle")
				g["example.org/m/top"] = nil
			},
			want: []string{"middle has a level but does not exist", "a ban names middle, which",
				"a ban names middle, which"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			graph := good()
			tc.change(graph)
			got := rules.Check(graph)
			if len(got) != len(tc.want) {
				t.Fatalf("got %d complaints, want %d:\n%s", len(got), len(tc.want), strings.Join(got, "\n"))
			}
			for i, want := range tc.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("complaint %d: got %q, want one that says %q", i, got[i], want)
				}
			}
		})
	}
}

func TestPatterns(t *testing.T) {
	for _, tc := range []struct {
		pattern, path string
		want          bool
	}{
		{"a/b", "a/b", true},
		{"a/b", "a/b/c", false},
		{"a/b/...", "a/b", true},
		{"a/b/...", "a/b/c/d", true},
		{"a/b/...", "a/bc", false},
		{"...", "anything", true},
	} {
		if got := matches(tc.pattern, tc.path); got != tc.want {
			t.Errorf("matches(%q, %q) = %v, want %v", tc.pattern, tc.path, got, tc.want)
		}
	}
}

func TestReachIsShortest(t *testing.T) {
	graph := Graph{"a": {"b", "c"}, "b": {"c"}, "c": {"d"}, "d": {"a"}}
	if got, want := reach(graph, "a", []string{"d"}, false), []string{"a", "c", "d"}; !slices.Equal(got, want) {
		t.Errorf("got the chain %v, want %v", got, want)
	}
}

// maxWings is the maximum number of folders of internal: a newcomer can grasp that many at a glance.
const maxWings = 18

// TestWings checks that internal has few wings, that each says in its doc.go what it contains, and that no two wings
// import each other.
func TestWings(t *testing.T) {
	entries, err := os.ReadDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) > maxWings {
		t.Errorf("internal has %d entries, want at most %d", len(entries), maxWings)
	}
	for _, entry := range entries {
		if _, err := os.Stat(filepath.Join("..", "..", entry.Name(), "doc.go")); err != nil {
			t.Errorf("a wing without its paragraph: %v", err)
		}
	}
	if circle := circle(wings(load(t), Module.Module)); circle != nil {
		t.Errorf("wings lead into each other: %s", strings.Join(circle, " imports "))
	}
}

// TestCircle checks that wings that import each other are found, even if no packages import each other in a circle.
func TestCircle(t *testing.T) {
	graph := Graph{
		"m/internal/a/one": {"m/internal/b/two", "fmt"}, "m/internal/b/two": {"m/scenario"},
		"m/internal/b/three": {"m/internal/a/four"}, "m/scenario": nil, "m/internal/a/four": {"m/internal/a/five"},
	}
	if got := circle(wings(graph, "m")); !slices.Equal(got, []string{"a", "b", "a"}) {
		t.Errorf("got %v, want a, b, a", got)
	}
	delete(graph, "m/internal/b/three")
	if got := circle(wings(graph, "m")); got != nil {
		t.Errorf("got %v, want none", got)
	}
}

// wings returns the imports between the wings of internal. A subject's folder also contains the code that draws its
// worlds. That code is above the kernel, which is above the subjects, so draws count as a separate wing.
func wings(graph Graph, module string) Graph {
	wing := func(path string) string {
		below, _ := strings.CutPrefix(path, module+"/internal/")
		if below == path {
			return ""
		}
		if strings.HasSuffix(below, "/draw") {
			return "draw"
		}
		name, _, _ := strings.Cut(below, "/")
		return name
	}
	all := Graph{}
	for _, from := range slices.Sorted(maps.Keys(graph)) {
		for _, to := range graph[from] {
			a, b := wing(from), wing(to)
			if a != "" && b != "" && a != b && !slices.Contains(all[a], b) {
				all[a] = append(all[a], b)
			}
		}
	}
	return all
}

// circle returns the shortest way from a node back to itself, for the first node that has one; nil if none does.
func circle(graph Graph) []string {
	for _, from := range slices.Sorted(maps.Keys(graph)) {
		for _, next := range graph[from] {
			if way := reach(graph, next, []string{from}, false); way != nil {
				return append([]string{from}, way...)
			}
		}
	}
	return nil
}

// TestModule checks this module, as the go command sees it, against the rules.
func TestModule(t *testing.T) {
	readDirectories(t)
	for _, complaint := range Module.Check(load(t)) {
		t.Error(complaint)
	}
}

// load returns the import graph of the module and of all that it imports.
func load(t *testing.T) Graph {
	t.Helper()
	return must.Of(listed())(t)
}

// listed asks the go command, once for all tests.
var listed = sync.OnceValues(func() (Graph, error) {
	list := exec.CommandContext(context.Background(), "go", "list", "-e", "-deps", "-json=ImportPath,Imports",
		Module.Module+"/...")
	var complaints strings.Builder
	list.Stderr = &complaints
	output, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, complaints.String())
	}
	graph := Graph{}
	for decoder := json.NewDecoder(bytes.NewReader(output)); decoder.More(); {
		var listed struct {
			ImportPath string
			Imports    []string
		}
		if err := decoder.Decode(&listed); err != nil {
			return nil, err
		}
		graph[listed.ImportPath] = listed.Imports
	}
	return graph, nil
})

// readDirectories reads every directory of the module. The go command caches this test's result, and runs the test
// again only when a file or directory that the test itself has read has changed. What the go command reads for the test
// does not count.
func readDirectories(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("../../..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && len(entry.Name()) > 2 && entry.Name()[0] == '.' {
			return fs.SkipDir // .git and its like
		}
		return err
	})
	must.OK(t, err)
}

// maxFiles is the maximum number of Go files of a package, tests included: a reader can learn that many.
const maxFiles = 30

// longPackages may have more files: each file is an entry of a list, and nobody reads all of them.
var longPackages = map[string]string{
	"ddbfake":            "one file per operation or rule",
	"internal/invariant": "one file per invariant",
}

// maxKernel and maxLines are the maximum number of Go files of package kernel, and of lines of each, without tests.
const maxKernel, maxLines = 15, 500

// ofSubjects matches the names, in other packages, of things that belong to one subject.
var ofSubjects = regexp.MustCompile(`^(mark\.(Event|Guarded|Call|Effect)\w*|mark\.Hold\w+|promise\.\w+Terms|` +
	`hooks\.(Lock|Once)Client|invariant\.(All|Of\w+)|isr\.(Invalidator|Regenerator|Rollbacker|Sort\w+)|` +
	`history\.(Asked|Served|Rendered|Changed|Invalidat\w+|RollingBack))$`)

// TestTheKernelNamesNoSubject checks that only the folder of a subject names its requests and answers, its promises and
// how it is judged. Package kernel knows a subject only by the interface.
func TestTheKernelNamesNoSubject(t *testing.T) {
	for _, file := range slices.Concat(goFiles(t, "internal/kernel"), goFiles(t, "internal/kernel/spec"),
		goFiles(t, "internal/subject")) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		files := token.NewFileSet()
		ast.Inspect(must.Of(parser.ParseFile(files, file, nil, 0))(t), func(n ast.Node) bool {
			if s, is := n.(*ast.SelectorExpr); is {
				if of, is := s.X.(*ast.Ident); is && ofSubjects.MatchString(of.Name+"."+s.Sel.Name) {
					t.Errorf("%s: %s.%s belongs to a subject", files.Position(n.Pos()), of.Name, s.Sel)
				}
			}
			return true
		})
	}
}

// asking has the files outside the subjects that name a command of a subject, or its invariants, with the reason.
var asking = map[string]string{
	"internal/server/hold/rule.go": "the word is a rule's, which holds answers back",
}

// TestNothingAsksForTheSubject checks that outside the subjects, no code names a subject's command or invariants.
func TestNothingAsksForTheSubject(t *testing.T) {
	asks := regexp.MustCompile(`[^:]"(hold|once)"|\binvariant\.(All|OfLocks|OfCalls)\(`)
	for _, wing := range []string{"cli", "show", "study", "nodes", "search", "server"} {
		for _, depth := range []string{"", "/*"} {
			for _, file := range goFiles(t, "internal/"+wing+depth) {
				name := strings.TrimPrefix(file, "../../../")
				if strings.HasSuffix(name, "_test.go") {
					continue
				}
				found := asks.Find(must.Of(os.ReadFile(file))(t))
				if _, may := asking[name]; may != (found != nil) {
					t.Errorf("%s names a subject by %q, and may: %v", name, found, may)
				}
			}
		}
	}
}

// TestFiles checks that a package is a few files, each with one idea.
func TestFiles(t *testing.T) {
	for path := range load(t) {
		name, ours := strings.CutPrefix(path, Module.Module+"/")
		if !ours {
			continue
		}
		files := goFiles(t, name)
		if _, long := longPackages[name]; long != (len(files) > maxFiles) {
			t.Errorf("%s has %d Go files, want at most %d where the list of longer ones says nothing", name, len(files),
				maxFiles)
		}
		if !strings.HasPrefix(name, "internal/kernel") {
			continue
		}
		code := 0
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			code++
			if lines := bytes.Count(must.Of(os.ReadFile(file))(t), []byte("\n")); lines > maxLines {
				t.Errorf("%s has %d lines, want at most %d", file, lines, maxLines)
			}
			parsed := must.Of(parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly))(t)
			for _, i := range parsed.Imports {
				if strings.Contains(i.Path.Value, "goccy/go-yaml") {
					t.Errorf("%s imports %s: internal/base/yamlfile alone knows YAML", file, i.Path.Value)
				}
			}
		}
		if code > maxKernel {
			t.Errorf("%s has %d Go files without tests, want at most %d", name, code, maxKernel)
		}
	}
}

func goFiles(t *testing.T, name string) []string {
	t.Helper()
	return must.Of(filepath.Glob("../../../" + name + "/*.go"))(t)
}

// TestWidth checks that a line of code has at most 120 columns, a tab counting four, unless it has a raw string, an
// address or another word that cannot be broken, or is the output of an example.
func TestWidth(t *testing.T) {
	const most = 120
	must.OK(t, filepath.WalkDir("../../..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && slices.Contains([]string{".git", ".cache", "node_modules"}, d.Name()) {
			return cmp.Or(err, fs.SkipDir)
		}
		ending := filepath.Ext(name)
		if d.IsDir() || !slices.Contains([]string{"", ".go", ".py", ".ts", ".js", ".mjs", ".html", ".css"}, ending) {
			return nil
		}
		text := must.Of(os.ReadFile(name))(t)
		if ending == "" && !bytes.HasPrefix(text, []byte("#!")) {
			return nil
		}
		var excepted map[int]bool
		if ending == ".go" {
			excepted = unbroken(name, text)
		}
		for i, line := range strings.Split(string(text), "\n") {
			width := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    "))
			if width > most && !excepted[i+1] && (ending == ".go" || !hasLongWord(line)) {
				t.Errorf("%s:%d: %d columns, want at most %d: %s", name, i+1, width, most, line)
			}
		}
		return nil
	}))
}

func hasLongWord(text string) bool {
	return slices.ContainsFunc(strings.Fields(text), func(word string) bool { return len(word) > 60 })
}

// unbroken has the lines of raw strings, of texts with a long word, and of the output of examples.
func unbroken(name string, text []byte) map[int]bool {
	lines, output := map[int]bool{}, false
	var scan scanner.Scanner
	file := token.NewFileSet().AddFile(name, -1, len(text))
	scan.Init(file, text, nil, scanner.ScanComments)
	for at, kind, literal := scan.Scan(); kind != token.EOF; at, kind, literal = scan.Scan() {
		output = kind == token.COMMENT && (output || strings.HasPrefix(literal, "// Output:"))
		raw := kind == token.STRING && literal[0] == '`'
		for i, line := range strings.Split(literal, "\n") {
			lines[file.Line(at)+i] = lines[file.Line(at)+i] || raw || output || hasLongWord(line)
		}
	}
	return lines
}
