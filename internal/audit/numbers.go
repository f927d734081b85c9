package audit

import (
	"cmp"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Numbers are for those who operate the table.
type Numbers struct {
	Deleted int // rows that TTL deleted, of pages and locks
	// LagP50, LagP99 and LagMost say how long after their ttl TTL deleted rows: the median, the 99th percentile, and
	// the longest.
	LagP50, LagP99, LagMost time.Duration
	Publishes               int
	Unleased                int // publishes when no lease was running
	Early                   int // publishes in the place of a page that was still fresh and not invalidated
	Refilled                int // publishes of data that was read before the page's row was removed
	Keys                    int // the pages and locks whose rows exist at the end
	Rows                    int // those rows that came in the history, less those that went
	Bytes                   int // the bytes by which those rows grew
	Held                    []Lock
	Hot                     []Hot // the keys with the most changes
}

// Lock is a lock whose row exists at the end of the history.
type Lock struct {
	Row   string
	Token string
	Age   time.Duration // since its token was first seen
	Over  time.Duration // since its lease ended; 0 if it is running
}

// Hot is a key that changes often.
type Hot struct {
	Row     string
	Changes int
}

// most is the number of locks and of hot keys that are shown.
const most = 10

// tally counts the figures of Numbers.
type tally struct {
	n    Numbers
	lags histogram
	hot  []Hot // of keys that were forgotten
}

func (t *tally) count(r *evidence.Record, p *partition, sk string, c *ddbfake.Change, judge bool) {
	if !judge {
		return
	}
	t.n.Rows += exists(c.After) - exists(c.Before)
	t.n.Bytes += c.After.Size() - c.Before.Size()
	if ttl, has := c.Before.Int("ttl"); r.TTL && has {
		t.n.Deleted++
		t.lags.add(max(0, r.Time.Sub(time.Unix(ttl, 0))))
	}
	if sk != isr.SortMeta {
		return
	}
	if c.After == nil && !r.TTL {
		p.removed = r.Time
	}
	if !p.another {
		return
	}
	t.n.Publishes++
	latest := c.Time
	running := p.lease.Token != "" && (p.lease.Endless || p.lease.Expires.After(r.Time))
	if p.lockRow != "" && !running && !p.left.Equal(r.Time) { // a key without a lock has no lease
		t.n.Unleased++
	}
	if p.was.FreshUntil.After(latest) && p.cut.IsZero() {
		t.n.Early++
	}
	if !p.removed.IsZero() && !p.page.Generated.IsZero() && p.page.Generated.Before(p.removed) {
		t.n.Refilled++
	}
}

// numbers sums up.
func (t *tally) numbers(j *Judge) Numbers {
	n := t.n
	n.LagP50, n.LagP99, n.LagMost = t.lags.at(0.5), t.lags.at(0.99), t.lags.most
	n.Hot = slices.Clone(t.hot)
	for _, p := range j.sorted() {
		if p.rows > 0 {
			n.Keys++
		}
		n.Hot = append(n.Hot, Hot{p.name(), p.changes})
		if p.lease.Token == "" {
			continue
		}
		l := Lock{Row: p.lockRow, Token: p.lease.Token, Age: j.result.To.Sub(p.taken)}
		if !p.lease.Endless && p.lease.Expires.Before(j.result.To) {
			l.Over = j.result.To.Sub(p.lease.Expires)
		}
		n.Held = append(n.Held, l)
	}
	slices.SortStableFunc(n.Held, func(a, b Lock) int { return cmp.Compare(b.Age, a.Age) })
	n.Held = n.Held[:min(most, len(n.Held))]
	n.Hot = hottest(n.Hot)
	return n
}

// retire keeps the count of a key that is forgotten, if it is among the hot ones.
func (res *Result) retire(p *partition) {
	res.tally.hot = hottest(append(res.tally.hot, Hot{p.name(), p.changes}))
}

func hottest(all []Hot) []Hot {
	slices.SortStableFunc(all, func(a, b Hot) int {
		return cmp.Or(cmp.Compare(b.Changes, a.Changes), cmp.Compare(a.Row, b.Row))
	})
	return all[:min(most, len(all))]
}

// histogram counts whole seconds, exactly below an hour and by minutes above: its size is bounded.
type histogram struct {
	buckets map[time.Duration]int
	count   int
	most    time.Duration
}

func (h *histogram) add(d time.Duration) {
	h.most = max(h.most, d)
	step := time.Second
	if d >= time.Hour {
		step = time.Minute
	}
	if h.buckets == nil {
		h.buckets = map[time.Duration]int{}
	}
	h.buckets[d.Truncate(step)]++
	h.count++
}

// at returns a quantile.
func (h *histogram) at(q float64) time.Duration {
	keys := make([]time.Duration, 0, len(h.buckets))
	//isrsim:unordered sorted below
	for d := range h.buckets {
		keys = append(keys, d)
	}
	slices.Sort(keys)
	left := int(q * float64(h.count))
	for _, d := range keys {
		if left -= h.buckets[d]; left < 0 {
			return d
		}
	}
	return h.most
}
