package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/suggest"
)

// never is later than the end of any run.
const never = time.Duration(1) << 60

// Entry is the cached value of a key. Times count from the start of the run.
type Entry struct {
	// Generated is when the render of the value began. It lacks later changes of the data.
	Generated time.Duration
	// Stored is when the value was written.
	Stored time.Duration
	// FreshUntil is the first moment at which the value is no longer fresh.
	FreshUntil time.Duration
	// Render is how long the render took.
	Render time.Duration
	// Data is the time that the data describes, such as the minute that a bucket of a time series covers; 0 for data
	// without such a time.
	Data time.Duration
	// Class is the tier of the data, see [Tiered].
	Class int
}

// Policy is how a cache keeps its values.
type Policy struct {
	// Name is for tables and the command line.
	Name string
	// Lifetime decides how long a value is fresh.
	Lifetime Lifetime
	// Refresh decides who renders again.
	Refresh Refresh
}

// Lifetime decides how long a value is fresh.
type Lifetime interface {
	// Stored returns until when a value that is stored now is fresh.
	Stored(e *Entry, now time.Duration, r *Random) time.Duration
	// Read returns until when a value is fresh that a reader has found fresh now. A result other than e.FreshUntil is
	// written to the row, at the cost of a write.
	Read(e *Entry, now time.Duration) time.Duration
}

// Refresh decides what a reader does with what it found.
type Refresh interface {
	// Read gets the entry (nil if there is none), whether a render of its key is in progress, and the time.
	Read(e *Entry, rendering bool, now time.Duration, r *Random) Action
	// Locked reports whether a render needs the lock: it then costs the requests of recipe A (acquire, look again,
	// publish in a transaction) and otherwise one put.
	Locked() bool
}

// Action is what a reader does.
type Action int

const (
	// Serve serves the entry.
	Serve Action = iota
	// Revalidate serves the entry, and renders in the background.
	Revalidate
	// Render renders, and then serves the result.
	Render
	// Wait waits for the render in progress.
	Wait
)

// fresh reports whether a reader may treat an entry as fresh.
func (e *Entry) fresh(now time.Duration) bool { return e != nil && now < e.FreshUntil }

// All returns the policies that the command compares, for one lifetime of values. The protocol policy-NAME of isr-sim
// is the policy of that name on the rows of a cache.
func All(lifetime time.Duration) []Policy {
	const tolerance = 30 * time.Second // of the published lock with stale-while-revalidate
	absolute, early := Absolute(lifetime), lifetime*8/10
	return []Policy{
		{"unprotected", absolute, Unprotected()},
		{"absolute", absolute, Locked()},
		{"jitter", Jitter(absolute, 0.2), Locked()},
		{"sliding", Sliding(lifetime), Locked()},
		{"hybrid", Hybrid(lifetime/2, lifetime), Locked()},
		{"sliding-refresh", Sliding(lifetime), RefreshAhead(early)},
		{"tiered", Tiered(Absolute(lifetime/4), Sliding(4*lifetime)), Locked()},
		{"refresh-ahead", absolute, RefreshAhead(early)},
		{"xfetch", absolute, XFetch(1)},
		{"swr", absolute, LockedStale(tolerance)},
		{"recipe-a-stale", absolute, StaleWhileRevalidate()},
		{"periodic", absolute, Periodic()},
		{"age-based", Netflix(), Locked()},
		{"age-linear", AgeBased(5*time.Second, time.Hour, Linear), Locked()},
		{"age-logarithmic", AgeBased(5*time.Second, time.Hour, Logarithmic), Locked()},
		{"age-piecewise", AgeBased(5*time.Second, time.Hour, Piecewise(
			Step{2 * time.Minute, 30 * time.Second}, Step{10 * time.Minute, 10 * time.Minute},
			Step{time.Hour, time.Hour},
		)), Locked()},
	}
}

// Named returns the policy of [All] with a name.
func Named(name string, lifetime time.Duration) (Policy, error) {
	all := All(lifetime)
	i := slices.IndexFunc(all, func(p Policy) bool { return p.Name == name })
	if i >= 0 {
		return all[i], nil
	}
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Name
	}
	err := fmt.Errorf("found policy %q, expected one of %s", name, strings.Join(names, ", "))
	if option, ok := suggest.Nearest(strings.TrimPrefix(name, "policy-"), names); ok { // the same as in the protocols
		err = fmt.Errorf("%w\nhint: did you mean %s?", err, option)
	}
	return Policy{}, err
}
