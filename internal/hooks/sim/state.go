package sim

import "github.com/isr-sim/isr-sim/internal/base/fingerprint"

// Fingerprinter is implemented by a Request whose answer can be compared. Without it, no two states after the request
// took effect count as equal.
type Fingerprinter interface {
	// AnswerFingerprint returns a number, after Apply, that is equal for equal answers and effects; false if there is
	// none. It must cover the answer that the actor will get, and the world's memory of this very request, such as that it
	// need not be done twice.
	AnswerFingerprint() (answer uint64, ok bool)
}

// Fingerprint returns a number that is equal for equal states of the run, and hardly ever for others (among n states,
// with a chance of about n*n/2^65). Equal states have the same future: the same steps are possible, and lead to equal
// states. It needs Config.Fingerprint and is 0 without it. Call it between steps, such as in Config.Trace.
//
// It covers true time, the ticks that are left, the world's own fingerprint, and for each actor the observations of its
// code (each resumption with the time and the node's clock, each effect of its requests with the time, the outcome, the
// answer and its delay) together with the pauses, crashes, restarts and clock steps that are left, planned or not. The code of an actor is
// deterministic in its observations, so they stand for its local state, which cannot be read. The observations of an
// actor that has ended, or crashed for good, no longer count: if the world remembers them, Config.Fingerprint has to
// cover that.
func (s *Sim) Fingerprint() uint64 {
	if s.cfg.Fingerprint == nil {
		return 0
	}
	h := fingerprint.Hash(s.cfg.Fingerprint()).Number(uint64(s.clock.Now().UnixNano())).Number(uint64(s.ticks))
	for _, a := range s.actors {
		h = h.Number(uint64(a.fingerprint()))
	}
	var orphans fingerprint.Hash // the order in which they are kept is no part of the state
	for _, o := range s.orphans {
		h := o.observed.Number(uint64(o.sender.actor.index)).Number(uint64(o.sender.incarnation))
		if o.sender.lane > 0 {
			h = h.Number(uint64(o.sender.lane))
		}
		orphans += h
	}
	return uint64(h.Number(uint64(orphans)))
}

func (a *actor) fingerprint() fingerprint.Hash {
	h := fingerprint.Hash(0).Number(uint64(a.proc.state))
	if !a.alive() && (a.proc.state == ended || a.restarts == 0 && !a.comesBack()) {
		return h
	}
	h = h.Number(uint64(a.observed)).Number(uint64(a.node.Now().UnixNano())).
		Number(uint64(a.pauses)).Number(uint64(a.crashes)).Number(uint64(a.restarts)).Number(uint64(len(a.clockSteps)))
	if a.paused {
		h = h.Number(uint64(a.until.UnixNano()))
	}
	if left := uint64(len(a.planned)) << 1; a.exact {
		h = h.Number(left | 1)
	} else if left > 0 {
		h = h.Number(left)
	}
	return h
}

// alive says whether the actor has something to do, now or later, unless its node comes back from a crash.
func (a *actor) alive() bool { return a.proc.state != ended && a.proc.state != crashed }

// Forget says that from here on, the actor's code depends on nothing that it has observed before this instant, except
// for the given state: the code is at a point that it reaches in many ways. It lets states be equal whose pasts are
// not. A wrong use hides schedules from an Exploration.
func (p *Proc) Forget(state uint64) {
	if p.sim.cfg.Fingerprint == nil {
		return
	}
	p.actor.observed = fingerprint.Hash(0).Number(uint64(p.incarnation)).Number(state)
	p.actor.observeTime() // the code may read the clock before it parks
}

// observe notes the observation that a step brings to its actor.
func (s *Sim) observe(step *Step) {
	if s.cfg.Fingerprint == nil {
		return
	}
	switch step.Kind {
	case Start, Response, Timer, Crash, Restart:
		a := step.proc.actor
		a.observed = a.observed.Number(uint64(step.Kind))
		a.observeLane(step.proc)
		a.observeTime()
	}
}

// observeTime notes the node's clock, and true time, which is recorded.
func (a *actor) observeTime() {
	a.observed = a.observed.Number(uint64(a.node.True().UnixNano())).Number(uint64(a.node.Now().UnixNano()))
}

// observeLane notes which of its lanes observes something, if it has several.
func (a *actor) observeLane(p *Proc) {
	if p.lane > 0 {
		a.observed = a.observed.Number(uint64(p.lane))
	}
}

// observeAnswer notes how the actor's request took effect.
func (s *Sim) observeAnswer(p *Proc, outcome int) {
	if s.cfg.Fingerprint == nil {
		return
	}
	a := p.actor
	a.observed = a.observed.Number(uint64(Effect)).Number(uint64(s.clock.Now().UnixNano())).Number(uint64(outcome))
	a.observeLane(p)
	answer, known := uint64(0), false
	if r, ok := p.request.(Fingerprinter); ok {
		answer, known = r.AnswerFingerprint()
	}
	if !known {
		answer = s.unique()
	}
	a.observed = a.observed.Number(answer)
	if late := p.arrives.Sub(s.clock.Now()); late > 0 {
		a.observed = a.observed.Number(uint64(late))
	}
}

// unique returns a number that no other course of things has.
func (s *Sim) unique() uint64 {
	h := fingerprint.Hash(0).Number(uint64(s.result.Steps))
	for _, choice := range s.result.Choices {
		h = h.Number(uint64(choice))
	}
	return uint64(h)
}
