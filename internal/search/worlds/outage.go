package worlds

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/kernel"
)

// outage is a command that fails after another node has done something. A fault that the schedule may place would
// rarely strike all attempts that an SDK makes of such a command.
type outage struct {
	first   kernel.Command // of the node whose later command fails: what it learns may be outdated then
	takes   time.Duration  // how long the first command takes
	after   time.Duration  // until the other node may do something
	between kernel.Command // what the other node does
	lasts   time.Duration  // how long that takes
	then    kernel.Command // the command that fails
}

// draw puts the outage before the scripts of the first two nodes. The fault's number selects one request of the failing
// command; the request fails in all attempts of the SDK. It may be sent while the other node is still at its command.
func (o outage) draw(t *rapid.T, s *kernel.Scenario) {
	const second = time.Second
	sleep := func(d time.Duration) kernel.Command { return kernel.Command{Verb: "sleep", For: d} }
	wait := second + o.after + pick(t, "the other is done", o.lasts+second, o.lasts/2)
	s.Actors[0].Script = append([]kernel.Command{o.first, sleep(wait), o.then}, s.Actors[0].Script...)
	s.Actors[1].Script = append([]kernel.Command{sleep(o.takes + second + o.after), o.between},
		s.Actors[1].Script...)
	s.Faults = append(s.Faults, kernel.Fault{
		Fault: ddbfake.Fault{
			Kind: pick(t, "outage's fault", ddbfake.FaultErrorBefore, ddbfake.FaultRequestLost, ddbfake.FaultThrottled,
				ddbfake.FaultResponseLost, ddbfake.FaultErrorAfter),
			Actor: ActorNames[0], Nth: pick(t, "outage's request", 0, 0, 0, 2, 3, 4), Times: s.Cache.Attempts,
		},
		From: o.takes + second/2,
	})
}

// ofPage is an outage of a page's cache.
func ofPage(t *rapid.T, s *kernel.Scenario, key string, verbs []kernel.Verb) outage {
	get := kernel.Command{Verb: "get", Key: key}
	o := outage{first: get, takes: s.Cache.Render, between: get, lasts: s.Cache.Render, then: get}
	if len(verbs) > 0 {
		o.between = ask(t, key, append([]kernel.Verb{"get"}, verbs...)...)
		o.then = ask(t, key, append([]kernel.Verb{"get", "get", "get"}, verbs...)...)
	}
	if slices.Contains(verbs, "invalidate") && pick(t, "an invalidation in between", true, false) {
		o.between = kernel.Command{Verb: "invalidate", Key: key}
		s.Cache.Revalidate = kernel.Defaults().Cache.Revalidate // what is remembered of the page is still fresh
	}
	if o.between.Verb == "get" {
		o.after = s.Cache.Revalidate + 2*s.Skew // until then the other node finds the page fresh
	}
	return o
}
