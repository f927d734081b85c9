package nodes

import "time"

// This file has all waiting for processes, which work in real time. Real time only decides when a silence is too long:
// no verdict about a cache depends on it.

// lastWords bounds the time for reading the output of a process that was killed.
const lastWords = 200 * time.Millisecond

// lastReading bounds the time for reading the output of a process that has ended: seconds, on a loaded machine.
const lastReading = 5 * time.Second

// deadline bounds a wait.
type deadline struct{ timer *time.Timer }

func newDeadline(d time.Duration) deadline { return deadline{time.NewTimer(d)} }

func (d deadline) over() <-chan time.Time { return d.timer.C }
func (d deadline) stop()                  { d.timer.Stop() }
