package property

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// TestTheScheduleOfAFailureIsShrunk holds that a store's failure gets a schedule of fewer context switches in the same
// world, which still is that failure.
func TestTheScheduleOfAFailureIsShrunk(t *testing.T) {
	broken, err := scenario.ProtocolNamed("blind-release")
	if err != nil {
		t.Fatal(err)
	}
	r := newRunner(t, Check{Protocol: DefaultName}, func(n Node) (isr.Handler, error) { return broken.New(n.Config) })
	drawn := simple()
	drawn.Bounds.Schedules = 400
	s, err := world{drawn}.checked()
	if err != nil {
		t.Fatal(err)
	}
	shrunk := 0
	for seed := range Fewer[uint64](10, 2) {
		_, f := r.campaign(s, seed, s.Bounds.Schedules)
		if f == nil || f.kind != "violated: lock-theft" {
			t.Fatalf("seed %d: found %+v, want a lock theft", seed, f)
		}
		small := r.shrunk(f)
		if small.kind != f.kind || small.world != f.world || !small.repeatable() {
			t.Fatalf("seed %d: shrunk to %+v", seed, small)
		}
		switch trace, again := r.replay(small.world, *small.replay); {
		case again == nil || again.kind != f.kind:
			t.Errorf("seed %d: the shrunk schedule replays to %+v", seed, again)
		case again.replay.Digest != small.replay.Digest:
			t.Errorf("seed %d: digest %s of the replay, want %s\n%s", seed, again.replay.Digest, small.replay.Digest, trace)
		}
		if small != f {
			shrunk++
			if !strings.HasPrefix(small.how, f.how+"\nits schedule shrunk from ") {
				t.Errorf("seed %d: found %q, shrunk %q", seed, f.how, small.how)
			}
		}
	}
	if shrunk == 0 {
		t.Error("no schedule was shrunk")
	}
}

func TestWhatIsNoViolationIsNotShrunk(t *testing.T) {
	r := newRunner(t, Check{Protocol: DefaultName}, func(n Node) (isr.Handler, error) { return recipe.New(n.Config) })
	for _, f := range []*failure{
		{kind: kindUnstable}, {kind: kindPanic, replay: &scenario.Replay{}, world: simple()}, {kind: "unknown", replay: &scenario.Replay{}, world: simple()},
		// It does not violate anything when it is run again.
		{kind: "violated: lock-theft", replay: &scenario.Replay{}, world: simple()},
	} {
		if got := r.shrunk(f); got != f {
			t.Errorf("%s was shrunk to %+v", f.kind, got)
		}
	}
}

// TestShrinkingAScheduleEnds with the first run that does not end, and at the latest when its time is over.
func TestShrinkingAScheduleEnds(t *testing.T) {
	for _, goroutines := range Fewer([]bool{true, false}, []bool{true}) {
		t.Run(fmt.Sprintf("goroutines=%v", goroutines), func(t *testing.T) {
			t.Parallel()
			var stuck atomic.Bool
			var nodes atomic.Int64 // a run that is stuck is never waited for
			r := newRunner(t, Check{Protocol: DefaultName, Goroutines: goroutines}, func(n Node) (isr.Handler, error) {
				if nodes.Add(1); stuck.Load() {
					var mu sync.Mutex
					mu.Lock()
					mu.Lock() // no bubble knows of this wait
				}
				return mutantNamed(t, "blind-release").New(n.Config)
			})
			drawn := simple()
			drawn.Bounds.Schedules = 400
			s, err := world{drawn}.checked()
			if err != nil {
				t.Fatal(err)
			}
			_, f := r.campaign(s, 1, s.Bounds.Schedules)
			if f == nil || f.kind != "violated: lock-theft" {
				t.Fatalf("found %+v, want a lock theft", f)
			}
			r.limit.began, r.limit.most = true, 2*time.Second
			r.limit.end = time.Now().Add(r.limit.most) //nolint:forbidigo // the time that people wait
			stuck.Store(true)
			nodes.Store(0)
			began := time.Now() //nolint:forbidigo // as above
			if small := r.shrunk(f); small != f {
				t.Errorf("shrunk to %+v, want what was found", small)
			}
			if took := time.Since(began); nodes.Load() != 1 || took > 10*time.Second { //nolint:forbidigo // as above
				t.Errorf("%d runs were tried, in %v; want one, in some 2 to 3 s", nodes.Load(), took)
			}
			if !strings.HasPrefix(r.limit.ended(), "shrinking ended with a run that did not end within ") {
				t.Errorf("it ended because: %q", r.limit.ended())
			}
		})
	}
}

// mutantNamed returns a protocol that is broken on purpose.
func mutantNamed(t *testing.T, name string) isr.Protocol {
	t.Helper()
	p, err := scenario.ProtocolNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
