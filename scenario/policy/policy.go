package policy

import "time"

// never is later than the end of any run.
const never = time.Duration(1) << 60

// Entry is the cached value of a key. Times are since the run began.
type Entry struct {
	// Generated is when the render began that made the value: data that changed later is not in it.
	Generated time.Duration
	// Stored is when it was written.
	Stored time.Duration
	// FreshUntil is when it ceases to be fresh. At that moment it is not fresh any more.
	FreshUntil time.Duration
	// Render is how long it took to make.
	Render time.Duration
	// Data is the time that the data is about, such as the minute that a bucket of a time series covers; 0 for data
	// that is about no time.
	Data time.Duration
	// Class is the tier of the data, see [Tiered].
	Class int
}

// Policy is how a cache keeps its values.
type Policy struct {
	// Name is for tables and the command line.
	Name string
	// Lifetime says how long a value is fresh.
	Lifetime Lifetime
	// Refresh says who renders again.
	Refresh Refresh
}

// Lifetime says how long a value is fresh.
type Lifetime interface {
	// Stored returns until when a value is fresh that was stored now.
	Stored(e *Entry, now time.Duration, r *Random) time.Duration
	// Read returns until when a value is fresh after a reader has found it fresh now. A value other than e.FreshUntil
	// is written to the row, and costs that write.
	Read(e *Entry, now time.Duration) time.Duration
}

// Refresh says what a reader does with what it found.
type Refresh interface {
	// Read is told the entry (nil if there is none), whether a render of its key is under way, and the time.
	Read(e *Entry, rendering bool, now time.Duration, r *Random) Action
	// Locked reports whether whoever renders holds the lock: a render then costs the requests of recipe A (acquire,
	// look again, publish in a transaction) and otherwise one put.
	Locked() bool
}

// Action is what a reader does.
type Action int

const (
	// Serve serves the entry.
	Serve Action = iota
	// Revalidate serves the entry, and renders in the background.
	Revalidate
	// Render renders, and serves the result when it is there.
	Render
	// Wait waits for the render that is under way.
	Wait
)

// fresh reports whether a reader may take an entry for fresh.
func (e *Entry) fresh(now time.Duration) bool { return e != nil && now < e.FreshUntil }
