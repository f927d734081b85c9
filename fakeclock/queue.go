package fakeclock

import (
	"container/heap"
	"time"
)

// never is the deadline of a waiter that will not fire: a timer on a node whose clock stands still. It counts as a
// waiter, but not as a next deadline.
var never = time.Unix(1<<60, 0).UTC()

// A firer acts when a waiter's deadline is reached.
type firer interface {
	// fire is called with the clock locked and its time at the deadline. The function it returns, if any, is called
	// next, with the clock unlocked.
	fire() (then func())
}

// A waiter is one entry of the queue: a timer, a ticker or a context. Its zero value waits for nothing. The clock's
// lock guards every field.
type waiter struct {
	owner    firer
	deadline time.Time // true time
	seq      uint64    // the order of registration breaks ties between deadlines
	slot     int       // 1 + index in the heap; 0 while not queued
}

// queue holds the waiters, ordered by (deadline, seq). Each waiter knows its slot, so that stopping one removes it at
// once instead of leaving a tombstone.
type queue struct {
	heap waiterHeap
	seq  uint64
}

// add queues w, moving it if it is queued already. Either way it counts as registered now: after every other waiter
// with the same deadline.
func (q *queue) add(w *waiter, deadline time.Time) {
	q.remove(w)
	q.seq++
	w.deadline, w.seq = deadline, q.seq
	heap.Push(&q.heap, w)
}

// remove reports whether w was queued.
func (q *queue) remove(w *waiter) bool {
	if w.slot == 0 {
		return false
	}
	heap.Remove(&q.heap, w.slot-1)
	return true
}

// first returns the waiter that fires next, nil if there is none.
func (q *queue) first() *waiter {
	if len(q.heap) == 0 || !q.heap[0].deadline.Before(never) {
		return nil
	}
	return q.heap[0]
}

func (q *queue) len() int { return len(q.heap) }

// waiterHeap implements [heap.Interface].
type waiterHeap []*waiter

func (h waiterHeap) Len() int { return len(h) }

func (h waiterHeap) Less(i, j int) bool {
	if order := h[i].deadline.Compare(h[j].deadline); order != 0 {
		return order < 0
	}
	return h[i].seq < h[j].seq
}

func (h waiterHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].slot, h[j].slot = i+1, j+1
}

func (h *waiterHeap) Push(x any) {
	w := x.(*waiter)
	*h = append(*h, w)
	w.slot = len(*h)
}

func (h *waiterHeap) Pop() any {
	last := len(*h) - 1
	w := (*h)[last]
	(*h)[last] = nil // let a stopped timer be collected
	*h = (*h)[:last]
	w.slot = 0
	return w
}
