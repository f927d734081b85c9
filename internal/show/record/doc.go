// Package record makes the record of a run: one JSON file with everything that a person or a program needs to see what
// happened, without this module. docs/REPORT.md describes it, and docs/record.schema.json validates it.
//
//	r, err := record.Of(ctx, failed, version)
//	err = r.Write(out)
//
// # Limits
//
// A record is made by running the schedule again. A run that differs each time has no record.
//
// # Determinism
//
// One run has one record, byte for byte, on every machine.
package record
