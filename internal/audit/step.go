package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// isRow reports whether a row that is not translated belongs to a page.
func isRow(c *ddbfake.Change) bool {
	pk, _ := c.Key.Str("pk")
	sk, _ := c.Key.Str("sk")
	return pk != "" && rowmap.RoleOf(sk) != 0
}

// Verb is what a change does to a page or a lock.
type Verb string

// The verbs.
const (
	Taken       Verb = "lock taken"
	TakenOver   Verb = "lock taken over"
	Renewed     Verb = "lock renewed"
	GivenBack   Verb = "lock given back"
	Published   Verb = "page published"
	Completed   Verb = "call completed"
	Invalidated Verb = "page invalidated"
	Changed     Verb = "row changed"
	Put         Verb = "row put"
	Removed     Verb = "row removed"
	Deleted     Verb = "row deleted by TTL"
)

// Step is one change in the story of a finding.
type Step struct {
	Seq  int // the number of the change in the history, from 1
	Time time.Time
	Row  string
	Verb Verb
	// Token is the holder of the lock after the change or, if nobody is, before it.
	Token string
	// Until is the end of the lease or of the page's freshness, and Read is when the page's data was read.
	Until, Read time.Time
	// Adopted says that the change was not judged: it says what the row was when the history began, or after a gap.
	Adopted bool
	Who     string // who may have made it, as CloudTrail tells
	Place   evidence.Place
}

// String returns the step in one line.
func (s Step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s: %s", Instant(s.Time), s.Row, s.Verb)
	if s.Token != "" {
		fmt.Fprintf(&b, ", token %s", s.Token)
	}
	if !s.Read.IsZero() {
		fmt.Fprintf(&b, ", read at %s", Instant(s.Read))
	}
	if !s.Until.IsZero() {
		fmt.Fprintf(&b, ", until %s", Instant(s.Until))
	}
	if s.Adopted {
		b.WriteString(" (as it was found)")
	}
	if s.Who != "" {
		b.WriteString(", by " + s.Who)
	}
	fmt.Fprintf(&b, "  [%s]", s.Place)
	return b.String()
}

// step describes a translated change of the partition. A change of META has been read.
func (p *partition) step(r *evidence.Record, name, sk string, c *ddbfake.Change, of Kind) Step {
	s := Step{Seq: c.Seq, Time: r.Time, Row: name, Place: r.Place, Verb: Changed}
	switch {
	case c.After == nil && r.TTL:
		s.Verb = Deleted
	case c.After == nil:
		s.Verb = Removed
	case c.Before == nil:
		s.Verb = Put
	}
	switch sk {
	case isr.SortLock:
		was, now := invariant.Lease(c.Before), invariant.Lease(c.After)
		s.Token, s.Until = now.Token, now.Expires
		if now.Endless {
			s.Until = time.Time{}
		}
		switch {
		case now.Token == "":
			s.Token, s.Until = was.Token, time.Time{}
			if c.After != nil && was.Token != "" {
				s.Verb = GivenBack
			}
		case was.Token == "":
			s.Verb = Taken
		case was.Token != now.Token:
			s.Verb = TakenOver
		default:
			s.Verb = Renewed
		}
	case isr.SortMeta:
		if s.Until = p.page.FreshUntil; of != Calls {
			s.Read = p.page.Generated
		}
		switch {
		case p.another && of == Calls:
			s.Verb = Completed
		case p.another:
			s.Verb = Published
		case p.ended:
			s.Verb = Invalidated
		}
	}
	return s
}

// rowName is the table of a record and its key.
func rowName(r *evidence.Record) string {
	name := r.Table
	for _, key := range slices.Sorted(maps.Keys(r.Key)) {
		text, is := r.Key.Str(key)
		if !is {
			text = r.Key[key].String()
		}
		name += " " + key + "=" + text
	}
	return strings.TrimSpace(name)
}

// name is the row of the page or the lock that changed last.
func (p *partition) name() string {
	if len(p.steps) == 0 {
		return p.pk
	}
	return p.steps[len(p.steps)-1].Row
}

// tokenOf is the holder on whose behalf LOCK changes: the new one or, if there is none, the last one.
func tokenOf(c *ddbfake.Change, last string) string {
	for _, row := range []attr.Item{c.After, c.Before} {
		if l := invariant.Lease(row); l.Token != "" {
			return l.Token
		}
	}
	return last
}

// holderOf stands for the holder of a call in progress, whose row has no token: such a row is written once, so each
// content is a call of its own.
func holderOf(after, before attr.Item) string {
	if after == nil {
		after = before
	}
	return fmt.Sprintf("call %016x", sum(after)[0])
}

// String returns the finding in several lines: what is broken, its statement, why, and the steps.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", f.Verdict, f.Invariant)
	if s := Statement(f.Invariant); s != "" {
		fmt.Fprintf(&b, "%s: %s\n", f.Invariant, s)
	}
	rows := make([]string, len(f.Steps))
	for i := range f.Steps {
		rows[i] = f.Steps[i].Row
	}
	common := commonWords(rows)
	fmt.Fprintf(&b, "%s: %s", cmp.Or(strings.TrimSpace(common), f.Key), f.Why)
	if !f.From.IsZero() || !f.To.IsZero() {
		fmt.Fprintf(&b, "\n  unknown from %s to %s", Instant(f.From), Instant(f.To))
	}
	for _, s := range f.Steps {
		s.Row = cmp.Or(s.Row[len(common):], s.Row)
		fmt.Fprintf(&b, "\n  %s", s)
	}
	return b.String()
}

// commonWords returns the words with which all names begin.
func commonWords(names []string) string {
	if len(names) == 0 {
		return ""
	}
	common := names[0]
	for _, name := range names {
		for !strings.HasPrefix(name, common) {
			at := strings.LastIndexByte(strings.TrimSuffix(common, " "), ' ')
			common = common[:at+1]
		}
	}
	return common
}

// Instant prints a time that may be unknown.
func Instant(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format(time.RFC3339Nano)
}
