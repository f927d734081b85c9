package policy

import (
	"slices"
	"time"
)

// Dashboard polls a rolling window of a time series. The window is cut into buckets at multiples of their width, and
// each bucket is a key. So a poll asks for the same buckets as the previous one, except the first and the last. Events
// belong to the bucket of the time at which they happened, and arrive late. Each arrival changes the bucket's data.
type Dashboard struct {
	// Every is the time between two polls, Window the length of time that a poll covers, and Bucket the width of a
	// bucket.
	Every, Window, Bucket time.Duration
	// Events is the number of events per second.
	Events float64
	// Late is the time from an event to its arrival.
	Late Dist
	// ByQuery makes the whole window of each poll one key, as in a cache keyed by the query. The next poll asks for
	// another window, so there are no hits at all, which is why buckets exist.
	ByQuery bool
}

// Begin implements Workload.
func (d Dashboard) Begin(_, changes *Random) Traffic {
	if d.Every <= 0 || d.Window <= 0 || d.Bucket <= 0 {
		return &dashboard{}
	}
	return &dashboard{Dashboard: d, random: changes, arrivals: map[int][]time.Duration{}}
}

type dashboard struct {
	Dashboard
	random   *Random
	arrivals map[int][]time.Duration // by key, sorted
	poll     time.Duration
	next     int // the next bucket to read in the poll
	first    int
}

func (d *dashboard) Read() (Read, bool) {
	if d.Every == 0 {
		return Read{}, false
	}
	if d.ByQuery {
		read := Read{At: d.poll, Key: d.next, Data: d.poll - d.Window}
		d.next++
		d.forget(int(d.poll / d.Bucket))
		d.poll += d.Every
		return read, true
	}
	last := int((d.poll + d.Window) / d.Bucket)
	if d.next > last {
		d.poll += d.Every
		d.forget(int(d.poll / d.Bucket))
		d.next = d.first
	}
	key := d.next
	d.next++
	return Read{At: d.poll, Key: key, Data: d.begins(key)}, true
}

// forget drops the buckets that no later poll reads.
func (d *dashboard) forget(first int) {
	for old := d.first; old < first; old++ {
		delete(d.arrivals, old)
	}
	d.first = first
}

// begins returns when a bucket begins.
func (d *dashboard) begins(key int) time.Duration { return time.Duration(key)*d.Bucket - d.Window }

func (d *dashboard) Changed(key int, after time.Duration) time.Duration {
	if !d.ByQuery {
		return d.changed(key, after)
	}
	next := never
	begins := time.Duration(key) * d.Every // the start of the window, counted like buckets
	for bucket := int(begins / d.Bucket); bucket <= int((begins+d.Window)/d.Bucket); bucket++ {
		next = min(next, d.changed(bucket, after))
	}
	return next
}

// changed returns when the data of a bucket changes next.
func (d *dashboard) changed(key int, after time.Duration) time.Duration {
	if key < d.first || d.Events <= 0 {
		return never
	}
	arrivals, ok := d.arrivals[key]
	if !ok {
		begins, gap := d.begins(key), gapOf(d.Events)
		for at := d.random.after(gap); at < d.Bucket; at += d.random.after(gap) {
			arrivals = append(arrivals, min(never, begins+at+d.Late.draw(d.random)))
		}
		slices.Sort(arrivals)
		d.arrivals[key] = arrivals
	}
	return firstAfter(arrivals, after)
}

// firstAfter returns the first of sorted times after a time, or never.
func firstAfter(times []time.Duration, after time.Duration) time.Duration {
	i, _ := slices.BinarySearch(times, after+1)
	if i == len(times) {
		return never
	}
	return times[i]
}
