package nodes

import "time"

// This file owns the waiting for processes, which work in real time. The time decides when a silence is too long, and
// nothing else: no verdict about a cache depends on it.

// lastWords is how long a process that was killed may take to be read to its end.
const lastWords = 200 * time.Millisecond

// lastReading bounds the time for reading the output of a process that has ended: seconds, on a loaded machine.
const lastReading = 5 * time.Second

// deadline bounds a wait.
type deadline struct{ timer *time.Timer }

func newDeadline(d time.Duration) deadline { return deadline{time.NewTimer(d)} }

func (d deadline) over() <-chan time.Time { return d.timer.C }
func (d deadline) stop()                  { d.timer.Stop() }
