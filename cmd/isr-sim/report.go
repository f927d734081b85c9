package main

import (
	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/lab/policycommand"
	"github.com/isr-sim/isr-sim/internal/show/keep"
)

func newReport() *cobra.Command {
	d := keep.Drawing{Plots: policycommand.Plots}
	cmd := &cobra.Command{
		Use:   "report FILE...",
		Short: "Draw recorded runs: pages of HTML, pictures, or files for Perfetto",
		Long: `Report draws the records of runs (--record of run, replay, shrink, explain, prove,
explore, museum, concurrent and serve --check; a failed check of package property
leaves one). A page of HTML is one file and needs no network: a lane for each node and
for each row, the step of the violation in view, the rows at each step, and the commands
that run the schedule again.

A folder stands for all records in it. The pages of several records are written to a
folder, with an index. --format svg is the picture alone, for a ticket; --format trace
is for https://ui.perfetto.dev and other viewers of trace events.

The JSON of campaigns (--format json=FILE) and of isr-sim policy compare --format json
is drawn on one page: verdicts with links to the records and reports beside
them, mutants by invariant, finds by strategy, coverage over time, policies.`,
		Example: "  isr-sim replay --record run.json recorded.yaml && isr-sim report run.json\n" +
			"  isr-sim report --format svg -o run.svg run.json\n  isr-sim report -o reports records\n" +
			"  isr-sim explore --format json=explore.json; isr-sim report explore.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			d.Out = cmd.OutOrStdout()
			return cli.Coded(d.Draw(args))
		},
	}
	f := cmd.Flags()
	f.StringVarP(&d.To, "output", "o", "",
		"the file to write, or the folder for several records (default: beside the record)")
	f.StringVar(&d.Format, "format", "html", "html, svg or trace")
	return cmd
}
