package live

import (
	"errors"
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

const (
	maxEvents = 200_000  // the most events that are kept
	maxText   = 64 << 20 // the most bytes of their text
	maxOpen   = 10_000   // the most requests under way at once
)

// unheard is reported instead of the invariants that need a history.
var unheard = invariant.Invariant{Name: "the history", Statement: "all that clients post is taken in"}

// callOf is a request of a client that is under way. If a client has several requests for one page, the field call
// tells them apart.
type callOf struct{ call, tenant, key string }

// calls are the requests under way, by actor.
type calls map[string]map[callOf]history.Kind

// Tell takes in the events that clients saw, in the order in which they happened. Without Tell, only invariants that
// need nothing but the change log are judged.
//
// A client must tell an event when it happens, and must wait until Tell has returned: Asked before the cache is called,
// Rendered after the origin was read and before the page is published, Served and Failed after the cache has answered.
// Invalidating comes before an invalidation and Invalidated after it. Crashed says that a client has lost its requests
// under way, and Settled says that faults have stopped. Tell sets Seq, Time and Change. Actor is the name with which
// the client signs its requests; after a crash it must be a new name. Partition is the partition key of the page's
// rows. A Rendered event may lack it if Options.Rows says it, or if it is isr.PartitionKey of tenant and key.
//
// An error tells which event is wrong, and why. If there is an error, none of the events counts. At most 200,000 events
// are kept, with at most 64 MB of text. After a Restore, the count starts anew.
func (c *Checker) Tell(events ...history.Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.options.Clock == nil {
		return errors.New("the checker has no clock: found no Options.Clock, expected the clock of the DB")
	}
	c.read(c.db.ChangesSince(c.seen), true)
	full := c.told.full
	if err := c.told.admit(events); err != nil {
		if c.told.full && !full {
			c.note(Broken{Invariant: unheard, Verdict: invariant.Unknown,
				Why: "no more history is kept: what was posted since is not judged"})
		}
		return err
	}
	now := c.options.Clock.Now()
	c.judgeLiveness(now)
	for _, e := range events {
		c.hear(e, now)
	}
	return nil
}

// admit checks events. If all of them are right, it adds the requests that they begin and end.
func (t *told) admit(events []history.Event) error {
	text := t.text
	for i := range events {
		text += textOf(&events[i])
	}
	if len(t.events)+len(events) > maxEvents || text > maxText {
		t.full = true
		return fmt.Errorf("too much history is kept: found %d events of %d bytes, expected at most %d of %d\n"+
			"hint: a restore begins anew; "+
			"a body may be told by a hash of it", len(t.events)+len(events), text, maxEvents, maxText)
	}
	var undo []func()
	for i := range events {
		back, err := t.calls.apply(&events[i])
		if err == nil && t.calls.number() > maxOpen {
			err = fmt.Errorf(
				"found more than %d requests without an answer, expected fewer\nhint: tell served, failed or crashed",
				maxOpen,
			)
		}
		undo = append(undo, back)
		if err != nil {
			for j := len(undo) - 1; j >= 0; j-- {
				undo[j]()
			}
			return fmt.Errorf("event %d: %w", i+1, err)
		}
	}
	t.text = text
	return nil
}

func textOf(e *history.Event) int {
	return len(e.Actor) + len(e.Key) + len(e.Body) + len(e.Note) + len(e.Tenant) + len(e.Request) + len(e.Inputs) +
		len(e.Partition) + len(e.Call)
}

func (all calls) number() (n int) {
	//isrsim:unordered a sum has no order
	for _, of := range all {
		n += len(of)
	}
	return n
}

// apply notes the beginning or the end of a request, and returns a function that undoes this.
func (all calls) apply(e *history.Event) (undo func(), err error) {
	undo = func() {}
	if err := complete(e); err != nil {
		return undo, err
	}
	of, call := all[e.Actor], callOf{e.Call, e.Tenant, e.Key}
	if of == nil {
		of = map[callOf]history.Kind{}
		all[e.Actor] = of
	}
	before, open := of[call]
	begin := func() (func(), error) {
		if open {
			return undo, fmt.Errorf("found %s %s %s, expected the answer to %s first"+
				"\nhint: give the events of each request a call of its own, or tell crashed where the "+
				"client began anew", e.Actor, e.Kind, e.Key, before)
		}
		of[call] = e.Kind
		return func() { delete(of, call) }, nil
	}
	end := func(begins ...history.Kind) (func(), error) {
		for _, kind := range begins {
			if open && before == kind {
				delete(of, call)
				return func() { of[call] = before }, nil
			}
		}
		return undo, fmt.Errorf(
			"found %s %s %s, expected %s before it, by the same actor and with the same key, tenant and call", e.Actor,
			e.Kind, e.Key, begins[0],
		)
	}
	switch e.Kind {
	case history.Asked, history.Invalidating:
		return begin()
	case history.Served:
		return end(history.Asked)
	case history.Invalidated:
		return end(history.Invalidating)
	case history.Failed:
		return end(history.Asked, history.Invalidating)
	case history.Crashed:
		delete(all, e.Actor)
		return func() { all[e.Actor] = of }, nil
	default:
		return undo, nil
	}
}

// complete checks that an event has the fields that its kind needs.
func complete(e *history.Event) error {
	page := false
	switch e.Kind {
	case history.Asked, history.Failed, history.Invalidating, history.Invalidated:
		page = true
	case history.Served:
		if page = true; e.As == history.Unclaimed {
			return errors.New("served: found no claim, expected fresh or stale")
		}
	case history.Rendered:
		page = true
	case history.Crashed:
	case history.Settled:
		if e.Within <= 0 {
			return fmt.Errorf("settled: found within %v, expected the time within which every page must be fresh",
				e.Within)
		}
		return nil
	default:
		return fmt.Errorf("found the kind %s, expected asked, served, failed, rendered, invalidating, invalidated, "+
			"crashed or settled", e.Kind)
	}
	switch {
	case e.Actor == "":
		return fmt.Errorf("%s: found no actor, expected the name by which the client signs its requests", e.Kind)
	case page && e.Key == "":
		return fmt.Errorf("%s: found no key, expected that of the page", e.Kind)
	case e.Body == "" && (e.Kind == history.Served || e.Kind == history.Rendered):
		return fmt.Errorf("%s: found no body, expected the text of the page, or a hash of it", e.Kind)
	case e.Within < 0 || e.Within > 100*365*24*time.Hour:
		return fmt.Errorf("%s: found %v, expected how long the page is fresh", e.Kind, e.Within)
	}
	return nil
}
