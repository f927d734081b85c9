package worlds

import (
	"time"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
)

// ActorNames are the names of the nodes, in order.
var ActorNames = []string{"alice", "bob", "carol", "dave"}

// Pick draws one of the values; the first is the simplest.
func Pick[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}

// Actors draws the nodes.
func Actors(t *rapid.T, s *spec.Scenario, one *rapid.Generator[spec.Actor]) {
	s.Actors = rapid.SliceOfN(one, 2, len(ActorNames)).Draw(t, "actors")
	for i := range s.Actors {
		s.Actors[i].Name = ActorNames[i]
	}
}

// LagAfter is the lag of a TTL that deletes rows late.
const LagAfter = 10 * time.Minute

// Lag draws when TTL deletes rows.
func Lag(t *rapid.T) spec.Lag {
	return Pick(t, "ttl lag",
		spec.Lag{Fixed: ddbfake.LagNever},
		spec.Lag{Scheduler: true},
		spec.Lag{Scheduler: true},
		spec.Lag{Fixed: ddbfake.LagAtOnce},
		spec.Lag{Fixed: ddbfake.LagFixed(LagAfter)},
		spec.Lag{Fixed: ddbfake.LagUniform(0, LagAfter)},
	)
}

// Clocks draws how the nodes' clocks differ from true time. In a run of at most the length longest, they differ at no
// moment by more than the promised skew.
func Clocks(t *rapid.T, s *spec.Scenario, longest time.Duration) {
	if s.Skew == 0 {
		return
	}
	for i := range s.Actors {
		a, e := &s.Actors[i], s.Skew
		if Pick(t, a.Name+": slow", false, true) {
			e = -e
		}
		switch Pick(t, a.Name+": clock", "exact", "offset", "step", "two steps", "drift") {
		case "offset":
			a.Drift.Offset = e
		case "step":
			a.ClockSteps = []time.Duration{e}
		case "two steps":
			a.ClockSteps = []time.Duration{e, -2 * e}
		case "drift":
			a.Drift.PPM = int64(e) / int64(longest/1e6)
		}
	}
}

// ShortPages ends pages of queries early. It excuses nothing: code that gets such a page can ask for the next one at
// once.
var ShortPages = spec.Fault{Fault: ddbfake.Fault{Kind: ddbfake.FaultShortPage, Times: 3}, Maybe: true}

// Sleep is a command that waits.
func Sleep(d time.Duration) spec.Command { return spec.Command{Verb: "sleep", For: d} }

// Outage is a command that fails after another node has done something. A fault that the schedule may place would
// rarely strike all attempts that an SDK makes of such a command.
type Outage struct {
	First   spec.Command  // of the node whose later command fails: what it learns may be outdated then
	Takes   time.Duration // how long the first command takes
	After   time.Duration // until the other node may do something
	Between spec.Command  // what the other node does
	Lasts   time.Duration // how long that takes
	Then    spec.Command  // the command that fails
}

// Draw puts the outage before the scripts of the first two nodes. The fault's number selects one request of the failing
// command; the request fails in all attempts of the SDK. It may be sent while the other node's command is still in
// progress.
func (o Outage) Draw(t *rapid.T, s *spec.Scenario) {
	const second = time.Second
	wait := second + o.After + Pick(t, "the other is done", o.Lasts+second, o.Lasts/2)
	s.Actors[0].Script = append([]spec.Command{o.First, Sleep(wait), o.Then}, s.Actors[0].Script...)
	s.Actors[1].Script = append([]spec.Command{Sleep(o.Takes + second + o.After), o.Between},
		s.Actors[1].Script...)
	s.Faults = append(s.Faults, spec.Fault{
		Fault: ddbfake.Fault{
			Kind: Pick(t, "outage's fault", ddbfake.FaultErrorBefore, ddbfake.FaultRequestLost, ddbfake.FaultThrottled,
				ddbfake.FaultResponseLost, ddbfake.FaultErrorAfter),
			Actor: ActorNames[0], Nth: Pick(t, "outage's request", 0, 0, 0, 2, 3, 4), Times: s.Cache.Attempts,
		},
		From: o.Takes + second/2,
	})
}
