// Package catalog finds scenarios as a user names them: embedded ones by name, others by file.
package catalog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/scenario"
)

// IsFile says whether a word can only mean a file: no embedded scenario has a slash or a dot in its name.
func IsFile(word string) bool {
	return strings.ContainsAny(word, `/\`) || filepath.Ext(word) != ""
}

// Stdin is the name of the standard input.
const Stdin = "-"

// Load finds a scenario by its embedded name or as a file, - for the standard input. Its errors are mistakes of the user, and end in a hint where
// there is one.
func Load(name string) (*scenario.Scenario, error) {
	if name == Stdin {
		data, err := io.ReadAll(io.LimitReader(os.Stdin, maxStdin))
		if err != nil {
			return nil, fmt.Errorf("scenario: standard input: %w", err)
		}
		return scenario.Parse("<stdin>", data)
	}
	if !IsFile(name) {
		if data, err := fixtures.Read(name); err == nil {
			return scenario.Parse(name+".yaml", data)
		}
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("scenario: found the directory %s, expected a file\nhint: name the files in it: %s/*.yaml", name, shell.Quote(name))
	case err == nil && filepath.Ext(name) == ".json":
		return loadRecord(name)
	case err == nil || IsFile(name):
		s, err := scenario.Load(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w\nhint: %s", err, missingFileHint(name))
		}
		return s, err
	}
	hint := suggest.Hint(name, slices.Concat(fixtures.Names(), fixtures.Museum()), "isr-sim list prints their names")
	return nil, fmt.Errorf("scenario: found %q, expected a file or the name of an embedded scenario\nhint: %s", name, hint)
}

// maxStdin bounds what is read, far beyond the size of a scenario.
const maxStdin = 8 << 20

// LoadAll is Load for several.
func LoadAll(names []string) ([]*scenario.Scenario, error) {
	scenarios := make([]*scenario.Scenario, len(names))
	for i, name := range names {
		s, err := Load(name)
		if err != nil {
			return nil, err
		}
		scenarios[i] = s
	}
	return scenarios, nil
}

// missingFileHint guesses the meaning of the name of a file that does not exist: most often an embedded scenario.
func missingFileHint(name string) string {
	base := filepath.Base(name)
	if option, ok := suggest.Nearest(strings.TrimSuffix(base, filepath.Ext(base)), fixtures.Names()); ok {
		return fmt.Sprintf("the embedded scenario is called %s", option)
	}
	return "embedded scenarios are named without a path; isr-sim list prints them"
}

// Summary returns the first sentence about a scenario, on one line.
func Summary(s *scenario.Scenario) string {
	text := strings.Join(strings.Fields(s.About), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}
