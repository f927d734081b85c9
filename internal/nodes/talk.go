package nodes

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"
)

// lanes is what the clock of an actor can do besides: the actor has several things under way. See package sim.
type lanes interface {
	Lane(f func()) (drop func())
	Join()
}

// talk is a line to a program, and all that follows until its answer.
type talk struct {
	n       *node
	ctx     context.Context
	at      string
	lanes   lanes
	restful int // requests that were no steps

	arrived []*arrival // and have no lane yet
	open    []*arrival // that have one
	drops   map[*arrival]func()
	left    map[*arrival]bool // that the program waits for no longer
	ended   int               // lanes that have come to their end
	quiet   *said             // the program's word, since something last came to it

	timer     int // the number of the one that has a lane; 0 is none
	dropTimer func()
}

// ask tells the program something and has its requests happen until it answers with a line. It panics with an *Error if
// the program does something else, and with the simulator's signal if the node crashes.
func (n *node) ask(ctx context.Context, at string, t told) said {
	p := n.process
	within := true
	defer func() {
		if within {
			_ = n.end(true) // the first error is on its way
		}
	}()
	t.Time = milliseconds(n.cfg.Clock.Now())
	p.tell(t)
	c := &talk{n: n, ctx: ctx, at: at, drops: map[*arrival]func(){}, left: map[*arrival]bool{}}
	c.lanes, _ = n.cfg.Clock.(lanes)
	for {
		if line := c.listen(p); line != nil {
			c.over(line)
			within = false
			return *line
		}
		c.forsake()
		before := c.ended
		if c.setTimer(); c.ended > before {
			continue // it was due: the program runs on
		}
		arrived := c.arrived
		c.arrived = nil
		if len(arrived) == 1 && len(c.open) == 0 && c.timer == 0 {
			c.happen(arrived[0]) // as most do
			continue
		}
		slices.SortStableFunc(arrived, compare)
		for _, a := range arrived {
			c.openLane(a)
		}
		if c.ended == before {
			c.lanes.Join()
		}
	}
}

func (c *talk) openLane(a *arrival) {
	c.open = append(c.open, a)
	c.drops[a] = c.lanes.Lane(func() {
		c.happen(a)
		c.open = slices.DeleteFunc(c.open, func(other *arrival) bool { return other == a })
		c.ended++
	})
}

// forsake leaves the requests that the program waits for no longer to the network, where they may still take effect.
func (c *talk) forsake() {
	all := slices.DeleteFunc(slices.Concat(c.open, c.arrived), func(a *arrival) bool { return !c.left[a] })
	slices.SortStableFunc(all, compare)
	gone := func(a *arrival) bool { return c.left[a] }
	c.arrived = slices.DeleteFunc(c.arrived, gone)
	for _, a := range all {
		if c.drops[a] == nil {
			c.openLane(a)
		}
		c.drops[a]()
		c.n.process.leave(a)
	}
	c.open = slices.DeleteFunc(c.open, gone)
}

// waits are the requests that the program waits for.
func (c *talk) waits() []*arrival {
	return slices.DeleteFunc(slices.Concat(c.open, c.arrived), func(a *arrival) bool { return c.left[a] })
}

// listen waits until the program answers with a line, or has requests or a timer and waits for nothing else.
func (c *talk) listen(p *process) *said {
	says := slices.Contains(p.can, canQuiet)
	for {
		if !p.parallel() && len(c.arrived) > 0 || says && c.atRest() {
			return nil
		}
		e := c.hear(p, !says && len(c.arrived)+len(c.open) > 0)
		switch {
		case e.left != nil:
			c.left[e.left] = true
		case e.arrival != nil:
			if says && e.arrival.number == 0 {
				panic(c.n.wrong(c.at, fmt.Sprintf("sent %s without the header %s, though its hello says that it can %q", e.arrival, headerNumber, canQuiet), ""))
			}
			c.arrived = append(c.arrived, e.arrival)
			if e.arrival.alone {
				c.quiet = &said{Requests: []int{e.arrival.number}}
			}
		case e.line == nil: // nothing came
			return nil
		default:
			s, err := parseLine(e.line)
			if err != nil {
				panic(c.n.wrong(c.at, err.Error(), "the program's own messages go to stderr"))
			}
			if !says || s.Type != "quiet" {
				return &s
			}
			c.quiet = &s
		}
	}
}

// hear waits for what the program says next. If it may settle, that may be nothing.
func (c *talk) hear(p *process, maySettle bool) event {
	var settled <-chan time.Time
	if maySettle {
		rest := newDeadline(cmp.Or(p.program.Settle, DefaultSettle))
		defer rest.stop()
		settled = rest.over()
	}
	e, err := p.nextWithin(c.at, settled)
	if err != nil {
		panic(err)
	}
	return e
}

// atRest says whether the program waits for nothing but the requests that have come, and its timer.
func (c *talk) atRest() bool {
	waits := c.waits()
	if c.quiet == nil || len(c.quiet.Requests) != len(waits) || len(c.quiet.Requests) == 0 && c.quiet.Timer == 0 {
		return false
	}
	for _, a := range waits {
		if !slices.Contains(c.quiet.Requests, a.number) {
			return false
		}
	}
	return true
}

// happen has a request happen, and answers it.
func (c *talk) happen(a *arrival) {
	n := c.n
	to, step := n.serve(c.ctx, c.at, a)
	if !step {
		if c.restful++; c.restful > maxRestful {
			panic(n.wrong(c.at, fmt.Sprintf("sent more than %d requests that take no time", maxRestful), ""))
		}
	}
	if to != nil {
		to.time = milliseconds(n.cfg.Clock.Now())
	}
	c.quiet = nil
	n.process.reply(a, to)
}

// setTimer has the program's first timer be the one that has a lane.
func (c *talk) setTimer() {
	timer, after := 0, 0.0
	if c.quiet != nil && c.quiet.Timer != 0 {
		timer, after = c.quiet.Timer, *cmp.Or(c.quiet.After, new(float64))
	}
	if timer == c.timer {
		return
	}
	if c.dropTimer != nil {
		c.dropTimer()
		c.timer, c.dropTimer = 0, nil
	}
	if timer == 0 {
		return
	}
	if !(after >= 0 && after <= mostSleep) {
		panic(c.n.wrong(c.at, fmt.Sprintf("said that a timer fires after %v ms, expected 0 to those of a year", after), ""))
	}
	c.timer = timer
	c.dropTimer = c.lanes.Lane(func() {
		c.n.cfg.Clock.Sleep(time.Duration(after * float64(time.Millisecond)))
		c.timer, c.dropTimer, c.quiet = 0, nil, nil
		c.ended++
		c.n.process.tell(told{Type: "wake", Time: milliseconds(c.n.cfg.Clock.Now()), Timer: timer})
	})
}

// over ends the talk: the program has answered.
func (c *talk) over(line *said) {
	noticed := newDeadline(DefaultSettle)
	defer noticed.stop()
	for len(c.waits()) > 0 { // a connection that it has closed may be noticed later than its line
		e, err := c.n.process.nextWithin(c.at, noticed.over())
		if err != nil {
			panic(err)
		}
		if e.left == nil {
			break
		}
		c.left[e.left] = true
	}
	if under := c.waits(); len(under) > 0 {
		panic(c.n.wrong(c.at, fmt.Sprintf("printed a line of type %q while its %s was under way", line.Type, under[0]),
			"a node has done its work when it replies: await all requests before"))
	}
	c.forsake()
	if c.dropTimer != nil {
		c.dropTimer()
	}
}

// idempotency is what SDKs add to a request at random.
var idempotency = regexp.MustCompile(`"ClientRequestToken":\s*"[^"]*",?`)

// compare orders requests that are under way at the same time by what they ask. Those that ask the same come in the
// order in which the program numbered them, if it did.
func compare(a, b *arrival) int {
	body := func(a *arrival) string { return idempotency.ReplaceAllString(string(a.body), "") }
	return cmp.Or(cmp.Compare(a.String(), b.String()), cmp.Compare(a.query, b.query), cmp.Compare(body(a), body(b)),
		cmp.Compare(a.number, b.number))
}
