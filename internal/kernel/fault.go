package kernel

import (
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/sim"
)

// takesEffect reports whether a write takes effect, at least in part, if this kind of fault hits it.
func takesEffect(k ddbfake.FaultKind) bool {
	switch k {
	case ddbfake.FaultResponseLost, ddbfake.FaultErrorAfter, ddbfake.FaultDuplicate, ddbfake.FaultUnprocessed:
		return true
	}
	return false
}

// countedHere says whether the world, and not the store itself, decides when a certain fault of the store strikes.
func (w *world) countedHere(f *spec.Fault) bool {
	return f.Lasts() || f.Latency > 0 || w.byRole(f.Fault) || w.ofObjects(f)
}

// certainFault is a fault that strikes when its time has come.
type certainFault struct {
	fault    spec.Fault
	declared int // its place among the scenario's faults
	calls    int // calls so far that it could strike; if the store itself counts, only if the fingerprint needs them
}

// meets counts a call that the fault could strike, and says whether it is its turn.
func (f *certainFault) meets() bool {
	first, times := max(f.fault.Nth, 1), f.fault.Strikes()
	if times != ddbfake.Always || f.calls < first { // counting further makes no difference
		f.calls++
	}
	return f.calls >= first && (times == ddbfake.Always || f.calls < first+times)
}

// struckBy returns the first certain fault that strikes a call to the store, or nil. It looks only at faults for which
// the world counts calls. If delays is true it looks at faults that delay answers, and otherwise at all others.
func (w *world) struckBy(c ddbfake.Call, delays bool) *spec.Fault {
	for i := range w.certain {
		f := &w.certain[i]
		if !f.fault.OfStore() || delays != (f.fault.Latency > 0) || !w.countedHere(&f.fault) ||
			!w.canStrike(&f.fault, c) {
			continue
		}
		w.meet(f.declared)
		if f.meets() {
			return &f.fault
		}
	}
	return nil
}

// canStrike says whether a fault can strike a call to the store that takes effect now.
func (w *world) canStrike(f *spec.Fault, c ddbfake.Call) bool {
	return f.OfStore() && f.During(w.since()) && w.matches(f.Fault, c)
}

// since is the true time since the run began.
func (w *world) since() time.Duration { return w.clock.Now().Sub(w.start) }

// countCall counts a call to the store for the certain faults whose calls the store itself counts, too. Like the store,
// it does not count a call that one fault hit for later faults.
func (w *world) countCall(c ddbfake.Call) {
	if c.Fault != nil {
		return
	}
	for i := range w.certain {
		f := &w.certain[i]
		if f.fault.OfStore() && !w.countedHere(&f.fault) && w.matches(f.fault.Fault, c) && f.meets() {
			return
		}
	}
}

// latencies is the suffix of the names that number a node's delays.
const latencies = "-latency"

// delay is how long the fault delays an answer to the node.
func (w *world) delay(f *spec.Fault, n *node) time.Duration {
	span := f.LatencyUpTo - f.Latency
	if span < time.Millisecond {
		return f.Latency
	}
	// Each delay is drawn from a separate random stream, so it does not depend on the order of different nodes'
	// requests.
	rng := sim.Stream(w.seed, w.NextID(n.proc.Name()+latencies))
	return f.Latency + time.Duration(rng.Int64N(int64(span/time.Millisecond)+1))*time.Millisecond
}

// windows returns the times at which the window of some fault begins or ends.
func windows(s *spec.Scenario) (ends []time.Duration) {
	for _, f := range s.Faults {
		for _, end := range []time.Duration{f.From, f.To} {
			if end > 0 {
				ends = append(ends, end)
			}
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}
