package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/atomicfile"
	"github.com/isr-sim/isr-sim/internal/compare"
	"github.com/isr-sim/isr-sim/internal/explore"
	"github.com/isr-sim/isr-sim/internal/prose"
	"github.com/isr-sim/isr-sim/internal/record"
	"github.com/isr-sim/isr-sim/internal/report"
	"github.com/isr-sim/isr-sim/internal/schedules"
	"github.com/isr-sim/isr-sim/internal/shell"
	"github.com/isr-sim/isr-sim/internal/verdicts"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// keeper writes what a command leaves of runs besides its output: their records, and their reports.
type keeper struct {
	record, report string // files, or folders; "" is nothing
	cmd            *cobra.Command
	explained      *record.Explanation // nil, unless the command explains its one run
	kept           map[string]kept     // by the name of the run
}

// kept are the files that were written about a run.
type kept struct{ record, report string }

// flags adds --record and --report. which says which run they are about.
func (k *keeper) flags(cmd *cobra.Command, which string) {
	k.cmd = cmd
	cmd.Flags().StringVar(&k.record, "record", "", "write everything that "+which+" showed to this file, as JSON (docs/RECORD.md)")
	cmd.Flags().StringVar(&k.report, "report", "", "draw "+which+" on a page of HTML, in this file (docs/REPORT.md)")
}

// wanted says whether anything is to be kept.
func (k *keeper) wanted() bool { return k.record != "" || k.report != "" }

// ready makes sure, before runs are made, that their files can be written. Those of several runs are in a folder.
func (k *keeper) ready(several bool) error {
	for _, to := range []struct{ flag, name string }{{"--record", k.record}, {"--report", k.report}} {
		if to.name == "" {
			continue
		}
		folder := filepath.Dir(to.name)
		if several || isFolder(to.name) {
			folder = to.name
			if err := os.MkdirAll(folder, 0o777); err != nil {
				return usage(fmt.Errorf("%s: %w", to.flag, err), "the files of several runs are written to a folder")
			}
		}
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return usage(fmt.Errorf("%s: found no folder %s, expected one", to.flag, folder), "make it first")
		}
	}
	return nil
}

// isFolder says whether a name is that of a folder: one that is there, or one with a slash at its end.
func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir() || strings.HasSuffix(name, "/") || os.IsPathSeparator(name[len(name)-1])
}

// place is the file for a run: the name that the user gave, or one in the folder that the user gave.
func place(given, run, ending string) string {
	if !isFolder(given) {
		return given
	}
	plain := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}
	return filepath.Join(given, strings.Map(plain, run)+ending)
}

// keep writes the files of a run, and says where they are. scenarioName is how the user names its scenario; "" if
// it is in no file.
func (k *keeper) keep(ctx context.Context, out io.Writer, run scenario.Run, scenarioName, name string) error {
	if !k.wanted() {
		return nil
	}
	r, err := record.Of(ctx, run, k.cmd.Root().Version)
	if err != nil {
		return unknown(fmt.Errorf("the run could not be recorded: %w", err), "")
	}
	r.Explanation = k.explained
	return k.write(out, r, scenarioName, name)
}

// keepWatched writes the files of a run that no schedule decided.
func (k *keeper) keepWatched(out io.Writer, w record.Watched) error {
	if !k.wanted() {
		return nil
	}
	r, err := record.OfWatched(w, k.cmd.Root().Version)
	if err != nil {
		return unknown(fmt.Errorf("the run could not be recorded: %w", err), "")
	}
	return k.write(out, r, "", w.Name)
}

func (k *keeper) write(out io.Writer, r *record.Record, scenarioName, name string) error {
	if k.kept == nil {
		k.kept = map[string]kept{}
	}
	left := kept{}
	defer func() { k.kept[name] = left }()
	source := ""
	if scenarioName != "" {
		source = shell.Quote(scenarioName)
	}
	if k.record != "" {
		file := place(k.record, name, ".json")
		if err := write(file, r.Write); err != nil {
			return unknown(fmt.Errorf("--record: %w", err), "")
		}
		left.record = file
		fmt.Fprintf(out, "record: %s\n", file)
		source = "" // the record has all
		if r.File != "" {
			source = shell.Quote(file)
		}
	}
	if k.report != "" {
		file := place(k.report, name, ".html")
		if err := write(file, func(to io.Writer) error { return report.Page(to, r, commandsFor(r, source)) }); err != nil {
			return unknown(fmt.Errorf("--report: %w", err), "")
		}
		left.report = file
		fmt.Fprintf(out, "report: %s\n", file)
	}
	return nil
}

// write writes a file as a whole.
func write(file string, text func(io.Writer) error) error {
	var whole bytes.Buffer
	if err := text(&whole); err != nil {
		return err
	}
	return atomicfile.Write(file, whole.Bytes(), 0o644)
}

// commandsFor are the commands that run a recorded schedule again. source is the scenario, or the record itself; "" is
// neither.
func commandsFor(r *record.Record, source string) []report.Command {
	if _, err := scenario.ProtocolNamed(r.Protocol); err != nil || source == "" {
		return nil
	}
	names := []string{"replay"}
	if r.Violation != nil {
		names = append(names, "shrink", "explain")
	}
	seed, seedErr := strconv.ParseUint(r.Seed, 10, 64)
	choices, choicesErr := sim.ParseChoices(r.Choices)
	var all []report.Command
	for _, name := range names {
		text := fmt.Sprintf("%s %s %s", shell.Program(), name, source)
		if !strings.HasSuffix(strings.Trim(source, "'"), ".json") {
			if seedErr != nil || choicesErr != nil {
				return nil
			}
			replay := scenario.Replay{Protocol: r.Protocol, Seed: seed, Choices: choices, Swarm: r.Swarm, Digest: r.Digest}
			_, text, _ = strings.Cut(strings.TrimSuffix(prose.ReplayLine(replay, name, shell.Program(), source), "\n"), ": ")
		}
		all = append(all, report.Command{Name: name, Text: text})
	}
	return all
}

// telling is the run of a campaign that says most: the one that failed, or the doubtful one. Of a campaign in which
// nothing happened it is the first one, if c is that campaign.
func telling(ctx context.Context, c *campaign.Campaign, r *campaign.Report) (scenario.Run, bool, error) {
	switch {
	case r.Failure != nil:
		return r.Failure.Replay().Run(r.Scenario, r.Protocol), true, nil
	case r.Doubt != nil:
		return r.Doubt.Replay().Run(r.Scenario, r.Protocol), true, nil
	case c == nil || r.Schedules == 0 || interrupted(ctx): // then it ends without more runs
		return scenario.Run{}, false, nil
	}
	set, err := schedules.New(scenario.Run{Scenario: c.Scenario, Protocol: c.Protocol, Seed: c.Seed, Options: c.Options}, c.Plan, 1, 1)
	if err != nil {
		return scenario.Run{}, false, err
	}
	runs, err := compare.First(ctx, set, 1)
	if err != nil || len(runs) == 0 {
		return scenario.Run{}, false, err
	}
	return runs[0], true, nil
}

func interrupted(ctx context.Context) bool { return ctx.Err() != nil }

// with adds the files that were kept of a run to its result.
func (k *keeper) with(r verdicts.Result, name string) verdicts.Result {
	r.Record, r.Report = k.kept[name].record, k.kept[name].report
	return r
}

// keepTelling keeps the telling run of a campaign.
func (k *keeper) keepTelling(ctx context.Context, out io.Writer, c *campaign.Campaign, r *campaign.Report, name string) error {
	if !k.wanted() {
		return nil
	}
	run, found, err := telling(ctx, c, r)
	switch {
	case err != nil:
		return unknown(err, "")
	case !found:
		return nil
	}
	return k.keep(ctx, out, run, name, r.Scenario.Name+"."+r.Protocol.Name)
}

// keepFindings keeps the shortest run of each finding of an exploration.
func (k *keeper) keepFindings(ctx context.Context, out io.Writer, s *scenario.Scenario, x *explore.Exploration, name string) error {
	if !k.wanted() {
		return nil
	}
	p, err := protocol(x.Protocol)
	if err != nil {
		return err
	}
	for _, f := range x.Findings {
		if f.Statement == "" {
			continue // it broke off: there is no verdict to show
		}
		choices, err := sim.ParseChoices(f.Shortest.Choices)
		if err != nil {
			return unknown(err, "")
		}
		run := scenario.Replay{Protocol: p.Name, Seed: f.Shortest.Seed, Choices: choices, Swarm: x.Swarm}.Run(s, p)
		run.Only = f.Name
		if err := k.keep(context.WithoutCancel(ctx), out, run, name, x.Scenario+"."+x.Protocol+"."+f.Name); err != nil {
			return err
		}
	}
	return nil
}
