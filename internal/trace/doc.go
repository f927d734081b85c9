// Package trace groups the packages that describe what happened: rows, requests, changes and steps as text, and the
// histories that invariants read.
package trace
