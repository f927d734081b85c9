package locks

import (
	"errors"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// held is one hold command of a node's script, once the node has asked for the lock.
type held struct {
	*hooks.Held
	node    subject.Node
	key, id string
	terms   promise.LockTerms
	asked   time.Time     // by the node's clock: when the lock, or its latest extension, was asked for
	waited  time.Duration // time that was not the node's own: first until it asked for the lock, later until it took it
	trouble int           // how many of the node's requests had failed when it asked for the lock
}

// hold takes the lock, works under it, and releases it. If the lock refuses, it asks again, up to the scenario's
// patience.
func hold(n subject.Node, handler isr.Handler, c subject.Command) {
	client, times := subject.Able[hooks.LockClient](n, handler, c.Verb), n.World().Times()
	for attempt := 0; attempt < times.Patience; attempt++ {
		if attempt > 0 {
			_ = n.Idle(n.Life(), client, times.Poll)
			n.Turn()
		}
		if h := take(n, client, c.Key); h != nil {
			h.work(c.For)
			h.release()
			return
		}
	}
}

// take asks for the lock once. It returns nil if the lock refuses.
func take(n subject.Node, client hooks.LockClient, key string) *held {
	w, p := n.World(), n.Proc()
	terms := client.Terms()
	h := &held{
		node: n, key: key, id: n.NextID(p.Name() + "-hold"), terms: terms,
		asked: p.Clock().Now(), trouble: n.Own().Troubles(), waited: n.Own().Waited(p.Now()),
	}
	p.Tell(func() {
		of(n).terms = &terms
		if of(n).others(key, p.Name()) {
			w.Mark(mark.HoldContended)
		}
	})
	h.record(mark.EventLockAsked, nil)
	p.Tell(func() { w.StopAround(p.Name(), w.Times().Lease, promise.LeaseRounding) })
	got, err := client.Acquire(n.Life(), key)
	n.Turn()
	if err == nil && (got == nil || got.Release == nil) {
		err = errors.New("the lock returned neither a hold nor an error")
	}
	if err != nil {
		h.record(mark.EventLockRefused, err)
		return nil
	}
	h.Held = got
	id := h.id
	p.Tell(func() {
		w.Mark(mark.HoldTaken)
		if of(n).others(key, p.Name()) {
			w.Mark(mark.HoldTakenOver)
		}
		of(n).take(key, p.Name(), id)
	})
	h.record(mark.EventLockTaken, nil)
	h.waited = n.Own().Waited(p.Now())
	p.Tell(func() { w.StopAt(w.Times().Lease) })
	return h
}

// work holds the lock for some time by the node's clock, or until the holder learns, or must assume, that it has lost
// the lock. It writes to the guarded resource at the beginning, in between, and at the end.
func (h *held) work(d time.Duration) {
	const parts = 3
	n := h.node
	clock := n.Proc().Clock()
	lease := n.World().Times().Lease
	until := clock.Now().Add(d)
	part := min(d/parts, lease/parts)
	for {
		if !h.holds() || !h.write() {
			return
		}
		left := until.Sub(clock.Now())
		if left <= 0 {
			return
		}
		h.sleep(min(max(part, time.Millisecond), left))
		n.Turn()
		if h.Extend != nil && clock.Now().Sub(h.asked) >= lease/2 && !h.extend() {
			return
		}
	}
}

// sleep lets time pass under the lock.
func (h *held) sleep(d time.Duration) {
	if h.Work != nil {
		h.Work(h.node.Life(), d)
		return
	}
	_ = h.node.Sleep(h.node.Life(), d)
}

// holds asks the lock whether it is still held. If the lock cannot be asked, the holder relies on it until its lease
// ends.
func (h *held) holds() bool {
	n := h.node
	if h.Holds == nil {
		return h.terms.Heartbeats || n.Proc().Clock().Now().Sub(h.asked) < n.World().Times().Lease
	}
	h.record(mark.EventLockChecking, nil)
	yes, err := h.Holds(n.Life())
	n.Turn()
	if yes && err == nil {
		h.record(mark.EventLockHeld, nil)
		return true
	}
	h.lost(err)
	return false
}

func (h *held) extend() bool {
	n := h.node
	asked := n.Proc().Clock().Now()
	h.record(mark.EventLockExtending, nil)
	n.Proc().Tell(func() {
		n.World().StopAround(n.Proc().Name(), n.World().Times().Lease, promise.LeaseRounding)
	})
	err := h.Extend(n.Life())
	n.Turn()
	if err != nil {
		h.lost(err)
		return false
	}
	h.asked = asked
	n.Mark(mark.HoldExtended)
	h.record(mark.EventLockExtended, nil)
	n.Proc().Tell(func() { n.World().StopAt(n.World().Times().Lease) })
	return true
}

func (h *held) lost(err error) {
	h.node.Mark(mark.HoldLost)
	h.record(mark.EventLockLost, err)
}

func (h *held) release() {
	n := h.node
	n.Proc().Tell(func() { of(n).add(h.key, n.Proc().Name(), -1) })
	h.record(mark.EventLockReleasing, nil)
	err := h.Release(n.Life())
	n.Turn()
	h.record(mark.EventLockReleased, err)
}

// write writes to the resource that the lock guards. It returns false if the resource refuses the write.
func (h *held) write() bool {
	w := &guardedWrite{held: h}
	if h.Token != nil {
		w.token, w.fenced = h.Token(), true
	}
	w.Note(h.node, func() *history.Hold { return h.facts(mark.EventGuardedWrite) }, h.waited)
	if err := h.node.Do(h.node.Life(), w); err != nil {
		h.node.Turn() // if the node is down, this call does not return
	}
	return !w.refused
}

// record adds an event of the hold to the history.
func (h *held) record(kind history.Kind, err error) { h.node.Record(h.event(kind, err)) }

func (h *held) event(kind history.Kind, err error) history.Event {
	facts := h.facts(kind)
	facts.Excused = h.node.Own().Waited(h.node.Proc().Now()) - h.waited
	return subject.EventOf(history.Event{Kind: kind, Key: h.key}, facts, err)
}

// facts are the facts of an event, without a time.
func (h *held) facts(kind history.Kind) *history.Hold {
	facts := &history.Hold{ID: h.id, Troubled: h.node.Own().Troubled(h.trouble, kind == mark.EventLockRefused)}
	if h.terms.Heartbeats {
		facts.Silent = h.node.Own().Silent(h.node.Proc().Now())
	}
	if h.Held != nil && h.Token != nil {
		facts.Token, facts.Fenced = h.Token(), true
	}
	return facts
}
