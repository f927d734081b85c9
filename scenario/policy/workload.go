package policy

import "time"

// Workload is who reads which keys, and when their data changes.
type Workload interface {
	// Begin starts it anew. The reads draw from one stream, and the changes of the data from another, so that two
	// policies meet the same reads.
	Begin(reads, changes *Random) Traffic
}

// Traffic is a workload that has begun.
type Traffic interface {
	// Read returns the next read, in order of time. False means that there are no more.
	Read() (Read, bool)
	// Changed returns when the data of a key changes next after a time.
	Changed(key int, after time.Duration) time.Duration
}

// Read is one read of a key.
type Read struct {
	// At is when it begins, since the run began.
	At time.Duration
	// Key counts from 0. Low numbers are denser than high ones in memory: give keys that are read soon low numbers.
	Key int
	// Data is the time that the key's data is about, see [Entry].
	Data time.Duration
	// Class is the tier of the key's data, see [Tiered].
	Class int
	// Bytes is the size of the row. 0 is the size that the experiment's store names.
	Bytes int
}

// Never is the time of a change that does not come.
const Never = never

// Poisson reads keys at random times: the numbers of reads in separate times are independent. Its zero value reads
// nothing.
type Poisson struct {
	// Reads is how many reads there are a second, of all keys together.
	Reads float64
	// Changes is how often the data of each key changes, a second.
	Changes float64
	// Keys says how the reads are spread. Nil is one key.
	Keys Keys
	// Rhythm makes the rate of reads change with time. Nil is a steady rate.
	Rhythm Rhythm
	// Class says of which class the data of a key is, for [Tiered]. Nil is class 0.
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

// Read implements Traffic.
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

// gapOf returns the mean gap between events of a rate a second, in nanoseconds; 0 for no events.
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

// Changed implements half of Traffic. A Poisson process forgets: the time until the next change does not depend on when
// the last one was.
func (u updates) Changed(_ int, after time.Duration) time.Duration {
	if u.gap == 0 {
		return never
	}
	return after + u.random.after(u.gap)
}
