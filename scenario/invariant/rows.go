package invariant

import (
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

// lease is a LOCK row as the checks see it.
type lease struct {
	token   string
	expires time.Time
	change  int // the change that made the row what it is
}

// readLease reads a LOCK row; false if it is not a well-formed one.
func readLease(row attr.Item, change int) (lease, bool) {
	token, hasToken := row.Str("lease_token")
	expires, hasExpiry := row.Int("lease_expires_at")
	return lease{token, time.Unix(expires, 0), change}, hasToken && hasExpiry
}

// isPublish says whether a change of META shows another generation than before.
func isPublish(c ddbfake.Change) bool {
	if c.After == nil || c.Cause != ddbfake.CauseClient {
		return false
	}
	if c.Before == nil {
		return true
	}
	for _, name := range []string{"s3_key", "generated_at", "etag"} {
		before, after := c.Before[name], c.After[name]
		if (before == nil) != (after == nil) || before != nil && !attr.Equal(before, after) {
			return true
		}
	}
	return false
}

// owners knows which actor first wrote each token.
type owners map[string]owner

type owner struct {
	actor  string
	change int
}

func (o owners) note(c ddbfake.Change) {
	if token, ok := c.After.Str("lease_token"); ok {
		if _, known := o[token]; !known {
			o[token] = owner{c.Actor, c.Seq}
		}
	}
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
