package policy

import (
	"math"
	"time"
)

// Absolute keeps each value fresh for a time that counts from the start of its render, however often it is read:
// fresh_until = generated_at + revalidate_seconds. For buckets of time series, this is the uniform TTL.
func Absolute(lifetime time.Duration) Lifetime { return absolute(lifetime) }

type absolute time.Duration

func (a absolute) Stored(e *Entry, _ time.Duration, _ *Random) time.Duration {
	return e.Generated + time.Duration(a)
}

// Read implements Lifetime: a read changes nothing.
func (a absolute) Read(e *Entry, _ time.Duration) time.Duration { return e.FreshUntil }

// Sliding keeps a value fresh for a time since its last read. Under steady reads it is never rendered again, and its
// staleness has no bound.
func Sliding(lifetime time.Duration) Lifetime { return sliding(lifetime) }

type sliding time.Duration

func (s sliding) Stored(_ *Entry, now time.Duration, _ *Random) time.Duration {
	return now + time.Duration(s)
}

// Read implements Lifetime: the time starts again.
func (s sliding) Read(_ *Entry, now time.Duration) time.Duration { return now + time.Duration(s) }

// Hybrid keeps a value fresh for a time (idle) after its last read, but no longer than another time (most) after the
// start of its render.
func Hybrid(idle, most time.Duration) Lifetime { return hybrid{idle, most} }

type hybrid struct{ idle, most time.Duration }

func (h hybrid) Stored(e *Entry, now time.Duration, _ *Random) time.Duration { return h.Read(e, now) }

// Read implements Lifetime: the idle time starts again, up to the cap.
func (h hybrid) Read(e *Entry, now time.Duration) time.Duration {
	return min(now+h.idle, e.Generated+h.most)
}

// capped reports whether reads can extend a value's lifetime only up to an end that is known when it is stored.
func capped(l Lifetime, e *Entry) bool {
	switch l := l.(type) {
	case hybrid:
		return true
	case jitter:
		return capped(l.of, e)
	case tiered:
		return capped(l.of(e), e)
	}
	return false
}

// Jitter shortens the lifetime of each stored value by a random share up to most (0 to 1), so that values that were
// stored together do not expire together.
func Jitter(of Lifetime, most float64) Lifetime { return jitter{of, most} }

type jitter struct {
	of   Lifetime
	most float64
}

func (j jitter) Stored(e *Entry, now time.Duration, r *Random) time.Duration {
	until := j.of.Stored(e, now, r)
	return until - time.Duration(float64(until-now)*(j.most*r.Float64()))
}

// Read implements Lifetime: a read that extends nothing keeps the shortened time.
func (j jitter) Read(e *Entry, now time.Duration) time.Duration { return j.of.Read(e, now) }

// AgeBased gives the value of a bucket of a time series a lifetime that grows with the age of its data: data of the
// last minute may still arrive late, data of the last hour hardly. The schedule defines how it grows; the result is
// clamped between floor and most. The lifetime counts from the start of the render.
//
// Source: Netflix, Stop answering the same question twice: interval-aware caching for Druid, 2026: 5 s, doubled for
// each minute of age, at most one hour.
func AgeBased(floor, most time.Duration, schedule Schedule) Lifetime {
	return ageBased{floor, most, schedule}
}

type ageBased struct {
	floor, most time.Duration
	schedule    Schedule
}

// Schedule gives the lifetime for an age of the data, before floor and cap.
type Schedule func(floor, age time.Duration) time.Duration

// Netflix is the schedule as published: floor 5 s, doubled for each whole minute after the first, cap one hour.
func Netflix() Lifetime { return AgeBased(5*time.Second, time.Hour, Doubling) }

// AtAge returns the lifetime for an age of the data; false if the lifetime does not depend on it.
func AtAge(l Lifetime, age time.Duration) (time.Duration, bool) {
	a, ok := l.(ageBased)
	if !ok {
		return 0, false
	}
	return a.at(age), true
}

func (a ageBased) at(age time.Duration) time.Duration {
	return min(a.most, max(a.floor, a.schedule(a.floor, age)))
}

func (a ageBased) Stored(e *Entry, _ time.Duration, _ *Random) time.Duration {
	return e.Generated + a.at(e.Generated-e.Data)
}

// Read implements Lifetime: a read changes nothing.
func (a ageBased) Read(e *Entry, _ time.Duration) time.Duration { return e.FreshUntil }

// Doubling doubles the floor for each whole minute of age after the first: floor * 2^(minutes-1).
func Doubling(floor, age time.Duration) time.Duration {
	minutes := min(int(age/time.Minute), 32) // enough to exceed any cap, without an overflow of the shift
	if minutes < 1 {
		return floor
	}
	lifetime := floor << (minutes - 1)
	if lifetime>>(minutes-1) != floor {
		return never
	}
	return lifetime
}

// Linear grows by the floor for each whole minute of age.
func Linear(floor, age time.Duration) time.Duration { return floor * (1 + age/time.Minute) }

// Logarithmic grows by the floor each time that the age in minutes doubles.
func Logarithmic(floor, age time.Duration) time.Duration {
	return time.Duration(float64(floor) * (1 + math.Log2(1+age.Minutes())))
}

// Step is a point at which a [Piecewise] schedule changes: data of this age or older has this lifetime.
type Step struct{ Age, Lifetime time.Duration }

// Piecewise is a table of lifetimes. Data younger than the first step has the floor.
func Piecewise(steps ...Step) Schedule {
	return func(floor, age time.Duration) time.Duration {
		lifetime := floor
		for _, s := range steps {
			if age >= s.Age {
				lifetime = s.Lifetime
			}
		}
		return lifetime
	}
}

// Tiered gives each class of data another lifetime, such as a short absolute one for prices and a long sliding one for
// pictures. The workload decides the class of each key. Classes beyond the last lifetime have the last one.
func Tiered(byClass ...Lifetime) Lifetime { return tiered(byClass) }

type tiered []Lifetime

func (t tiered) Stored(e *Entry, now time.Duration, r *Random) time.Duration {
	return t.of(e).Stored(e, now, r)
}

func (t tiered) Read(e *Entry, now time.Duration) time.Duration { return t.of(e).Read(e, now) }

func (t tiered) of(e *Entry) Lifetime { return t[min(e.Class, len(t)-1)] }
