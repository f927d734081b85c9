package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/base/inside"
	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// onceCalls is a world's knowledge of the calls of its scripts. It stays empty in worlds without calls.
type onceCalls struct {
	terms *promise.OnceTerms  // what the layer promises; nil until a call was made
	of    map[string]*callsOf // by key
}

// callsOf counts the calls with a key.
type callsOf struct {
	open  int // calls under way; a call of a crashed node stays among them
	begun int // how many of these calls have an effect that has begun
	told  bool
}

// clone returns a copy.
func (c *onceCalls) clone() onceCalls {
	of := maps.Clone(c.of)
	//isrsim:unordered each by itself
	for key, calls := range of {
		same := *calls
		of[key] = &same
	}
	return onceCalls{c.terms, of}
}

func (c *onceCalls) at(key string) *callsOf {
	if c.of == nil {
		c.of = map[string]*callsOf{}
	}
	if c.of[key] == nil {
		c.of[key] = &callsOf{}
	}
	return c.of[key]
}

// calls returns the calls of scripts, only the first one of each key. If there are calls, the run is about them, and
// not about pages.
func (s *Scenario) calls() (first []Command) {
	known := map[string]bool{}
	for _, a := range s.Actors {
		for _, c := range a.Script {
			if c.Verb == verbOnce && !known[c.Key] {
				known[c.Key] = true
				first = append(first, c)
			}
		}
	}
	return first
}

// onceCall is a call of a node's script.
type onceCall struct {
	node    *node
	command Command
	id      string
	waited  time.Duration // the time so far that was not the node's own, when the call was made
	trouble int           // how many of the node's requests had failed when the call was made
	begun   bool          // its effect
	result  string        // the result of its effect, once the effect has taken place
	done    bool          // its layer was told so
	running atomic.Int32  // how many effects the layer has begun whose end it does not know
}

// once makes the call. It repeats the call as long as the layer tells it to, up to the scenario's patience.
func (n *node) once(client hooks.OnceClient, c Command) {
	for attempt := 0; attempt < n.world.scenario.Cache.Patience; attempt++ {
		if attempt > 0 {
			_ = n.idle(n.life(), client, n.world.scenario.Cache.Poll)
			n.turn()
		}
		if n.callOnce(client, c) {
			return
		}
	}
}

// callOnce makes the call once. It returns false if the call may be made again.
func (n *node) callOnce(client hooks.OnceClient, c Command) (over bool) {
	w := n.world
	terms := client.OnceTerms()
	call := &onceCall{
		node: n, command: c, id: n.nextID(n.proc.Name() + "-once"), trouble: n.own.troubles(),
		waited: n.own.waited(n.proc.Now()),
	}
	n.proc.Tell(func() {
		w.calls.terms = &terms
		of := w.calls.at(c.Key)
		if of.open > 0 {
			w.mark(mark.CallContended)
		}
		of.open++
	})
	n.record(call.event(mark.EventCallAsked, "", nil))
	n.proc.Tell(func() {
		w.stopAround(w.scenario.Cache.Lease, promise.LeaseRounding)
		w.stopAround(w.scenario.Cache.Retention, promise.RetentionRounding)
	})
	result, err := client.Once(n.life(), c.Key, c.Inputs, call.effect)
	n.turn()
	begun := call.begun
	n.proc.Tell(func() {
		of := w.calls.at(c.Key)
		if of.open--; begun {
			of.begun--
		}
		of.told = of.told || err == nil
	})
	switch {
	case err == nil:
		n.mark(mark.CallAnswered)
		if result != call.result {
			n.mark(mark.CallRepeated)
		}
		n.record(call.event(mark.EventCallAnswered, result, nil))
	case errors.Is(err, isr.ErrOtherInputs):
		n.mark(mark.CallOtherPayload)
		n.record(call.event(mark.EventCallOther, "", err))
	default:
		n.record(call.event(mark.EventCallRefused, "", err))
		return false
	}
	return true
}

// effect makes the effect of the call happen. It takes as long as the scenario gives to a rendering. The layer is not
// to blame for that time.
func (c *onceCall) effect(ctx context.Context) (string, error) {
	n := c.node
	defer n.own.request(n.proc.Now)()
	first := !c.begun
	c.begun = true
	n.proc.Tell(func() {
		of := n.world.calls.at(c.command.Key)
		if of.begun > 0 {
			n.world.mark(mark.CallTakenOver)
		}
		if first {
			of.begun++
		}
	})
	n.turn()
	begins := c.event(mark.EventEffectBegun, "", nil)
	inside.In(&begins).Hold.Done = c.done || c.running.Load() > 0
	c.running.Add(1)
	defer c.running.Add(-1)
	n.record(begins)
	if d := n.world.scenario.Cache.Render; d > 0 {
		if err := n.sleep(ctx, d); err != nil {
			return "", err
		}
	}
	e := &effect{call: c}
	if n.proc.Remembers() {
		e.send(n, c.facts(mark.EventEffect), c.waited)
	}
	if err := n.do(ctx, e); err != nil {
		return "", err
	}
	if e.dependency == "" {
		if e.facts != nil {
			c.result = e.result
		}
		c.done = true
		return e.result, nil
	}
	err := errorOf(e.dependency)
	n.own.attempted("", n.proc.Now(), err)
	return "", err
}

// event is an event of the call.
func (c *onceCall) event(kind history.Kind, body string, err error) history.Event {
	facts := c.facts(kind)
	facts.Excused = c.node.own.waited(c.node.proc.Now()) - c.waited
	return c.eventOf(kind, body, facts, err)
}

func (c *onceCall) eventOf(kind history.Kind, body string, facts *mark.Hold, err error) history.Event {
	return eventOf(history.Event{Kind: kind, Key: c.command.Key, Inputs: c.command.Inputs, Body: body}, facts, err)
}

// facts are the facts of an event, without a time.
func (c *onceCall) facts(kind history.Kind) *mark.Hold {
	return &mark.Hold{ID: c.id, Troubled: c.node.own.troubled(c.trouble, kind == mark.EventCallRefused)}
}

// effect is the request by which an effect takes place, or fails in the same way as an origin.
type effect struct {
	dependencyCall
	toldBy
	call   *onceCall
	result string
}

// effectObject is the thing in a world that the effects of one key change.
const effectObject = "effect"

// Outcomes implements sim.Request.
func (e *effect) Outcomes() []int { return e.outcomes(e.call.node, ofOrigin) }

// Accesses implements sim.Request.
func (e *effect) Accesses(outcome int) []sim.Access {
	touched := []sim.Access{{Object: sim.ObjectNamed(effectObject, e.call.command.Key), Write: true},
		{Object: sim.Told, Write: true}}
	return withPossible(e.call.node.world.withCertain(touched), outcome)
}

// Apply implements sim.Request.
func (e *effect) Apply(outcome int) {
	c, w := e.call, e.call.node.world
	e.result = ""
	if e.meet(c.node, outcome, ofOrigin); e.dependency != "" {
		c.node.record(e.event(mark.EventEffectFailed, "", errorOf(e.dependency)))
		return
	}
	if w.calls.at(c.command.Key).told {
		w.mark(mark.EffectAgain)
	}
	e.result = w.nextID(c.node.proc.Name() + "-effect")
	if e.facts == nil {
		c.result = e.result
	}
	c.node.record(e.event(mark.EventEffect, e.result, nil))
}

// event is an event of the effect.
func (e *effect) event(kind history.Kind, body string, err error) history.Event {
	if e.facts == nil {
		return e.call.event(kind, body, err)
	}
	return e.call.eventOf(kind, body, e.now(e.call.node), err)
}

// Asks implements sim.Remembered.
func (e *effect) Asks() string {
	return fmt.Sprintf("the effect of %s, %v", e.call.command.Key, e.toldBy)
}

// effectAnswer is the answer to an effect.
type effectAnswer struct{ result, dependency string }

// Answer implements sim.Remembered.
func (e *effect) Answer() any { return effectAnswer{e.result, e.dependency} }

// Tell implements sim.Remembered.
func (e *effect) Tell(answer any) (same bool) {
	a, is := answer.(effectAnswer)
	e.result, e.dependency = a.result, a.dependency
	return is
}

// Describe implements sim.Request.
func (e *effect) Describe(int) string {
	return "effect of " + e.call.command.Key + " -> " + e.DescribeAnswer()
}

// DescribeAnswer implements sim.Request.
func (e *effect) DescribeAnswer() string { return e.printed(e.result, "") }

// AnswerFingerprint implements sim.Fingerprinter.
func (e *effect) AnswerFingerprint() (uint64, bool) {
	return uint64(fingerprint.Hash(0).Text(e.result).Text(e.dependency)), true
}

// SortKey implements sim.Sorted.
func (e *effect) SortKey() string { return "effect " + e.call.command.Key }

// visitCalls makes each call of the scripts once more.
func (w *world) visitCalls(p *sim.Proc) {
	n, handler := w.boot(p, "", "", w.visitorsClient(1), map[string]int{})
	client := able[hooks.OnceClient](n, handler, verbOnce)
	until := p.Now().Add(w.scenario.Settle)
	for _, c := range w.scenario.calls() {
		for !n.callOnce(client, c) && p.Now().Before(until) {
			_ = n.sleep(n.life(), max(w.scenario.Cache.Poll, 1))
		}
	}
}
