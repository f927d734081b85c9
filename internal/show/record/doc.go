// Package record makes the record of a run: one JSON file that has everything that a person or a program needs to see
// what happened, without this module. docs/RECORD.md describes it, and docs/record.schema.json validates it.
//
//	r, err := record.Of(ctx, failed, version)
//	err = r.Write(out)
//
// # Limits
//
// A record is made by running the schedule once more. A run that differs each time has none.
//
// # Determinism
//
// One run has one record, byte for byte, on every machine.
package record
