// Package record makes the record of a run: one JSON file that has everything that a person or a program needs to see
// what happened, without this module. docs/REPORT.md describes it, and docs/record.schema.json validates it.
//
//	r, err := record.Of(ctx, failed, version)
//	err = r.Write(out)
//
// # Limits
//
// A record is made by running the schedule once more. If a run differs each time, it has no record.
//
// # Determinism
//
// One run has one record, byte for byte, on every machine.
package record
