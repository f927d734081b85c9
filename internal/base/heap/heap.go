// Package heap makes the garbage collector run less often during campaigns.
package heap

import (
	"os"
	"runtime/debug"
	"sync"
)

// Settings while campaigns run.
const (
	percent    = 800
	limitBytes = 1 << 30 // near this limit it runs as often as necessary
)

// campaigns counts the running ones, and keeps the settings from before them.
var campaigns struct {
	mu      sync.Mutex
	running int
	percent int
	limit   int64
}

// CollectRarely makes the garbage collector run less often until restore is called, unless the environment sets its
// rate. Each schedule makes a world and throws it away, so nearly all of the heap is garbage. By default the collector
// would look at the few living objects every few milliseconds, and take a third of one core, and more of two. If
// CollectRarely is called several times, the last restore sets the old rate again.
func CollectRarely() (restore func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	c := &campaigns
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running++; c.running == 1 {
		c.percent, c.limit = debug.SetGCPercent(percent), debug.SetMemoryLimit(limitBytes)
	}
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.running--; c.running == 0 {
			debug.SetGCPercent(c.percent)
			debug.SetMemoryLimit(c.limit)
		}
	})
}
