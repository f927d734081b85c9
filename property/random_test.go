package property

import (
	"crypto/rand" //nolint:depguard // what stores take tokens from
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/race"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// randomStore is broken, and takes its tokens from crypto/rand, as lock clients take the versions of their records.
func randomStore(t *testing.T, goroutines bool) (runner, func() (*failure, string)) {
	t.Helper()
	broken := mutantNamed(t, "blind-release")
	r := newRunner(t, Check{Protocol: DefaultName, Goroutines: goroutines}, func(n Node) (isr.Handler, error) {
		n.Tokens = rand.Text
		return broken.New(n.Config)
	})
	drawn := simple()
	drawn.Bounds.Schedules = 400
	s, err := world{drawn}.checked()
	if err != nil {
		t.Fatal(err)
	}
	return r, func() (*failure, string) {
		_, f := r.campaign(s, 1, s.Bounds.Schedules)
		if f == nil || f.replay == nil {
			return f, ""
		}
		trace, again := r.replay(s, *f.replay)
		if again == nil || again.kind != f.kind {
			t.Errorf("replayed to %+v, want %s", again, f.kind)
		}
		return f, trace
	}
}

func TestCryptoRandIsSeededForEachRun(t *testing.T) {
	for name, goroutines := range map[string]bool{"one goroutine": false, "goroutines": true} {
		t.Run(name, func(t *testing.T) {
			r, search := randomStore(t, goroutines)
			first, trace := search()
			if first == nil || first.kind != "violated: lock-theft" {
				t.Fatalf("found %+v, want a lock theft", first)
			}
			second, again := search()
			if second == nil || second.replay.Digest != first.replay.Digest || trace != again {
				t.Errorf("two campaigns of one seed:\n%+v\n%s\n%+v\n%s", first, trace, second, again)
			}
			if small := r.shrunk(first); small == first {
				t.Error("the schedule was not shrunk")
			}
		})
	}
	if a, b := rand.Text(), rand.Text(); a == b {
		t.Errorf("crypto/rand gives %s twice", a)
	}
}

// TestCryptoRandOfParallelTests is shared with other tests, so it stays as it is; what was found is reported all the same.
func TestCryptoRandOfParallelTests(t *testing.T) {
	t.Parallel()
	_, search := randomStore(t, false)
	f, _ := search()
	if f == nil || f.kind != kindUnstable {
		t.Fatalf("found %+v, want a store that does not repeat itself", f)
	}
	rest := f.text
	for _, want := range []string{
		"violated: simple under store-under-test\n\nlock-theft: ", "that run cannot be repeated: ", " of alice was \"", "\" in one run, and ",
		"crypto/rand was not seeded for each run, which takes a test that is not parallel: ",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Errorf("the report lacks %q, or it comes too early:\n%s", want, f.text)
		}
		rest = after
	}
}

// TestCryptoRandAfterARunThatDoesNotEnd is what it was before, though that run keeps its own.
func TestCryptoRandAfterARunThatDoesNotEnd(t *testing.T) {
	if race.Enabled {
		t.Skip("with the race detector it keeps the seed")
	}
	reader := rand.Reader
	var after [2]string
	for i := range after {
		t.Run("check", func(t *testing.T) {
			r, _ := randomStore(t, true)
			r.newStore = func(Node) (isr.Handler, error) {
				var mu sync.Mutex
				mu.Lock()
				mu.Lock() // no bubble knows of this wait
				return nil, nil
			}
			r.limit.began, r.limit.end = true, time.Time{} // the least patience
			s, err := world{simple()}.checked()
			if err != nil {
				t.Fatal(err)
			}
			if _, f := r.campaign(s, 1, 1); f == nil || f.kind != kindStuck {
				t.Errorf("found %+v, want a run that does not end", f)
			}
		})
		after[i] = rand.Text()
	}
	if rand.Reader != reader || after[0] == after[1] {
		t.Errorf("crypto/rand gives %q after two runs of one seed, and its Reader is what it was: %v", after, rand.Reader == reader)
	}
}
