package policy

import (
	"math"
	"testing"
	"time"
)

// even reads one key at equal gaps.
type even struct{ gap time.Duration }

func (e even) Begin(_, _ *Random) Traffic { return &evenTraffic{e, 0} }

type evenTraffic struct {
	even
	now time.Duration
}

func (e *evenTraffic) Read() (Read, bool) {
	e.now += e.gap
	return Read{At: e.now}, true
}

func (*evenTraffic) Changed(int, time.Duration) time.Duration { return Never }

// One key is throttled where the arithmetic says: strongly consistent reads of one key above 3,000 a second, eventually
// consistent ones above 6,000, and rows of two units above 1,500.
func TestOneKeyIsThrottledAtItsLimit(t *testing.T) {
	for _, test := range []struct {
		name  string
		store Store
		limit float64
	}{
		{"strongly consistent", Store{}, 3000},
		{"eventually consistent", Store{Eventual: true}, 6000},
		{"5 KB", Store{Bytes: 5000}, 1500},
	} {
		test.store.Throttles = true
		throttled := func(rate float64) float64 {
			t.Helper()
			r, err := Experiment{
				Policy:   Policy{Lifetime: Absolute(time.Hour), Refresh: Locked()},
				Workload: even{time.Duration(float64(time.Second) / rate)}, Store: test.store,
				WarmUp: time.Second, Lasts: 20 * time.Second,
			}.Run(1)
			if err != nil {
				t.Fatal(err)
			}
			return r.Value(Throttled)
		}
		if below, above := throttled(test.limit*0.99), throttled(test.limit*1.01); below > 0 || above == 0 {
			t.Errorf("%s: got %g throttled requests a second 1 %% below the limit, %g above it; want none, and some", test.name, below, above)
		}
	}
}

// A tier in the memory of each node ends the throttling: its copies answer, and the store sees a request of each node
// in a lifetime and a gap.
func TestATierEndsThrottling(t *testing.T) {
	const nodes, rate = 100, 20_000.0
	x := Experiment{
		Policy:   Policy{Lifetime: Absolute(time.Hour), Refresh: Locked()},
		Workload: Poisson{Reads: rate}, Store: Store{Throttles: true},
		WarmUp: time.Second, Lasts: 10 * time.Second,
	}
	bare, err := x.Run(1)
	if err != nil {
		t.Fatal(err)
	}
	x.Tier = Tier{Nodes: nodes, Keys: 1, Lifetime: TierLifetime(nodes, rate, partitionReads*0.9)}
	tiered, err := x.Run(1)
	if err != nil {
		t.Fatal(err)
	}
	if bare.Value(Throttled) == 0 || bare.Value(Failed) < 0.5 || tiered.Value(Throttled) > 0 {
		t.Errorf("got %g throttled requests a second and %.2f of reads failed without a tier, %g throttled with one; want many and none",
			bare.Value(Throttled), bare.Value(Failed), tiered.Value(Throttled))
	}
	if got := tiered.Value(ReadUnits); math.Abs(got-partitionReads*0.9) > 0.05*partitionReads {
		t.Errorf("got %.0f read units a second with a tier, want %.0f", got, partitionReads*0.9)
	}
}
