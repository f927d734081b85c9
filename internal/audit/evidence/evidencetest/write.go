// Package evidencetest writes records for tests.
package evidencetest

import "github.com/isr-sim/isr-sim/internal/audit/evidence"

// AppendJSON appends a record as Lambda gets it from a stream of its table, and the end of the line.
func AppendJSON(dst []byte, r evidence.Record) []byte {
	arn := ""
	if r.Table != "" {
		arn = "arn:aws:dynamodb:" + r.Region + ":000000000000:table/" + r.Table + "/stream/2026-01-01T00:00:00.000"
	}
	return evidence.AppendJSON(dst, arn, &r)
}
