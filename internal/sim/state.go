package sim

import (
	"time"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// Fingerprinter is implemented by a Request whose answer can be compared. Without it, no two states after the request
// took effect count as equal.
type Fingerprinter interface {
	// AnswerFingerprint returns a number, after Apply, that is equal for equal answers and effects; false if there is
	// none. It must cover the answer that the actor will get, and everything that the world remembers of this request,
	// such as an idempotency token and its expiry.
	AnswerFingerprint() (answer uint64, ok bool)
}

// Symmetry describes the symmetric (interchangeable) actors of a world. Two states are equal if permuting actors of a
// class turns one into the other: both lead to the same states, up to names.
//
// An actor's position does not matter until its name reaches the world. From then on, it counts as the first, second or
// n-th actor that the world knows. Config.Fingerprint and AnswerUpToNames must have these ranks in place of names.
//
// It is valid only for a world and code that compare names, and values containing names, for equality alone.
//
// Source: Ip and Dill: Better verification through symmetry (Formal Methods in System Design 9, 1996).
type Symmetry interface {
	// Rank returns the place of an actor among those whose names the world knows, from 1; 0 if the world does not know
	// it yet.
	Rank(actor string) int
	// Broken says that the order of names may matter to the world after all.
	Broken() bool
}

// UpToNames is implemented by a Fingerprinter whose answer may hold names of interchangeable actors.
type UpToNames interface {
	// AnswerUpToNames is AnswerFingerprint with ranks in place of names.
	AnswerUpToNames() uint64
}

// place stands for an actor in the fingerprints of states.
func (s *Sim) place(a *actor) fingerprint.Hash {
	if !s.interchangeable(a) {
		return fingerprint.Hash(0).Number(uint64(a.index))
	}
	h := fingerprint.Hash(1).Number(uint64(a.Class))
	if rank := s.cfg.Symmetry.Rank(a.Name); rank > 0 {
		return h.Number(uint64(rank))
	}
	var orphans fingerprint.Hash
	for _, o := range s.orphans {
		if o.sender.actor == a && s.counts(o) {
			orphans += o.history
		}
	}
	return h.Number(0).Number(uint64(a.fingerprint())).Number(uint64(orphans))
}

// counts says whether a request is a part of the state: see OrphanedReads.
func (s *Sim) counts(o orphan) bool { return !o.reads || s.cfg.Off&OrphanedReads != 0 }

func (s *Sim) interchangeable(a *actor) bool { return s.cfg.Symmetry != nil && a.Class > 0 }

// Canonical is an id of a step that is the same in all states that differ only in the names of interchangeable actors.
// Two actors in the same state whose names the world does not know have steps with the same id.
func (s *Sim) Canonical(step *Step) uint64 {
	h := fingerprint.Hash(step.Kind)
	if step.planned {
		h = ^h
	}
	if p := step.proc; p != nil {
		return uint64(h.Number(uint64(s.place(p.actor))).Number(uint64(step.outcome)).Number(uint64(p.lane)).
			Number(step.item))
	}
	return uint64(h.Number(uint64(step.Thread)).Number(step.item))
}

// Fingerprint returns a number that is equal for equal states of the run, and hardly ever for others (among n states,
// with a chance of about n*n/2^65). Equal states have the same future: the same steps are possible, and lead to equal
// states. It needs Config.Fingerprint and is 0 without it. Call it between steps, such as in Config.Trace.
//
// It covers true time, the ticks that are left, and the world's own fingerprint. For each actor it covers the
// observations of its code: each resumption, with true time and the node's clock if the code read a clock before it
// parked again, and each effect of its requests, with the outcome and the answer. It covers the times for which the
// actor's requests and sleeps wait: when an answer arrives or a sleep ends, if that is still to come, and when a Dated
// request was sent. It also covers the pauses, crashes, restarts and clock steps that are left, planned or not. The
// observations of an actor that has ended, or crashed for good, no longer count: if the world remembers them,
// Config.Fingerprint has to cover that.
//
// The code of an actor is deterministic in its observations, so they stand for its local state, which cannot be read.
// This holds by induction over its resumptions: between two parks no time passes, and all that the code can learn is
// the answer and the clock. If it did not read the clock, it does the same at any time. Then it does not matter when
// the code was resumed, nor when its request took effect: the answer shows the effect to the actor, and
// Config.Fingerprint covers the effect on the world.
func (s *Sim) Fingerprint() uint64 {
	if s.cfg.Fingerprint == nil {
		return 0
	}
	h := fingerprint.Hash(s.cfg.Fingerprint()).Number(uint64(s.clock.Now().UnixNano())).Number(uint64(s.ticks))
	var apart fingerprint.Hash // interchangeable actors have no order
	for _, a := range s.actors {
		if s.interchangeable(a) {
			apart += s.place(a).Number(uint64(a.fingerprint()))
		} else {
			h = h.Number(uint64(a.fingerprint()))
		}
	}
	var orphans fingerprint.Hash // the order in which they are kept is not part of the state
	for _, o := range s.orphans {
		if s.counts(o) {
			orphans += o.history.Number(uint64(s.place(o.sender.actor)))
		}
	}
	return uint64(h.Number(uint64(apart)).Number(uint64(orphans)))
}

func (a *actor) fingerprint() fingerprint.Hash {
	h := fingerprint.Hash(0).Number(uint64(a.proc.state))
	if !a.alive() && (a.proc.state == ended || a.restarts == 0 && !a.comesBack()) {
		return h
	}
	now := a.proc.sim.clock.Now()
	for i := -1; i < len(a.lanes); i++ {
		h = h.Number(a.at(i).waitsFor(now))
	}
	h = h.Number(uint64(a.observed)).Number(uint64(a.node.Now().UnixNano())).Number(uint64(a.pauses)).
		Number(uint64(a.crashes)).Number(uint64(a.restarts)).Number(uint64(len(a.clockSteps))).
		Number(uint64(len(a.planned)))
	if a.paused {
		h = h.Number(uint64(a.until.UnixNano()))
		if a.exact {
			h = h.Number(uint64(Pause))
		}
	}
	return h
}

// waitsFor is the part of a proc's state that is a time and no observation: how long it has still to wait, or since
// when its request is under way.
func (p *Proc) waitsFor(now time.Time) (n uint64) {
	switch p.state {
	case calling:
		n = sent(p.request)
	case answered:
		n = uint64(max(p.arrives.Sub(now), 0))
	case sleeping:
		n = uint64(max(p.wake.Sub(now), 0))
	}
	return n
}

// sent returns when a Dated request was sent; 0 if the request is not Dated.
func sent(r Request) (at uint64) {
	if d, ok := r.(Dated); ok {
		at = uint64(d.DateSent().UnixNano())
	}
	return at
}

// alive says whether the actor has something to do, now or later, unless its node comes back from a crash.
func (a *actor) alive() bool { return a.proc.state != ended && a.proc.state != crashed }

// Forget says that from here on, the actor's code depends on nothing that it has observed before this instant, except
// for a state: the code is at a point that it reaches in many ways. So different histories can lead to equal states. A
// wrong use hides schedules from a search. The function of returns the present state twice: with ranks in place of the
// names of symmetric actors, as in Symmetry, and with the names. The parameter local is the part of the state that the
// code remembers of its inputs.
func (p *Proc) Forget(local string, of func() (state, named uint64)) {
	if l := p.running; l != nil {
		l.doing.says, l.forgot = "", "="+local
	}
	p.Tell(func() {
		if p.sim.cfg.Fingerprint == nil {
			return
		}
		state, named := of()
		h := fingerprint.Hash(0).Number(uint64(p.incarnation))
		p.actor.observed, p.actor.forgot = h.Number(state), h.Number(named)
		p.sim.resumed(p.actor) // the code may read the clock before it parks
	})
}

// observe notes the observation that a step brings to its actor.
func (s *Sim) observe(step *Step) {
	if s.cfg.Fingerprint == nil {
		return
	}
	switch step.Kind {
	case Start, Response, Timer, Crash:
		a := step.proc.actor
		a.observed = a.observed.Number(uint64(step.Kind)).Number(uint64(step.proc.lane))
		s.resumed(a)
	}
}

// resumed makes the time of this resumption a part of the state once the actor's code reads a clock before it parks
// again. With UnreadClocks off, or if goroutines may read it at the same time, the time is a part of the state at once.
func (s *Sim) resumed(a *actor) {
	if s.eager {
		a.observeTime()
	} else {
		a.unread = true
	}
}

// readClock notes that the actor's code reads a clock.
func (a *actor) readClock() {
	if a.unread {
		a.unread = false
		a.observeTime()
	}
}

// observeTime notes the node's clock, and true time, as records may use it.
func (a *actor) observeTime() {
	a.observed = a.observed.Number(uint64(a.node.True().UnixNano())).Number(uint64(a.node.Now().UnixNano()))
}

// observeAnswer notes how the actor's request took effect.
func (s *Sim) observeAnswer(p *Proc, outcome int) {
	if s.cfg.Fingerprint == nil && s.histories == nil {
		return
	}
	var answer uint64
	var known bool
	if r, ok := p.request.(Fingerprinter); ok {
		answer, known = r.AnswerFingerprint()
	}
	if !known {
		answer = s.unique()
	}
	if p.answer = answer; !known && s.histories != nil { // unique tells runs apart, but not the visits after them
		s.histories.strange++
		p.answer = uint64(fingerprint.Hash(answer).Number(s.histories.strange))
	}
	if s.cfg.Fingerprint == nil {
		return
	}
	a := p.actor
	a.observed = a.observed.Number(uint64(Effect)).Number(uint64(outcome)).Number(uint64(p.lane))
	if s.eager {
		a.observed = a.observed.Number(uint64(s.clock.Now().UnixNano()))
	}
	if named, is := p.request.(UpToNames); is && s.cfg.Symmetry != nil && known {
		answer = named.AnswerUpToNames()
	}
	a.observed = a.observed.Number(answer)
}

// unique returns a number that no other run has.
func (s *Sim) unique() uint64 {
	h := fingerprint.Hash(0).Number(uint64(s.result.Steps))
	for _, choice := range s.result.Choices {
		h = h.Number(uint64(choice))
	}
	return uint64(h)
}
