// Package trace is the wing that says what happened: rows, requests, changes and steps as text, and the histories that
// invariants read.
package trace
