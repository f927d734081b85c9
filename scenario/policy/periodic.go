package policy

import "time"

// Periodic renders each value again at the end of its lifetime, whether it is read or not. Readers get what there is.
func Periodic() Refresh { return periodic{} }

type periodic struct{}

// Read implements Refresh: only the first reader of a key renders.
func (periodic) Read(e *Entry, rendering bool, _ time.Duration, _ *Random) Action {
	switch {
	case e != nil:
		return Serve
	case rendering:
		return Wait
	}
	return Render
}

// Locked implements Refresh.
func (periodic) Locked() bool { return true }
