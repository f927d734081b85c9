// Package heap makes the garbage collector run less often during campaigns.
package heap

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Settings while campaigns run. Near the limit the collector runs as often as necessary. The limit is at least
// limitTimes the memory in use after the latest collection: otherwise a large proof would spend half of its time in the
// collector.
const (
	percent    = 800
	limitBytes = 1 << 30
	limitTimes = 3
)

// campaigns counts the running campaigns, and keeps the settings from before them.
var campaigns struct {
	mu       sync.Mutex
	running  int
	percent  int
	limit    int64
	watching bool // the limit follows the memory in use
}

// CollectRarely makes the garbage collector run less often until restore is called, unless the environment sets its
// rate. Each schedule makes a world and throws it away, so nearly all of the heap is garbage. By default the collector
// would scan the few live objects every few milliseconds, and take a third of one core, and more of two. If
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
		if !c.watching {
			c.watching = true
			watch()
		}
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

// watch adapts the limit to the memory in use after each collection, as long as campaigns run. The cleanup of a piece
// of garbage tells it that a collection has run.
func watch() {
	type garbage struct{ _ *garbage }
	runtime.AddCleanup(new(garbage), func(struct{}) {
		campaigns.mu.Lock()
		defer campaigns.mu.Unlock()
		if campaigns.watching = campaigns.running > 0; !campaigns.watching {
			return
		}
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		debug.SetMemoryLimit(max(limitBytes, limitTimes*int64(live[0].Value.Uint64())))
		watch()
	}, struct{}{})
}
