package concurrent

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// witness has what the nodes of one round share: the bodies, and their recorded observations. It is safe for concurrent
// use.
type witness struct {
	clock  clockwork.Clock
	number int // the number of the round

	mu                       sync.Mutex
	bodies                   map[string][]byte
	log                      recorder.Log
	operations               recorder.Operations
	asked, paused, abandoned int
}

var _ isr.BodyStore = (*witness)(nil)

func (w *witness) PutBody(_ context.Context, name string, body []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bodies[name] = slices.Clone(body)
	return nil
}

func (w *witness) GetBody(_ context.Context, name string) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	body, ok := w.bodies[name]
	if !ok {
		return nil, isr.ErrNoBody
	}
	return body, nil
}

func (w *witness) record(actor string, e history.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.Actor, e.Time = actor, w.clock.Now()
	w.log.Add(e)
}

func (w *witness) count(what *int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*what++
}

// observer is the Observer of recorder.Operations; the lock is held when it is called.
func (w *witness) observer(actor string) storeop.Observer {
	observe := w.operations.Observer(actor, w.clock.Now)
	return func(called storeop.Operation) func(storeop.Operation) {
		w.mu.Lock()
		defer w.mu.Unlock()
		answered := observe(called)
		return func(o storeop.Operation) {
			w.mu.Lock()
			defer w.mu.Unlock()
			answered(o)
		}
	}
}

// lines prints the events and operations that a finding names, in order of time.
func lines(seen invariant.Evidence, f invariant.Finding, start time.Time) []string {
	var all recorder.Timeline
	since := func(at time.Time) string { return "+" + at.Sub(start).Round(time.Millisecond).String() }
	add := func(at time.Time, actor, text string) {
		all.Add(at, fmt.Sprintf("%-11s  %-8s  %s", since(at), actor, text))
	}
	for _, seq := range f.Events {
		e := seen.History[seq-1]
		add(e.Time, e.Actor, e.String())
	}
	instant := func(second int64) string { return since(time.Unix(second, 0)) }
	for _, place := range f.Operations {
		o := seen.Operations[place-1]
		add(recorder.Answered(o), o.Actor,
			fmt.Sprintf("%s (called at %s)", recorder.Describe(o, instant), since(o.Began)))
	}
	return all.Lines()
}
