// Package search is the wing of schedules, many at a time: they are run in parallel with results in order, and kept in forms
// that survive a change of the world, which is how they shrink.
package search
