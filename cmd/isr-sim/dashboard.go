package main

import (
	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli/flags"
)

func newDashboard() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "dashboard CORPUS...",
		Short: "Draw corpora on a page to look at each morning: findings, nights, coverage, canaries",
		Long: `Dashboard reads corpora, each a folder, s3://BUCKET/PREFIX or git+URL#BRANCH, as
--corpus of explore does, and writes a folder: index.html, which is one file, asks no
network and fits a phone, and beside it the scenario, the record and the report of each
finding on the page. It shows the findings, with the first and the last version that
showed them, the coverage of each scenario and the chance that the next schedule has a
new order, the canaries, and the throughput of a core, night by night. A finding that
several corpora have counts once.`,
		Example: "  isr-sim dashboard corpus -o page\n  isr-sim dashboard s3://nights/isr git+https://example.org/r.git -o page",
		RunE: func(cmd *cobra.Command, args []string) error {
			return flags.Dashboard(cmd.Context(), cmd.OutOrStdout(), args, to, cmd.Root().Version)
		},
	}
	cmd.Flags().StringVarP(&to, "output", "o", "", "the folder to write")
	return cmd
}
