package scenario

import (
	"slices"

	"github.com/isr-sim/isr-sim/internal/describe"
	"github.com/isr-sim/isr-sim/internal/locking"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// visitor is the name of the node that asks for every page once all is quiet.
const visitor = "visitor"

// settle is the second phase of a run, which checks liveness: faults have stopped, the actors are done or dead, their
// requests in the network are lost, and one more node asks for every page that the scenario names, again and again
// until it finds a fresh one in the cache or the time that the scenario gives is over. Nothing is left to the schedule,
// so the run's choices are those of the first phase.
func (w *world) settle(t *describe.Trace, first sim.Result) sim.Result {
	w.quiet = true
	w.possible, w.certain, w.deadlines.windows = nil, nil, nil
	w.db.ClearFaults()
	w.history.Add(history.Event{Time: w.clock.Now(), Actor: visitor, Kind: history.Settled, Change: w.seen})
	cfg := sim.Config{
		Clock: w.clock, Seed: first.Seed, Strategy: sim.DelayBound(0), MaxSteps: w.scenario.Bounds.Steps,
		Bubble: w.bubble, Context: w.ctx,
	}
	if t != nil {
		t.Visit = true
		cfg.Trace = func(taken sim.TraceStep) {
			taken.N += first.Steps
			t.Step(taken)
		}
	}
	w.newSim(cfg)
	visit := w.visitPages
	if w.ofLocks {
		visit = w.visitLocks
	}
	w.sim.Add(sim.Actor{Name: visitor, Run: visit})
	second := w.sim.Run()
	first.Steps, first.Err = first.Steps+second.Steps, second.Err
	if w.ofLocks && second.End == sim.Cut {
		second.End = w.giveUp()
	}
	if second.End != sim.Finished {
		first.End = second.End
	}
	return first
}

// giveUp ends the visit of a lock that goes on waiting long after it should have been taken.
func (w *world) giveUp() sim.End {
	events := w.history.Events()
	last := events[len(events)-1]
	settled := slices.IndexFunc(events, func(e history.Event) bool { return e.Kind == history.Settled })
	if last.Kind != history.LockAsked || settled < 0 || !w.clock.Now().After(events[settled].Time.Add(w.scenario.Settle)) {
		return sim.Cut
	}
	last.Kind, last.Time, last.Note = history.LockRefused, w.clock.Now(), "it still waits"
	w.history.Add(last)
	return sim.Finished
}

// visitPages asks for every page.
func (w *world) visitPages(p *sim.Proc) {
	var n *node
	var handler isr.Handler
	until := p.Now().Add(w.scenario.Settle)
	for _, page := range w.pages.all() {
		if n == nil || n.tenant != page.tenant {
			if n != nil {
				n.closeNow(handler)
			}
			n, handler = w.boot(p, page.tenant)
		}
		for !n.finds(handler, page.key) && p.Now().Before(until) {
			_ = n.sleep(w.ctx, max(w.scenario.Cache.Poll, 1))
		}
	}
	if n != nil {
		n.closeNow(handler)
	}
}

// visitLocks takes every lock and gives it back.
func (w *world) visitLocks(p *sim.Proc) {
	n, handler := w.boot(p, "")
	client := able[locking.Client](n, handler, Hold)
	until := p.Now().Add(w.scenario.Settle)
	for _, lock := range w.pages.all() {
		for {
			if h := n.take(client, lock.key); h != nil {
				h.release()
				break
			}
			if !p.Now().Before(until) {
				break
			}
			_ = n.sleep(n.life(), max(w.scenario.Cache.Poll, 1))
		}
	}
}

// finds asks for a page, and says whether it is in the cache and fresh. A page that was made for this visitor is asked
// for once more: others want to find it, too.
func (n *node) finds(handler isr.Handler, key string) bool {
	before := n.made()
	if !n.servedFresh(handler, key) {
		return false
	}
	made := n.made()
	return made == before || n.servedFresh(handler, key) && n.made() == made
}

// made counts the node's renderings.
func (n *node) made() int { return n.world.countIDs(n.proc.Name() + renderings) }

// servedFresh asks for a page and says whether it was a fresh one.
func (n *node) servedFresh(handler isr.Handler, key string) bool {
	n.get(handler, key)
	events := n.world.history.Events()
	last := events[len(events)-1]
	return last.Kind == history.Served && last.As == history.Fresh
}
