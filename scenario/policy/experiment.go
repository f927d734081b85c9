package policy

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

// Workload is who reads which keys, and when their data changes: [Poisson], or reads from a file ([ReadTrace]).
type Workload interface{ lab() policy.Workload }

// Poisson reads keys at random times: the numbers of reads in separate times are independent. Its zero value reads
// nothing.
type Poisson struct {
	// Reads is how many reads there are a second, of all keys together.
	Reads float64
	// Changes is how often the data of each key changes, a second.
	Changes float64
	// Keys is how many keys there are. 0 counts as 1.
	Keys int
	// Zipf is how unequally they are read: the k-th most popular in proportion to 1/k^Zipf. 0 is equally; pages of large
	// sites are near 0.8 to 1.
	Zipf float64
}

func (p Poisson) lab() policy.Workload {
	return policy.Poisson{Reads: p.Reads, Changes: p.Changes, Keys: policy.Zipf{Keys: p.Keys, Exponent: p.Zipf}}
}

type trace struct{ *policy.Trace }

func (t trace) lab() policy.Workload { return t.Trace }

// ReadTrace reads a workload from CSV, named name in errors. The first line names the columns. time is in seconds since
// the trace began and does not go back; key is any text. kind is read or change (of the key's data), and read where
// there is no such column; size is that of the row in bytes.
//
// An error names the line, and what was found and expected there.
func ReadTrace(name string, from io.Reader) (Workload, error) {
	t, err := policy.ReadTrace(name, from)
	if err != nil {
		return nil, err
	}
	return trace{t}, nil
}

// Experiment is a policy on a workload.
type Experiment struct {
	// Policy is the one that is measured.
	Policy Policy
	// Workload reads keys and changes their data.
	Workload Workload
	// Render is how long a render takes. It reads the data at its beginning.
	Render time.Duration
	// Steady has the run begin in the steady state and not with an empty store: the ages of rows are drawn from their
	// stationary distribution. The workload is [Poisson], and the policy one of an absolute, sliding or hybrid lifetime.
	// Renders that are under way are not drawn: a warm-up of some renders has them. A value that nothing renders again is
	// a month old.
	Steady bool
	// WarmUp is simulated first and not measured. Lasts is measured.
	WarmUp, Lasts time.Duration
}

func (x Experiment) lab() policy.Experiment {
	in := policy.Experiment{
		Policy: x.Policy.lab(), Render: policy.Fixed(x.Render), Steady: x.Steady, WarmUp: x.WarmUp, Lasts: x.Lasts,
	}
	if x.Workload != nil {
		in.Workload = x.Workload.lab()
	}
	return in
}

// Run plays the experiment with one seed.
func (x Experiment) Run(seed uint64) (*Result, error) {
	r, err := x.lab().Run(seed)
	return (*Result)(r), err
}

// Measure is a figure of a run, by its name in tables and CSV. Shares are from 0 to 1. [Measures] has all of them:
// isr-sim policy run prints each.
type Measure string

const (
	// HitRatio is the share of reads that found a fresh value.
	HitRatio Measure = "hit-ratio"
	// RendersOfOneKey is the largest number of renders of one key at one time.
	RendersOfOneKey Measure = "renders-of-one-key"
	// LatencyMean is what readers wait, in seconds.
	LatencyMean Measure = "latency-mean"
)

// Measures returns all measures, in the order of isr-sim policy run.
func Measures() []Measure {
	var all []Measure
	for _, m := range policy.Measures() {
		all = append(all, Measure(m.String()))
	}
	return all
}

// lab returns the lab's measure of that name. False means that there is none.
func (m Measure) lab() (policy.Measure, bool) {
	i := slices.Index(Measures(), m)
	return policy.Measure(i), i >= 0
}

// Format gives a value of the measure as a reader would write it: "12.3 %", "250ms", "4.2/s".
func (m Measure) Format(v float64) string {
	in, ok := m.lab()
	if !ok {
		return fmt.Sprintf("%.4g", v)
	}
	return in.Format(v)
}

// Result is what one run has counted.
type Result policy.Result

// Value returns a measure of the run. A name that no measure has is not a number.
func (r *Result) Value(m Measure) float64 {
	in, ok := m.lab()
	if !ok {
		return math.NaN()
	}
	return (*policy.Result)(r).Value(in)
}
