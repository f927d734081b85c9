// Package calls is the subject of idempotent calls: scripts call a layer that makes an effect happen once for each key.
package calls

import (
	"maps"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// Subject is the subject of idempotent calls.
type Subject struct{}

// Name implements subject.Subject.
func (Subject) Name() string { return "calls" }

// Verbs implements subject.Subject.
func (Subject) Verbs() []subject.Verb {
	return []subject.Verb{{
		Name: verb, Form: "once KEY with PAYLOAD", Example: "order-7 with a",
		Parse: func(words []string, c *subject.Command) (expected string) {
			if len(words) != 3 || words[1] != "with" {
				return "once KEY with PAYLOAD"
			}
			c.Key, c.Inputs = words[0], words[2]
			return ""
		},
		Words: func(c subject.Command) string { return c.Key + " with " + c.Inputs },
		Do:    once,
	}}
}

const verb = "once"

// Marks implements subject.Subject.
func (Subject) Marks() []string {
	return []string{
		mark.CallAnswered, mark.CallRepeated, mark.CallContended, mark.CallTakenOver, mark.CallOtherPayload,
		mark.EffectAgain,
	}
}

// Basic implements subject.Subject.
func (Subject) Basic() [][]string { return [][]string{{mark.CallAnswered}} }

// Invariants implements subject.Subject.
func (Subject) Invariants() []invariant.Invariant { return invariant.OfCalls() }

// Asks implements subject.Subject.
func (Subject) Asks(k history.Kind) bool { return k == mark.EventCallAsked }

// Judged implements subject.Subject.
func (Subject) Judged() subject.Judged { return subject.Judged{Times: true} }

// Memories implements subject.Subject. The invariants have one memory.
func (Subject) Memories(p subject.Past) []recorder.Memory {
	return []recorder.Memory{invariants[0].Memory(p.Promise)}
}

var invariants = invariant.OfCalls()

// New implements subject.Subject.
func (Subject) New(w subject.World) subject.State { return &state{world: w} }

// times are the durations of a scenario as a layer knows them.
type times struct {
	inProgress time.Duration // how long a call counts as in progress
	kept       time.Duration // how long a result is kept
	effect     time.Duration // how long an effect takes
}

func timesOf(w subject.World) times {
	t := w.Times()
	return times{inProgress: t.Lease, kept: t.Retention, effect: t.Render}
}

// state is what a world knows about the calls of its scripts.
type state struct {
	subject.Stateless
	world subject.World
	terms *promise.OnceTerms // what the layer promises; nil until a call was made
	keys  map[string]*keyed
}

// keyed counts the calls with a key.
type keyed struct {
	open  int // calls under way; a call of a crashed node stays among them
	begun int // how many of these calls have an effect that has begun
	told  bool
}

// of returns the state of a node's world. Remembered code may have begun in an earlier run, with another state.
func of(n subject.Node) *state {
	s, _ := n.World().State().(*state)
	return s
}

// Keep implements subject.State.
func (s *state) Keep() (back func()) {
	terms, keys := s.terms, clone(s.keys)
	return func() { s.terms, s.keys = terms, clone(keys) }
}

func clone(keys map[string]*keyed) map[string]*keyed {
	all := maps.Clone(keys)
	//isrsim:unordered each by itself
	for key, calls := range all {
		same := *calls
		all[key] = &same
	}
	return all
}

func (s *state) at(key string) *keyed {
	if s.keys == nil {
		s.keys = map[string]*keyed{}
	}
	if s.keys[key] == nil {
		s.keys[key] = &keyed{}
	}
	return s.keys[key]
}

// Visit implements subject.State: it makes the first call of each key in the scripts once more.
func (s *state) Visit(p *sim.Proc) {
	n, handler := s.world.Visitor(p, "", 1, map[string]int{})
	client := subject.Able[hooks.OnceClient](n, handler, verb)
	until, visited := p.Now().Add(s.world.Times().Settle), map[string]bool{}
	for _, c := range s.world.Commands() {
		if c.Verb != verb || visited[c.Key] {
			continue
		}
		visited[c.Key] = true
		for !callOnce(n, client, c) && p.Now().Before(until) {
			_ = n.Sleep(n.Life(), max(s.world.Times().Poll, 1))
		}
	}
}

// GiveUp implements subject.State.
func (*state) GiveUp(last history.Event) (history.Event, bool) {
	waits := last.Kind == mark.EventCallAsked
	last.Kind = mark.EventCallRefused
	return last, waits
}

// Evidence implements subject.State.
func (s *state) Evidence(ev *invariant.Evidence) {
	ev.Once, ev.Retention = s.terms, timesOf(s.world).kept
}
