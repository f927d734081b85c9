package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// loadScenario finds a scenario by its embedded name or as a file.
func loadScenario(name string) (*scenario.Scenario, error) {
	isFile := strings.ContainsAny(name, `/\`) || filepath.Ext(name) != ""
	if !isFile {
		data, err := fixtures.Read(name)
		if err == nil {
			s, err := scenario.Parse(name+".yaml", data)
			return s, wrapUsage(err)
		}
		if _, statErr := os.Stat(name); errors.Is(statErr, fs.ErrNotExist) {
			return nil, usage(fmt.Errorf("scenario: found %q, expected a file or one of %s", name, strings.Join(fixtures.Names(), ", ")))
		}
	}
	s, err := scenario.Load(name)
	return s, wrapUsage(err)
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

func wrapUsage(err error) error {
	if err == nil {
		return nil
	}
	return usage(err)
}

// program is how the reader called this command, for the commands it prints.
func program() string {
	if path, err := os.Executable(); err == nil && strings.Contains(filepath.ToSlash(path), "/go-build") {
		return "go run ./cmd/isr-sim"
	}
	return "isr-sim"
}
