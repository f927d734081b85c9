package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/suggest"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// isFileName says whether a word can only mean a file: no embedded scenario has a
// slash or a dot in its name.
func isFileName(word string) bool {
	return strings.ContainsAny(word, `/\`) || filepath.Ext(word) != ""
}

// loadScenario finds a scenario by its embedded name or as a file.
func loadScenario(name string) (*scenario.Scenario, error) {
	if !isFileName(name) {
		if data, err := fixtures.Read(name); err == nil {
			s, err := scenario.Parse(name+".yaml", data)
			return s, wrapUsage(err)
		}
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil, usage(fmt.Errorf("scenario: found the directory %s, expected a file", name), "name the files in it: "+shellWord(name)+"/*.yaml")
	case err == nil || isFileName(name):
		s, err := scenario.Load(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, usage(err, missingFileHint(name))
		}
		return s, wrapUsage(err)
	}
	hint := "isr-sim list says what they are about"
	if option, ok := suggest.Nearest(name, slices.Concat(fixtures.Names(), fixtures.Museum())); ok {
		hint = fmt.Sprintf("did you mean %q?", option)
	}
	return nil, usage(fmt.Errorf("scenario: found %q, expected a file or one of %s", name, strings.Join(fixtures.Names(), ", ")), hint)
}

// missingFileHint guesses what was meant by the name of a file that does not
// exist: most often an embedded scenario.
func missingFileHint(name string) string {
	base := filepath.Base(name)
	if option, ok := suggest.Nearest(strings.TrimSuffix(base, filepath.Ext(base)), fixtures.Names()); ok {
		return fmt.Sprintf("the embedded scenario is called %s", option)
	}
	return "embedded scenarios are named without a path; isr-sim list prints them"
}

// loadScenarios loads those named, or all that are embedded.
func loadScenarios(names []string) ([]*scenario.Scenario, []string, error) {
	if len(names) == 0 {
		names = fixtures.Names()
	}
	scenarios := make([]*scenario.Scenario, len(names))
	for i, name := range names {
		s, err := loadScenario(name)
		if err != nil {
			return nil, nil, err
		}
		scenarios[i] = s
	}
	return scenarios, names, nil
}

// protocol finds a protocol by name; the zero Protocol for "".
func protocol(name string) (isr.Protocol, error) {
	if name == "" {
		return isr.Protocol{}, nil
	}
	p, err := scenario.ProtocolNamed(name)
	return p, wrapUsage(err)
}

// wrapUsage makes a mistake of the user's of an error that has its own hint, or
// needs none.
func wrapUsage(err error) error {
	if err == nil {
		return nil
	}
	return usage(err, "")
}

// importPath is where the command stands for go run.
const importPath = "github.com/isr-sim/isr-sim/cmd/isr-sim"

// program is how the reader called this command, for the commands it prints.
func program() string {
	if !strings.Contains(filepath.ToSlash(os.Args[0]), "/go-build") {
		return "isr-sim"
	}
	// go run, whose executables are in the build cache or in a folder of its own.
	if _, err := os.Stat("cmd/isr-sim/main.go"); err == nil {
		return "go run ./cmd/isr-sim"
	}
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
		return "go run " + importPath + "@" + info.Main.Version
	}
	return "go run " + importPath
}
