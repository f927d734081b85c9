package schedules

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// TestProgramsEndInTime: if each run may take long, the end of the context leaves only the runs that have begun. The
// results are still those of the first schedules, without a gap.
func TestProgramsEndInTime(t *testing.T) {
	const workers, many, last = 4, 1200, 1030 // by then, runs of code in Go are handed out sixteen at a time
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		c := Set{Run: kernel.Run{Protocol: isr.Protocol{Name: "exec node"}}, Workers: workers}
		c.pool = new(hooks.Pool)
		var late atomic.Int32
		taken := 0
		c.Each(ctx, many, func(k int) int { return k }, func(ctx context.Context, i, _ int) Attempt {
			if ctx.Err() != nil {
				late.Add(1)
			}
			if i == last {
				cancel()
			}
			return Attempt{Index: i, Err: errors.New("it broke")}
		}, func(a Attempt) bool {
			if a.Index != taken {
				t.Errorf("result %d is of schedule %d", taken, a.Index)
			}
			taken++
			return true
		})
		if late.Load() > workers || taken <= last {
			t.Fatalf("%d runs began after the end of the context, and %d were taken, want at most %d, and more than %d",
				late.Load(), taken, workers, last)
		}
	}
}
