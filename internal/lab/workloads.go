package lab

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

// Settings are the flags from which workloads and experiments are made.
type Settings struct {
	Lifetime, Render, WarmUp, Lasts time.Duration
	Reads                           float64 // a second
	Changes                         float64 // per second and key
	Keys                            int
	Zipf                            float64
	Tier                            policy.Tier
	Store                           policy.Store
	Prices                          policy.Prices
	Seed                            uint64
	Seeds, Workers                  int
}

// Workload is a workload by name.
type Workload struct {
	Name string
	policy.Workload
	lasts time.Duration // the length of a trace
	aged  bool          // its data has an age
}

// workloads are made of settings.
var workloads = []struct {
	name, summary string
	make          func(Settings) policy.Workload
	aged          bool
}{
	{"steady", "Poisson reads at one rate", func(s Settings) policy.Workload { return poisson(s, nil) }, false},
	{"bursty", "bursts of 10 s on average, with 50 s of silence between them", func(s Settings) policy.Workload {
		return poisson(s, policy.Bursty{On: 10 * time.Second, Off: 50 * time.Second})
	}, false},
	{"diurnal", "a rate that swings by 80 % in a day of 24 minutes", func(s Settings) policy.Workload {
		return poisson(s, policy.Diurnal{Swing: 0.8, Day: 24 * time.Minute})
	}, false},
	{"dashboard", "polls every 10 s of 3 hours in buckets of a minute, with events that arrive late",
		func(s Settings) policy.Workload {
			return policy.Dashboard{
				Every: 10 * time.Second, Window: 3 * time.Hour, Bucket: time.Minute, Events: 1,
				Late: policy.Pareto(5*time.Second, 1.2),
			}
		}, true},
	{"dashboard-by-query", "the same polls, cached by the whole window: no two ask for the same",
		func(s Settings) policy.Workload {
			return policy.Dashboard{
				Every: 10 * time.Second, Window: 3 * time.Hour, Bucket: time.Minute, Events: 1,
				Late: policy.Pareto(5*time.Second, 1.2), ByQuery: true,
			}
		}, true},
}

func poisson(s Settings, rhythm policy.Rhythm) policy.Workload {
	// Every tenth key holds critical data: the class that tiered policies keep short.
	class := func(key int) int { return min(1, key%10) }
	return policy.Poisson{
		Reads: s.Reads, Changes: s.Changes, Keys: policy.Zipf{Keys: s.Keys, Exponent: s.Zipf},
		Rhythm: rhythm, Class: class,
	}
}

// WorkloadNamed returns a workload by its name, or the trace in a CSV file.
func WorkloadNamed(name string, s Settings) (Workload, error) {
	for _, w := range workloads {
		if w.name == name {
			return Workload{Name: name, Workload: w.make(s), aged: w.aged}, nil
		}
	}
	if !strings.HasSuffix(name, ".csv") {
		names := make([]string, len(workloads))
		for i, w := range workloads {
			names[i] = w.name
		}
		return Workload{}, fmt.Errorf("found workload %q, expected one of %s, or the name of a .csv file\n"+
			"hint: the file's first line is time,key, each other line one read", name, strings.Join(names, ", "))
	}
	file, err := os.Open(name)
	if err != nil {
		return Workload{}, err
	}
	trace, err := policy.ReadTrace(name, file)
	if err := cmp.Or(err, file.Close()); err != nil {
		return Workload{}, err
	}
	return Workload{Name: name, Workload: trace, lasts: trace.Lasts()}, nil
}

// WorkloadNames returns one line per workload: its name and a description.
func WorkloadNames() (lines []string) {
	for _, w := range workloads {
		lines = append(lines, fmt.Sprintf("%-18s %s", w.name, w.summary))
	}
	return lines
}

// suits reports whether a policy makes sense for a workload: lifetimes by the age of data need data with an age.
func (w Workload) suits(p policy.Policy) bool {
	_, aged := policy.AtAge(p.Lifetime, 0)
	return w.aged || !aged
}

func (s Settings) experiment(p policy.Policy, w Workload) policy.Experiment {
	x := policy.Experiment{
		Policy: p, Workload: w.Workload, Render: policy.Fixed(s.Render), Store: s.Store, Tier: s.Tier, Prices: s.Prices,
		WarmUp: s.WarmUp, Lasts: s.Lasts,
	}
	if w.lasts > 0 {
		x.WarmUp, x.Lasts = 0, w.lasts
	}
	return x
}

// suitable returns the policies that suit a workload.
func suitable(w Workload, all []policy.Policy) []policy.Policy {
	return slices.DeleteFunc(slices.Clone(all), func(p policy.Policy) bool { return !w.suits(p) })
}
