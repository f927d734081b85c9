package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/base/heap"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/cli/progress"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/show/results"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// proveCommand runs every schedule of scenarios.
type proveCommand struct {
	flags.Results
	program   flags.Program
	seed      uint64
	schedules int
	states    int
	time      time.Duration
	to, from  string // certificates
	kept      string // an interrupted search
	against   *campaign.Certificate
	stderr    io.Writer
}

func newProve() *cobra.Command {
	v := &proveCommand{program: flags.Program{Searches: true}}
	cmd := &cobra.Command{
		Use:   "prove SCENARIO...",
		Short: "Run every schedule within a scenario's bounds",
		Long: `Prove runs every schedule within a scenario's bounds. The bounds limit the ticks of
time, the deletions by TTL, the pauses, crashes, restarts and clock steps of each
machine, and the strikes of each possible fault. The first schedule that violates an
invariant ends the search.

Prove leaves out schedules that can show nothing new: those that differ from another
one only in the order of steps that do not touch each other, and those that reach a
state from which the search has gone on before. Exit code 0 says that the search is
complete and that nothing is violated. Exit code 3 says that a bound ended the
search; the output then says what is left. A search takes 200 to 300 MB of memory, and
30 to 50 bytes for each state: four writers with a crash, a lost answer and a tick have
27,125,804 states, which take eight minutes on two cores, and 954 MB.

Prove remembers what code in Go did: the code runs only for inputs that it has not had
before, and a schedule starts at its first step that no earlier schedule has taken. With
--memory off everything runs; the verdict is the same. After 4,096 schedules the search
uses up to four cores: four searchers exchange at intervals what they have found, and bounds
are checked then. The result does not depend on the number of cores. The search stays on
one core with --schedules, --verify and --exec.

With --certificate the proof lists all states. With --verify another search checks
such a list: it takes each possible step of each state, in another order, and leaves
out no order of steps. It refuses the list if a step leads out of it (exit code 3).

With --resume a search that ends before it is complete, even by kill -9, goes on when
the same command runs again. The file is written after five seconds, then at growing
intervals of up to a minute, and at the end. It is removed when nothing is left to
search.
`,
		Example: "  isr-sim prove prove-two-writers\n  isr-sim prove --time 10m ./my-scenario.yaml\n" +
			"  isr-sim prove --certificate proof prove-regenerate\n  isr-sim prove --verify proof prove-regenerate\n" +
			"  isr-sim prove --protocol blind-release prove-crashed-writer\n",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return nil
			}
			return cli.Usage(errors.New("prove: found no scenario, expected at least one"),
				"prove-two-writers and prove-three-writers are small enough; "+cmd.CommandPath()+" --help")
		},
		RunE: v.Around(v.run),
	}
	v.RegisterFormats(cmd)
	v.RegisterFiles(cmd, "the run that fails")
	v.program.Register(cmd, &v.Results, "the protocol to run instead of the scenario's own (see isr-sim list)")
	f := cmd.Flags()
	f.Uint64Var(&v.seed, "seed", 1, "the seed of random TTL lags; schedules need none")
	f.IntVar(&v.schedules, "schedules", 0, "end a search after this number of schedules (default: no bound)")
	f.IntVar(&v.states, "states", 0,
		"end a search after this number of states, which bounds its memory (default: no bound)")
	f.StringVar(&v.to, "certificate", "", "write the states of the proof to `FILE`; only with one scenario")
	f.StringVar(&v.from, "verify", "", "check the certificate `FILE` of the scenario")
	f.StringVar(&v.kept, "resume", "",
		"keep the search in `FILE`, and go on with the search that is there; only with one scenario")
	f.DurationVar(&v.time, "time", 0, "end a search after this time, such as 10m (default: no bound)")
	return cmd
}

func (v *proveCommand) run(cmd *cobra.Command, names []string) error {
	ctx := cmd.Context()
	v.stderr = cmd.ErrOrStderr()
	switch {
	case v.schedules < 0:
		return cli.Usage(fmt.Errorf("--schedules: found %d, expected at least 1 (or 0 for no bound)", v.schedules), "")
	case v.states < 0:
		return cli.Usage(fmt.Errorf("--states: found %d, expected at least 1 (or 0 for no bound)", v.states), "")
	case v.time < 0:
		return cli.Usage(fmt.Errorf("--time: found %v, expected more than 0s (or 0s for no bound)", v.time), "")
	}
	if v.from != "" {
		if v.to != "" {
			return cli.Usage(errors.New("prove: found --certificate and --verify, expected one of them"), "")
		}
		file, err := os.ReadFile(v.from)
		if err == nil {
			v.against, err = campaign.ReadCertificate(file)
		}
		if err != nil {
			return cli.Usage(fmt.Errorf("--verify %s: %w", v.from, err),
				"isr-sim prove --certificate FILE SCENARIO writes one")
		}
	}
	defer v.program.Close()
	p, scenarios, names, err := v.program.Load(&v.Results, names)
	if err != nil {
		return err
	}
	if len(scenarios) > 1 && v.to+v.from+v.kept != "" {
		return cli.Usage(fmt.Errorf("prove: found %d scenarios with --certificate, --verify or --resume, expected one",
			len(scenarios)), "")
	}
	if err := v.Ready(len(scenarios) > 1); err != nil {
		return err
	}
	for _, to := range []struct{ flag, file string }{{"--certificate", v.to}, {"--resume", v.kept}} {
		if to.file == "" {
			continue
		}
		if err := atomicfile.Check(to.file); err != nil {
			return cli.Usage(fmt.Errorf("%s: %w", to.flag, err), "a file in a folder that is there")
		}
	}
	defer heap.CollectRarely()()
	fmt.Fprintf(v.Out, "seed %d\n%s\n", v.seed, prose.ProofHeader())
	return cli.InTurn(ctx, v.Out, scenarios,
		func(i int) (*campaign.Report, int, error) { return v.one(ctx, scenarios[i], names[i], p) })
}

// one searches one scenario and returns its exit code. The report is nil if a run broke off. An error ends the command.
func (v *proveCommand) one(
	ctx context.Context, s *spec.Scenario, name string, p isr.Protocol,
) (*campaign.Report, int, error) {
	ctx, stop := cli.Within(ctx, v.time, fmt.Errorf("the bound of %v of time was met", v.time))
	defer stop()
	var far atomic.Pointer[exhaustive.Explored]
	far.Store(&exhaustive.Explored{})
	remove := progress.Search(v.stderr,
		func() string { return fmt.Sprintf("searching %s: %s", s.Name, prose.Searched(*far.Load())) })
	proof, err := v.program.Resume(func(v campaign.Prove) (*campaign.Proof, error) { return v.Run(ctx) },
		campaign.Prove{
			Scenario: s, Protocol: p, Seed: v.seed, MaxSchedules: v.schedules, MaxStates: v.states,
			Forgetful: v.program.Forgets(), Certify: v.to != "", Against: v.against,
			Progress: func(e exhaustive.Explored) { far.Store(&e) },
		}, v.kept, v.stderr)
	remove()
	if v.BrokeOff(err, s, p.Name, name) {
		return nil, cli.ExitUnknown, nil
	}
	if err != nil && (proof == nil || proof.Failure == nil) {
		return nil, 0, cli.Coded(err)
	}
	v.Lose(err) // saving the search may fail; what was found stays found
	fmt.Fprint(v.Out, prose.Proof(proof)+v.program.Real())
	if proof.Explored.Complete && v.from != "" && proof.Passed() {
		fmt.Fprintf(v.Out, "%s holds: no step leads out of its %d states\n", v.from, proof.Explored.States)
	}
	why := v.explain(proof, name, v.met(ctx, proof.Explored))
	if why != "" {
		fmt.Fprintf(v.Out, "\n%s\n", why)
	}
	v.Campaign(ctx, nil, &proof.Report, name, results.OfProof(proof, shell.Program(), shell.Quote(name), why))
	if v.to != "" && proof.Explored.Complete && proof.Passed() {
		if err := flags.Certify(v.Out, v.to, proof); err != nil {
			return nil, 0, err
		}
	}
	return &proof.Report, cli.CodeOf(proof.Passed(), proof.Verdict), nil
}

// met names the bounds of the command that a search reached.
func (v *proveCommand) met(ctx context.Context, e exhaustive.Explored) string {
	var all []string
	if v.schedules > 0 && e.Schedules >= v.schedules {
		all = append(all, fmt.Sprintf("--schedules %d", v.schedules))
	}
	if v.states > 0 && e.States >= v.states {
		all = append(all, fmt.Sprintf("--states %d", v.states))
	}
	if v.time > 0 && ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.Canceled) {
		all = append(all, fmt.Sprintf("--time %v", v.time))
	}
	return strings.Join(all, " and ")
}

// explain returns the details that the row does not show, and the next commands. The parameter met names the bounds
// that were reached.
func (v *proveCommand) explain(proof *campaign.Proof, name, met string) string {
	open := proof.Verdict == invariant.Unknown && proof.Doubt == nil
	why := prose.Report(&proof.Report, shell.Program(), shell.Quote(name))
	switch {
	case proof.Vacuous() && len(proof.Missing) > 0 && proof.Protocol.Name != proof.Scenario.Protocol:
		why += otherProtocol(&proof.Report)
	case proof.Vacuous() && len(proof.Unreached()) > 0 && proof.Scenario.Bounds.Ticks == 0:
		why += "hint: one tick has time go to the end of any lease at any moment (bounds: {ticks: 1}), as in " +
			"prove-two-writers\n"
	case proof.Vacuous():
		why +=
			"hint: these were all schedules; wider bounds in the scenario reach more (ticks, sweeps, crashes, faults)\n"
	case proof.Verdict == invariant.OK && !proof.Passed():
		why += fmt.Sprintf("expected %s: no schedule of %s under %s violates an invariant\n", proof.Scenario.Expect,
			proof.Scenario.Name, proof.Protocol.Name)
	case open && met != "" && v.kept != "":
		again := "the same command"
		if !strings.HasPrefix(met, "--time") { // with --time the search begins anew
			again += " with more"
		}
		why += fmt.Sprintf("hint: %s ended the search, which is in %s: %s goes on with it\n", met, v.kept, again)
	case open && met != "":
		why += fmt.Sprintf("hint: %s ended the search: more lets it go on, and --resume FILE keeps what it has "+
			"done; %s\n", met, prose.Bounds(proof.Scenario))
	case open && v.from != "":
		why += "hint: code that has changed, and another version of isr-sim, come to other states: --certificate " +
			"writes them anew\n"
	case open && kept(v.kept):
		why += fmt.Sprintf("hint: the same command goes on with the search, which is in %s\n", v.kept)
	case open:
		why += fmt.Sprintf("hint: %s\n", prose.Bounds(proof.Scenario))
	case proof.Verdict == invariant.Unknown && proof.Explored.TooLong > 0:
		steps := proof.Scenario.Bounds.Steps
		why += fmt.Sprintf("hint: the scenario's bound of %d steps cut %d schedules: more lets them end (bounds: "+
			"{steps: %d}), unless the code never does\n",
			steps, proof.Explored.TooLong, 2*steps)
	}
	return why
}

// kept reports whether an interrupted search left its file. Within its first seconds it may leave none.
func kept(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
