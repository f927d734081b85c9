// Package trace is the wing of words for what happened: rows, requests, changes and steps in text, and the histories that
// invariants read.
package trace
