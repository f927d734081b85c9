package nodes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// talk is a line to a program, and everything that follows until its answer.
type talk struct {
	n       *node
	ctx     context.Context
	at      string
	restful int // requests that were not steps

	arrived []*arrival // requests without a lane yet
	open    []*arrival // requests with a lane
	drops   map[*arrival]func()
	ended   int // lanes that have ended

	timers []*timerLane // those that are set and due first
}

// timerLane is a timer of the program that waits in a lane, by its place.
type timerLane struct {
	place int
	drop  func()
}

// ask tells the program something, and lets its requests happen until it answers with a line. It panics with an *Error
// if the program does something else, and with the simulator's signal if the node crashes.
func (n *node) ask(ctx context.Context, at string, t toldLine) said {
	within := true
	defer func() {
		if within {
			_ = n.end(true) // the first error is on its way
		}
	}()
	t.Time = milliseconds(n.clock.Now())
	n.incarnation.tell(t)
	c := &talk{n: n, ctx: ctx, at: at, drops: map[*arrival]func(){}}
	for {
		did, err := n.incarnation.listen(at)
		if err != nil {
			panic(err)
		}
		c.arrived = append(c.arrived, did.asked...)
		c.forsake(did.left)
		for _, a := range c.open {
			if a.late != nil && slices.Contains(did.late, a.place) {
				a.late()
			}
		}
		if did.line != nil {
			c.setTimers(nil)
			within, n.later = false, did.line.Later
			return *did.line
		}
		before := c.ended
		if c.setTimers(did.quiet); c.ended > before {
			continue // a timer was due: the program runs on
		}
		arrived := c.arrived
		c.arrived = nil
		if len(arrived) == 1 && len(c.open) == 0 && len(c.timers) == 0 {
			c.happen(arrived[0]) // the usual case: one request
			continue
		}
		slices.SortStableFunc(arrived, compare)
		for _, a := range arrived {
			c.openLane(a)
		}
		if c.ended == before {
			c.n.clock.Join()
		}
	}
}

func (c *talk) openLane(a *arrival) {
	c.open = append(c.open, a)
	c.drops[a] = c.n.clock.Lane(func() {
		c.happen(a)
		c.open = slices.DeleteFunc(c.open, func(other *arrival) bool { return other == a })
		c.ended++
	})
}

// forsake leaves the requests of these places to the network, where they may still take effect: the program no longer
// waits for them.
func (c *talk) forsake(places []int) {
	gone := func(a *arrival) bool { return slices.Contains(places, a.place) }
	all := slices.DeleteFunc(slices.Concat(c.open, c.arrived), func(a *arrival) bool { return !gone(a) })
	slices.SortStableFunc(all, compare)
	c.arrived = slices.DeleteFunc(c.arrived, gone)
	for _, a := range all {
		if c.drops[a] == nil {
			c.openLane(a)
		}
		c.drops[a]()
	}
	c.open = slices.DeleteFunc(c.open, gone)
}

// happen lets a request happen, and answers it.
func (c *talk) happen(a *arrival) {
	n := c.n
	to, step := n.serve(c.ctx, c.at, a)
	if !step {
		if c.restful++; c.restful > maxRestful {
			panic(n.incarnation.wrong(c.at,
				fmt.Sprintf("sent more than %d requests that take no time", maxRestful), ""))
		}
	}
	if to == nil {
		to = &answer{} // the connection breaks
	}
	to.time = milliseconds(n.clock.Now())
	n.incarnation.reply(a, to)
}

// setTimers gives a lane to each timer named in the line quiet (nil names none), because any of them may fire first.
// Timers keep their lanes, so that of three timers for one millisecond each may also fire second.
func (c *talk) setTimers(quiet *said) {
	var due []int
	after := 0.0
	if quiet != nil && quiet.Timer != 0 {
		due, after = append([]int{quiet.Timer}, quiet.Also...), *cmp.Or(quiet.After, new(float64))
	}
	for _, t := range c.timers {
		if !slices.Contains(due, t.place) {
			t.drop()
		}
	}
	c.timers = slices.DeleteFunc(c.timers, func(t *timerLane) bool { return !slices.Contains(due, t.place) })
	before := c.ended
	for _, place := range due {
		if slices.ContainsFunc(c.timers, func(t *timerLane) bool { return t.place == place }) {
			continue
		}
		if !(after >= 0 && after <= mostSleep) {
			panic(c.n.incarnation.wrong(c.at,
				fmt.Sprintf("said that a timer fires after %v ms, expected 0 to those of a year", after), ""))
		}
		if c.openTimer(place, after); c.ended > before {
			return // it has fired, and the program names the remaining timers again
		}
	}
}

func (c *talk) openTimer(place int, after float64) {
	t := &timerLane{place: place}
	c.timers = append(c.timers, t)
	t.drop = c.n.clock.Lane(func() {
		c.n.clock.Sleep(time.Duration(after * float64(time.Millisecond)))
		c.timers = slices.DeleteFunc(c.timers, func(other *timerLane) bool { return other == t })
		c.ended++
		c.n.incarnation.tell(toldLine{Type: "wake", Time: milliseconds(c.n.clock.Now()), Timer: place})
	})
}
