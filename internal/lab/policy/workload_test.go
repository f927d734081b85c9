package policy

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// A rhythm moves reads, but does not change their number.
func TestRhythmsKeepTheMeanRate(t *testing.T) {
	const rate, lasts = 10.0, 50_000 * time.Second
	for name, rhythm := range map[string]Rhythm{
		"steady": nil,
		"bursty": Bursty{On: 2 * time.Second, Off: 8 * time.Second},
		"daily":  Diurnal{Swing: 0.9, Day: 1000 * time.Second},
	} {
		traffic := Poisson{Reads: rate, Rhythm: rhythm}.Begin(newRandom(1, 0), newRandom(1, 1))
		n, crowded := 0, 0
		var last time.Duration
		for {
			read, _ := traffic.Read()
			if read.At < last {
				t.Fatalf("%s: a read at %s comes after one at %s", name, read.At, last)
			}
			if read.At > lasts {
				break
			}
			if read.At-last < 50*time.Millisecond {
				crowded++
			}
			last = read.At
			n++
		}
		if got := float64(n) / lasts.Seconds(); math.Abs(got-rate) > rate*0.02 {
			t.Errorf("%s: got %.3f reads a second, want %g", name, got, rate)
		}
		// At a steady rate, a share of 1 - exp(-0.5) of the gaps is shorter than half the mean gap; bursts have many
		// more.
		share := float64(crowded) / float64(n)
		if steady := -math.Expm1(-0.5); (name == "steady") != (math.Abs(share-steady) < 0.01) {
			t.Errorf("%s: %.3f of the gaps are short; a steady rate has %.3f", name, share, steady)
		}
	}
}

// The first key of Zipf's distribution is read most, and all keys are read in proportion to their weights.
func TestKeysAreReadByTheirWeights(t *testing.T) {
	const draws = 400_000
	for _, keys := range []Keys{Zipf{Keys: 7}, Zipf{50, 0.9}, Zipf{1000, 1.2}} {
		p, weights, random := pickerOf(keys), keys.weights(), newRandom(1, 0)
		counts, sum := make([]float64, len(weights)), 0.0
		for range draws {
			counts[p.pick(random)]++
		}
		for _, w := range weights {
			sum += w
		}
		for k, w := range weights {
			want := draws * w / sum
			if math.Abs(counts[k]-want) > 5*math.Sqrt(want)+1 {
				t.Errorf("%#v: key %d was read %g times, want %.0f", keys, k, counts[k], want)
			}
		}
	}
}

// Exponential draws of whole numbers have the distribution that they should.
func TestExponential(t *testing.T) {
	const draws = 1_000_000
	random := newRandom(1, 0)
	sum, above := 0.0, [6]float64{}
	for range draws {
		x := random.Exponential()
		sum += x
		for i := range above {
			if x > float64(i)/2 {
				above[i]++
			}
		}
	}
	if mean := sum / draws; math.Abs(mean-1) > 0.004 {
		t.Errorf("got a mean of %g, want 1", mean)
	}
	for i, n := range above {
		if want := math.Exp(-float64(i) / 2); math.Abs(n/draws-want) > 0.002 {
			t.Errorf("P(x > %g): got %g, want %g", float64(i)/2, n/draws, want)
		}
	}
}

// Two polls of a dashboard ask for the same buckets, except for those at the ends of the window.
func TestDashboardAsksForAlignedBuckets(t *testing.T) {
	d := Dashboard{Every: 30 * time.Second, Window: 3 * time.Minute, Bucket: time.Minute, Events: 1, Late: Fixed(0)}
	traffic := d.Begin(newRandom(1, 0), newRandom(1, 1))
	asked := map[time.Duration][]time.Duration{}
	for {
		read, _ := traffic.Read()
		if read.At > 90*time.Second {
			break
		}
		asked[read.At] = append(asked[read.At], read.Data)
	}
	for at, want := range map[time.Duration][]time.Duration{
		0:                {-3, -2, -1, 0},
		30 * time.Second: {-3, -2, -1, 0},
		60 * time.Second: {-2, -1, 0, 1},
		90 * time.Second: {-2, -1, 0, 1},
	} {
		if len(asked[at]) != len(want) {
			t.Fatalf("the poll at %s asks for buckets %v, want the minutes %v", at, asked[at], want)
		}
		for i, minute := range want {
			if asked[at][i] != minute*time.Minute {
				t.Errorf("the poll at %s asks for buckets %v, want the minutes %v", at, asked[at], want)
				break
			}
		}
	}
}

// An event that arrives late changes a bucket that had been read.
func TestLateEventsOutdateABucket(t *testing.T) {
	run := func(late Dist) *Result {
		t.Helper()
		r, err := Experiment{
			Policy: Policy{Lifetime: Absolute(time.Minute), Refresh: Locked()},
			Workload: Dashboard{
				Every: 10 * time.Second, Window: 10 * time.Minute, Bucket: time.Minute, Events: 0.1, Late: late,
			},
			WarmUp: time.Hour, Lasts: 10 * time.Hour,
		}.Run(t.Context(), 1)
		must.OK(t, err)
		return r
	}
	// Events without delay change only the last minute's data: one or two of the eleven buckets.
	prompt, late := run(Fixed(0)).Value(Outdated), run(Pareto(time.Minute, 1.5)).Value(Outdated)
	if prompt > 2.0/11 || late < 2*prompt {
		t.Errorf("outdated: got %.3f for events in time and %.3f for late ones", prompt, late)
	}
}

func TestReadTrace(t *testing.T) {
	trace, err := ReadTrace("visits.csv", strings.NewReader(
		"time,key,kind,size\n0.5,/home,read,300\n1,/home,change,\n2.25,/home,read,300\n2.25,/about,,\n",
	))
	must.OK(t, err)
	r, err := Experiment{
		Policy: Policy{Lifetime: Absolute(time.Hour), Refresh: Locked()}, Workload: trace, Lasts: trace.Lasts(),
	}.Run(t.Context(), 1)
	must.OK(t, err)
	if r.Reads() != 3 || r.renders != 2 || r.Value(OutdatedMost) != 1.25 {
		t.Errorf("got %d reads, %d renders, outdated by up to %g s; want 3, 2 and 1.25", r.Reads(),
			r.renders, r.Value(OutdatedMost))
	}
}

func TestReadTraceSaysWhatIsWrong(t *testing.T) {
	for _, test := range []struct{ file, want string }{
		{"", "visits.csv: found an empty file, expected a first line such as time,key"},
		{"time\n", "visits.csv:1: found no column key"},
		{"time,key,color\n", `visits.csv:1: found column "color", expected time, key, kind, size`},
		{"time,time\n", "visits.csv:1: found column time twice"},
		{"time,key\n", "visits.csv: found no reads"},
		{"time,key\nsoon,/\n", `visits.csv:2: found time "soon", expected seconds`},
		{"time,key\nNaN,/\n", `visits.csv:2: found time "NaN"`},
		{"time,key\n-1,/\n", `visits.csv:2: found time "-1"`},
		{"time,key\n2,/\n1,/\n", "visits.csv:3: found time 1 after 2s"},
		{"time,key\n2,\n", "visits.csv:2: found no key"},
		{"time,key,kind\n2,/,write\n", `visits.csv:2: found kind "write", expected read or change`},
		{"time,key,size\n2,/,big\n", `visits.csv:2: found size "big", expected a number of bytes`},
		{"time,key\n2\n", "wrong number of fields"},
	} {
		_, err := ReadTrace("visits.csv", strings.NewReader(test.file))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got error %v, want one with %q", test.file, err, test.want)
		}
	}
}

// A poll of eleven buckets hits those that the cache has, and renders the new one: a partial hit is not a miss.
func TestAPollRendersOnlyWhatItMisses(t *testing.T) {
	r, err := Experiment{
		Policy: Policy{Lifetime: Absolute(24 * time.Hour), Refresh: Locked()},
		Workload: Dashboard{
			Every: time.Minute, Window: 10 * time.Minute, Bucket: time.Minute, Events: 0.1, Late: Fixed(0),
		},
		WarmUp: 30 * time.Second, Lasts: time.Hour,
	}.Run(t.Context(), 1)
	must.OK(t, err)
	const polls = 60
	if r.Reads() != 11*polls || r.renders != polls || r.hits != 10*polls {
		t.Errorf("%d polls: got %d reads, %d hits and %d renders, want 11, 10 and 1 a poll", polls, r.Reads(), r.hits,
			r.renders)
	}
}

// A cache keyed by the query never hits. A cache of buckets hits for all but the newest buckets, however the window
// shifts.
func TestBucketsDoNotMindShifts(t *testing.T) {
	hits := func(byQuery bool, every time.Duration) float64 {
		t.Helper()
		r, err := Experiment{
			Policy: Policy{Lifetime: Absolute(time.Hour), Refresh: Locked()},
			Workload: Dashboard{
				Every: every, Window: time.Hour, Bucket: time.Minute, Events: 0.1, Late: Fixed(0), ByQuery: byQuery,
			},
			WarmUp: time.Hour, Lasts: time.Hour,
		}.Run(t.Context(), 1)
		must.OK(t, err)
		return r.Value(HitRatio)
	}
	for _, every := range []time.Duration{7 * time.Second, 10 * time.Second, 61 * time.Second} {
		if whole, buckets := hits(true, every), hits(false, every); whole != 0 || buckets < 0.95 {
			t.Errorf("polls every %s: got a hit ratio of %g by query and %.3f by bucket, want 0 and more than 0.95",
				every, whole, buckets)
		}
	}
}
