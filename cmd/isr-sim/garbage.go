package main

import (
	"os"
	"runtime/debug"
)

// collectRarely has the garbage of campaigns collected less often, unless the
// environment says how often. Each schedule makes a world and throws it away, so
// nearly all of the heap is garbage, and the little that lives would be looked at
// again every few milliseconds: with the default, collecting takes a third of one
// core, and more of two. It returns what sets the old rhythm again.
func collectRarely() (restore func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	percent := debug.SetGCPercent(800)
	limit := debug.SetMemoryLimit(1 << 30) // near which it is collected as often as need be
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
