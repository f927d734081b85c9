package locks

import (
	"fmt"

	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// guardedWrite is a write to the resource that a lock guards. It goes through the network like any request. If the
// writers have fencing tokens, the resource refuses a token that is smaller than one that it has seen.
type guardedWrite struct {
	subject.Sent
	held    *held
	token   int64
	fenced  bool
	refused bool
}

// guardedObject names, in accesses, a guarded resource.
const guardedObject = "guarded"

func (*guardedWrite) Outcomes() []int { return subject.Ordinary }

func (g *guardedWrite) Accesses(int) []sim.Access {
	return []sim.Access{{Object: sim.ObjectNamed(guardedObject, g.held.key), Write: true},
		{Object: sim.Told, Write: true}}
}

func (g *guardedWrite) Apply(int) {
	h := g.held
	w, l := h.node.World(), of(h.node)
	if l.tokens == nil {
		l.tokens, l.writers = map[string]int64{}, map[string]int{}
	}
	kind := history.Kind(mark.EventGuardedWrite)
	g.refused = false
	if seen, any := l.tokens[h.key]; g.fenced && any && g.token < seen {
		g.refused, kind = true, mark.EventGuardedRefused
		w.Mark(mark.GuardedRefused)
	} else {
		if g.fenced {
			l.tokens[h.key] = g.token
		}
		w.Mark(mark.GuardedWritten)
		if l.turns[h.id] < l.writers[h.key] {
			w.Mark(mark.GuardedLate)
		}
		l.writers[h.key] = max(l.writers[h.key], l.turns[h.id])
	}
	var e history.Event
	if g.Noted() {
		e = subject.EventOf(history.Event{Kind: kind, Key: h.key}, g.Facts(h.node), nil)
	} else {
		e = h.event(kind, nil)
	}
	e.Time, e.Actor, e.Change = h.node.Proc().Now(), h.node.Proc().Name(), w.LastChange()
	w.Add(e)
}

func (g *guardedWrite) Describe(int) string {
	text := "writes what is guarded by lock " + g.held.key
	if g.fenced {
		text += fmt.Sprintf(" with token %d", g.token)
	}
	return text + " -> " + g.DescribeAnswer()
}

func (g *guardedWrite) DescribeAnswer() string {
	if g.refused {
		return "refused: a larger token was seen"
	}
	return "written"
}

// AnswerFingerprint implements sim.Fingerprinter. What the resource has seen follows from the answers to clients.
func (g *guardedWrite) AnswerFingerprint() (uint64, bool) {
	if g.refused {
		return 1, true
	}
	return 0, true
}

// Asks implements sim.Remembered.
func (g *guardedWrite) Asks() string {
	return fmt.Sprintf("to write what lock %s guards, %v", g.held.key, g.Sent)
}

// Answer implements sim.Remembered.
func (g *guardedWrite) Answer() any { return g.refused }

// Tell implements sim.Remembered.
func (g *guardedWrite) Tell(answer any) (same bool) {
	g.refused, same = answer.(bool)
	return same
}

func (g *guardedWrite) SortKey() string { return "guarded " + g.held.key }
