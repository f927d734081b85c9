package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Rows finds a row mapping: a ready one by name, others by file. Its errors are mistakes of the user.
func Rows(name string) (isr.Schema, error) {
	ready, err := isr.SchemaNamed(name)
	if err == nil {
		return ready, nil
	}
	s, err := scenario.LoadRows(name)
	if errors.Is(err, fs.ErrNotExist) {
		var names []string
		for _, s := range isr.Schemas() {
			names = append(names, s.Name)
		}
		err = fmt.Errorf("--rows: found %q, expected a file, or one of %s", name, strings.Join(names, ", "))
		return s, mistake.New(err, "docs/SCENARIOS.md says what is in the file")
	}
	if err != nil {
		return s, mistake.New(fmt.Errorf("--rows: %w", err), "")
	}
	return s, nil
}
