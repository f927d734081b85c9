package worlds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
)

// shortestLease is the shortest lease that still leaves scripts something to do under the lock.
const shortestLease = 500 * time.Millisecond

// WrongLease names a field of the terms of locks and calls whose value would let all code pass, and says why; otherwise
// both are "".
func (e Extras) WrongLease() (field, why string) {
	for _, lease := range Or(e.Leases, Leases()...) {
		if lease < shortestLease {
			return "Leases", fmt.Sprintf("found %v, expected %v at least: of a shorter one nothing is left to rely on",
				lease, shortestLease)
		}
		if promise.Sure(lease, 0, e.Margin) <= 0 {
			return "Margin", fmt.Sprintf("found %v, expected less than each lease; one is %v", e.Margin, lease)
		}
	}
	if stores := promise.ObjectStores(); e.S3Store != "" && !slices.Contains(stores, e.S3Store) {
		return "S3Store", fmt.Sprintf("found %q, expected one of %s", e.S3Store, strings.Join(stores, ", "))
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"Margin", e.Margin}, {"Wait", e.Wait}, {"Takeover", e.Takeover}} {
		if d.value < 0 {
			return d.name, fmt.Sprintf("found %v, expected 0 or more", d.value)
		}
	}
	return "", ""
}

// Leases returns the leases of worlds whose check names none.
func Leases() []time.Duration {
	return []time.Duration{10 * time.Second, 2 * time.Second, 1500 * time.Millisecond, 30 * time.Second}
}

// Or returns the durations that a check names, or the usual ones.
func Or(named []time.Duration, usual ...time.Duration) []time.Duration {
	if len(named) > 0 {
		return named
	}
	return usual
}

// Tries draws how often code that takes a lease tries, and what may fail in its store.
func Tries(t *rapid.T, s *spec.Scenario) {
	c := &s.Cache
	c.Poll = Pick(t, "poll", c.Lease/2, time.Second, 300*time.Millisecond)
	c.Patience = Pick(t, "patience", 4, 10, 1) // four tries wait a lease out
	c.Attempts = Pick(t, "attempts", 3, 1)
	s.Lag = Lag(t)
	s.Skew = Pick(t, "max clock skew", 0, 0, 100*time.Millisecond, c.Lease/10)
	fault := rapid.Custom(func(t *rapid.T) spec.Fault { // left to the schedule
		f := spec.Fault{Maybe: true}
		f.Kind = Pick(t, "fault", ddbfake.FaultResponseLost, ddbfake.FaultResponseLost, ddbfake.FaultErrorAfter,
			ddbfake.FaultRequestLost, ddbfake.FaultThrottled, ddbfake.FaultErrorBefore,
			ddbfake.FaultConflict, ddbfake.FaultDuplicate)
		f.Times = Pick(t, "fault's times", 0, 2)
		return f
	})
	s.Faults = rapid.SliceOfNDistinct(fault, 0, 3, spec.Fault.String).Draw(t, "faults")
}

// Keys draws the names of locks or calls: one, or two. Some others differ from the first one only in the case of
// a letter, by one more character, or after the first letter: a layer that shortens or folds names takes both for one.
func Keys(t *rapid.T, first string, others ...string) []string {
	if Pick(t, "keys", 1, 1, 2) > 1 {
		return []string{first, Pick(t, "the other key", others...)}
	}
	return []string{first}
}

// Scripted draws nodes that run such commands, with their pauses and crashes.
func Scripted(t *rapid.T, s *spec.Scenario, crashes int, commands *rapid.Generator[spec.Command]) {
	lease := s.Cache.Lease
	Actors(t, s, rapid.Custom(func(t *rapid.T) spec.Actor {
		a := spec.Actor{Script: rapid.SliceOfN(commands, 1, 5).Draw(t, "script")}
		if a.Pauses = Pick(t, "pauses", 0, 1, 2); a.Pauses > 0 {
			a.PauseFor = Pick(t, "pause for", lease+time.Second, 0, lease-time.Second, lease)
		}
		if a.Crashes = Pick(t, "crashes", 0, crashes); a.Crashes > 0 {
			a.Restarts = Pick(t, "restarts", 0, 1)
		}
		return a
	}))
}

// Late draws the clocks of a world in which code takes leases, and how late its store may be. A try takes the given
// time, and rows are kept for the given time.
func Late(t *rapid.T, s *spec.Scenario, verb spec.Verb, try, kept time.Duration) {
	Clocks(t, s, longestTries(s, verb, try, kept))
	s.ReplicaLag = Pick(t, "replica lag", 0, 0, time.Second)
	// In half of the worlds in which something else fails, batches are answered in part and queries in short pages,
	// too. Worlds without faults stay so, because they are judged more strictly. The keys of the rows are not known, so
	// the schedule chooses one row.
	if Pick(t, "batches in part", false, true) && len(s.Faults) > 0 {
		s.Faults = append(s.Faults,
			spec.Fault{Fault: ddbfake.Fault{Kind: ddbfake.FaultUnprocessed, Times: 3}, Maybe: true}, ShortPages)
	}
}

// NamesOf returns the keys of the scripts' commands with a verb.
func NamesOf(s *spec.Scenario, verb spec.Verb) []string {
	var names []string
	for _, a := range s.Actors {
		for _, c := range a.Script {
			if c.Verb == verb && !slices.Contains(names, c.Key) {
				names = append(names, c.Key)
			}
		}
	}
	return names
}

// longestTries bounds how much time a run can take. Each command of the verb tries Patience times. A try takes the
// given time, and rows are kept for the given time.
func longestTries(s *spec.Scenario, verb spec.Verb, try, kept time.Duration) time.Duration {
	c := s.Cache
	var moving time.Duration
	for _, a := range s.Actors {
		moving += time.Duration(a.Pauses) * a.PauseFor
		for _, command := range a.Script {
			one := command.For
			if command.Verb == verb {
				one += time.Duration(c.Patience) * (c.Poll + try)
			}
			moving += time.Duration(1+a.Restarts) * one
		}
	}
	return 2 * (moving + time.Duration(s.Bounds.Ticks)*(kept+LagAfter) + time.Minute)
}
