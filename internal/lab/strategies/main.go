// Command strategies measures how many schedules each plan needs to find a bug, and prints the tables that docs/CI.md
// summarises:
//
//	go run ./internal/lab/strategies            # both tables, on all cores, in some minutes
//	go run ./internal/lab/strategies mutants    # one of them
//	go run ./internal/lab/strategies programs
//
// The figures depend only on the code, not on the machine: the same commit gives the same tables.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"

	"github.com/isr-sim/isr-sim/internal/sim/strategy"
)

// The settings of the measurements.
const (
	seeds     = 40
	schedules = 10_000
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "strategies:", err)
		os.Exit(1)
	}
}

// run measures the named tables and prints each as soon as it is complete.
func run(ctx context.Context, names []string, out, progress io.Writer) error {
	tables := map[string]func() ([]subject, error){"mutants": mutants, "programs": smallPrograms}
	if len(names) == 0 {
		names = []string{"programs", "mutants"}
	}
	for _, name := range names {
		if tables[name] == nil {
			return fmt.Errorf("found %q, expected mutants or programs", name)
		}
	}
	for _, name := range slices.Compact(names) {
		subjects, err := tables[name]()
		if err != nil {
			return err
		}
		rows, err := measureAll(ctx, subjects, strategy.Plans(), limits{seeds, schedules}, progress)
		if err != nil {
			return err
		}
		table := mutantTables(rows)
		if name == "programs" {
			table = programTables(rows)
		}
		if _, err := fmt.Fprintf(out, "%s\n", table); err != nil {
			return err
		}
	}
	return nil
}
