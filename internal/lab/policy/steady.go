package policy

import (
	"fmt"
	"math"
	"time"
)

// oldest is the age of a value that nothing renders again: a month, as on a site that has run for that long.
const oldest = monthSeconds * time.Second

// chain is the time from the start of one render of a key to the start of the next. The next one starts at the first
// read that finds the value expired, or at least as old as most.
type chain struct {
	lasts  time.Duration // the maximum time for which a value is fresh
	jitter float64       // the largest share of that time that is lost
	idle   time.Duration // how long it is fresh without a read
	most   time.Duration
	slides bool    // reads move the end of freshness
	renews bool    // and the expiry of the row
	early  float64 // beta of XFetch
	waits  bool    // a read must come for a render to start; periodic renders do not wait
}

// chainOf returns the chain of a policy for a class of data; false if none is known.
func (p Policy) chainOf(class int) (chain, bool) {
	lifetime := p.Lifetime
	if t, ok := lifetime.(tiered); ok {
		lifetime = t.of(&Entry{Class: class})
	}
	c := chain{lasts: never, idle: never, most: never, waits: true}
	if j, ok := lifetime.(jitter); ok {
		lifetime, c.jitter = j.of, j.most
	}
	switch l := lifetime.(type) {
	case absolute:
		c.lasts = time.Duration(l)
	case sliding:
		c.idle, c.slides, c.renews = time.Duration(l), true, true
	case hybrid:
		c.idle, c.lasts, c.slides = l.idle, l.most, true
	default:
		return c, false
	}
	switch f := p.Refresh.(type) {
	case unprotected, locked:
	case refreshAhead:
		c.most = f.after
	case xfetch:
		c.early = f.beta
	case periodic:
		c.waits = false
	default:
		return c, false
	}
	plain := c.jitter == 0 && c.early == 0 && c.waits
	return c, plain || !c.slides
}

// steadyPoisson returns the workload of an experiment that begins in its steady state, or the reason why it cannot.
func (x *Experiment) steadyPoisson() (Poisson, error) {
	p, ok := x.Workload.(Poisson)
	switch {
	case !ok || p.Rhythm != nil:
		return p, fmt.Errorf("policy: found a steady state of %T, expected one of Poisson without a Rhythm: other "+
			"workloads have none, or none that is known\n"+
			"hint: a WarmUp of some lifetimes", x.Workload)
	case p.Reads <= 0:
		return p, nil
	}
	classes := 1
	if t, ok := x.Policy.Lifetime.(tiered); ok {
		classes = len(t)
	}
	for class := range classes {
		if _, ok := x.Policy.chainOf(class); !ok {
			return p, fmt.Errorf("policy: found the steady state of policy %q, expected an absolute, sliding or "+
				"hybrid lifetime and a refresh of this package\n"+
				"hint: a WarmUp of some lifetimes", x.Policy.Name)
		}
	}
	return p, nil
}

// settle gives each key the row that it would have after a long time, and each node its copies. Keys are independent,
// and the process of a key starts again with each render. So the time since the last render is drawn: first a cycle,
// weighted by its length, and then a point in it.
//
// Renders in progress, retries and copies of values that are no longer in the store are not drawn.
func (r *run) settle(p Poisson) {
	weights, sum := []float64{1}, 0.0
	if p.Keys != nil {
		weights = p.Keys.weights()
	}
	for _, w := range weights {
		sum += w
	}
	for key := len(weights) - 1; key >= 0 && p.Reads > 0; key-- { // most popular last, as in an LRU
		rate := p.Reads * weights[key] / sum
		class := 0
		if p.Class != nil {
			class = p.Class(key)
		}
		k := r.key(key)
		atStore := rate
		if len(r.tier) > 0 {
			nodes := float64(len(r.tier))
			atStore = nodes / (r.Tier.Lifetime.Seconds() + nodes/rate)
		}
		c, _ := r.Policy.chainOf(class) // validate has checked it
		r.settleRow(k, Read{Key: key, Class: class}, c, gapOf(atStore))
		if k.held && key < r.Tier.Keys {
			r.settleCopies(k, key, gapOf(rate/float64(len(r.tier))))
		}
	}
}

// settleRow draws the row of a key whose reads reach the store with the given mean gap.
func (r *run) settleRow(k *cached, rd Read, c chain, gap float64) {
	takes := r.Render.draw(r.random)
	stays := never
	if r.Store.Retention > 0 {
		stays = r.Store.Retention
		if r.redis == nil {
			stays = min(never, stays+r.Store.Lag.draw(r.random))
		}
	}
	if c.renews {
		c.idle = min(c.idle, stays)
	} else {
		c.most = min(c.most, takes+stays)
	}
	age, last, lifetime := c.draw(r.random, gap, takes)
	e := Entry{Generated: -age, Stored: min(0, takes-age), Render: takes, Class: rd.Class}
	e.FreshUntil = lifetime - age
	if c.slides {
		e.FreshUntil = r.Policy.Lifetime.Read(&e, min(0, max(last, takes)-age))
	}
	k.begun, k.now = true, &epoch{end: never, seen: true}
	k.entry, k.held, k.epoch, k.bytes = e, true, k.now, r.Store.Bytes
	k.change = r.traffic.Changed(rd.Key, -age)
	if k.change <= 0 { // no render has seen the changes between then and now
		k.now.end = k.change
		k.now = &epoch{end: never}
		k.change = r.traffic.Changed(rd.Key, 0)
	}
	since := e.Stored
	if c.renews {
		since = min(0, max(last, takes)-age)
	}
	r.keep(k, rd.Key, since, stays)
	if k.hidden <= 0 {
		r.delete(k, rd.Key, 0)
	}
	if r.isPeriodic {
		r.again(rd, max(0, e.FreshUntil))
	}
}

// draw draws the state of a key that is read with the given mean gap: the age of its value, the age that it had at the
// last read, and its lifetime if reads do not move it.
func (c chain) draw(r *Random, gap float64, takes time.Duration) (age, last, lifetime time.Duration) {
	after := func() time.Duration { return time.Duration(min(r.Exponential()*gap, float64(never)/4)) }
	longest := max(takes, min(c.lasts, c.most))
	if longest >= never {
		return c.drawUnbounded(r, after, gap)
	}
	wait := 0.0
	if c.waits {
		wait = gap
	}
	rarely := float64(c.idle) >= 32*gap // gaps as long as idle practically do not occur
	for {
		lifetime = c.lasts - time.Duration(float64(c.lasts)*c.jitter*r.Float64())
		quiet, waits, reads := max(takes, min(lifetime, c.most)), wait, []time.Duration(nil)
		switch {
		case c.early > 0:
			if first := firstEarly(r.Exponential(), gap, c.early*float64(takes), lifetime); first < quiet {
				quiet, waits = max(takes, first), 0
			}
		case c.slides && !rarely:
			quiet = min(longest, takes+c.idle)
			for at := takes + after(); at < quiet; at += after() {
				reads, quiet = append(reads, at), min(longest, at+c.idle)
			}
		}
		// A long cycle is more likely to be in progress at a random time than a short one. The wait for the read that
		// ends it has no memory.
		whole := float64(quiet) + waits
		if r.Float64()*(float64(longest)+wait) >= whole {
			continue
		}
		if r.Float64()*whole >= float64(quiet) {
			age = quiet + after()
		} else {
			age = time.Duration(r.Float64() * float64(quiet))
		}
		if c.slides && rarely {
			reads = []time.Duration{min(age, quiet) - after()}
		}
		for _, at := range reads {
			if at < age {
				last = max(last, at)
			}
		}
		return age, last, lifetime
	}
}

// drawUnbounded is draw for values that only a gap without reads ends. The last read was an exponential time ago.
// Before it, going back in time, the reads have gaps shorter than idle, up to the read that rendered.
func (c chain) drawUnbounded(r *Random, after func() time.Duration, gap float64) (age, last, lifetime time.Duration) {
	since := after()
	long := math.Exp(-float64(c.idle) / gap) // the probability that a gap ends it
	if long < 1e-3 {
		age = time.Duration(min(r.Exponential()*gap/long, float64(oldest)))
	} else {
		for r.Float64() >= long {
			between := after()
			for between >= c.idle {
				between = after()
			}
			age += between
		}
	}
	return age + since, age, 0
}

// firstEarly returns the age at which the first read refreshes under XFetch, for a value with the lifetime lasts: at
// that age the integral of the refresh rate equals the exponential draw. scale is beta times the duration of a render.
func firstEarly(draw, gap, scale float64, lasts time.Duration) time.Duration {
	if scale == 0 {
		return lasts
	}
	left := -scale * math.Log(draw*gap/scale+math.Exp(-float64(lasts)/scale))
	if !(left > 0) {
		return lasts
	}
	return lasts - time.Duration(left)
}

// settleCopies draws which nodes have a copy of a key, and for how long they keep it. Each node reads the key with the
// given mean gap.
func (r *run) settleCopies(k *cached, key int, gap float64) {
	lifetime := float64(r.Tier.Lifetime)
	for _, node := range r.tier {
		if r.random.Float64()*(lifetime+gap) < lifetime {
			node.Add(key, replica{k.epoch, time.Duration(r.random.Float64() * lifetime)})
		}
	}
}
