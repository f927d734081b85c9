package invariant

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
)

// The sort keys by which the checks read rows.
const (
	sortMeta    = "META"
	sortLock    = "LOCK"
	sortVersion = "VER#" // and the version
	sortRequest = "REQ#" // and the idempotency key
)

// rowID names a row's partition within a database.
type rowID struct{ region, table, pk string }

// role returns the partition of a change and its sort key.
func role(c ddbfake.Change) (rowID, string) {
	pk, _ := c.Key.Str("pk")
	sk, _ := c.Key.Str("sk")
	return rowID{c.Region, c.Table, pk}, sk
}

// lease is a LOCK row in the form that the checks use. The zero lease means no row.
type lease struct {
	token   string
	holder  string // the actor that put the token into the row
	expires time.Time
	open    int // the change that left the row without an end; 0 if it has an end
	// copied says that the token has come from another region: the lease was taken there, and this row is a copy.
	copied bool
}

// endless reports whether the row says that the lease has no end. Such a lease is over only when it is given back.
func (l *lease) endless() bool { return l.expires.Equal(endOfTime) }

// readLease reads a LOCK row; false if it does not say who holds it. If lease_expires_at is NULL, the lease has no end.
func readLease(row attr.Item) (lease, bool) {
	token, hasToken := row.Str("lease_token")
	expires, hasExpiry := rowmap.Instant(row, "lease_expires_at")
	if _, null := row["lease_expires_at"].(attr.NULL); null {
		expires, hasExpiry = endOfTime, true
	}
	l := lease{token: token, expires: expires}
	if !hasExpiry {
		l.open = 1 // the ledger replaces it by the number of the change
	}
	return l, hasToken && token != ""
}

// isNobodys reports whether nobody holds a LOCK row at t: the row has neither a token nor an end after t. It assumes
// that the page's locks used to have tokens.
func isNobodys(row attr.Item, t time.Time) bool {
	now, held := readLease(row)
	return !held && !now.expires.After(t)
}

// isPage reports whether a META row shows a page: it names a body or a version, or holds any other content. A row
// without a page comes from an invalidation of a missing page, or holds nothing but a lease.
func isPage(meta attr.Item) bool {
	if leads(meta) {
		return true
	}
	//isrsim:unordered any of them will do
	for name := range meta {
		if !isBookkeeping(name) {
			return true
		}
	}
	return false
}

// leads reports whether a row names its body, or the version that names it. Otherwise the body is in the row.
func leads(row attr.Item) bool { return row["s3_key"] != nil || row["current_sk"] != nil }

// holdsBody reports whether a row has an attribute that may be a body. A number may be a body only if a row mapping
// says so: a page in chunks has a row that counts them.
func holdsBody(row attr.Item) bool {
	//isrsim:unordered any of them will do
	for name, value := range row {
		if _, number := value.(attr.N); (!number || name == "body") && !isBookkeeping(name) && name != "etag" &&
			name != "generated_at" {
			return true
		}
	}
	return false
}

// isBookkeeping reports whether an attribute of META is not a part of the page.
func isBookkeeping(name string) bool {
	switch name {
	case "pk", "sk", "ttl", "version", "invalidated_version", "revalidate_seconds", "fresh_until", "lease_token",
		"lease_expires_at", rowmap.MarkedAt, rowmap.Unlocked:
		return true
	default:
		return rowmap.IsFraction(name)
	}
}

// freshUntil returns the time until which the page of a row is fresh; false if the time is not known. If the row has no
// revalidate_seconds, the promised window counts, if there is one. A translated row (package rowmap) may hold the end
// itself.
func (p Promise) freshUntil(row attr.Item) (until time.Time, known bool) {
	if until, known := rowmap.Instant(row, "fresh_until"); known {
		return until, true
	}
	generated, known := rowmap.Instant(row, "generated_at")
	if row["revalidate_seconds"] == nil {
		return generated.Add(p.Revalidate), known && p.Revalidate > 0
	}
	window, isWindow := rowmap.Instant(row, "revalidate_seconds")
	return time.Unix(generated.Unix()+window.Unix(), int64(generated.Nanosecond()+window.Nanosecond())), known &&
		isWindow
}

// generatedAt returns when the data of a row's page was read; false if the row does not say it. If the row has only the
// end of its freshness, the time is one window before the end.
func (p Promise) generatedAt(row attr.Item) (at time.Time, known bool) {
	if at, known := rowmap.Instant(row, "generated_at"); known || row["fresh_until"] == nil {
		return at, known
	}
	until, known := rowmap.Instant(row, "fresh_until")
	window, isWindow := rowmap.Instant(row, "revalidate_seconds")
	if !isWindow {
		return until.Add(-p.Revalidate), known
	}
	return time.Unix(until.Unix()-window.Unix(), int64(until.Nanosecond()-window.Nanosecond())), known
}

// Expired reports whether a row is past its ttl at t: TTL may delete it.
func Expired(row attr.Item, t time.Time) bool {
	ttl, has := row.Int("ttl")
	return has && !time.Unix(ttl, 0).After(t)
}

// Publishes reports whether a change is a publish: a client made META show another page than before.
func Publishes(c *ddbfake.Change) bool {
	_, sk := role(*c)
	return sk == sortMeta && c.Cause == ddbfake.CauseClient && ShowsAnother(c)
}

// ShowsAnother reports whether a change of META shows another generation than before.
func ShowsAnother(c *ddbfake.Change) bool {
	if !isPage(c.After) {
		return false
	}
	if !isPage(c.Before) {
		return true
	}
	for _, name := range []string{"s3_key", "generated_at", rowmap.GeneratedNanos, "etag", "current_sk"} {
		if differs(c, name) {
			return true
		}
	}
	return !leads(c.After) && showsOther(c)
}

func differs(c *ddbfake.Change, name string) bool {
	before, after := c.Before[name], c.After[name]
	return (before == nil) != (after == nil) || before != nil && !attr.Equal(before, after)
}

// showsOther reports whether a row that holds its body has another body than before. A number is not a body, so a row
// that counts its readers shows nothing new.
func showsOther(c *ddbfake.Change) bool {
	//isrsim:unordered any of them will do
	for name, value := range c.After {
		if _, number := value.(attr.N); (!number || name == "body") && !isBookkeeping(name) && differs(c, name) {
			return true
		}
	}
	return false
}

// longestStory is the largest number of changes that a finding names.
const longestStory = 8

// Story returns the changes that led to the last deciding change: the deciding changes, and all changes of the same key
// since that change's actor last wrote LOCK there, or since the beginning of the log. If the story is long, it returns
// the first change and the last ones. The log may lack its beginning.
func Story(log []ddbfake.Change, deciding []int) []int {
	if len(deciding) == 0 || len(log) == 0 {
		return deciding
	}
	// In a translated log (package rowmap), several changes may have the same number, and numbers may be missing.
	last, found := slices.BinarySearchFunc(log, deciding[len(deciding)-1],
		func(c ddbfake.Change, seq int) int { return c.Seq - seq })
	if !found {
		return deciding
	}
	c := log[last]
	id, _ := role(c)
	seqs := slices.Clone(deciding)
	for _, other := range slices.Backward(log[:last]) {
		otherID, sk := role(other)
		if otherID != id {
			continue
		}
		if !slices.Contains(seqs, other.Seq) {
			seqs = append(seqs, other.Seq)
		}
		if sk == sortLock && other.Actor == c.Actor && other.After != nil {
			break
		}
	}
	slices.Sort(seqs)
	return shortened(seqs)
}

// shortened keeps the first and the last changes of a long story.
func shortened(seqs []int) []int {
	if extra := len(seqs) - longestStory; extra > 0 {
		return slices.Delete(seqs, 1, 1+extra)
	}
	return seqs
}

// Requests splits the log into groups of changes that took effect at once: the changes of one transaction, or a
// single change.
func Requests(log []ddbfake.Change) func(yield func([]ddbfake.Change) bool) {
	return func(yield func([]ddbfake.Change) bool) {
		for len(log) > 0 {
			n := firstRequest(log)
			if !yield(log[:n]) {
				return
			}
			log = log[n:]
		}
	}
}

// firstRequest returns the number of changes that the first request of a log made. Changes with the same number are
// translations of one change.
func firstRequest(log []ddbfake.Change) int {
	n := 1
	for n < len(log) && (log[n].Request != 0 && log[n].Request == log[0].Request || log[n].Seq == log[0].Seq) {
		n++
	}
	return n
}

// named returns the name of the body that a row leads to.
func named(row attr.Item) string {
	name, _ := row.Str("s3_key")
	return name
}

// content identifies the page that a row shows. It is the name of the body, or the text of the whole row if the body is
// in it.
func content(row attr.Item) string {
	if row == nil || leads(row) {
		return named(row)
	}
	return row.String()
}

// farSeconds is the number of seconds in twenty years. Differences from there on are not shown as durations. Rows hold
// numbers that their writers take for seconds. Larger numbers are usually milliseconds, and readers can recognise them
// if they are printed as numbers.
const farSeconds = 20 * 365 * 24 * 3600

// span prints the time between two instants. A time.Duration, which time.Time.Sub returns, cannot hold more than 292
// years.
func span(from, to time.Time) string {
	if d := to.Sub(from); d.Abs() < farSeconds*time.Second {
		return d.String()
	}
	return spanSeconds(minus(to.Unix(), from.Unix()))
}

// spanSeconds prints a number of seconds. In a time.Duration it would overflow after 292 years.
func spanSeconds(n int64) string {
	if n > -farSeconds && n < farSeconds {
		return (time.Duration(n) * time.Second).String()
	}
	return strconv.FormatInt(n, 10) + "s"
}

// minus is a - b, or the nearest int64 if that overflows.
func minus(a, b int64) int64 {
	switch {
	case b < 0 && a > math.MaxInt64+b:
		return math.MaxInt64
	case b > 0 && a < math.MinInt64+b:
		return math.MinInt64
	default:
		return a - b
	}
}
