// Package describe puts into words what happens in a store: rows, requests,
// answers, changes, and the steps of a run. Traces, reports and what is printed of
// live traffic are written with it, so that one thing is called the same
// everywhere.
//
// What is printed depends on what is described alone: no clock, no order of a map.
package describe
