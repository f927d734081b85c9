package policyprotocol

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

type noBodies struct{ isr.BodyStore }

// newDrawer is a node's store under policy-xfetch, with a window of 100 s.
func newDrawer(t *testing.T) (*drawer, *fakeclock.Clock) {
	t.Helper()
	clock, n := fakeclock.New(fakeclock.Epoch), 0
	r, err := pagecache.NewRecipeA(isr.Config{
		Client: ddbfake.New(ddbfake.Options{Clock: clock}).As("alice"), Clock: clock, Bodies: noBodies{},
		Table: "cache", Revalidate: 100 * time.Second,
		Tokens: func() string { n++; return fmt.Sprint("alice-", n) },
		Render: func(context.Context, string, func(context.Context) error) ([]byte, error) { return nil, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return &drawer{early{RecipeA: r, untouched: 50}}, clock
}

// TestTheChanceOfAnEarlyRefresh: for a page that took 20 s to make, the share of reads that make it again is
// exp(-left/20s), where left is the rest of the window, within four standard deviations.
func TestTheChanceOfAnEarlyRefresh(t *testing.T) {
	s, clock := newDrawer(t)
	m := pagecache.Meta{
		S3Key: "pages/1", GeneratedAt: pagecache.Floor(fakeclock.Epoch), RevalidateSeconds: 50, RenderMillis: 20_000,
	}
	const reads = 20_000
	for _, left := range []time.Duration{90 * time.Second, 50 * time.Second, 40 * time.Second, 20 * time.Second,
		10 * time.Second, time.Second} {
		clock.Advance(fakeclock.Epoch.Add(100*time.Second - left).Sub(clock.Now()))
		due := 0
		for range reads {
			if s.Due(m, clock.Now()) {
				due++
			}
		}
		want := math.Exp(-left.Seconds() / 20)
		if left > 50*time.Second {
			want = 0 // the first half of the window
		}
		if got := float64(due) / reads; math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/reads) {
			t.Errorf("%v left: %.4f of the reads make the page again, want %.4f", left, got, want)
		}
	}
}

// TestAnInvalidatedPageIsNotFresh: under an early policy pages are fresh for longer than their rows say, but not if a
// row has no window.
func TestAnInvalidatedPageIsNotFresh(t *testing.T) {
	s, clock := newDrawer(t)
	m := pagecache.Meta{S3Key: "pages/1", GeneratedAt: pagecache.Floor(fakeclock.Epoch), RevalidateSeconds: 50}
	for _, test := range []struct {
		second int
		window int64
		want   bool
	}{{0, 50, true}, {99, 50, true}, {100, 50, false}, {0, 0, false}} {
		m.RevalidateSeconds = test.window
		if got := s.Fresh(m, clock.Now().Add(time.Duration(test.second)*time.Second)); got != test.want {
			t.Errorf("second %d, revalidate_seconds %d: fresh %v, want %v", test.second, test.window, got, test.want)
		}
	}
}
