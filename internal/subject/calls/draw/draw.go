// Package draw draws the worlds of idempotent calls.
package draw

import (
	"cmp"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

// Calls are idempotency layers.
var Calls = &worlds.Subject{
	Verb: "once", Fill: fill, Settle: settle, Wrong: wrong, UnderTest: "calls-under-test",
	Reach: []spec.Mark{
		mark.CallAnswered, mark.CallRepeated, mark.CallContended, mark.CallTakenOver, mark.EffectAgain,
		mark.OriginFailed, mark.NodePaused, mark.NodeCrashed, mark.ClockSet, worlds.ResponseLost,
	},
	Proof:   []spec.Mark{mark.CallAnswered, mark.CallContended, mark.CallRepeated},
	Nothing: "no call was answered",
	Program: worlds.Program{
		Flag: "once", Named: "idempotent calls", InGo: "property.OnceCheck", Hint: "docs/NODES.md says what that is",
		Usage: "the program is an idempotency layer: machines make the same calls (docs/NODES.md)",
		Flags: []string{"lease", "retention"}, Lacks: "calls have no pages",
	},
}

// inProgress returns how long a call may count as in progress. It leaves out the longest usual lease, because an effect
// lasts longer.
func inProgress(e worlds.Extras) []time.Duration { return worlds.Or(e.Leases, worlds.Leases()[:3]...) }

// wrong does what WrongLease does, for the terms of calls.
func wrong(e worlds.Extras) (field, why string) {
	if field, why = e.WrongLease(); field == "Leases" {
		return "InProgress", why
	}
	for _, d := range e.Retentions {
		if most := slices.Max(inProgress(e)); d < 2*most && field == "" {
			return "Retentions", d.String() + " is less than two times the longest InProgress, " + most.String()
		}
	}
	return field, why
}

func fill(t *rapid.T, s *spec.Scenario, c worlds.Extras) {
	in := &s.Cache
	in.Lease = worlds.Pick(t, "in progress", inProgress(c)...)
	in.Retention = worlds.Pick(t, "retention", worlds.Or(c.Retentions, time.Hour, time.Minute)...)
	// An effect may take longer than the time for which a call counts as in progress.
	in.Render = worlds.Pick(t, "effect", 0, 300*time.Millisecond, in.Lease/2, in.Lease+time.Second)
	worlds.Tries(t, s)
	if worlds.Pick(t, "the effect may fail", false, true) {
		s.Faults = append(s.Faults, spec.Fault{
			Dependency: mark.OriginFailed, Fault: ddbfake.Fault{Times: worlds.Pick(t, "how often", 0, 2)}, Maybe: true,
		})
	}
	if op := worlds.Pick(t, "outage", "", "UpdateItem", "", "PutItem", "", "DeleteItem"); op != "" {
		// The outage outlasts the attempts of an SDK, but not the layer's reaction to it.
		s.Faults = append(s.Faults, spec.Fault{
			Fault: ddbfake.Fault{Kind: worlds.Pick(t, "outage's fault", ddbfake.FaultErrorBefore,
				ddbfake.FaultRequestLost), Op: op, Times: 4}, Maybe: true,
		})
	}
	crashes := worlds.Pick(t, "who may crash", 0, 1)
	keys := worlds.Keys(t, "order-7", "order-8", "Order-7", "order-70")
	payloads := []string{"a"}
	if c.Payload {
		payloads = []string{"a", "a", "b"}
	}
	worlds.Scripted(t, s, crashes, rapid.Custom(func(t *rapid.T) spec.Command {
		once := spec.Command{
			Verb: "once", Key: worlds.Pick(t, "key", keys...), Inputs: worlds.Pick(t, "payload", payloads...),
		}
		return worlds.Pick(t, "command", once, once, worlds.Sleep(900*time.Millisecond), once,
			worlds.Sleep(in.Lease+time.Second), once, worlds.Sleep(in.Retention+2*time.Second))
	}))
	once := spec.Command{Verb: "once", Key: keys[0], Inputs: payloads[0]}
	if worlds.Pick(t, "fails at each attempt", false, false, true) {
		worlds.Outage{First: once, Takes: in.Render, Between: once, Lasts: in.Render, Then: once}.Draw(t, s)
	}
	if len(worlds.NamesOf(s, "once")) == 0 { // without a call nothing could be judged
		s.Actors[0].Script = append(s.Actors[0].Script, once)
	}
	worlds.Late(t, s, "once", 2*in.Lease+in.Render, in.Retention)
}

// settle returns the time within which each call must have a result, from the end of a world's faults.
func settle(s *spec.Scenario, e worlds.Extras) time.Duration {
	in := s.Cache
	each := 2*in.Lease + 2*in.Render + cmp.Or(e.Takeover, in.Lease) + cmp.Or(e.Wait, hooks.DefaultWait) + in.Poll +
		6*s.Skew + s.ReplicaLag + 3*time.Second
	return time.Duration(len(worlds.NamesOf(s, "once"))) * each
}
