// Package locks is the subject of locks: scripts hold them, and write to what they guard.
package locks

import (
	"maps"

	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// Subject is the subject of locks.
type Subject struct{}

// Name implements subject.Subject.
func (Subject) Name() string { return "locks" }

// Verbs implements subject.Subject.
func (Subject) Verbs() []subject.Verb {
	return []subject.Verb{{
		Name: "hold", Form: "hold LOCK for DURATION", Example: "job for 3s",
		Parse: func(words []string, c *subject.Command) (expected string) {
			if len(words) != 3 || words[1] != "for" {
				return "hold LOCK for DURATION"
			}
			c.Key = words[0]
			return subject.ParseFor(words[2], c)
		},
		Words: func(c subject.Command) string { return c.Key + " for " + c.For.String() },
		Do:    hold,
	}}
}

// Marks implements subject.Subject.
func (Subject) Marks() []string {
	return []string{
		mark.HoldTaken, mark.HoldContended, mark.HoldTakenOver, mark.HoldLost, mark.HoldExtended,
		mark.GuardedWritten, mark.GuardedRefused, mark.GuardedLate,
	}
}

// Basic implements subject.Subject.
func (Subject) Basic() [][]string { return [][]string{{mark.HoldTaken}} }

// Invariants implements subject.Subject.
func (Subject) Invariants() []invariant.Invariant { return invariant.OfLocks() }

// Asks implements subject.Subject.
func (Subject) Asks(k history.Kind) bool { return k == mark.EventLockAsked }

// Judged implements subject.Subject.
func (Subject) Judged() subject.Judged { return subject.Judged{Times: true} }

// Memories implements subject.Subject. The invariants have one memory.
func (Subject) Memories(p subject.Past) []recorder.Memory {
	return []recorder.Memory{invariants[0].Memory(p.Promise)}
}

var invariants = invariant.OfLocks()

// New implements subject.Subject.
func (Subject) New(w subject.World) subject.State { return &state{world: w} }

// state is what a world knows about the locks of its scripts.
type state struct {
	subject.Stateless
	world subject.World
	known
}

type known struct {
	terms *promise.LockTerms // what the lock promises; nil until somebody has asked for a lock
	// holders has, by lock, the nodes that have it, as far as their clients know, and how many times.
	holders map[string]map[string]int
	tokens  map[string]int64 // the largest token that each guarded resource has seen
	writers map[string]int   // by lock: the turn of the hold that wrote last
	turns   map[string]int   // by the id of a hold: its place among all holds
}

// of returns the state of a node's world. Remembered code may have begun in an earlier run, with another state.
func of(n subject.Node) *state {
	s, _ := n.World().State().(*state)
	return s
}

// Keep implements subject.State.
func (s *state) Keep() (back func()) {
	was := s.known.clone()
	return func() { s.known = was.clone() }
}

func (k *known) clone() known {
	holders := maps.Clone(k.holders)
	//isrsim:unordered each by itself
	for key, of := range holders {
		holders[key] = maps.Clone(of)
	}
	return known{k.terms, holders, maps.Clone(k.tokens), maps.Clone(k.writers), maps.Clone(k.turns)}
}

// Visit implements subject.State: it takes every lock and releases it.
func (s *state) Visit(p *sim.Proc) {
	n, handler := s.world.Visitor(p, "", 1, map[string]int{})
	client, times := subject.Able[hooks.LockClient](n, handler, "hold"), s.world.Times()
	until := p.Now().Add(times.Settle)
	for _, lock := range s.world.Keys() {
		for {
			if h := take(n, client, lock.Name); h != nil {
				h.release()
				break
			}
			if !p.Now().Before(until) {
				break
			}
			_ = n.Sleep(n.Life(), max(times.Poll, 1))
		}
	}
}

// GiveUp implements subject.State.
func (*state) GiveUp(last history.Event) (history.Event, bool) {
	waits := last.Kind == mark.EventLockAsked
	last.Kind = mark.EventLockRefused
	return last, waits
}

// Evidence implements subject.State.
func (s *state) Evidence(ev *invariant.Evidence) { ev.Lock = s.terms }

// take notes that a node has the lock, by the id of its hold.
func (s *state) take(key, node, id string) {
	if s.turns == nil {
		s.turns = map[string]int{}
	}
	s.turns[id] = len(s.turns) + 1
	s.add(key, node, 1)
}

func (s *state) add(key, node string, n int) {
	if s.holders == nil {
		s.holders = map[string]map[string]int{}
	}
	if s.holders[key] == nil {
		s.holders[key] = map[string]int{}
	}
	if s.holders[key][node] += n; s.holders[key][node] <= 0 {
		delete(s.holders[key], node)
	}
}

// others says whether another node has the lock, as far as that node's client knows. A crashed node still counts as
// having it.
func (s *state) others(key, node string) bool {
	of := s.holders[key]
	return len(of) > 1 || len(of) == 1 && of[node] == 0
}
