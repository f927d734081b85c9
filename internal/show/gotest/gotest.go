// Package gotest writes Go tests of shrunk runs, to stand in the package of a user's own code.
package gotest

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"github.com/isr-sim/isr-sim/internal/search/campaign"
)

// Write writes a test of a shrunk run to the file test. The test reads the run from the file scenario.
func Write(test, scenario string, k *campaign.Shrunk) error {
	return write(test, scenario, func(pkg, path string) ([]byte, error) { return text(k, pkg, path) })
}

// write writes the content that text returns for the package's name and the path from the test to the scenario.
func write(test, scenario string, text func(pkg, path string) ([]byte, error)) error {
	dir, err := filepath.Abs(filepath.Dir(test))
	if err != nil {
		return err
	}
	path, err := filepath.Abs(scenario)
	if err != nil {
		return err
	}
	if relative, err := filepath.Rel(dir, path); err == nil {
		path = relative
	}
	b, err := text(packageIn(dir), filepath.ToSlash(path))
	if err != nil {
		return err
	}
	return os.WriteFile(test, b, 0o644)
}

// packageIn returns the name of the package of an external test in a directory.
func packageIn(dir string) string {
	const suffix = "_test"
	files, _ := filepath.Glob(filepath.Join(dir, "*.go")) // the pattern is well formed
	for _, file := range files {
		if parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly); err == nil {
			return strings.TrimSuffix(parsed.Name.Name, suffix) + suffix
		}
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(filepath.Base(dir)))
	if !token.IsIdentifier(name) {
		name = "shrunk"
	}
	return name + suffix
}
