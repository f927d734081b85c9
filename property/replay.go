package property

import (
	"testing"

	"github.com/isr-sim/isr-sim/internal/garbage"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Replay runs the store on the scenario file that a failed CheckStore has left,
// and fails as it did then:
//
//	func TestPausedWriter(t *testing.T) {
//		property.Replay(t, "testdata/isr-sim/TestStore.yaml", newStore)
//	}
//
// The recorded schedule comes first; under -v its trace is printed, step by
// step. Once the store is mended, that schedule may pass or no longer fit the
// store's requests. Then the file's world is run under as many other schedules as
// the file says, so that it stays a test.
//
// Any scenario file will do, also one without a replay entry, and newStore may
// be that of another store.
func Replay(t *testing.T, file string, newStore func(Node) (isr.Handler, error)) {
	t.Helper()
	Check{}.Replay(t, file, newStore)
}

// Replay runs the store on a scenario file, as the function Replay does. Of c,
// only Goroutines matters, and only where the file does not say it: one that a
// check with goroutines has left does.
func (c Check) Replay(t *testing.T, file string, newStore func(Node) (isr.Handler, error)) {
	t.Helper()
	s, err := load(file)
	if err != nil {
		t.Fatalf("replay: %v", err)
	}
	defer garbage.CollectRarely()()
	c.Protocol = s.Protocol
	c.Goroutines = c.Goroutines || s.Replay != nil && s.Replay.Goroutines
	r := newRunner(t, c, newStore)
	if s.Replay != nil {
		r.name = s.Replay.Protocol
		trace, f := r.replay(s, *s.Replay)
		if testing.Verbose() {
			t.Logf("%s under %s, seed %d, choices %s\n\n%s", s.Name, r.name, s.Replay.Seed, s.Replay.Choices, trace)
		}
		switch {
		case f == nil:
			t.Logf("the recorded schedule of %s passes", file)
		case f.kind == kindDiverged:
			t.Logf("the recorded schedule of %s does not fit any more: %s", file, f.text)
		default:
			fail(t, f, file)
		}
	}
	seed := uint64(0)
	if s.Replay != nil {
		seed = s.Replay.Seed
	}
	if _, f := r.campaign(s, seed, s.Bounds.Schedules); f != nil {
		fail(t, f, file)
	}
	t.Logf("the world of %s passes under %d schedules", file, s.Bounds.Schedules)
}

// fail ends the test with the failure's report.
func fail(t *testing.T, f *failure, file string) {
	t.Helper()
	if f.details != "" {
		t.Log(f.details)
	}
	t.Fatalf("%s", f.report(t, file))
}
