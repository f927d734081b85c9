package calls

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// onceCall is a call of a node's script.
type onceCall struct {
	node    subject.Node
	command subject.Command
	id      string
	waited  time.Duration // the time so far that was not the node's own, when the call was made
	trouble int           // how many of the node's requests had failed when the call was made
	begun   bool          // its effect
	result  string        // the result of its effect, once the effect has taken place
	done    bool          // the layer was told the result
	running atomic.Int32  // how many effects the layer has begun without learning their end
}

// once makes the call. It repeats the call as long as the layer tells it to, up to the scenario's patience.
func once(n subject.Node, handler isr.Handler, c subject.Command) {
	client, times := subject.Able[hooks.OnceClient](n, handler, c.Verb), n.World().Times()
	for attempt := 0; attempt < times.Patience; attempt++ {
		if attempt > 0 {
			_ = n.Idle(n.Life(), client, times.Poll)
			n.Turn()
		}
		if callOnce(n, client, c) {
			return
		}
	}
}

// callOnce makes the call once. It returns false if the call may be made again.
func callOnce(n subject.Node, client hooks.OnceClient, c subject.Command) (over bool) {
	w, p := n.World(), n.Proc()
	terms := client.OnceTerms()
	call := &onceCall{
		node: n, command: c, id: n.NextID(p.Name() + "-once"), trouble: n.Own().Troubles(),
		waited: n.Own().Waited(p.Now()),
	}
	p.Tell(func() {
		of(n).terms = &terms
		calls := of(n).at(c.Key)
		if calls.open > 0 {
			w.Mark(mark.CallContended)
		}
		calls.open++
	})
	n.Record(call.event(mark.EventCallAsked, "", nil))
	p.Tell(func() {
		w.StopAround(p.Name(), timesOf(w).inProgress, promise.LeaseRounding)
		w.StopAround(p.Name(), timesOf(w).kept, promise.RetentionRounding)
	})
	result, err := client.Once(n.Life(), c.Key, c.Inputs, call.effect)
	n.Turn()
	begun := call.begun
	p.Tell(func() {
		calls := of(n).at(c.Key)
		if calls.open--; begun {
			calls.begun--
		}
		calls.told = calls.told || err == nil
	})
	switch {
	case err == nil:
		n.Mark(mark.CallAnswered)
		if result != call.result {
			n.Mark(mark.CallRepeated)
		}
		n.Record(call.event(mark.EventCallAnswered, result, nil))
	case errors.Is(err, isr.ErrOtherInputs):
		n.Mark(mark.CallOtherPayload)
		n.Record(call.event(mark.EventCallOther, "", err))
	default:
		n.Record(call.event(mark.EventCallRefused, "", err))
		return false
	}
	return true
}

// effect makes the effect of the call happen. It takes as long as the scenario gives to a rendering. That time does not
// count against the layer.
func (c *onceCall) effect(ctx context.Context) (string, error) {
	n := c.node
	defer n.Own().Request(n.Proc().Now)()
	first := !c.begun
	c.begun = true
	n.Proc().Tell(func() {
		calls := of(n).at(c.command.Key)
		if calls.begun > 0 {
			n.World().Mark(mark.CallTakenOver)
		}
		if first {
			calls.begun++
		}
	})
	n.Turn()
	begins := c.event(mark.EventEffectBegun, "", nil)
	begins.Hold.Done = c.done || c.running.Load() > 0
	c.running.Add(1)
	defer c.running.Add(-1)
	n.Record(begins)
	if d := timesOf(n.World()).effect; d > 0 {
		if err := n.Sleep(ctx, d); err != nil {
			return "", err
		}
	}
	e := &effect{Faults: n.Origin(), call: c}
	e.Note(n, func() *history.Hold { return c.facts(mark.EventEffect) }, c.waited)
	if err := n.Do(ctx, e); err != nil {
		return "", err
	}
	if e.fault == "" {
		if e.Noted() {
			c.result = e.result
		}
		c.done = true
		return e.result, nil
	}
	err := e.Error(e.fault)
	n.Own().Attempted("", n.Proc().Now(), err)
	return "", err
}

func (c *onceCall) event(kind history.Kind, body string, err error) history.Event {
	facts := c.facts(kind)
	facts.Excused = c.node.Own().Waited(c.node.Proc().Now()) - c.waited
	return c.eventOf(kind, body, facts, err)
}

func (c *onceCall) eventOf(kind history.Kind, body string, facts *history.Hold, err error) history.Event {
	return subject.EventOf(history.Event{Kind: kind, Key: c.command.Key, Inputs: c.command.Inputs, Body: body}, facts,
		err)
}

// facts are the facts of an event, without a time.
func (c *onceCall) facts(kind history.Kind) *history.Hold {
	return &history.Hold{ID: c.id, Troubled: c.node.Own().Troubled(c.trouble, kind == mark.EventCallRefused)}
}
