package calls

import (
	"fmt"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// effect is the request that carries out an effect; it can fail as an origin can.
type effect struct {
	subject.Faults
	subject.Sent
	call          *onceCall
	result, fault string
}

// effectObject names, in accesses, what the effects of one key change.
const effectObject = "effect"

// Accesses implements sim.Request.
func (e *effect) Accesses(outcome int) []sim.Access {
	touched := []sim.Access{{Object: sim.ObjectNamed(effectObject, e.call.command.Key), Write: true},
		{Object: sim.Told, Write: true}}
	return e.Faults.Accesses(touched, outcome)
}

// Apply implements sim.Request.
func (e *effect) Apply(outcome int) {
	c, n := e.call, e.call.node
	e.result = ""
	if e.fault = e.Strike(outcome); e.fault != "" {
		n.Record(e.event(mark.EventEffectFailed, "", e.Error(e.fault)))
		return
	}
	if of(n).at(c.command.Key).told {
		n.World().Mark(mark.EffectAgain)
	}
	e.result = n.World().NextID(n.Proc().Name() + "-effect")
	if !e.Noted() {
		c.result = e.result
	}
	n.Record(e.event(mark.EventEffect, e.result, nil))
}

func (e *effect) event(kind history.Kind, body string, err error) history.Event {
	if !e.Noted() {
		return e.call.event(kind, body, err)
	}
	return e.call.eventOf(kind, body, e.Facts(e.call.node), err)
}

// Asks implements sim.Remembered.
func (e *effect) Asks() string {
	return fmt.Sprintf("the effect of %s, %v", e.call.command.Key, e.Sent)
}

// effectAnswer is the answer to an effect.
type effectAnswer struct{ result, fault string }

// Answer implements sim.Remembered.
func (e *effect) Answer() any { return effectAnswer{e.result, e.fault} }

// Tell implements sim.Remembered.
func (e *effect) Tell(answer any) (same bool) {
	a, is := answer.(effectAnswer)
	e.result, e.fault = a.result, a.fault
	return is
}

// Describe implements sim.Request.
func (e *effect) Describe(int) string {
	return "effect of " + e.call.command.Key + " -> " + e.DescribeAnswer()
}

// DescribeAnswer implements sim.Request.
func (e *effect) DescribeAnswer() string {
	if e.fault != "" {
		return e.Error(e.fault).Error()
	}
	return e.result
}

// AnswerFingerprint implements sim.Fingerprinter.
func (e *effect) AnswerFingerprint() (uint64, bool) {
	return uint64(fingerprint.Hash(0).Text(e.result).Text(e.fault)), true
}

// SortKey implements sim.Sorted.
func (e *effect) SortKey() string { return "effect " + e.call.command.Key }
