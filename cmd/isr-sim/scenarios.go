package main

import (
	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/catalog"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// loadScenarios loads those named, or all that are embedded, and returns their names as well.
func loadScenarios(names []string) ([]*scenario.Scenario, []string, error) {
	if len(names) == 0 {
		names = fixtures.Names()
	}
	scenarios, err := catalog.LoadAll(names)
	return scenarios, names, wrapUsage(err)
}

// protocol finds a protocol by name; the zero Protocol for "".
func protocol(name string) (isr.Protocol, error) {
	if name == "" {
		return isr.Protocol{}, nil
	}
	p, err := scenario.ProtocolNamed(name)
	return p, wrapUsage(err)
}

// wrapUsage turns an error that has its own hint, or needs none, into a mistake of the user.
func wrapUsage(err error) error {
	if err == nil {
		return nil
	}
	return usage(err, "")
}
