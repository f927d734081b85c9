package worlds

import (
	"cmp"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

// Calls are idempotency layers.
var Calls = &Subject{
	Verb: "once", Draw: calls, Wrong: Extras.wrongCalls, UnderTest: "calls-under-test",
	Reach: []kernel.Mark{
		mark.CallAnswered, mark.CallRepeated, mark.CallContended, mark.CallTakenOver, mark.EffectAgain,
		mark.OriginFailed, mark.NodePaused, mark.NodeCrashed, mark.ClockSet, responseLost,
	},
	Proof: []kernel.Mark{mark.CallAnswered, mark.CallContended, mark.CallRepeated},
	Basic: mark.CallAnswered, Nothing: "no call was answered",
	Program: Program{
		Flag: "once", Named: "idempotent calls", InGo: "property.OnceCheck", Hint: "docs/NODES.md says what that is",
		Usage: "the program is an idempotency layer: machines make the same calls (docs/NODES.md)",
		Flags: []string{"lease", "retention"}, Lacks: "calls have no pages",
	},
}

// defaultRetentions are the retentions of worlds whose check names none.
func defaultRetentions() []time.Duration { return []time.Duration{time.Hour, time.Minute} }

// wrongCalls does what wrongLock does, for the terms of calls.
func (e Extras) wrongCalls() (field, why string) {
	if field, why = e.wrongLock(); field == "Leases" {
		return "InProgress", why
	}
	for _, d := range e.Retentions {
		if most := slices.Max(e.inProgress()); d < 2*most && field == "" {
			return "Retentions", d.String() + " is less than two times the longest InProgress, " + most.String()
		}
	}
	return field, why
}

func (e Extras) inProgress() []time.Duration {
	if len(e.Leases) > 0 {
		return e.Leases
	}
	return []time.Duration{10 * time.Second, 2 * time.Second, 1500 * time.Millisecond}
}

func (e Extras) retentions() []time.Duration {
	if len(e.Retentions) > 0 {
		return e.Retentions
	}
	return defaultRetentions()
}

// calls generates worlds for an idempotency layer.
func calls(name, protocol string, schedules int, c Extras) *rapid.Generator[World] {
	return rapid.Custom(func(t *rapid.T) World {
		s := begin(t, name, protocol, schedules, c)
		in := &s.Cache
		in.Lease = pick(t, "in progress", c.inProgress()...)
		in.Retention = pick(t, "retention", c.retentions()...)
		// An effect may take longer than the time for which a call counts as in progress.
		in.Render = pick(t, "effect", 0, 300*time.Millisecond, in.Lease/2, in.Lease+time.Second)
		in.Poll = pick(t, "poll", in.Lease/2, time.Second, 300*time.Millisecond)
		in.Patience = pick(t, "patience", 4, 10, 1)
		in.Attempts = pick(t, "attempts", 3, 1)
		s.Lag = drawLag(t)
		s.Skew = pick(t, "max clock skew", 0, 0, 100*time.Millisecond, in.Lease/10)
		s.Faults = drawLockFaults(t)
		if pick(t, "the effect may fail", false, true) {
			s.Faults = append(s.Faults, kernel.Fault{
				Dependency: mark.OriginFailed, Fault: ddbfake.Fault{Times: pick(t, "how often", 0, 2)}, Maybe: true,
			})
		}
		if op := pick(t, "outage", "", "UpdateItem", "", "PutItem", "", "DeleteItem"); op != "" {
			// It outlasts the attempts of an SDK, and spares what a layer does about it.
			s.Faults = append(s.Faults, kernel.Fault{
				Fault: ddbfake.Fault{Kind: pick(t, "outage's fault", ddbfake.FaultErrorBefore,
					ddbfake.FaultRequestLost), Op: op, Times: 4}, Maybe: true,
			})
		}
		crashes := pick(t, "who may crash", 0, 1)
		keys := []string{"order-7"}
		if pick(t, "keys", 1, 1, 2) > 1 {
			keys = append(keys, other(t, "order-8", "Order-7", "order-70"))
		}
		payloads := []string{"a"}
		if c.Payload {
			payloads = []string{"a", "a", "b"}
		}
		s.Actors = rapid.SliceOfN(callers(s, keys, payloads, crashes), 2, len(ActorNames)).Draw(t, "actors")
		for i := range s.Actors {
			s.Actors[i].Name = ActorNames[i]
		}
		if pick(t, "fails at each attempt", false, false, true) {
			once := kernel.Command{Verb: "once", Key: keys[0], Inputs: payloads[0]}
			outage{first: once, takes: in.Render, between: once, lasts: in.Render, then: once}.draw(t, s)
		}
		if len(callNames(s)) == 0 { // without a call nothing could be judged
			s.Actors[0].Script = append(s.Actors[0].Script,
				kernel.Command{Verb: "once", Key: keys[0], Inputs: payloads[0]})
		}
		for i := range s.Actors {
			drawClockWithin(t, s, &s.Actors[i], longestCalls(s))
		}
		s.ReplicaLag = pick(t, "replica lag", 0, 0, time.Second)
		drawInPart(t, s)
		s.Settle = c.settleCalls(s)
		return World{s}
	})
}

// callers generates nodes with their scripts, pauses and crashes.
func callers(s *kernel.Scenario, keys, payloads []string, crashes int) *rapid.Generator[kernel.Actor] {
	in := s.Cache
	sleep := func(d time.Duration) kernel.Command { return kernel.Command{Verb: "sleep", For: d} }
	commands := rapid.Custom(func(t *rapid.T) kernel.Command {
		once := kernel.Command{Verb: "once", Key: pick(t, "key", keys...), Inputs: pick(t, "payload", payloads...)}
		return pick(t, "command", once, once, sleep(900*time.Millisecond), once, sleep(in.Lease+time.Second), once,
			sleep(in.Retention+2*time.Second))
	})
	return scripted(commands, in.Lease, crashes)
}

// callNames are the keys of the scripts' calls.
func callNames(s *kernel.Scenario) []string { return namesOf(s, "once") }

// longestCalls bounds how much time a run of calls can take.
func longestCalls(s *kernel.Scenario) time.Duration {
	return longestTries(s, "once", 2*s.Cache.Lease+s.Cache.Render, s.Cache.Retention)
}

// settleCalls returns the time within which each call must have a result, from the end of a world's faults.
func (e Extras) settleCalls(s *kernel.Scenario) time.Duration {
	in := s.Cache
	each := 2*in.Lease + 2*in.Render + cmp.Or(e.Takeover, in.Lease) + cmp.Or(e.Wait, hooks.DefaultWait) + in.Poll +
		6*s.Skew + s.ReplicaLag + 3*time.Second
	return time.Duration(len(callNames(s))) * each
}
