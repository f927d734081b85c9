package policy

import (
	"math"
	"time"
)

// Rhythm is how the rate of reads changes with time: [Bursty] or [Diurnal]. The mean rate stays.
type Rhythm interface {
	// begin returns a function from the time of a read to that of the next.
	begin(gap float64, r *Random) func(now time.Duration) time.Duration
}

// Bursty reads in bursts, with silence between them. Both last exponentially distributed times with these means.
type Bursty struct{ On, Off time.Duration }

func (b Bursty) begin(gap float64, r *Random) func(time.Duration) time.Duration {
	gap *= float64(b.On) / float64(b.On+b.Off)
	left := r.after(float64(b.On))
	return func(now time.Duration) time.Duration {
		busy := r.after(gap)
		for busy > left {
			busy -= left
			now += left + r.after(float64(b.Off))
			left = r.after(float64(b.On))
		}
		left -= busy
		return now + busy
	}
}

// Diurnal reads at a rate that swings around its mean like a sine, by the share Swing (0 to 1), once in a Day.
type Diurnal struct {
	Swing float64
	Day   time.Duration
}

func (d Diurnal) begin(gap float64, r *Random) func(time.Duration) time.Duration {
	most := 1 + d.Swing
	return func(now time.Duration) time.Duration {
		for {
			now += r.after(gap / most)
			// A read at the largest rate is kept with the share that the rate has now.
			phase := 2 * math.Pi * float64(now%d.Day) / float64(d.Day)
			if r.Float64()*most < 1+d.Swing*math.Sin(phase) {
				return now
			}
		}
	}
}
