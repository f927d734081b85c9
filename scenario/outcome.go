package scenario

import (
	"fmt"
	"io"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// Outcome is the result of a run.
type Outcome struct {
	Result    sim.Result
	Verdict   invariant.Verdict
	Violation *Violation // the first one, if the verdict is violated
	Broken    []string   // the names of all violated invariants, in the order of invariant.All
	Why       string     // for the verdict unknown
	Marks     []Mark     // the marks that were reached, in the order of Marks
	Unmet     []Fault    // declared faults that no call of the run could meet
	// Misfit says why Scenario.Rows does not fit the rows that were written, and names some of them. It is empty if it
	// does, or if no row was written. A run whose rows do not fit is not violated: its verdict is unknown.
	Misfit string
	// Metrics are what the store has counted, under the names that an operator knows from CloudWatch. The making of the
	// tables is not counted.
	Metrics []ddbfake.Metrics
	// Digest is the beginning of the trace's SHA-256, eight hexadecimal digits; "" if the run was not traced.
	Digest string

	protocol string
	swarm    bool
	seen     invariant.Evidence
	whole    bool     // seen is everything, and not only the operations
	out      []string // names of invariants that the scenario leaves out
}

// Replay returns everything that is needed to run the schedule again.
func (o *Outcome) Replay() Replay {
	r := Replay{Protocol: o.protocol, Seed: o.Result.Seed, Choices: o.Result.Choices, Swarm: o.swarm, Digest: o.Digest}
	if o.Violation != nil {
		r.Violates = o.Violation.Invariant.Name
	}
	return r
}

// Violation is a broken invariant and the few things that show it.
type Violation struct {
	Invariant invariant.Invariant
	Why       string
	Lines     []string // the events, in order of time
}

// BrokenError says that a run broke off and has no verdict: the protocol could not be set up or its code panicked
// (*sim.PanicError), a recorded schedule does not fit (*sim.DivergedError), or a second run of it had another result
// (*scenario.NondeterminismError).
type BrokenError struct {
	Scenario, Protocol string
	Swarm              bool       // as in Run
	Result             sim.Result // how far it came: enough to break it again
}

// Replay returns everything that is needed to run the schedule again.
func (e *BrokenError) Replay() Replay {
	return Replay{Protocol: e.Protocol, Seed: e.Result.Seed, Choices: e.Result.Choices, Swarm: e.Swarm}
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("scenario %s, protocol %s, seed %d: %v", e.Scenario, e.Protocol, e.Result.Seed, e.Result.Err)
}

// Unwrap returns the error on which the run broke off.
func (e *BrokenError) Unwrap() error { return e.Result.Err }

// Visualize writes a page of HTML with every node's operations on its store, and with the longest orders that explain
// their answers.
func (o *Outcome) Visualize(out io.Writer) error { return invariant.Visualize(o.seen, out) }

// Evidence returns everything that the run saw, for checks of the caller's own: change log, history, operations, bodies,
// and the scenario's promises. It is only to be read. False says that it was not kept: a campaign makes run after run in
// the same memory. To have it of one of them, make that run by itself: Run.Do with the seed, and sim.Replay of the choices,
// of Outcome.Replay.
func (o *Outcome) Evidence() (ev invariant.Evidence, kept bool) {
	if !o.whole {
		return invariant.Evidence{}, false
	}
	return o.seen, true
}

// Explain prints the verdict, and of a violation the invariant with its statement and the few events that show it.
func (o *Outcome) Explain(scenario, protocol string) string {
	var b strings.Builder
	switch o.Verdict {
	case invariant.Violated:
		o.Violation.print(&b, scenario, protocol)
	case invariant.Unknown:
		fmt.Fprintf(&b, "unknown: %s under %s: %s\n", scenario, protocol, o.Why)
	case invariant.OK:
		fmt.Fprintf(&b, "ok: %s under %s\n", scenario, protocol)
	}
	for _, name := range o.out {
		fmt.Fprintf(&b, "%s: not judged: left out by the scenario\n", name)
	}
	return b.String()
}

func (v *Violation) print(b *strings.Builder, scenario, protocol string) {
	fmt.Fprintf(b, "violated: %s under %s\n\n%s: %s\n%s\n\n", scenario, protocol, v.Invariant.Name, v.Invariant.Statement, v.Why)
	for _, line := range v.Lines {
		fmt.Fprintf(b, "  %s\n", line)
	}
	if v.Invariant.Name == invariant.Linearizable().Name {
		b.WriteString("\nwith --history FILE.html the replay draws what every node was told, and when\n")
	}
}
