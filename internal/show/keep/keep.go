// Package keep writes files about runs: their records, and pictures of records.
package keep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/base/schedule"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/show/record"
	"github.com/isr-sim/isr-sim/internal/show/report"
)

// Keeper writes the files that a command leaves about runs: their records (--record), and their reports (--report).
type Keeper struct {
	Record, Report string              // files or folders; "" means none
	Out            io.Writer           // gets a line about each written file
	Version        string              // the version of isr-sim, which records contain
	Explanation    *record.Explanation // nil, unless the command explains its one run
	// NotSimulated, if set, lists the things that are not simulated and that the program with a protocol's name used.
	NotSimulated func(protocol string) []string

	kept map[string]kept // by the name of the run
}

// kept are the files that were written about a run.
type kept struct{ record, report string }

// Wanted reports whether the user wants any file.
func (k *Keeper) Wanted() bool { return k.Record != "" || k.Report != "" }

// Ready makes sure, before runs are made, that their files can be written. If there are several runs, their files go to
// a folder.
func (k *Keeper) Ready(several bool) error {
	for _, to := range []struct{ flag, name string }{{"--record", k.Record}, {"--report", k.Report}} {
		if to.name == "" {
			continue
		}
		folder := filepath.Dir(to.name)
		if several || isFolder(to.name) {
			folder = to.name
			if err := os.MkdirAll(folder, 0o777); err != nil {
				return mistake.New(fmt.Errorf("%s: %w", to.flag, err),
					"the files of several runs are written to a folder")
			}
		}
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return mistake.New(fmt.Errorf("%s: found no folder %s, expected one", to.flag, folder), "make it first")
		}
	}
	return nil
}

// isFolder reports whether a name means a folder: the folder exists, or the name ends with a slash.
func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir() || name != "" && os.IsPathSeparator(name[len(name)-1])
}

// place is the file for a run: the given name or, if that is a folder, a file in it.
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

// Keep writes the files of a run, and prints where they are. The parameter file is the user's name for the scenario; ""
// if the scenario is in no file. An error names the files that were not written; it changes no verdict.
func (k *Keeper) Keep(ctx context.Context, run kernel.Run, file string) error {
	return k.KeepAs(ctx, run, file, run.Scenario.Name+"."+run.Protocol.Name)
}

// KeepAs is Keep with a given name for the file.
func (k *Keeper) KeepAs(ctx context.Context, run kernel.Run, file, name string) error {
	if !k.Wanted() {
		return nil
	}
	r, err := record.Of(ctx, run, k.Version)
	if err != nil {
		return unrecorded(name, err)
	}
	r.Explanation = k.Explanation
	if k.NotSimulated != nil {
		r.NotSimulated = k.NotSimulated(r.Protocol)
	}
	return k.write(r, file, name)
}

// KeepWatched writes the files of an observed run, which no schedule decided.
func (k *Keeper) KeepWatched(w record.Watched) error {
	if !k.Wanted() {
		return nil
	}
	r, err := record.OfWatched(w, k.Version)
	if err != nil {
		return unrecorded(w.Name, err)
	}
	return k.write(r, "", w.Name)
}

// unrecorded is the error for a run that could not be recorded and so has no files.
func unrecorded(name string, err error) error {
	return fmt.Errorf("--record, --report: %s: not written: the run could not be recorded: %w", name, err)
}

func (k *Keeper) write(r *record.Record, source, name string) error {
	if k.kept == nil {
		k.kept = map[string]kept{}
	}
	left := kept{}
	defer func() { k.kept[name] = left }()
	var lost []error
	if k.Record != "" {
		file := place(k.Record, name, ".json")
		if err := write(file, r.Write); err != nil {
			lost = append(lost, fmt.Errorf("--record: %s: not written: %w", file, err))
		} else {
			left.record = file
			fmt.Fprintf(k.Out, "record: %s\n", file)
			source = "" // the record has everything
			if r.File != "" {
				source = file
			}
		}
	}
	if k.Report != "" {
		file := place(k.Report, name, ".html")
		if err := write(file, func(to io.Writer) error { return report.Page(to, r, commands(r, source)) }); err != nil {
			lost = append(lost, fmt.Errorf("--report: %s: not written: %w", file, err))
		} else {
			left.report = file
			fmt.Fprintf(k.Out, "report: %s\n", file)
		}
	}
	return errors.Join(lost...)
}

// write writes a file as a whole or not at all.
func write(file string, text func(io.Writer) error) error {
	var whole bytes.Buffer
	if err := text(&whole); err != nil {
		return err
	}
	return atomicfile.Write(file, whole.Bytes(), 0o644)
}

// commands are the commands that run a recorded schedule again. The parameter source is the file of the scenario or of
// the record; "" if there is neither.
func commands(r *record.Record, source string) []report.Command {
	if _, err := kernel.ProtocolNamed(r.Protocol); err != nil || source == "" {
		return nil
	}
	names := []string{"replay"}
	if r.Violation != nil {
		names = append(names, "shrink", "explain")
	}
	seed, seedErr := strconv.ParseUint(r.Seed, 10, 64)
	choices, choicesErr := schedule.ParseChoices(r.Choices)
	replay := spec.Replay{
		Protocol: r.Protocol, Seed: seed, Choices: choices, Swarm: r.Swarm, AllStops: r.AllStops, Digest: r.Digest,
	}
	var all []report.Command
	for _, name := range names {
		text := fmt.Sprintf("%s %s %s", shell.Program(), name, shell.Quote(source))
		if filepath.Ext(source) != ".json" {
			if seedErr != nil || choicesErr != nil {
				return nil
			}
			text = prose.ReplayCommand(replay, name, shell.Program(), shell.Quote(source))
		}
		all = append(all, report.Command{Name: name, Text: text})
	}
	return all
}

// History writes the page of --history.
func History(file string, visualize func(io.Writer) error) error {
	if err := write(file, visualize); err != nil {
		return fmt.Errorf("--history: %s: not written: %w", file, err)
	}
	return nil
}

// telling returns the most telling run of a campaign: the failed run, or else the run without a verdict. If all runs
// passed, it is the first run, for which telling needs c.
func telling(ctx context.Context, c *campaign.Campaign, r *campaign.Report) (kernel.Run, bool, error) {
	switch {
	case r.Failure != nil:
		return kernel.Replay(r.Failure.Replay(), r.Scenario, r.Protocol), true, nil
	case r.Doubt != nil:
		return kernel.Replay(r.Doubt.Replay(), r.Scenario, r.Protocol), true, nil
	case c == nil || r.Schedules == 0 || ctx.Err() != nil:
		return kernel.Run{}, false, nil //nolint:nilerr // an interrupt ends the command without more runs
	}
	set, err := schedules.New(
		kernel.Run{Scenario: c.Scenario, Protocol: c.Protocol, Seed: c.Seed, Options: c.Options}, c.Plan, 1, 1,
	)
	if err != nil {
		return kernel.Run{}, false, err
	}
	runs, err := set.First(ctx, 1)
	if err != nil || len(runs) == 0 {
		return kernel.Run{}, false, err
	}
	return runs[0], true, nil
}

// Files returns the names of the files that were written for a run; "" for one that was not written.
func (k *Keeper) Files(name string) (record, report string) {
	return k.kept[name].record, k.kept[name].report
}

// KeepTelling keeps the most telling run of a campaign.
func (k *Keeper) KeepTelling(ctx context.Context, c *campaign.Campaign, r *campaign.Report, file string) error {
	if !k.Wanted() {
		return nil
	}
	run, found, err := telling(ctx, c, r)
	switch {
	case err != nil:
		return unrecorded(file, err)
	case !found:
		return nil
	}
	return k.Keep(ctx, run, file)
}
