package property

import (
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/racing"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
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
	for seed := range racing.Fewer[uint64](10, 2) {
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
	r := newRunner(t, Check{Protocol: DefaultName}, func(n Node) (isr.Handler, error) { return isr.New(n.Config) })
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
