package catalog

import (
	"fmt"
	"os"

	"github.com/isr-sim/isr-sim/internal/show/record"
	"github.com/isr-sim/isr-sim/scenario"
)

// loadRecord reads the scenario that is in the record of a run, with its replay entry.
func loadRecord(name string) (*scenario.Scenario, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	r, err := record.Read(file)
	if err != nil {
		return nil, fmt.Errorf("scenario: %s: %w\nhint: a scenario is a file in YAML, or the record of a run", name, err)
	}
	if r.Watched {
		return nil, fmt.Errorf("scenario: %s: found the record of a run that no schedule decided, expected one that can be replayed\n"+
			"hint: isr-sim report draws it; to replay a bug, find it with isr-sim run", name)
	}
	if r.File == "" {
		return nil, fmt.Errorf("scenario: %s: found a record whose scenario no file can hold, expected one with a scenario\n"+
			"hint: the test that left the record runs it again", name)
	}
	return scenario.Parse(name, []byte(r.File))
}
