// Package search is the wing that runs many schedules at a time. It runs them in parallel and hands out their results
// in order. It keeps a schedule in forms that survive a change of the world, so that schedule and scenario can be
// shrunk.
package search
