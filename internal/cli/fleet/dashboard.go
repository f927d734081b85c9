package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/show/keep"
	"github.com/isr-sim/isr-sim/internal/show/report"
	"github.com/isr-sim/isr-sim/internal/study/explore"
)

// NewDashboard returns isr-sim report dashboard.
func NewDashboard() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "dashboard CORPUS...",
		Short: "Draw corpora on a page to look at each morning: findings, nights, coverage, canaries",
		Long: `Dashboard reads corpora, each a folder, s3://BUCKET/PREFIX or git+URL#BRANCH, as
--corpus of explore does, and writes a folder: index.html, which is one file, needs no
network and fits a phone, and beside it the scenario, the record and the report of each
finding on the page. It shows the findings, with the first and the last version that
showed them, the coverage of each scenario and the chance that the next schedule has a
new order, the canaries, and the throughput of a core, night by night. A finding that
several corpora have counts once.`,
		Example: "  isr-sim report dashboard corpus -o page\n" +
			"  isr-sim report dashboard s3://nights/isr git+https://example.org/r.git -o page",
		RunE: func(cmd *cobra.Command, args []string) error {
			return dashboard(cmd.Context(), cmd.OutOrStdout(), args, to, cmd.Root().Version)
		},
	}
	cmd.Flags().StringVarP(&to, "output", "o", "", "the folder to write")
	return cmd
}

// dashboard writes a page about corpora into a folder, with the records and the reports of the findings on it.
func dashboard(ctx context.Context, out io.Writer, addresses []string, to, version string) error {
	if len(addresses) == 0 || to == "" {
		return cli.Usage(errors.New("dashboard: found no corpus or no -o, expected both"),
			"isr-sim report dashboard corpus -o page")
	}
	var board explore.Board
	opened := make([]flags.Corpus, len(addresses))
	defer func() {
		for i := range opened {
			_ = opened[i].Close(ctx) // nothing was written to it
		}
	}()
	from := map[string]string{} // the folder of each file
	for i, address := range addresses {
		c := &opened[i]
		if err := c.Open(ctx, address); err != nil {
			return err
		}
		if err := board.Add(c.Folder); err != nil {
			return cli.Unknown(err, "")
		}
		files, err := os.ReadDir(c.Folder)
		if err != nil {
			return cli.Unknown(err, "")
		}
		for _, f := range files {
			if _, known := from[f.Name()]; !known {
				from[f.Name()] = c.Folder
			}
		}
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return cli.Usage(fmt.Errorf("-o: %w", err), "")
	}
	d, err := board.Dashboard(addresses,
		func(f *report.DashboardFinding) error { return place(ctx, f, from[f.File], to, version) })
	if err != nil {
		return cli.Unknown(err, "")
	}
	var page bytes.Buffer
	if err = d.Write(&page); err == nil {
		err = atomicfile.Write(filepath.Join(to, "index.html"), page.Bytes(), 0o644)
	}
	fmt.Fprintf(out, "%d files about violations, %d stopped to replay, %d nights\ndashboard: %s\n", d.Failing,
		d.Stopped, len(d.Nights)+d.MoreNights, filepath.Join(to, "index.html"))
	return cli.Unknown(err, "")
}

// place puts the file of a finding beside the page and, if it replays, its record and its report.
func place(ctx context.Context, f *report.DashboardFinding, from, to, version string) error {
	data, err := os.ReadFile(filepath.Join(from, f.File))
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(to, f.File), data, 0o644); err != nil {
		return err
	}
	f.Link, f.Command = addressOf(f.File), shell.Program()+" replay "+shell.Quote(f.File)
	s, err := spec.Parse(f.File, data)
	if err != nil {
		return nil //nolint:nilerr // the page has the file: its reader sees that it cannot be read
	}
	run, err := kernel.Recorded(s)
	if err != nil || !explore.Replays(ctx, run) {
		return nil //nolint:nilerr // as above: its protocol is gone or has changed
	}
	k := keep.Keeper{Record: to, Report: to, Out: io.Discard, Version: version}
	name := strings.TrimSuffix(f.File, filepath.Ext(f.File))
	if err := k.KeepAs(ctx, run, f.File, name); err != nil {
		return err
	}
	f.Record, f.Page = addressOf(name+".json"), addressOf(name+".html")
	return nil
}

// addressOf is the address of a file beside a page.
func addressOf(name string) string { return "./" + url.PathEscape(name) }
