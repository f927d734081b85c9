package explore

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/sim"
)

// species returns a census of n schedules. The i-th schedule sees thing number of(i).
func species(n int, of func(i int) int) *census {
	c := &census{}
	for i := range n {
		c.add(sim.Derive(7, of(i)), i)
	}
	return c
}

func TestACensusIsExactWhileItIsSmall(t *testing.T) {
	// 500 things are seen twice each, first in the first half. In the last tenth there are 100 more.
	of := func(i int) int {
		if i >= 900 {
			return 10_000 + i
		}
		return i % 450
	}
	c := species(1000, of).coverage(1000, 999)
	if c.Distinct != 550 || c.Once != 100 || c.New != 100 || c.About || c.NextIsNew() != 0.1 {
		t.Errorf("%+v, next is new with %v; want 550 distinct, 100 once, 100 new, exactly, 0.1", c, c.NextIsNew())
	}
	// The curve of 1000 schedules has a point for every 20 schedules.
	for at, want := range map[int]int{0: 20, 21: 440, 22: 450, 44: 450, 45: 470, 49: 550} {
		if got := c.Growth[at]; got != (Growth{20 * (at + 1), want}) {
			t.Errorf("point %d of the curve is %+v, want %d after %d schedules", at, got, want, 20*(at+1))
		}
	}
	if few := species(3, func(i int) int { return i / 2 }).coverage(3, 2).Growth; !slices.Equal(few,
		[]Growth{{1, 1}, {2, 1}, {3, 2}}) {
		t.Errorf("the curve of three schedules is %v", few)
	}
}

func TestACensusEstimatesWhenItIsLarge(t *testing.T) {
	effort.Long(t)
	things := effort.Fewer(3, 2) * censusInMemory
	c := species(things+things/3, func(i int) int { return i % things })
	if len(c.seen) > censusInMemory {
		t.Errorf("%d are remembered, want at most %d", len(c.seen), censusInMemory)
	}
	got := c.coverage(things, things+things/3-1)
	for what, n := range map[string][2]int{"distinct": {got.Distinct, things}, "once": {got.Once, things - things/3}} {
		if off := math.Abs(float64(n[0]-n[1])) / float64(n[1]); off > 0.01 || !got.About {
			t.Errorf("%s: %d, want about %d", what, n[0], n[1])
		}
	}
}

func TestMergedCensusesAreTheCensusOfAll(t *testing.T) {
	of := func(i int) int { return i * i % 1009 }
	want := species(3000, of).coverage(3000, 2999)
	parts := [3]*census{{}, {}, {}}
	for i := range 3000 {
		parts[i%3].add(sim.Derive(7, of(i)), i)
	}
	merged := &census{}
	for _, part := range parts {
		read := must.Of(parseCensus(part.String()))(t)
		merged.merge(read)
	}
	if got := merged.coverage(3000, 2999); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

func TestASampleInAFileIsSmallAndFair(t *testing.T) {
	const things = 100_000
	c := species(things, func(i int) int { return i })
	text := c.String()
	if len(text) > 100_000 {
		t.Errorf("a sample has %d bytes, want at most 100,000", len(text))
	}
	read := must.Of(parseCensus(text))(t)
	n := read.coverage(things, things-1).Distinct
	if off := math.Abs(float64(n-things)) / things; off > 0.1 {
		t.Errorf("from its sample, a census of %d counts %d", things, n)
	}
	if _, err := parseCensus("AAAA"); err == nil {
		t.Error("half a sample is read without an error")
	}
}
