package sim

import (
	"math/rand/v2"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// Order hashes a run's partial order: its steps, and the order of those that race (see Step.Races). Two runs that
// differ only in the order of steps that do not race have the same hash. Any other two runs have different hashes, with
// a chance of error of one in 2^64. The number of distinct orders tells how much of the possible behaviour a campaign
// has seen; the number of schedules does not.
//
// Each step is mixed with the latest step of its thread and of each thing that it reads or writes. The hash of the run
// is the sum of its steps' hashes, which does not depend on their order. An Order is for one run; the zero Order is
// ready.
//
// Source: Mazurkiewicz: Trace theory (Advances in Petri Nets 1986), for the traces that are hashed here.
type Order struct {
	sum  uint64
	base uint64 // the latest step of time, on which everything later depends

	// The latest step since then of each actor (of its code, or about its node) and of each other thread; 0 means none.
	actors, threads []uint64
	objects         map[uint64]touched
	unknown         uint64 // the latest step that may touch anything
	global          uint64 // the sum of the steps that the world sees
}

// touched holds the steps that the next access to a thing depends on.
type touched struct {
	write uint64 // the latest step that wrote it
	reads uint64 // the sum of the steps that have read it since
}

// Hash returns the hash of the run so far.
func (o *Order) Hash() uint64 { return o.sum }

// Of returns a strategy that takes the same steps as s and shows each of them to o. It serves for one run.
func (o *Order) Of(s Strategy) Strategy {
	return Strategy{Name: s.Name, New: func(rng *rand.Rand, expectedSteps int) Chooser {
		chooser := s.New(rng, expectedSteps)
		watcher, _ := chooser.(Watcher)
		return &ordered{chooser, watcher, o}
	}}
}

type ordered struct {
	Chooser
	watcher Watcher // the chooser, if it is one
	order   *Order
}

func (c *ordered) Watch(s Step) {
	c.order.add(s)
	if c.watcher != nil {
		c.watcher.Watch(s)
	}
}

// add adds a step that is about to be taken.
func (o *Order) add(s Step) {
	h := fingerprint.Mix(s.id(), o.base)
	if s.Kind == Tick {
		h = fingerprint.Mix(h, o.sum)
		*o = Order{sum: o.sum + h, base: h, actors: o.actors, threads: o.threads, objects: o.objects}
		clear(o.actors)
		clear(o.threads)
		clear(o.objects)
		return
	}
	var own *uint64 // the step before, of the same actor or thread
	if s.proc != nil {
		own = at(&o.actors, s.proc.actor.index)
	} else {
		own = at(&o.threads, s.Thread)
	}
	h = fingerprint.Mix(h, *own)
	if global(s.Kind) {
		h = o.touch(h, s.accesses())
	}
	*own = h
	o.sum += h
}

// touch mixes the hash of a step with those of the earlier steps that its accesses race with, and notes it as the
// latest to touch these things.
func (o *Order) touch(h uint64, accesses []Access) uint64 {
	h = fingerprint.Mix(h, o.unknown)
	if accesses == nil {
		h = fingerprint.Mix(h, o.global)
		o.unknown = h
		o.global += h
		clear(o.objects)
		return h
	}
	for _, a := range accesses {
		before := o.objects[a.Object]
		if h = fingerprint.Mix(h, before.write); a.Write {
			h = fingerprint.Mix(h, before.reads)
		}
	}
	if o.objects == nil {
		o.objects = map[uint64]touched{}
	}
	for _, a := range accesses {
		if a.Write {
			o.objects[a.Object] = touched{write: h}
		} else {
			t := o.objects[a.Object]
			o.objects[a.Object] = touched{t.write, t.reads + h}
		}
	}
	o.global += h
	return h
}

// at returns a pointer to the i-th value, and lengthens the slice if needed.
func at(values *[]uint64, i int) *uint64 {
	for len(*values) <= i {
		*values = append(*values, 0)
	}
	return &(*values)[i]
}
