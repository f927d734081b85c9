// Package heap makes the garbage collector run less often during campaigns.
package heap

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Settings while campaigns run. After each collection the limit is set to the memory in use and some room. A collection
// reads only memory with pointers, so the room is roomTimes that: then the collector takes a bounded share of the time.
// It is at least leastRoom, and beyond mostRoom only twice the memory with pointers: near the limit the collector runs
// as often as necessary.
const (
	percent   = 800
	roomTimes = 8
	leastRoom = 256 << 20
	mostRoom  = 1 << 30
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
		c.percent, c.limit = debug.SetGCPercent(percent), debug.SetMemoryLimit(mostRoom)
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
		use := []metrics.Sample{
			{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/heap:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		}
		metrics.Read(use)
		live, scanned, objects := use[0].Value.Uint64(), use[1].Value.Uint64(), use[2].Value.Uint64()
		debug.SetMemoryLimit(int64(live) + room(float64(live)*float64(scanned)/float64(objects)))
		watch()
	}, struct{}{})
}

// room is how much the heap may grow until the next collection, if so much of the memory in use has pointers.
func room(pointers float64) int64 {
	return int64(max(leastRoom, min(roomTimes*pointers, mostRoom), 2*pointers))
}
