package api

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/rules/must"
)

const root = "../../.."

var updatesBudget = flag.Bool("budget.update", false, "write testdata/budget.txt")

// budgetHead explains the table.
const budgetHead = `# How many lines of Go each folder may have: without its tests, and tests. A commit that raises one says why.
# Written by go test ./internal/rules/api -budget.update: what there is, rounded up to a multiple of 50.
`

// lines are those of a folder's Go files.
type lines struct{ code, tests int }

// TestBudget holds the lines of each folder below its budget. Growth is a decision: it is read in review as a change of
// the table.
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

// count counts the lines of all Go files of the repository, also of those below .ci.
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
