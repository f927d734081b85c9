package rules_test

import (
	"io/fs"
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/lint"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

func TestMapOrderRule(t *testing.T) {
	effort.Long(t)
	analysistest.Run(t, must.Of(filepath.Abs("lint/testdata"))(t), lint.MapOrder, "broken", "good")
}

// TestModule applies the rules to every package of this module.
func TestModule(t *testing.T) {
	effort.Long(t)
	readDirectories(t)
	const module = "github.com/isr-sim/isr-sim"
	loaded, err := packages.Load(&packages.Config{
		Context: t.Context(),
		Mode:    packages.LoadSyntax | packages.NeedModule,
	}, module+"/...")
	must.OK(t, err)
	if len(loaded) < 2 {
		t.Fatalf("found %d packages of %s: the rules were not checked", len(loaded), module)
	}
	for _, pkg := range loaded {
		if len(pkg.Errors) > 0 {
			t.Errorf("%s does not compile: %v", pkg.PkgPath, pkg.Errors[0])
		}
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{lint.MapOrder}, loaded, nil)
	must.OK(t, err)
	for action := range graph.All() {
		if action.Err != nil && len(action.Package.Errors) == 0 {
			t.Errorf("%s on %s: %v", action.Analyzer, action.Package.PkgPath, action.Err)
		}
		for _, found := range action.Diagnostics {
			t.Errorf("%s: %s", action.Package.Fset.Position(found.Pos), found.Message)
		}
	}
}

// readDirectories reads every directory of the module: go test caches this test's result, and runs it again only when a
// file that it has asked for has changed. It cannot see what the go command reads.
func readDirectories(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && len(entry.Name()) > 2 && entry.Name()[0] == '.' {
			return fs.SkipDir // .git and the like
		}
		return err
	})
	must.OK(t, err)
}
