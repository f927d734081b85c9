package sim

import ()

// collect gathers the steps possible now, in their total order, and says whether any actor still has something to do,
// now or later.
func (s *Sim) collect() (goesOn bool) {
	s.steps, s.required, s.due, s.gathered = s.steps[:0], false, false, false
	waiting := false // an actor waits for time to move
	for _, a := range s.actors {
		waiting = s.collectActor(a) || waiting
	}
	for i := range s.steps {
		s.required = s.required || !s.steps[i].Optional()
	}
	if !s.required && !waiting {
		return false
	}
	for i, o := range s.orphans {
		item := uint64(o.history)
		for _, before := range s.orphans[:i] {
			if before.sender.actor == o.sender.actor && before.sender.incarnation == o.sender.incarnation &&
				before.history == o.history {
				item++ // left at the same moment of the code: the requests are alike
			}
		}
		s.steps = append(s.steps, Step{Kind: Orphan, Thread: 2 * len(s.actors), Name: o.sender.name, proc: o.sender,
			orphaned: o.request, nth: i, item: item})
	}
	for i, src := range s.sources {
		for _, item := range src.Steps() {
			s.steps = append(s.steps, Step{
				Kind: External, Thread: 2*len(s.actors) + 1 + i, Name: src.Name(), source: src, item: item,
			})
		}
	}
	if s.due || s.required && s.ticks <= 0 {
		return true
	}
	if s.cfg.Bubble != nil && s.cfg.Bubble.Held() {
		s.early()
		return true
	}
	until, ok := s.boundary(s.clock.Now())
	if !ok && s.cfg.Bubble != nil && !s.required && !s.passed {
		until, ok = s.clock.Now().Add(horizon), true
	}
	if ok {
		s.steps = append(s.steps, Step{
			Kind: Tick, Thread: 2*len(s.actors) + 1 + len(s.sources), Name: "time", until: until, sim: s,
		})
	}
	return true
}

// collectActor gathers a's steps and says whether a waits for time to move.
func (s *Sim) collectActor(a *actor) (waiting bool) {
	p := a.proc
	s.collectPlanned(a)
	if (s.cfg.Bubble != nil || p.state == away || len(a.lanes) > 0) && p.state != crashed {
		waiting = s.collectLanes(a)
	}
	if p.state == ended {
		return waiting
	}
	if p.state == crashed {
		if a.restarts > 0 {
			s.offer(p, Restart, 0)
		}
		return a.comesBack()
	}
	if p.state == calling { // a pause of the node does not hold up a request in the network
		outcomes := p.request.Outcomes()
		for _, outcome := range outcomes {
			s.offer(p, Effect, outcome)
		}
		waiting = len(outcomes) == 0
	}
	switch {
	case a.paused && s.clock.Now().Before(a.until):
		waiting = true
	case a.paused:
		s.due = s.due || a.exact
		s.offer(p, Resume, 0)
	case p.state == notStarted:
		s.offer(p, Start, 0)
	case p.state == answered && s.clock.Now().Before(p.arrives):
		waiting = true
	case p.state == answered:
		s.offer(p, Response, 0)
	case p.state == sleeping && s.clock.Now().Before(p.wake):
		waiting = true
	case p.state == sleeping:
		s.offer(p, Timer, 0)
	}
	if p.state == notStarted {
		return waiting // before its code runs, nothing that happens to a node can be noticed
	}
	if a.pauses > 0 && !a.paused {
		s.offer(p, Pause, 0)
	}
	if a.crashes > 0 {
		s.offer(p, Crash, 0)
	}
	if len(a.clockSteps) > 0 {
		s.offer(p, ClockStep, 0)
	}
	return waiting
}

// early lets answers arrive and ends pauses before their time, if nothing else is possible and no time can pass. That
// is so if a goroutine waits for a mutex whose holder waits for an answer.
func (s *Sim) early() {
	if s.required {
		return
	}
	for _, a := range s.actors {
		if a.paused {
			s.offer(a.proc, Resume, 0)
			continue
		}
		for _, p := range a.lanes {
			if p.state == answered {
				s.steps = append(s.steps, Step{Kind: Response, Thread: s.threadOf(p), Name: p.name, proc: p})
			}
		}
	}
}

// offer adds a step of a node to those that are possible now.
func (s *Sim) offer(p *Proc, k Kind, outcome int) {
	thread := 2 * p.actor.index
	if optional(k) || k == Resume {
		thread++
	}
	s.steps = append(s.steps, Step{Kind: k, Thread: thread, Name: p.name, proc: p, outcome: outcome})
}
