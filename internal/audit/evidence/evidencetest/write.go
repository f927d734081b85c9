// Package evidencetest makes and writes records for tests.
package evidencetest

import (
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/audit/evidence"
)

// Of is the record that a stream of the fake has of a change, with an ID and a sequence number that are short.
func Of(c *ddbfake.Change) evidence.Record {
	return evidence.Record{
		Table: c.Table, Region: c.Region, Key: c.Key, Before: c.Before, After: c.After, Images: true,
		Time: c.Time.Truncate(time.Second).UTC(), Unit: time.Second, TTL: c.Cause == ddbfake.CauseTTL,
		ID: fmt.Sprintf("event-%d", c.Seq), Sequence: evidence.Sequence(fmt.Sprint(c.Seq)),
	}
}

// AppendJSON appends a record as Lambda gets it from a stream of its table, and the end of the line.
func AppendJSON(dst []byte, r evidence.Record) []byte {
	arn := ""
	if r.Table != "" {
		arn = "arn:aws:dynamodb:" + r.Region + ":000000000000:table/" + r.Table + "/stream/2026-01-01T00:00:00.000"
	}
	return evidence.AppendJSON(dst, arn, &r)
}
