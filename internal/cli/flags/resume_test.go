package flags

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/nodes"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
)

// A search is saved soon, then up to once a minute, and when it ends early: a killed process loses at most a minute.
func TestASearchIsKeptEveryMinute(t *testing.T) {
	clock := clockwork.NewFakeClock()
	file := filepath.Join(t.TempDir(), "kept")
	schedules := 0
	search := func() (*campaign.Search, error) {
		return &campaign.Search{Reached: &exhaustive.Saved{Schedules: schedules}}, nil
	}
	kept := func() int {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0
		}
		s, err := campaign.ReadSearch(text)
		must.OK(t, err)
		return s.Reached.Schedules
	}
	part := func(over bool, seconds int) {
		t.Helper()
		must.Done(t)(new(Program).resume(func(v campaign.Prove) (*campaign.Proof, error) {
			for range seconds {
				schedules++
				clock.Advance(time.Second)
				if err := v.Keep(search, false); err != nil {
					return nil, err
				}
				want := 0
				for _, at := range []int{5, 15, 35, 75, 135} {
					if at <= schedules {
						want = at
					}
				}
				if kept() != want && over {
					t.Fatalf("after %d seconds %d schedules are kept, expected %d", schedules, kept(), want)
				}
			}
			if over {
				return nil, v.Keep(search, true)
			}
			return &campaign.Proof{Explored: exhaustive.Explored{Complete: true}}, nil
		}, campaign.Prove{}, file, io.Discard, clock))
	}
	if part(true, 130); kept() != 130 {
		t.Errorf("%d schedules are kept at the end, expected 130", kept())
	}
	var log bytes.Buffer
	broken := errors.New("broken")
	if _, err := new(Program).resume(func(v campaign.Prove) (*campaign.Proof, error) {
		if v.From.Reached.Schedules != 130 {
			t.Errorf("goes on after %d schedules, expected 130", v.From.Reached.Schedules)
		}
		return nil, broken
	}, campaign.Prove{}, file, &log, clock); !errors.Is(err, broken) || kept() != 130 || log.Len() == 0 {
		t.Errorf("got %v, %d schedules, %q; expected the error, and that the file stays", err, kept(), log.String())
	}
	left := func() (*campaign.Search, error) { return nil, nil }
	if _, err := new(Program).resume(func(v campaign.Prove) (*campaign.Proof, error) {
		return &campaign.Proof{}, v.Keep(left, true)
	}, campaign.Prove{}, file, io.Discard, clock); err != nil || kept() != 130 {
		t.Errorf("got %v, %d schedules after a search whose last schedule was left, expected 130", err, kept())
	}
	if _, err := new(Program).resume(func(campaign.Prove) (*campaign.Proof, error) {
		return &campaign.Proof{}, nil
	}, campaign.Prove{}, file, io.Discard, clock); err != nil || kept() != 130 {
		t.Errorf("got %v, %d schedules after a search whose last repetition was left, expected 130", err, kept())
	}
	schedules = 0
	if part(false, 1); kept() != 0 {
		t.Error("the file is there after a search that is whole, expected none")
	}
	log.Reset()
	if proof, err := new(Program).resume(func(campaign.Prove) (*campaign.Proof, error) {
		must.OK(t, os.MkdirAll(filepath.Join(file, "not empty"), 0o700)) // so that it cannot be removed
		return &campaign.Proof{Explored: exhaustive.Explored{Complete: true}}, nil
	}, campaign.Prove{}, file, &log, clock); err != nil || proof == nil || log.Len() == 0 {
		t.Errorf("got %v, %v, %q of a file that cannot be removed, expected the proof and a line", proof, err,
			log.String())
	}
}

// TestResumeKeepsWhatIsReal: a resumed search reports unsimulated things that the program used before the interruption,
// even if no process uses them again.
func TestResumeKeepsWhatIsReal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kept")
	search := func() (*campaign.Search, error) { return &campaign.Search{Reached: &exhaustive.Saved{}}, nil }
	before, after := Program{nodes: &nodes.Program{}}, Program{nodes: &nodes.Program{}}
	before.nodes.Uses("what workers do")
	for _, p := range []*Program{&before, &after} {
		if _, err := p.resume(func(v campaign.Prove) (*campaign.Proof, error) {
			return &campaign.Proof{}, v.Keep(search, true)
		}, campaign.Prove{}, file, io.Discard, clockwork.NewFakeClock()); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := after.Real(), before.Real(); got != want || got == "" {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A full disk is not the user's mistake. At the end of a search it makes the result unknown. Earlier it does not,
// because there may be room again later.
func TestASearchThatCannotBeKept(t *testing.T) {
	search := func() (*campaign.Search, error) { return &campaign.Search{Reached: &exhaustive.Saved{}}, nil }
	tooLong := strings.Repeat("k", 250) // no room for the name of the temporary file
	for _, over := range []bool{false, true} {
		var log bytes.Buffer
		clock := clockwork.NewFakeClock()
		_, err := new(Program).resume(func(v campaign.Prove) (*campaign.Proof, error) {
			clock.Advance(keepEvery)
			return &campaign.Proof{}, v.Keep(search, over)
		}, campaign.Prove{}, filepath.Join(t.TempDir(), tooLong), &log, clock)
		if _, is := errors.AsType[*mistake.Error](err); (err != nil) != over || is || (log.Len() > 0) != (err == nil) {
			t.Errorf("over: %v: got %v, a mistake: %v, %q; want an error, or a line", over, err, is, &log)
		}
	}
}
