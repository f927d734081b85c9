package sim

import "slices"

// Outside of a Bubble, an actor's code may have several things under way, each in a lane of the actor. One lane runs at
// a time, from one of its steps to its next: see NodeClock.Lane.

// here returns the lane whose code is running, or p itself. It panics if the code of neither is running.
func (p *Proc) here() *Proc {
	if p.current != nil {
		return p.current
	}
	p.owned()
	return p
}

func (p *Proc) openLane(f func()) func() {
	if p.Remembers() {
		p.Wrong(&TakenError{RememberedCode, p.name + " has several things under way"})
	}
	lane := &Proc{sim: p.sim, actor: p.actor, incarnation: p.incarnation, clock: p.clock, work: f}
	p.actor.addLane(lane)
	lane.coroutine = p.sim.pool.lend(lane)
	lane.resume()
	return func() { lane.drop() }
}

// resume runs the lane's code until it parks or ends, and says whether it has ended.
func (p *Proc) resume() (over bool) {
	own := p.actor.proc
	own.current = p
	p.actor.goOn(p.coroutine)
	own.current = nil
	if p.state != ended {
		return false
	}
	p.sim.pool.back(p.coroutine)
	p.coroutine = nil
	p.actor.removeLane(p)
	return true
}

// drop unwinds the code of a lane that is parked.
func (p *Proc) drop() {
	if p.coroutine == nil {
		return
	}
	p.sim.orphan(p)
	p.actor.removeLane(p)
	p.stop()
}

// stop unwinds the lane's code.
func (p *Proc) stop() {
	p.state = crashed
	p.actor.unwind(p.coroutine)
	p.coroutine = nil
}

// endLanes ends the lanes of a node that is down. With orphans, their requests under way stay in the network.
func (a *actor) endLanes(s *Sim, orphans bool) {
	lanes := a.lanes
	a.lanes = nil
	for _, lane := range lanes {
		if orphans {
			s.orphan(lane)
		}
		lane.stop()
	}
}

func (a *actor) removeLane(p *Proc) {
	if i := slices.Index(a.lanes, p); i >= 0 {
		a.lanes = slices.Delete(a.lanes, i, i+1)
	}
}

// runLane lets a lane go on, and then the actor's own code if it waits for the end of a lane.
func (p *Proc) runLane() {
	own := p.actor.proc
	if !p.resume() || own.state != away || p.sim.result.End != "" {
		return
	}
	own.run()
}
