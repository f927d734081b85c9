// Package heap has the garbage of campaigns collected less often.
package heap

import (
	"os"
	"runtime/debug"
	"sync"
)

// Settings while campaigns run.
const (
	percent    = 800
	limitBytes = 1 << 30 // near which it is collected as often as need be
)

// campaigns counts those that run, and keeps what they found set.
var campaigns struct {
	mu      sync.Mutex
	running int
	percent int
	limit   int64
}

// CollectRarely has garbage collected less often until restore is called, unless
// the environment says how often. Each schedule makes a world and throws it away,
// so nearly all of the heap is garbage, and the little that lives would be looked
// at again every few milliseconds: with the default, collecting takes a third of
// one core, and more of two. Where it is called several times, the last to restore
// sets the old rhythm again.
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
