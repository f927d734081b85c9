package policy

import (
	"time"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

// Entry is the cached value of a key. Times are since the run began.
type Entry struct {
	// Generated is when the render of the value began. Changes of the data after that are not in the value.
	Generated time.Duration
	// Stored is when it was written.
	Stored time.Duration
	// FreshUntil is the first moment at which it is no longer fresh.
	FreshUntil time.Duration
	// Render is how long it took to make.
	Render time.Duration
	// Data is the time to which the data belongs, such as the minute that a bucket of a time series covers; 0 if it
	// belongs to no time.
	Data time.Duration
	// Class is the tier of the data, for the policy tiered.
	Class int
}

// Random is a stream of random numbers, named by a seed and a number of its own.
type Random policy.Random

// Float64 draws a number from [0, 1).
func (r *Random) Float64() float64 { return (*policy.Random)(r).Float64() }

// Policy is how a cache keeps its values.
type Policy struct {
	// Name is for tables.
	Name string
	// Lifetime says how long a value is fresh.
	Lifetime Lifetime
	// Refresh says who renders a value again.
	Refresh Refresh
}

func (p Policy) lab() policy.Policy {
	return policy.Policy{Name: p.Name, Lifetime: inLab(p.Lifetime), Refresh: p.Refresh.lab}
}

func fromLab(p policy.Policy) Policy {
	return Policy{Name: p.Name, Lifetime: ready{p.Lifetime}, Refresh: Refresh{p.Refresh}}
}

// Named returns one of the policies that isr-sim policy compares, with the given lifetime of values. The protocol
// policy-NAME of isr-sim is the policy with this name, applied to the rows of a cache.
func Named(name string, lifetime time.Duration) (Policy, error) {
	p, err := policy.Named(name, lifetime)
	if err != nil {
		return Policy{}, err
	}
	return fromLab(p), nil
}

// Lifetime says how long a value is fresh.
type Lifetime interface {
	// Stored returns the time until which a value that is stored now is fresh.
	Stored(e *Entry, now time.Duration, r *Random) time.Duration
	// Read returns the time until which a value is fresh after a reader has found it fresh now. If the time is not
	// e.FreshUntil, it is written to the row, which costs a write.
	Read(e *Entry, now time.Duration) time.Duration
}

// ready is a lifetime of package internal/lab/policy.
type ready struct{ lab policy.Lifetime }

func (l ready) Stored(e *Entry, now time.Duration, r *Random) time.Duration {
	return l.lab.Stored((*policy.Entry)(e), now, (*policy.Random)(r))
}

func (l ready) Read(e *Entry, now time.Duration) time.Duration {
	return l.lab.Read((*policy.Entry)(e), now)
}

// own makes a lifetime of the program one of package internal/lab/policy.
type own struct{ of Lifetime }

func (l own) Stored(e *policy.Entry, now time.Duration, r *policy.Random) time.Duration {
	return l.of.Stored((*Entry)(e), now, (*Random)(r))
}

func (l own) Read(e *policy.Entry, now time.Duration) time.Duration {
	return l.of.Read((*Entry)(e), now)
}

func inLab(l Lifetime) policy.Lifetime {
	switch l := l.(type) {
	case nil:
		return nil
	case ready:
		return l.lab
	}
	return own{l}
}

// Absolute keeps a value fresh for a time that counts from the beginning of the render that made it.
func Absolute(lifetime time.Duration) Lifetime { return ready{policy.Absolute(lifetime)} }

// Sliding keeps a value fresh for a time that begins anew at each read.
func Sliding(lifetime time.Duration) Lifetime { return ready{policy.Sliding(lifetime)} }

// Refresh says what a reader does after it has looked for a value.
type Refresh struct{ lab policy.Refresh }

// Unprotected is a cache without a lock: every reader who finds no fresh value renders.
func Unprotected() Refresh { return Refresh{policy.Unprotected()} }

// Locked lets one reader at a time render a key, like recipe A. The other readers wait.
func Locked() Refresh { return Refresh{policy.Locked()} }

// StaleWhileRevalidate lets one reader at a time render a key, in the background. Meanwhile all readers get the old
// value, including the reader who renders.
func StaleWhileRevalidate() Refresh { return Refresh{policy.StaleWhileRevalidate()} }
