package policy

import (
	"testing"
	"time"
)

// The table that Netflix published, and its consequences.
func TestNetflixSchedule(t *testing.T) {
	for _, test := range []struct{ age, want time.Duration }{
		{0, 5 * time.Second}, {119 * time.Second, 5 * time.Second}, {2 * time.Minute, 10 * time.Second},
		{3 * time.Minute, 20 * time.Second}, {4 * time.Minute, 40 * time.Second}, {5 * time.Minute, 80 * time.Second},
		{10 * time.Minute, 2560 * time.Second}, {11 * time.Minute, time.Hour}, {60 * time.Minute, time.Hour},
		{100_000 * time.Hour, time.Hour},
	} {
		if got, _ := AtAge(Netflix(), test.age); got != test.want {
			t.Errorf("data of age %s: got a lifetime of %s, want %s", test.age, got, test.want)
		}
	}
}

func TestSchedulesGrow(t *testing.T) {
	for name, s := range map[string]Schedule{
		"doubling": Doubling, "linear": Linear, "logarithmic": Logarithmic,
		"piecewise": Piecewise(Step{time.Minute, 10 * time.Second}, Step{time.Hour, time.Hour}),
	} {
		a := ageBased{5 * time.Second, time.Hour, s}
		last := a.at(0)
		if last != a.floor {
			t.Errorf("%s: data of no age has a lifetime of %s, want the floor", name, last)
		}
		for age := time.Duration(0); age < 48*time.Hour; age += 7 * time.Second {
			now := a.at(age)
			if now < last || now > a.most {
				t.Fatalf("%s: data of age %s has a lifetime of %s, younger data one of %s, and the cap is %s",
					name, age, now, last, a.most)
			}
			last = now
		}
	}
}

// polled reads one bucket every second, starting with the run.
func polled(until time.Duration) workload {
	return func(*Random) traffic {
		now := -time.Second
		return func() (Read, bool) {
			now += time.Second
			return Read{At: now}, now < until
		}
	}
}

// A constantly polled bucket is refreshed 38 times in its first ten minutes, and 62 times in a day; under a uniform
// lifetime of 5 s, 17,280 times a day.
func TestRefreshesOfABucket(t *testing.T) {
	for _, test := range []struct {
		lifetime Lifetime
		lasts    time.Duration
		want     uint64
	}{
		{Netflix(), 10 * time.Minute, 38},
		{Netflix(), 24 * time.Hour, 62},
		{Absolute(5 * time.Second), 24 * time.Hour, 17_280},
	} {
		x := Experiment{
			Policy:   Policy{Lifetime: test.lifetime, Refresh: Locked()},
			Workload: polled(test.lasts), Lasts: test.lasts,
		}
		got, err := x.Run(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if got.renders != test.want {
			t.Errorf("%T for %s: got %d refreshes, want %d", test.lifetime, test.lasts, got.renders, test.want)
		}
	}
}
