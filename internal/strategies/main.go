// Command strategies measures how many schedules each plan needs to find a bug, and writes the tables of
// docs/STRATEGIES.md:
//
//	go run ./internal/strategies            # both tables, on all cores, in some minutes
//	go run ./internal/strategies mutants    # one of them
//	go run ./internal/strategies programs
//
// It is run in the repository's root. The figures depend on the code alone, not on the machine: the same commit gives
// the same tables.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"

	"github.com/isr-sim/isr-sim/scenario/sim"
)

// The settings of the measurements.
const (
	document  = "docs/STRATEGIES.md"
	seeds     = 40
	schedules = 10_000
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "strategies:", err)
		os.Exit(1)
	}
}

// run measures the named tables and puts them into the document.
func run(ctx context.Context, names []string, progress io.Writer) error {
	tables := map[string]func() ([]subject, error){"mutants": mutants, "programs": smallPrograms}
	if len(names) == 0 {
		names = []string{"programs", "mutants"}
	}
	for _, name := range names {
		if tables[name] == nil {
			return fmt.Errorf("found %q, expected mutants or programs", name)
		}
	}
	text, err := os.ReadFile(document)
	if err != nil {
		return errors.Join(err, errors.New("hint: run it in the root of the repository"))
	}
	for _, name := range slices.Compact(names) {
		subjects, err := tables[name]()
		if err != nil {
			return err
		}
		rows, err := measureAll(ctx, subjects, sim.Plans(), effort{seeds, schedules}, progress)
		if err != nil {
			return err
		}
		table := mutantTables(rows)
		if name == "programs" {
			table = programTables(rows)
		}
		if text, err = replacePart(text, name, table); err != nil {
			return err
		}
		// Part by part: finished measurements are not lost if a later one fails.
		if err := os.WriteFile(document, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
