package policy

import (
	"testing"
	"time"
)

// One operation is one million reads.
func BenchmarkReads(b *testing.B) {
	for _, c := range []struct {
		name string
		x    Experiment
	}{
		{"absolute", onePoisson(1, 0.1, Absolute(10*time.Second), Unprotected())},
		{"sliding", onePoisson(1, 0.1, Sliding(time.Second), Unprotected())},
		{"locked", onePoisson(1, 0.1, Absolute(10*time.Second), StaleWhileRevalidate())},
		{"zipf", Experiment{
			Policy:   Policy{Lifetime: Absolute(10 * time.Second), Refresh: Locked()},
			Workload: Poisson{Reads: 1000, Changes: 0.01, Keys: Zipf{100_000, 0.9}},
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.x.WarmUp = 0
			c.x.Lasts = lasting(1_000_000, 1)
			if c.name == "zipf" {
				c.x.Lasts = lasting(1_000_000, 1000)
			}
			for b.Loop() {
				if _, err := c.x.Run(b.Context(), 1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*1e6/b.Elapsed().Seconds()/1e6, "Mreads/s")
		})
	}
}
