package live

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// Summary holds what rows and requests show about stampedes and stale reads.
//
// A window of a page ends when the page is no longer fresh, and then the next window begins. A page needs to be made
// only once in a window: a correct cache publishes it once.
type Summary struct {
	Pages     int           // the number of pages that were published
	Publishes int           // the greatest number of publishes of one page in one window; 0 if nothing was published
	Locks     int           // the greatest number of writes of one page's lock in one window, refused ones included
	Reads     int           // the number of reads of pages among the latest requests
	Oldest    time.Duration // the greatest age of a row that was read, since its generated_at
	Overdue   time.Duration // the greatest time since the end of freshness of a row that was read; 0 if all were fresh

	// These are further facts for String: the rows of Publishes, Locks and Oldest, and the sorted names of the clients
	// that wrote rows of the cache.
	published, locked, read string
	actors                  []string
	// refusals reports whether Locks includes refused writes. They are known only if ddbfake.Options.LogRequests keeps
	// the latest requests.
	refusals bool
}

// String prints the summary, one sentence on each line.
func (s Summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "pages published: %d\n", s.Pages)
	if s.Publishes > 0 {
		fmt.Fprintf(&b, "most publishes of a page while once is enough: %d, of %s\n", s.Publishes, s.published)
	}
	if s.Locks > 0 {
		refused := ", refused ones included"
		if !s.refusals {
			refused = "; refused ones are not known without ddbfake.Options.LogRequests"
		}
		fmt.Fprintf(&b, "most attempts at a page's lock in that time: %d, of %s%s\n", s.Locks, s.locked, refused)
	}
	switch {
	case s.Reads > 0:
		fmt.Fprintf(&b,
			"oldest row that was read: %s after it was generated, %s; longest after the end of freshness: %s\n",
			s.Oldest, s.read, s.Overdue)
	case s.Pages > 0 && s.refusals:
		b.WriteString("no read of a page is among the latest requests\n")
	case s.Pages > 0:
		b.WriteString("no read of a page is known without ddbfake.Options.LogRequests\n")
	}
	if len(s.actors) == 1 {
		fmt.Fprintf(&b,
			"all changes are signed %q: if several write, one's lock cannot be told from another's: give each a "+
				"ddbfake.WithActor\n", s.actors[0])
	}
	return b.String()
}

// Summary reads the log and the latest requests since New. It leaves out changes that a Restore has undone. An
// eventually consistent read counts as a read of the current row, although it may have seen an older row under a
// replica lag.
func (c *Checker) Summary() Summary {
	c.mu.Lock()
	defer c.mu.Unlock()
	log := c.db.Changes()
	s := summing{db: c.db, rows: c.rows.mapping(), revalidate: c.options.Promise.Revalidate,
		pages: map[string]*pageSum{}, named: map[string][]rowOf{}}
	s.sources(log)
	events := s.written(c.translated(log), c.first.Seq)
	requests := lastNumbering(c.db.Requests())
	events = append(events, s.asked(requests, c.first.Request)...)
	// Events of the same request keep the order of the log.
	slices.SortStableFunc(events,
		func(a, b event) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.request, b.request)) })
	for _, e := range events {
		s.take(e)
	}
	s.refusals = len(requests) > 0
	slices.Sort(s.actors)
	s.actors = slices.Compact(s.actors)
	return s.Summary
}

// summing is a Summary in the making.
type summing struct {
	Summary
	db         *ddbfake.DB
	rows       *rowmap.Mapping
	revalidate time.Duration
	pages      map[string]*pageSum
	named      map[string][]rowOf // the roles of each row, by the row's name in ddbfake.Request.Rows
	source     map[int]string     // the names of rows as they were written, by the numbers of their changes
}

// rowOf is the role of a row for a page.
type rowOf struct{ page, sk, name string }

// pageSum is the present window of one page.
type pageSum struct {
	ends             time.Time // the end of the window; zero until its first publish
	publishes, locks int
	published        bool
	generated, fresh time.Time // the times of the row that exists now; zero if there is none
	known            bool      // generated is known
}

type kind uint8

const (
	pageRow kind = iota // the page was replaced, or is gone
	lockTaken
	lockRefused
	pageRead
)

type event struct {
	kind
	at               time.Time
	request          int // 0 for TTL
	page, row        string
	publishes        bool
	counts           bool // it is later than New
	generated, fresh time.Time
	known            bool
}

// sources notes the names of rows as they were written.
func (s *summing) sources(log []ddbfake.Change) {
	s.source = map[int]string{}
	for i := range log {
		s.source[log[i].Seq] = log[i].Table + log[i].Key.String()
	}
}

func (s *summing) written(log []ddbfake.Change, after int) (events []event) {
	for i := range log {
		c := &log[i]
		pk, _ := c.Key.Str("pk")
		sk, _ := c.Key.Str("sk")
		if sk != "META" && sk != "LOCK" {
			continue
		}
		source := s.source[c.Seq]
		e := event{
			at: c.Time, request: c.Request, page: c.Region + " " + c.Table + " " + pk,
			row: source, counts: c.Seq > after,
		}
		if role := (rowOf{e.page, sk, source}); !slices.Contains(s.named[c.Region+" "+source], role) {
			s.named[c.Region+" "+source] = append(s.named[c.Region+" "+source], role)
		}
		if e.counts && c.Cause == ddbfake.CauseClient && !s.db.Loaded(c.Request) {
			s.actors = append(s.actors, c.Actor)
		}
		if sk == "META" {
			e.publishes = invariant.Publishes(c)
			e.generated, e.known = rowmap.Instant(c.After, "generated_at")
			e.fresh = s.freshUntil(c, e.generated, e.known)
			events = append(events, e)
			continue
		}
		now, taken := c.After.Str("lease_token")
		before, _ := c.Before.Str("lease_token")
		if e.kind = lockTaken; taken && now != before {
			events = append(events, e)
		}
	}
	return events
}

// freshUntil is the end of a page's freshness; the zero time if it is not known.
func (s *summing) freshUntil(c *ddbfake.Change, generated time.Time, known bool) time.Time {
	if until, ok := rowmap.Instant(c.After, "fresh_until"); ok {
		return until
	}
	if seconds, ok := c.After.Int("revalidate_seconds"); ok && known && seconds >= 0 &&
		seconds < int64(1<<62/time.Second) {
		return generated.Add(time.Duration(seconds) * time.Second)
	}
	if known && s.revalidate > 0 {
		return generated.Add(s.revalidate)
	}
	return time.Time{}
}

// asked returns the events in requests: refused attempts to take locks, and reads of pages.
func (s *summing) asked(requests []ddbfake.Request, after int) (events []event) {
	for _, r := range requests {
		for _, row := range r.Rows {
			for _, of := range s.named[r.Region+" "+row] {
				e := event{at: r.Time, request: r.ID, page: of.page, row: of.name, counts: r.ID > after}
				switch {
				case of.sk == "LOCK" && refused(r):
					e.kind = lockRefused
				case of.sk == "META" && reads(r):
					e.kind = pageRead
				default:
					continue
				}
				events = append(events, e)
			}
		}
	}
	return events
}

// refused reports whether the condition of a write of one row did not hold.
func refused(r ddbfake.Request) bool {
	var failed *types.ConditionalCheckFailedException
	return (r.Operation == "PutItem" || r.Operation == "UpdateItem") && errors.As(r.Err, &failed)
}

// reads reports whether a request has read the rows that it names.
func reads(r ddbfake.Request) bool {
	return r.Err == nil && (r.Operation == "GetItem" || r.Operation == "BatchGetItem" ||
		r.Operation == "TransactGetItems")
}

// lastNumbering returns the requests since the last restore of the DB, which starts their numbers anew.
func lastNumbering(requests []ddbfake.Request) []ddbfake.Request {
	for i := len(requests) - 1; i > 0; i-- {
		if requests[i].ID <= requests[i-1].ID {
			return requests[i:]
		}
	}
	return requests
}

// take counts the next event.
func (s *summing) take(e event) {
	p := s.pages[e.page]
	if p == nil {
		p = &pageSum{}
		s.pages[e.page] = p
	}
	if !p.ends.IsZero() && !e.at.Before(p.ends) {
		p.ends, p.publishes, p.locks = time.Time{}, 0, 0
	}
	switch e.kind {
	case lockTaken, lockRefused:
		if p.locks++; e.counts && p.locks > s.Locks {
			s.Locks, s.locked = p.locks, e.row
		}
	case pageRead:
		if e.counts {
			s.noteRead(p, e)
		}
	case pageRow:
		p.generated, p.fresh, p.known = e.generated, e.fresh, e.known
		if !e.publishes || !e.counts {
			if e.publishes && p.ends.IsZero() {
				p.ends = e.fresh
			}
			return
		}
		if !p.published {
			p.published = true
			s.Pages++
		}
		if p.publishes++; p.publishes > s.Publishes {
			s.Publishes, s.published = p.publishes, e.row
		}
		if p.ends.IsZero() {
			// If the end of freshness is not known, each publish ends a window.
			if p.ends = e.fresh; p.ends.IsZero() {
				p.ends = e.at
			}
		}
	}
}

func (s *summing) noteRead(p *pageSum, e event) {
	if !p.known {
		return // there was no page to be read
	}
	s.Reads++
	if age := e.at.Sub(p.generated); s.Reads == 1 || age > s.Oldest {
		s.Oldest, s.read = age, e.row
	}
	if !p.fresh.IsZero() {
		s.Overdue = max(s.Overdue, e.at.Sub(p.fresh))
	}
}
