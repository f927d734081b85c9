package invariant

import (
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// The schema that the checks read rows by.
const (
	sortMeta = "META"
	sortLock = "LOCK"
)

// rowID names a row's partition within a database.
type rowID struct{ table, pk string }

// role returns which partition and which of its rows a change is about.
func role(c ddbfake.Change) (rowID, string) {
	pk, _ := c.Key.Str("pk")
	sk, _ := c.Key.Str("sk")
	return rowID{c.Table, pk}, sk
}

// lease is a LOCK row as the checks see it. The zero lease is no row.
type lease struct {
	token   string
	holder  string // the actor that put the token into the row
	expires time.Time
}

// readLease reads a LOCK row; false if it is not a well-formed one.
func readLease(row attr.Item) (lease, bool) {
	token, hasToken := row.Str("lease_token")
	expires, hasExpiry := row.Int("lease_expires_at")
	return lease{token: token, expires: time.Unix(expires, 0)}, hasToken && token != "" && hasExpiry
}

// locks knows the LOCK row of every key as the log has it so far.
type locks map[rowID]lease

// note takes in a change of a LOCK row. It returns false if the row is left
// malformed: nobody can say then who holds the lease.
func (l locks) note(c ddbfake.Change) bool {
	id, _ := role(c)
	before := l[id]
	delete(l, id)
	if c.After == nil {
		return true
	}
	now, wellFormed := readLease(c.After)
	if !wellFormed {
		return false
	}
	now.holder = c.Actor
	if now.token == before.token {
		now.holder = before.holder
	}
	l[id] = now
	return true
}

// isPublish says whether a change of META shows another generation than before.
func isPublish(c ddbfake.Change) bool {
	if c.After == nil || c.Cause != ddbfake.CauseClient {
		return false
	}
	if c.Before == nil {
		return true
	}
	for _, name := range []string{"s3_key", "generated_at", "etag", "current_sk"} {
		before, after := c.Before[name], c.After[name]
		if (before == nil) != (after == nil) || before != nil && !attr.Equal(before, after) {
			return true
		}
	}
	return false
}

// longestStory is how many changes a finding names at most.
const longestStory = 8

// story returns the changes that show what came to pass with c, the last one:
// all of the same key since its actor last wrote LOCK there, or since the log
// begins if it never did. Of a long story, the beginning and the end.
func story(log []ddbfake.Change, c ddbfake.Change) []int {
	id, _ := role(c)
	var seqs []int
	for _, other := range slices.Backward(log) {
		otherID, sk := role(other)
		if otherID != id || other.Seq > c.Seq {
			continue
		}
		seqs = append(seqs, other.Seq)
		if sk == sortLock && other.Actor == c.Actor && other.After != nil && other.Seq < c.Seq {
			break
		}
	}
	slices.Reverse(seqs)
	if extra := len(seqs) - longestStory; extra > 0 {
		seqs = slices.Delete(seqs, 1, 1+extra)
	}
	return seqs
}

// requests splits the log into what took effect at once: the changes of one
// transaction, or a single change.
func requests(log []ddbfake.Change) func(yield func([]ddbfake.Change) bool) {
	return func(yield func([]ddbfake.Change) bool) {
		for start := 0; start < len(log); {
			end := start + 1
			for end < len(log) && log[end].Request != 0 && log[end].Request == log[start].Request {
				end++
			}
			if !yield(log[start:end]) {
				return
			}
			start = end
		}
	}
}
