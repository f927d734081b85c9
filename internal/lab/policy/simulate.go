package policy

import (
	"cmp"
	"container/heap"
	"context"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Streams of random numbers of a run's seed.
const (
	streamReads = iota
	streamChanges
	streamPolicy
	streamRenders
	streamStore
)

// epoch is the time between two changes of a key's data. All values rendered in it are equal, and become outdated
// together.
type epoch struct {
	end  time.Duration // when the data changed; never if it has not yet
	seen bool          // some value was rendered in it
}

// cached is the row of a key, with the state of its data.
type cached struct {
	entry  Entry
	held   bool
	epoch  *epoch        // the epoch in which the entry was rendered
	hidden time.Duration // the time from which on readers do not get the row
	gone   time.Duration // the time when it is deleted
	ttl    time.Duration // the time from which on TTL may delete it
	bytes  int

	begun  bool // the two fields below are known
	now    *epoch
	change time.Duration // when now ends

	flights []*flight
	units   units
}

// flight is a render in progress.
type flight struct {
	read    Read
	started time.Duration
	epoch   *epoch
	waiters []waiter
}

// waiter is a reader that waits for a render.
type waiter struct {
	since time.Duration
	node  int
}

// replica is a node's own copy of a value.
type replica struct {
	epoch *epoch
	until time.Duration
}

type run struct {
	*Experiment
	traffic         Traffic
	random, renders *Random
	keys            []cached
	events          events
	added           uint64 // events so far
	under           int    // renders in progress
	tier            []*simplelru.LRU[int, replica]
	isPeriodic      bool
	redis           *redis // nil for other stores
	measured        bool   // the warm-up is over
	result          Result
}

// Run plays the experiment. One seed gives one result. If ctx ends, Run returns its error.
func (x Experiment) Run(ctx context.Context, seed uint64) (*Result, error) {
	if err := x.validate(); err != nil {
		return nil, err
	}
	r := &run{
		Experiment: &x,
		traffic:    x.Workload.Begin(newRandom(seed, streamReads), newRandom(seed, streamChanges)),
		random:     newRandom(seed, streamPolicy), renders: newRandom(seed, streamRenders),
	}
	_, r.isPeriodic = x.Policy.Refresh.(periodic)
	if x.Tier.Keys > 0 {
		for range max(1, x.Tier.Nodes) {
			lru, err := simplelru.NewLRU[int, replica](x.Tier.Keys, nil)
			if err != nil {
				return nil, err
			}
			r.tier = append(r.tier, lru)
		}
	}
	if x.Store.Redis {
		r.redis = newRedis(newRandom(seed, streamStore))
		r.at(redisCycle, r.expire)
	}
	if x.Steady {
		workload, err := x.steadyPoisson()
		if err != nil {
			return nil, err
		}
		r.settle(workload)
	}
	if err := r.play(ctx); err != nil {
		return nil, err
	}
	return &r.result, nil
}

// play runs all events up to the end. It checks ctx from time to time: a run may take hours.
func (r *run) play(ctx context.Context) error {
	const often = 1 << 10 // reads and events
	n := 0
	over := func() bool { n++; return n%often == 0 && ctx.Err() != nil }
	end := r.WarmUp + r.Lasts
	for {
		next, ok := r.traffic.Read()
		until := end
		if ok {
			until = min(next.At, end)
		}
		for len(r.events) > 0 && r.events[0].at <= until {
			if over() {
				return ctx.Err()
			}
			e := heap.Pop(&r.events).(event)
			r.passWarmUp(e.at)
			e.do(e.at)
		}
		r.passWarmUp(until)
		if !ok || next.At > end {
			break
		}
		if over() {
			return ctx.Err()
		}
		r.read(next)
	}
	for i := range r.keys {
		r.store(&r.keys[i], i, end)
	}
	r.result.lasts, r.result.prices = r.Lasts, r.Prices
	return nil
}

// passWarmUp drops all counts of the warm-up when it is over.
func (r *run) passWarmUp(now time.Duration) {
	if !r.measured && now >= r.WarmUp {
		r.measured = true
		r.result = Result{atOnce: r.under}
		for i := range r.keys {
			r.result.atOnceOfOneKey = max(r.result.atOnceOfOneKey, len(r.keys[i].flights))
		}
	}
}

func (r *run) read(rd Read) {
	now := rd.At
	node := 0
	if len(r.tier) > 0 {
		r.advance(r.key(rd.Key), rd.Key, now)
		if len(r.tier) > 1 {
			node = r.random.below(len(r.tier))
		}
		if c, ok := r.tier[node].Get(rd.Key); ok && now < c.until {
			r.result.tierHits++
			r.result.hits++
			r.served(c.epoch, now, 0)
			return
		}
	}
	r.ask(rd, now, node, 0)
}

// ask simulates a reader that asks the store, for the first time or after throttling.
func (r *run) ask(rd Read, now time.Duration, node, retries int) {
	k := r.key(rd.Key)
	r.advance(k, rd.Key, now)
	reads := r.readUnitsOf(rd)
	if r.Store.Throttles && !k.units.read.take(now, reads, partitionReads) {
		r.throttled(rd, now, node, retries)
		return
	}
	r.result.readUnits += reads
	if k.held && now >= k.hidden {
		r.delete(k, rd.Key, now)
	}
	var found *Entry
	if k.held {
		found = &k.entry
	}
	fresh := found.fresh(now)
	rendering := len(k.flights) > 0
	action := r.Policy.Refresh.Read(found, rendering, now, r.random)
	if rendering && !fresh && r.Policy.Refresh.Locked() {
		r.result.writeUnits++ // the attempt to take the lock
		r.result.conditionsFailed++
	}
	switch {
	case action == Render, action == Wait && !rendering, found == nil && !rendering:
		r.render(k, rd, now, waiter{rd.At, node})
	case action == Wait, found == nil:
		f := k.flights[len(k.flights)-1]
		f.waiters = append(f.waiters, waiter{rd.At, node})
	default:
		r.serveFound(k, rd, now, node, fresh)
		if action == Revalidate {
			r.render(k, rd, now)
		}
	}
}

func (r *run) serveFound(k *cached, rd Read, now time.Duration, node int, fresh bool) {
	if fresh {
		r.result.hits++
		if until := r.Policy.Lifetime.Read(&k.entry, now); until != k.entry.FreshUntil {
			r.extend(k, rd, now, until)
		}
	} else {
		r.result.known++
	}
	r.served(k.epoch, now, now-rd.At+r.Store.Latency)
	r.copy(node, rd.Key, k.epoch, now)
}

// extend writes a later end of freshness to the row, and moves its expiry by the same amount: otherwise a constantly
// read row would be deleted. A row under a cap has the expiry of the longest freshness from the start. A throttled
// write is not repeated: the next read makes one.
func (r *run) extend(k *cached, rd Read, now, until time.Duration) {
	writes := r.writeUnitsOf(rd)
	if r.Store.Throttles && !k.units.write.take(now, writes, partitionWrites) {
		r.result.throttles++
		return
	}
	if !capped(r.Policy.Lifetime, &k.entry) && k.ttl < never {
		r.past(k, now)
		longer := until - k.entry.FreshUntil
		k.ttl, k.hidden = k.ttl+longer, k.hidden+longer
		if r.redis != nil {
			r.redis.set(rd.Key, k.hidden)
		} else {
			k.gone = k.hidden
		}
	}
	k.entry.FreshUntil = until
	r.result.writeUnits += writes
}

// served counts a reader that is served a value from an epoch.
func (r *run) served(e *epoch, now, latency time.Duration) {
	r.result.reads++
	r.result.latency.add(latency)
	if e.end <= now {
		age := now - e.end
		r.result.outdated.add(age)
		for i := 0; i < len(outdatedBounds) && age > outdatedBounds[i]; i++ {
			r.result.outdatedOver[i]++
		}
	}
}

// copy keeps a value in the memory of a node.
func (r *run) copy(node, key int, e *epoch, now time.Duration) {
	if len(r.tier) > 0 {
		r.tier[node].Add(key, replica{e, now + r.Tier.Lifetime})
	}
}

// render starts a render. The waiters are served when it ends.
func (r *run) render(k *cached, rd Read, now time.Duration, waiters ...waiter) {
	k.now.seen = true
	f := &flight{read: rd, started: now, epoch: k.now, waiters: waiters}
	if len(k.flights) == 0 {
		r.result.refreshes++
		if k.held && k.entry.fresh(now) {
			r.result.early.add(k.entry.FreshUntil - now)
		}
	}
	k.flights = append(k.flights, f)
	r.under++
	r.result.renders++
	r.result.atOnce = max(r.result.atOnce, r.under)
	r.result.atOnceOfOneKey = max(r.result.atOnceOfOneKey, len(k.flights))
	if r.Policy.Refresh.Locked() {
		r.result.writeUnits++                   // acquire
		r.result.readUnits += r.readUnitsOf(rd) // the second read, under the lock
	}
	if takes := r.Render.draw(r.renders); takes > 0 {
		r.at(now+takes, func(now time.Duration) { r.finish(f, now) })
	} else {
		r.finish(f, now)
	}
}

// finish stores the value of a render, and serves the readers that wait for it.
func (r *run) finish(f *flight, now time.Duration) {
	k := r.key(f.read.Key)
	r.advance(k, f.read.Key, now)
	for i, other := range k.flights {
		if other == f {
			k.flights = append(k.flights[:i], k.flights[i+1:]...)
			break
		}
	}
	r.under--
	if r.Policy.Refresh.Locked() {
		r.result.writeUnits += 2 * (r.writeUnitsOf(f.read) + 1) // a transaction of META and LOCK
	} else {
		r.result.writeUnits += r.writeUnitsOf(f.read)
	}
	r.store(k, f.read.Key, now)
	e := Entry{Generated: f.started, Stored: now, Render: now - f.started, Data: f.read.Data, Class: f.read.Class}
	e.FreshUntil = r.Policy.Lifetime.Stored(&e, now, r.random)
	k.entry, k.held, k.epoch, k.bytes = e, true, f.epoch, cmp.Or(f.read.Bytes, r.Store.Bytes)
	stays := r.Store.Retention
	if stays > 0 && r.redis == nil {
		stays += r.Store.Lag.draw(r.random)
	}
	r.keep(k, f.read.Key, now, stays)
	if r.isPeriodic && e.FreshUntil < never {
		r.again(f.read, e.FreshUntil)
	}
	for _, w := range f.waiters {
		r.served(f.epoch, now, now-w.since+r.Store.Latency)
		r.copy(w.node, f.read.Key, f.epoch, now)
	}
}

// keep gives a row its expiry, which counts from the parameter from. The row stays in the table for the retention and
// the lag.
func (r *run) keep(k *cached, key int, from, stays time.Duration) {
	k.hidden, k.gone, k.ttl = never, never, never
	if r.Store.Retention == 0 {
		return
	}
	k.ttl, k.hidden = from+r.Store.Retention, from+stays
	if r.redis != nil {
		r.redis.set(key, k.hidden)
	} else {
		k.gone = k.hidden
	}
}

// again renders a key at a time, without a reader.
func (r *run) again(rd Read, at time.Duration) {
	r.at(at, func(now time.Duration) {
		k := r.key(rd.Key)
		r.advance(k, rd.Key, now)
		r.render(k, rd, now)
	})
}

// delete deletes a row, at its time or for a later reader.
func (r *run) delete(k *cached, key int, now time.Duration) {
	r.store(k, key, now)
	k.held = false
	if r.redis != nil {
		r.redis.remove(key)
	}
}

// expire is Redis's active cycle.
func (r *run) expire(now time.Duration) {
	r.redis.cycle(now, func(key int) { r.delete(r.key(key), key, now) })
	r.at(now+redisCycle, r.expire)
}

// store counts, when a row ends, how long it was in the table.
func (r *run) store(k *cached, key int, now time.Duration) {
	if !k.held {
		return
	}
	r.advance(k, key, now)
	if k.entry.FreshUntil <= now {
		r.result.expired++
		if k.epoch.end <= k.entry.FreshUntil {
			r.result.expiredOutdated++
		}
	}
	if k.gone <= now && k.gone >= r.WarmUp {
		r.result.deleted++
	}
	end := min(now, k.gone)
	if from := max(k.entry.Stored, r.WarmUp); from < end {
		r.result.byteSeconds += float64(k.bytes) * (end - from).Seconds()
	}
	r.past(k, end)
}

// past counts how long a row has been past its ttl, up to now.
func (r *run) past(k *cached, now time.Duration) {
	if from := max(k.ttl, r.WarmUp); from < now {
		r.result.pastSeconds += (now - from).Seconds()
	}
}

func (r *run) readUnitsOf(rd Read) float64 {
	units := unitsOf(cmp.Or(rd.Bytes, r.Store.Bytes), readUnitBytes)
	if r.Store.Eventual {
		return units / 2
	}
	return units
}

// writeUnitsOf returns the units of a plain write of the row.
func (r *run) writeUnitsOf(rd Read) float64 {
	return unitsOf(cmp.Or(rd.Bytes, r.Store.Bytes), writeUnitBytes)
}

// key returns the row of a key, and makes room for it.
func (r *run) key(key int) *cached {
	if key >= len(r.keys) {
		r.keys = append(r.keys, make([]cached, key+1-len(r.keys))...)
	}
	return &r.keys[key]
}

// advance lets the data of a key change up to now.
func (r *run) advance(k *cached, key int, now time.Duration) {
	if !k.begun {
		k.begun, k.now, k.change = true, &epoch{end: never}, r.traffic.Changed(key, now)
	}
	for k.change <= now {
		if k.now.seen {
			k.now.end = k.change
			k.now = &epoch{end: never}
		}
		k.change = r.traffic.Changed(key, k.change)
	}
}

// at adds an event at a time.
func (r *run) at(at time.Duration, do func(now time.Duration)) {
	r.added++
	heap.Push(&r.events, event{at, r.added, do})
}

// event happens at a time. Simultaneous events happen in the order in which they were added.
type event struct {
	at     time.Duration
	number uint64
	do     func(now time.Duration)
}

// events is a heap of events, for container/heap.
type events []event

func (e events) Len() int { return len(e) }

func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].number < e[j].number
}

func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }

func (e *events) Push(x any) { *e = append(*e, x.(event)) }

func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}
