package base_test

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/isr-sim/isr-sim/internal/base/heap"
)

// now returns the current settings of the garbage collector.
func now() (percent int, limit int64) {
	percent = debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	return percent, debug.SetMemoryLimit(-1)
}

func TestTheLastCampaignSetsTheOldRhythmAgain(t *testing.T) {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if old, set := os.LookupEnv(name); set {
			t.Setenv(name, old) // restores it
			os.Unsetenv(name)
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(77))
	percent, limit := now()
	first, second := heap.CollectRarely(), heap.CollectRarely()
	first()
	first()
	if p, _ := now(); p <= percent {
		t.Errorf("%d percent while a campaign runs, want more than %d", p, percent)
	}
	second()
	if p, l := now(); p != percent || l != limit {
		t.Errorf("%d percent and a limit of %d afterwards, want %d and %d", p, l, percent, limit)
	}
}

// The memory in use by a large proof must not reach the limit, or the collector would run all the time. Memory without
// pointers costs the collector nothing, and needs no room in proportion to it.
func TestTheLimitFollowsWhatIsInUse(t *testing.T) {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		t.Setenv(name, "") // as if it were unset
	}
	defer heap.CollectRarely()()
	const size = 256 << 20
	for name, test := range map[string]struct {
		hold        func() any
		least, most int64
	}{
		"without pointers": {func() any { return make([]byte, size) }, size + size/8, 2*size + size/8},
		"with pointers":    {func() any { return make([]*byte, size/8) }, 3 * size, 10 * size},
	} {
		held := test.hold()
		for n := 1; ; n++ {
			runtime.GC()
			if _, limit := now(); limit >= test.least && limit <= test.most {
				break
			} else if n == 100 {
				t.Fatalf("%s: a limit of %d with %d in use, want %d to %d", name, limit, size, test.least, test.most)
			}
			runtime.Gosched() // the limit is set soon after a collection
		}
		runtime.KeepAlive(held)
	}
}

func TestTheEnvironmentDecides(t *testing.T) {
	t.Setenv("GOGC", "50")
	percent, limit := now()
	defer heap.CollectRarely()()
	if p, l := now(); p != percent || l != limit {
		t.Errorf("%d percent and a limit of %d, want %d and %d as they were", p, l, percent, limit)
	}
}
