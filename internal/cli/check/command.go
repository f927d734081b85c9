// Package check has the command isr-sim check, which judges a program in drawn worlds.
package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/base/heap"
	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/catalog"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/cli/progress"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/search/engine"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject/list/draw"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// command is isr-sim check.
type command struct {
	flags.Results
	flags.Program

	seed              uint64
	worlds, schedules int
	limit, shrink     time.Duration
	rows, folder      string
	next              string // the file of --next
	reach             []string
	lockless          bool // the mapping of rows has no lock
	extra             worlds.Extras
}

// NewCommand returns isr-sim check.
func NewCommand() *cobra.Command {
	c := &command{}
	cmd := &cobra.Command{
		Use: "check --exec COMMAND",
		Short: "Check a cache, a lock or an idempotency layer in any language: draw worlds, and run it in each " +
			"under many schedules",
		Long: `Check looks for a bug in a cache, with --lock in a lock, or with --once in an
idempotency layer, which may be written in any language. It draws worlds (machines and
what they are asked for, durations, clocks, pauses, crashes, faults, lags of TTL) as
property.CheckStore does for a cache in Go, and runs the program in each under many
schedules. Clients use only what the program's hello message offers.

The first run that violates an invariant ends the check. It is made smaller, and left
in a folder (--keep) as a scenario file, a record and a report. The next check begins
with it.

A check that judged nothing fails as vacuous: nothing was published or served, no lock
was taken, no call answered, or a mark of --reach was reached in no world.`,
		Example: "  isr-sim check --exec 'node node.mjs'\n" +
			"  isr-sim check --exec 'python3 node.py' --rows rows.yaml --worlds 500 --without single-flight\n" +
			"  isr-sim check --lock --exec 'node lock.mjs'\n  isr-sim check --once --exec 'node payments.mjs'",
		Args: cli.Arguments("no scenario: worlds are drawn", 0, 0),
	}
	cmd.RunE = c.Around(c.run)
	c.RegisterFormats(cmd)
	c.RegisterFiles(cmd, "the run that fails")
	c.Program.Register(cmd, &c.Results, "a protocol of isr-sim to check in the place of a program (see isr-sim list)")
	f := cmd.Flags()
	flags.Seed(cmd, &c.seed)
	f.IntVar(&c.worlds, "worlds", 100, "the number of worlds")
	f.IntVar(&c.schedules, "schedules", worlds.DefaultSchedules, "the number of schedules of each world")
	f.DurationVar(&c.limit, "for", 0, "end after this time; what was judged until then counts (default: no bound)")
	f.DurationVar(&c.shrink, "shrink-time", 2*time.Minute,
		"the longest time to spend on making a failing run smaller; 0s leaves it as it is")
	f.StringVar(&c.rows, "rows", "",
		"a file that says which rows are pages and locks, or the name of a ready mapping (docs/SCENARIOS.md)")
	f.StringVar(&c.next, "next", "",
		"a `file` with a cacheHandler or the cacheHandlers of Next.js, which is checked as it is (docs/CHECK.md)")
	f.StringVar(&c.folder, "keep", "isr-sim-check",
		"the folder for the run that fails; the next check runs it first")
	f.StringSliceVar(&c.extra.Without, "without", nil,
		"an invariant to leave out, because the cache does not promise it; repeatable")
	f.StringSliceVar(&c.reach, "reach", nil, "the marks that some world must reach, or none (default: "+
		strings.Join(prose.Names(draw.Pages.Reach), ", ")+"; for locks and calls those of docs/CHECK.md)")
	for _, of := range draw.Subjects() {
		if of.Program.Flag != "" {
			f.Bool(of.Program.Flag, false, of.Program.Usage)
		}
	}
	f.DurationSliceVar(&c.extra.Leases, "lease", nil,
		"with --lock: the `duration` of a lease; with --once: how long a call counts as in progress; if given "+
			"several times, each run has one of them (default: 10s, 2s, 1.5s; for locks also 30s)")
	f.DurationSliceVar(&c.extra.Retentions, "retention", nil,
		"with --once: the `duration` for which results are kept; if given several times, each run has one of them "+
			"(default: 1h and 1m)")
	f.Lookup("lease").DefValue, f.Lookup("retention").DefValue = "", "" // the help texts name the defaults
	f.StringVar(&c.extra.S3Store, "s3-store", "",
		"the kind of S3 store, such as one that ignores some conditions (docs/FAKE.md; default: aws)")
	f.BoolVar(&c.extra.Tenants, "tenants", false, "the nodes have tenants, whose pages must be kept apart")
	f.DurationVar(&c.extra.Promise.MaxAge, "max-age", 0,
		"the cache promises that nothing older is served, fresh or stale")
	f.BoolVar(&c.extra.Promise.AcrossNodes, "monotonic-across-nodes", false,
		"the cache promises monotonic reads across its nodes")
	f.BoolVar(&c.extra.Promise.Recipe, "recipe", false,
		"the cache promises the rules of the recipe too; breaking one serves no wrong page (docs/INVARIANTS.md)")
	return cmd
}

// files are the files of a failed run, in the folder.
const (
	scenarioFile = "failed.yaml"
	recordFile   = "failed.json"
	reportFile   = "failed.html"
)

func (c *command) run(cmd *cobra.Command, _ []string) error {
	if given := cmd.Flags().Changed; !given("exec") && !given("protocol") && !given("next") {
		return cli.Usage(errors.New("check: found no program, expected --exec 'COMMAND' or --protocol NAME"),
			cmd.CommandPath()+" --help")
	}
	check, err := c.check(cmd)
	if err == nil && cmd.Flags().Changed("next") {
		err = c.handler(cmd, check)
	}
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.find(cmd, check); err != nil {
		return err
	}
	if err := c.keeps(); err != nil {
		return err
	}
	ctx := cmd.Context()
	if c.limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, c.limit)
		defer stop()
	}
	fmt.Fprintf(c.Out, "seed %d\n", check.Seed)
	if done, err := c.before(ctx, check); done || err != nil {
		return err
	}
	show, remove := progress.Of(cmd.ErrOrStderr(), "check", "worlds", 0)
	check.Progress = show
	defer heap.CollectRarely()()
	r, err := check.Run(ctx)
	remove()
	if broken, is := errors.AsType[*kernel.BrokenError](err); is {
		return c.broke(check, r, broken)
	}
	if err != nil {
		return cli.Unknown(err, "")
	}
	if r.Failed != nil {
		return c.failed(cmd, check, r)
	}
	return c.ended(cmd, check, r)
}

// check is the check that the flags describe, without its program.
func (c *command) check(cmd *cobra.Command) (*engine.Check, error) {
	of, err := subject(cmd)
	check := &engine.Check{
		Of: of, Seed: c.seed, Worlds: c.worlds, Schedules: c.schedules, Extras: c.extra, Reach: slices.Clone(of.Reach),
	}
	if err != nil {
		return check, err
	}
	for _, flag := range []struct {
		name  string
		value int64
	}{{"worlds", int64(c.worlds)}, {"schedules", int64(c.schedules)}} {
		if flag.value < 1 {
			return check, cli.Usage(fmt.Errorf("--%s: found %d, expected at least 1", flag.name, flag.value), "")
		}
	}
	for _, flag := range []struct {
		name  string
		value time.Duration
	}{{"for", c.limit}, {"shrink-time", c.shrink}, {"max-age", c.extra.Promise.MaxAge}} {
		if flag.value < 0 {
			return check, cli.Usage(fmt.Errorf("--%s: found %v, expected 0s or more", flag.name, flag.value), "")
		}
	}
	if c.folder == "" {
		return check, cli.Usage(errors.New("--keep: found no folder, expected one"),
			"leave --keep out for isr-sim-check")
	}
	if c.rows != "" {
		if check.Rows, err = catalog.Rows(c.rows); err != nil {
			return check, cli.Coded(err)
		}
		if check.TTL.Said = ttlOf(check.Rows); check.TTL.Said == hooks.NoTTL {
			check.Reach = worlds.WithoutTTL(check.Reach)
		}
		if m, err := rowmap.New(check.Rows); err == nil && m.Lockless() {
			check.Reach, c.lockless = worlds.WithoutLocks(check.Reach), true
		}
	}
	var names []string
	rules := 0 // the number of rules that are not promised
	for _, inv := range of.About().All {
		names = append(names, inv.Name)
		if inv.Rule && !check.Promise.Recipe && !slices.Contains(check.Without, inv.Name) {
			rules++
		}
	}
	if err := known("without", check.Without, names); err != nil {
		return check, err
	}
	if cmd.Flags().Changed("s3-store") {
		if err := known("s3-store", []string{check.S3Store}, promise.ObjectStores()); err != nil {
			return check, err
		}
	}
	if left := check.Without; len(left) > 0 &&
		len(slices.Compact(slices.Sorted(slices.Values(left))))+rules == len(names) {
		return check, cli.Usage(errors.New("--without: found all invariants: nothing would be judged"), "")
	}
	if cmd.Flags().Changed("reach") {
		check.Reach = nil
		if len(c.reach) != 1 || c.reach[0] != "none" {
			var marks []string
			for _, m := range spec.Marks() {
				marks = append(marks, string(m))
			}
			if err := known("reach", c.reach, marks); err != nil {
				return check, err
			}
			for _, m := range c.reach {
				check.Reach = append(check.Reach, spec.Mark(m))
			}
		}
	}
	return check, nil
}

// subject is the subject that the flags choose. It refuses flags that contradict each other.
func subject(cmd *cobra.Command) (*worlds.Subject, error) {
	all := draw.Subjects()
	of := all[0]
	for _, other := range all[1:] {
		switch yes, err := cmd.Flags().GetBool(other.Program.Flag); {
		case err != nil || !yes:
		case of == all[0]:
			of = other
		default:
			return of, cli.Usage(fmt.Errorf("--%s does not go with --%s: check one after the other", other.Program.Flag,
				of.Program.Flag), "")
		}
	}
	for _, lender := range all {
		for _, flag := range lender.Program.Flags {
			if !cmd.Flags().Changed(flag) || slices.Contains(of.Program.Flags, flag) {
				continue
			}
			if lender == all[0] {
				return of, cli.Usage(fmt.Errorf("--%s does not go with --%s: %s", flag, of.Program.Flag,
					of.Program.Lacks), "")
			}
			var needs []string
			for _, s := range all {
				if slices.Contains(s.Program.Flags, flag) {
					needs = append(needs, "--"+s.Program.Flag)
				}
			}
			return of, cli.Usage(fmt.Errorf("--%s needs %s", flag, strings.Join(needs, " or ")), "")
		}
	}
	return of, nil
}

// find finds out what the program can do, because that decides which worlds are drawn.
func (c *command) find(cmd *cobra.Command, check *engine.Check) error {
	can, err := c.Find(check.Of, &check.Protocol, &check.Extras)
	if also := check.Of.Also; slices.Contains(can, string(also.Verb)) && !cmd.Flags().Changed("reach") {
		check.Reach = append(check.Reach, also.Mark)
	}
	return err
}

// ttlOf is the attribute by which TTL deletes rows.
func ttlOf(rows isr.Schema) string {
	for _, row := range rows.Rows {
		if row.TTL != "" {
			return row.TTL
		}
	}
	return hooks.NoTTL
}

// known refuses a word that is not among names.
func known(flag string, words, names []string) error {
	for _, word := range words {
		if !slices.Contains(names, word) {
			return cli.Usage(fmt.Errorf("--%s: found %q, expected one of %s", flag, word, strings.Join(names, ", ")),
				suggest.Hint(word, names, ""))
		}
	}
	return nil
}

// keeps makes sure, before the first run, that the files of a failed run can be written.
func (c *command) keeps() error {
	if err := os.MkdirAll(c.folder, 0o777); err != nil {
		return cli.Usage(fmt.Errorf("--keep: %w", err), "")
	}
	if c.Record == "" {
		c.Record = filepath.Join(c.folder, recordFile)
	}
	if c.Report == "" {
		c.Report = filepath.Join(c.folder, reportFile)
	}
	return c.Ready(false)
}

// file is the name of the scenario of the failed run.
func (c *command) file() string { return filepath.Join(c.folder, scenarioFile) }

// before runs the failure that an earlier check left. done says that the run still fails, so the check is over.
func (c *command) before(ctx context.Context, check *engine.Check) (done bool, err error) {
	_, err = os.Stat(c.file())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	s, err := catalog.Load(c.file())
	if err != nil {
		return false, cli.Usage(err, "an earlier check has left this file; delete it to go on without it")
	}
	if s.Replay == nil {
		return false, cli.Usage(fmt.Errorf("%s: found no replay entry, expected the run that an earlier check has left",
			c.file()), "delete it to go on without it")
	}
	var left []string // invariants that judged that run and are now left out
	for _, name := range check.Without {
		if !slices.Contains(s.Without, name) && !slices.Contains(left, name) {
			left = append(left, name)
		}
	}
	s.Without, s.Rows, s.S3Store = check.Without, check.Rows, check.S3Store // the flags of this check count
	run := kernel.Replay(*s.Replay, s, check.Protocol)
	broken := func(err error) error {
		return cli.Unknown(fmt.Errorf("%s: %w", c.file(), err),
			"an earlier check has left this file, perhaps of other code; delete it to go on without it")
	}
	o, err := run.Do(ctx)
	_, diverged := errors.AsType[*sim.DivergedError](err)
	switch {
	case diverged: // the program now asks for something else
	case err != nil:
		return false, broken(err)
	case o.Verdict == invariant.Violated:
		fmt.Fprintf(c.Out,
			"%s: an earlier check has left it, and it fails still; it runs first until it passes, or you delete it\n\n",
			c.file())
		c.show(ctx, run, o)
		return true, &cli.Error{Code: cli.ExitViolated}
	}
	report, err := check.Try(ctx, s, check.Seed, 0)
	switch {
	case engine.Cut(ctx, report, err):
		return false, nil // the check ends at once, and says why
	case err != nil:
		return false, broken(err)
	case report.Verdict != invariant.OK:
		fmt.Fprintf(c.Out, "%s: %s, and its world does not\n", c.file(), passes("its run", s.Replay.Violates, left))
		return true, c.fails(ctx, report)
	}
	fmt.Fprintf(c.Out,
		"%s: an earlier check has left it, and %s; it runs first until another run fails, or you delete it\n",
		c.file(), passes("it", s.Replay.Violates, left))
	return false, nil
}

// passes is the message that a run passes now. The invariants in left judged it before, but are now left out.
func passes(run, violated string, left []string) string {
	switch {
	case len(left) == 0:
		return run + " passes now"
	case slices.Contains(left, violated):
		return fmt.Sprintf("%s passes without %s, which it violated and --without leaves out", run, violated)
	default:
		return fmt.Sprintf("%s passes now, without %s, which --without leaves out", run, strings.Join(left, ", "))
	}
}
