package check

import (
	"cmp"
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

	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/base/inside"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/catalog"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/cli/progress"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/show/results"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/invariant"
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
	without, reach    []string
	tenants           bool
	lock, once        bool
	lockless          bool // the mapping of rows has no lock
	leases, kept      []time.Duration
	promise           kernel.Promise
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
schedules. Clients ask only for what the program's hello offers.

The first run that violates an invariant ends the check. It is made smaller, and left
in a folder (--keep) as a scenario file, a record and a report. The next check begins
with it.

A check that judged nothing fails as vacuous: nothing was published or served, no lock
was taken, no call answered, or no world came to where bugs would be (--reach).`,
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
	f.DurationVar(&c.limit, "for", 0, "end after this time, with what was judged until then (default: no bound)")
	f.DurationVar(&c.shrink, "shrink-time", 2*time.Minute,
		"how long a failing run is made smaller, at most; 0s leaves it as it is")
	f.StringVar(&c.rows, "rows", "",
		"a file that says which rows are pages and locks, or the name of a ready mapping (docs/SCENARIOS.md)")
	f.StringVar(&c.folder, "keep", "isr-sim-check",
		"the folder for the run that fails, with which the next check begins")
	f.StringSliceVar(&c.without, "without", nil,
		"an invariant that does not judge, because the cache does not promise it; repeatable")
	f.StringSliceVar(&c.reach, "reach", nil, "the marks that some world must reach, or none (default: "+
		strings.Join(prose.Names(worlds.Reach()), ", ")+"; for locks and calls those of docs/CHECK.md)")
	f.BoolVar(&c.lock, "lock", false,
		"the program is a lock: machines hold it, and what it guards is written (docs/NODES.md)")
	f.BoolVar(&c.once, "once", false, "the program is an idempotency layer: machines make the same calls "+
		"(docs/NODES.md)")
	f.DurationSliceVar(&c.leases, "lease", nil,
		"with --lock: a lease, a `duration`, that worlds give the lock; with --once: how long a call counts as in "+
			"progress; repeatable (default: 10s, 2s, 1.5s and for locks 30s)")
	f.DurationSliceVar(&c.kept, "retention", nil,
		"with --once: the `duration` for which worlds have results kept; repeatable (default: 1h and 1m)")
	f.Lookup("lease").DefValue, f.Lookup("retention").DefValue = "", "" // their texts say it
	f.BoolVar(&c.tenants, "tenants", false, "the nodes have tenants, whose pages must be kept apart")
	f.DurationVar(&c.promise.MaxAge, "max-age", 0, "the cache promises that nothing older is served, fresh or stale")
	f.BoolVar(&c.promise.AcrossNodes, "monotonic-across-nodes", false,
		"the cache promises monotonic reads across its nodes")
	f.BoolVar(&c.promise.Recipe, "recipe", false,
		"the cache promises the rules of the recipe, whose violation harms nobody (docs/INVARIANTS.md)")
	return cmd
}

// files are the files of a failed run, in the folder.
const (
	scenarioFile = "failed.yaml"
	recordFile   = "failed.json"
	reportFile   = "failed.html"
)

func (c *command) run(cmd *cobra.Command, _ []string) error {
	if given := cmd.Flags().Changed; !given("exec") && !given("protocol") {
		return cli.Usage(errors.New("check: found no program, expected --exec 'COMMAND' or --protocol NAME"),
			cmd.CommandPath()+" --help")
	}
	check, err := c.check(cmd)
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

// check is the check that the flags ask for, still without its program.
func (c *command) check(cmd *cobra.Command) (*Check, error) {
	check := &Check{
		Seed: c.seed, Worlds: c.worlds, Schedules: c.schedules, Without: c.without,
		Extras: worlds.Extras{Tenants: c.tenants, Promise: c.promise}, Reach: worlds.Reach(),
	}
	all := invariant.All()
	switch {
	case c.lock:
		check.Reach, all = worlds.LockReach(), invariant.OfLocks()
	case c.once:
		check.Reach, all = worlds.OnceReach(), invariant.OfCalls()
	}
	if err := c.together(cmd); err != nil {
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
	}{{"for", c.limit}, {"shrink-time", c.shrink}, {"max-age", c.promise.MaxAge}} {
		if flag.value < 0 {
			return check, cli.Usage(fmt.Errorf("--%s: found %v, expected 0s or more", flag.name, flag.value), "")
		}
	}
	if c.folder == "" {
		return check, cli.Usage(errors.New("--keep: found no folder, expected one"),
			"leave --keep out for isr-sim-check")
	}
	if c.rows != "" {
		var err error
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
	rules := 0 // that nobody has promised
	for _, inv := range all {
		names = append(names, inv.Name)
		if inside.In(&inv).Rule && !c.promise.Recipe && !slices.Contains(c.without, inv.Name) {
			rules++
		}
	}
	if err := known("without", c.without, names); err != nil {
		return check, err
	}
	if len(c.without) > 0 && len(slices.Compact(slices.Sorted(slices.Values(c.without))))+rules == len(names) {
		return check, cli.Usage(errors.New("--without: found all invariants: nothing would be judged"), "")
	}
	if cmd.Flags().Changed("reach") {
		check.Reach = nil
		if len(c.reach) != 1 || c.reach[0] != "none" {
			var marks []string
			for _, m := range kernel.Marks() {
				marks = append(marks, string(m))
			}
			if err := known("reach", c.reach, marks); err != nil {
				return check, err
			}
			for _, m := range c.reach {
				check.Reach = append(check.Reach, kernel.Mark(m))
			}
		}
	}
	return check, nil
}

// together refuses flags that do not go together.
func (c *command) together(cmd *cobra.Command) error {
	pages := []string{"tenants", "max-age", "monotonic-across-nodes", "recipe"}
	refuse := func(form string, flags ...string) error {
		for _, flag := range flags {
			if cmd.Flags().Changed(flag) {
				return cli.Usage(fmt.Errorf(form, flag), "")
			}
		}
		return nil
	}
	switch {
	case c.lock && c.once:
		return refuse("--%s does not go with --lock: check one after the other", "once")
	case c.lock:
		return cmp.Or(refuse("--%s does not go with --lock: a lock has no pages", pages...),
			refuse("--%s needs --once", "retention"))
	case c.once:
		return refuse("--%s does not go with --once: calls have no pages", pages...)
	default:
		return cmp.Or(refuse("--%s needs --lock or --once", "lease"), refuse("--%s needs --once", "retention"))
	}
}

// find finds out what the program can do, which decides the worlds that are drawn.
func (c *command) find(cmd *cobra.Command, check *Check) error {
	switch {
	case c.lock:
		locks := &worlds.Locks{Leases: c.leases}
		check.Other = &Other{locks, mark.HoldTaken, "no lock was taken"}
		if err := c.FindLock(&check.Protocol, locks); err != nil {
			return err
		}
		if locks.Extends && !cmd.Flags().Changed("reach") {
			check.Reach = append(check.Reach, mark.HoldExtended)
		}
		return nil
	case c.once:
		calls := &worlds.Calls{InProgress: c.leases, Retentions: c.kept}
		check.Other = &Other{calls, mark.CallAnswered, "no call was answered"}
		return c.FindCalls(&check.Protocol, calls)
	default:
		err := c.Find(&check.Protocol, &check.Verbs)
		if err == nil && slices.Contains(check.Verbs, "rollback") && !cmd.Flags().Changed("reach") {
			check.Reach = append(check.Reach, mark.RolledBack) // no invariant would miss it
		}
		return err
	}
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

// file is the scenario of the run that has failed.
func (c *command) file() string { return filepath.Join(c.folder, scenarioFile) }

// before runs the failure that an earlier check has left. done says that the run still fails, so the check is over.
func (c *command) before(ctx context.Context, check *Check) (done bool, err error) {
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
	var left []string // that judged the run, and do not now
	for _, name := range check.Without {
		if !slices.Contains(s.Without, name) && !slices.Contains(left, name) {
			left = append(left, name)
		}
	}
	s.Without, s.Rows = check.Without, check.Rows // what is said now counts
	run := s.Replay.Run(s, check.Protocol)
	broken := func(err error) error {
		return cli.Unknown(fmt.Errorf("%s: %w", c.file(), err),
			"an earlier check has left this file, perhaps of other code; delete it to go on without it")
	}
	o, err := run.Do(ctx)
	_, diverged := errors.AsType[*sim.DivergedError](err)
	switch {
	case diverged: // the program asks for something else now
	case err != nil:
		return false, broken(err)
	case o.Verdict == invariant.Violated:
		fmt.Fprintf(c.Out,
			"%s: an earlier check has left it, and it fails still; it runs first until it passes, or you delete it\n\n",
			c.file())
		c.show(ctx, run, o)
		return true, &cli.Error{Code: cli.ExitViolated}
	}
	report, err := check.try(ctx, s, check.Seed, 0)
	switch {
	case cut(ctx, report, err):
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

// passes says that a run passes without the invariants that were left out since it violated one of all.
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

// row prints the check on one line.
func (c *command) row(check *Check, r *Result, verdict string) {
	fmt.Fprintf(c.Out, "%s\n%s\n", prose.Header(),
		prose.TableRow(fmt.Sprintf("%d drawn worlds", r.Worlds), check.Protocol.Name,
			fmt.Sprint(r.Schedules), fmt.Sprint(r.Steps), verdict, r.reached()))
}

// result is the check as one result for machines.
func (c *command) result(check *Check, r *Result, verdict verdicts.Verdict, why string) {
	c.Add("", verdicts.Result{
		Scenario: name, Protocol: check.Protocol.Name, Verdict: verdict, Passed: verdict == verdicts.OK, Message: why,
		Seed: fmt.Sprint(check.Seed), Schedules: r.Schedules, Steps: r.Steps, Reached: prose.Names(r.reached()),
	})
}

// broke ends a check whose program broke the rules of nodes. Its world is kept.
func (c *command) broke(check *Check, r *Result, broken *kernel.BrokenError) error {
	c.row(check, r, "unknown")
	fmt.Fprintf(c.Out, "\nbroken: %v\n", broken)
	if s, err := check.world(r.last); err == nil {
		replay := broken.Replay()
		s.Replay = &replay
		c.Lose(c.write(s))
		fmt.Fprint(c.Out, prose.ReplayLine(replay, "replay", shell.Program(), shell.Quote(c.file())))
	}
	c.result(check, r, verdicts.Unknown, broken.Error())
	return &cli.Error{Code: cli.ExitUnknown}
}

// unasked is the hint for a program whose requests did not come.
const unasked = "hint: the options of its client are init.client in JavaScript, isr_sim.boto3_options(init) in " +
	"Python, and elsewhere the endpoint and the credentials of the line init\n"

// failed ends a check with a world that is not ok.
func (c *command) failed(cmd *cobra.Command, check *Check, r *Result) error {
	o := r.Failed.Failure
	notAlive := o != nil && o.Violation.Invariant.Name == invariant.Named("liveness").Name
	if notAlive && !r.asked { // it could do nothing without its table
		why := check.nothing(r)
		c.row(check, r, string(verdicts.Vacuous))
		c.result(check, r, verdicts.Vacuous, why)
		fmt.Fprintf(c.Out, "\n%s: %s\n%s", verdicts.Vacuous, why, unasked)
		return &cli.Error{Code: cli.ExitViolated}
	}
	c.row(check, r, r.Failed.Summary())
	fmt.Fprintf(c.Out, "\nworld %d of seed %d\n", r.last+1, check.Seed)
	remove := func() {}
	if r.Failed.Failure != nil {
		remove = progress.Wait(cmd.ErrOrStderr(), "making it smaller")
	}
	defer remove()
	err := c.fails(cmd.Context(), r.Failed)
	if notAlive && check.Other == nil && r.Marks[mark.ServedFresh] == 0 {
		fmt.Fprintln(c.Out, "hint: no page was served as fresh: a program says with each page whether it is, as in "+
			"{body, fresh} in JavaScript and (body, fresh) in Python")
	}
	return err
}

// fails prints and keeps the run of a world that is not ok, made as small as possible.
func (c *command) fails(ctx context.Context, report *campaign.Report) error {
	if report.Failure == nil {
		why := prose.Report(report, shell.Program(), shell.Quote(c.file()))
		fmt.Fprintf(c.Out, "\n%s", why)
		if slices.ContainsFunc(ofLocks, func(name string) bool { return strings.Contains(why, ": "+name+": ") }) {
			c.hintLocks()
		}
		s := *report.Scenario
		if report.Doubt != nil {
			replay := report.Doubt.Replay()
			s.Replay = &replay
		}
		c.Lose(c.write(&s))
		c.AddKept("", "", results.OfReport(report, shell.Program(), shell.Quote(c.file()), why))
		return &cli.Error{Code: cli.ExitUnknown}
	}
	replay := report.Failure.Replay()
	s, run, o := *report.Scenario, replay.Run(report.Scenario, report.Protocol), report.Failure
	s.Replay = &replay
	if c.shrink > 0 {
		within, stop := context.WithTimeout(ctx, c.shrink)
		defer stop()
		if shrunk, err := (campaign.Shrink{Failed: run, Runs: campaign.DefaultShrinkRuns}).Run(within); err == nil {
			fmt.Fprintf(c.Out, "%s\n", prose.Sizes(shrunk.Before, shrunk.After))
			s, o = *shrunk.Scenario, shrunk.Outcome
			run = s.Replay.Run(&s, report.Protocol)
		}
	}
	c.Lose(c.write(&s))
	c.show(ctx, run, o)
	return &cli.Error{Code: cli.ExitViolated}
}

// ofLocks are the invariants that a cache without a lock does not promise.
var ofLocks = []string{"stale-writer", "lock-theft", "atomic-publish", "single-flight"}

// hintLocks says what a cache without a lock leaves out, if --rows describes no lock.
func (c *command) hintLocks() {
	if c.lockless {
		fmt.Fprintf(c.Out, "hint: --rows describes no lock; for a cache that has none: --without %s\n",
			strings.Join(ofLocks, ","))
	}
}

// show prints a run that violates an invariant, writes its record and its report, and names the commands about it.
func (c *command) show(ctx context.Context, run kernel.Run, o *kernel.Outcome) {
	file := shell.Quote(c.file())
	why := prose.Outcome(o, run.Scenario.Name, run.Protocol.Name)
	fmt.Fprintf(c.Out, "%s\n", why)
	c.Lose(c.Keep(ctx, run, c.file()))
	if c.Exec != "" {
		file = "--exec " + shell.Quote(c.Exec) + " " + file
	}
	fmt.Fprintf(c.Out, "scenario: %s\nreplay: %s replay %s\nexplain: %s explain %s\n", c.file(), shell.Program(),
		file, shell.Program(), file)
	if o.Violation != nil && slices.Contains(ofLocks, o.Violation.Invariant.Name) {
		c.hintLocks()
	}
	result := results.OfOutcome(run, o, shell.Program(), shell.Quote(c.file()))
	result.Details = why
	c.AddKept(c.file(), run.Scenario.Name+"."+run.Protocol.Name, result)
}

// write leaves a scenario in the folder.
func (c *command) write(s *kernel.Scenario) error {
	yaml, err := s.YAML()
	if err != nil {
		return err
	}
	if err = atomicfile.Write(c.file(), yaml, 0o644); err != nil {
		fmt.Fprintf(c.Out, "the scenario, which is in no file:\n\n%s\n", yaml)
		return fmt.Errorf("--keep: %s: not written: %w", c.file(), err)
	}
	return nil
}

// ended ends a check in which nothing was violated.
func (c *command) ended(cmd *cobra.Command, check *Check, r *Result) error {
	missing, untested := worlds.Missing(check.Reach, r.Marks, r.Worlds, r.Schedules)
	why, verdict := "", verdicts.OK
	ttl, note := "", ""
	if check.Other != nil || check.TTL.Said == hooks.NoTTL {
		ttl, note = check.TTL.Unmet(r.Marks, r.Worlds, !cmd.Flags().Changed("reach"),
			"the ttl of a row of --rows", "no ttl")
	}
	switch nothing := check.nothing(r); {
	case cmd.Context().Err() != nil:
		verdict, why = verdicts.Unknown, fmt.Sprintf("interrupted after %d of %d worlds", r.Worlds, check.Worlds)
	case nothing != "":
		verdict, why = verdicts.Vacuous, nothing
	case len(missing) > 0:
		verdict, why = verdicts.Vacuous, fmt.Sprintf("no world of %d reached %s: it was not tested there", r.Worlds,
			strings.Join(prose.Names(missing), ", "))
	case ttl != "":
		verdict, why = verdicts.Vacuous, ttl
	}
	c.row(check, r, string(verdict))
	if note != "" {
		fmt.Fprintln(c.Out, note)
	}
	if c.lockless {
		fmt.Fprintln(c.Out, "locks: not tested: --rows describes none")
	}
	// a ready mapping has what some caches leave out
	if _, err := isr.SchemaNamed(c.rows); err != nil && len(r.unmet) > 0 {
		fmt.Fprintf(c.Out, "--rows: no row that was written had %s: is it misspelt?\n", strings.Join(r.unmet, ", or "))
	}
	if r.Worlds < check.Worlds && verdict == verdicts.OK {
		fmt.Fprintf(c.Out, "--for: ended after %d of %d worlds\n", r.Worlds, check.Worlds)
	}
	for _, name := range check.Without {
		fmt.Fprintf(c.Out, "%s: not judged: left out by --without\n", name)
	}
	fmt.Fprint(c.Out, c.Real())
	if len(untested) > 0 {
		fmt.Fprintf(c.Out,
			"not tested: %s: no world reached it, which may be chance with under %d worlds or %d schedules\n",
			strings.Join(prose.Names(untested), ", "), worlds.EnoughWorlds, worlds.EnoughSchedules)
	}
	c.result(check, r, verdict, why)
	if verdict == verdicts.OK {
		return nil
	}
	fmt.Fprintf(c.Out, "\n%s: %s\n", verdict, why)
	switch {
	case !r.asked && r.Worlds > 0:
		fmt.Fprint(c.Out, unasked)
	case r.misfit != "":
		fmt.Fprintln(c.Out, r.misfit)
	case r.pageless != "" && r.Marks[mark.Published] == 0:
		fmt.Fprintln(c.Out, r.pageless)
	}
	if slices.Contains(missing, mark.TTLDeletion) {
		fmt.Fprintln(c.Out,
			"hint: TTL deletes a row by a time in seconds in the attribute that --rows names as its ttl; a cache "+
				"without TTL leaves ttl out of --rows")
	}
	if verdict == verdicts.Unknown {
		return &cli.Error{Code: cli.ExitUnknown}
	}
	return &cli.Error{Code: cli.ExitViolated}
}
