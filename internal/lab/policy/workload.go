package policy

import (
	"math"
	"time"
)

// Workload defines which keys are read when, and when their data changes.
type Workload interface {
	// Begin starts the workload anew. Reads and changes draw from separate streams, so that two policies get the same
	// reads.
	Begin(reads, changes *Random) Traffic
}

// Traffic is a started workload.
type Traffic interface {
	// Read returns the next read, in order of time; false if there are no more.
	Read() (Read, bool)
	// Changed returns the time after which, past a given one, the data of a key changes next.
	Changed(key int, after time.Duration) time.Duration
}

// Read is one read of a key.
type Read struct {
	// At is the time of this read, counted from the start of the run.
	At time.Duration
	// Key counts from 0. A run takes memory for each number up to the highest one, so keys that are read early should
	// have low numbers.
	Key int
	// Data is the time that the key's data describes, see [Entry].
	Data time.Duration
	// Class is the tier of the key's data, see [Tiered].
	Class int
	// Bytes is the size of the row; 0 means the size in the experiment's Store.
	Bytes int
}

// Never is the time of a change that never comes.
const Never = never

// Poisson reads keys at random times: the numbers of reads in separate times are independent. Its zero value reads
// nothing.
type Poisson struct {
	// Reads is the number of reads per second, of all keys together.
	Reads float64
	// Changes is the number of changes per second of the data of each key.
	Changes float64
	// Keys defines how the reads are spread. Nil is one key.
	Keys Keys
	// Rhythm makes the rate of reads change with time. Nil is a steady rate.
	Rhythm Rhythm
	// Class gives the data of each key its class, for [Tiered]. Nil is class 0.
	Class func(key int) int
}

// Begin implements Workload.
func (p Poisson) Begin(reads, changes *Random) Traffic {
	t := &poisson{
		keys: pickerOf(p.Keys), gap: gapOf(p.Reads), class: p.Class,
		updates: newUpdates(p.Changes, changes), random: reads,
	}
	if p.Rhythm != nil {
		t.beat = p.Rhythm.begin(t.gap, reads)
	}
	return t
}

type poisson struct {
	updates
	keys   picker
	gap    float64 // mean, in nanoseconds
	beat   func(now time.Duration) time.Duration
	class  func(int) int
	now    time.Duration
	random *Random
}

func (p *poisson) Read() (Read, bool) {
	if p.gap == 0 {
		return Read{}, false
	}
	if p.beat != nil {
		p.now = p.beat(p.now)
	} else {
		p.now += p.random.after(p.gap)
	}
	read := Read{At: p.now, Key: p.keys.pick(p.random)}
	if p.class != nil {
		read.Class = p.class(read.Key)
	}
	return read, true
}

// gapOf returns the mean gap, in nanoseconds, between events with a rate per second; 0 for no events.
func gapOf(rate float64) float64 {
	if rate <= 0 {
		return 0
	}
	return float64(time.Second) / rate
}

// updates changes the data of each key at random times.
type updates struct {
	gap    float64
	random *Random
}

func newUpdates(rate float64, r *Random) updates { return updates{gapOf(rate), r} }

// Changed implements the part of Traffic about changes. A Poisson process has no memory: the time until the next change
// does not depend on the last one.
func (u updates) Changed(_ int, after time.Duration) time.Duration {
	if u.gap == 0 {
		return never
	}
	return after + u.random.after(u.gap)
}

// Keys defines how reads are spread over keys: [Zipf].
type Keys interface{ weights() []float64 }

// Zipf reads the k-th most popular of Keys keys in proportion to 1/k^Exponent. Exponent 0 is uniform; pages of large
// sites are near 0.8 to 1.
type Zipf struct {
	Keys     int
	Exponent float64
}

func (z Zipf) weights() []float64 {
	w := make([]float64, max(1, z.Keys))
	for k := range w {
		w[k] = math.Pow(float64(k+1), -z.Exponent)
	}
	return w
}

// picker picks keys by their weights in constant time.
//
// Source: M. D. Vose, A linear algorithm for generating random numbers with a given distribution, 1991.
type picker struct {
	chance []uint32 // the chance of a column's own key, in 2^-32
	alias  []uint32 // the key that shares the column
}

func pickerOf(keys Keys) picker {
	if keys == nil {
		return picker{}
	}
	return newPicker(keys.weights())
}

func newPicker(weights []float64) picker {
	n := len(weights)
	if n == 1 {
		return picker{}
	}
	var sum float64
	for _, w := range weights {
		sum += w
	}
	p := picker{chance: make([]uint32, n), alias: make([]uint32, n)}
	share := make([]float64, n)
	var small, large []int
	for i, w := range weights {
		share[i] = w / sum * float64(n)
		if share[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		p.chance[s], p.alias[s] = uint32(share[s]*(1<<32)), uint32(l)
		if share[l] -= 1 - share[s]; share[l] < 1 {
			large, small = large[:len(large)-1], append(small, l)
		}
	}
	for _, i := range append(small, large...) {
		p.chance[i], p.alias[i] = math.MaxUint32, uint32(i)
	}
	return p
}

// pick draws a key.
func (p picker) pick(r *Random) int {
	if len(p.chance) == 0 {
		return 0
	}
	draw := r.source.Uint64()
	// The high half picks the column, the low half decides between the two keys in it.
	column := (draw >> 32) * uint64(len(p.chance)) >> 32
	if draw&math.MaxUint32 <= uint64(p.chance[column]) {
		return int(column)
	}
	return int(p.alias[column])
}

// Rhythm defines how the rate of reads changes with time: [Bursty] or [Diurnal]. The mean rate stays the same.
type Rhythm interface {
	// begin returns a function from the time of a read to the time of the next one.
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
			// Reads are drawn at the maximum rate. Each is kept with the probability of the present rate divided by the
			// maximum.
			phase := 2 * math.Pi * float64(now%d.Day) / float64(d.Day)
			if r.Float64()*most < 1+d.Swing*math.Sin(phase) {
				return now
			}
		}
	}
}
