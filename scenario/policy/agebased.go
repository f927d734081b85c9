package policy

import (
	"math"
	"time"
)

// AgeBased gives the value of a bucket of a time series a lifetime that grows with the age of its data: data of the
// last minute may still arrive late, data of the last hour hardly. The schedule says how it grows; the result is kept
// between floor and most. The time counts from the beginning of the render.
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

// AtAge returns the lifetime for an age of the data. False means that the lifetime does not depend on it.
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

// Stored implements Lifetime.
func (a ageBased) Stored(e *Entry, _ time.Duration, _ *Random) time.Duration {
	return e.Generated + a.at(e.Generated-e.Data)
}

// Read implements Lifetime: a read changes nothing.
func (a ageBased) Read(e *Entry, _ time.Duration) time.Duration { return e.FreshUntil }

// Doubling doubles the floor for each whole minute of age after the first: floor * 2^(minutes-1).
func Doubling(floor, age time.Duration) time.Duration {
	minutes := min(int(age/time.Minute), 32) // past any cap, before the shift overflows
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

// Step is where a [Piecewise] schedule changes: data of at least this age has that lifetime.
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
