// Package describe puts the events of a store into words: rows, requests, answers, changes, and the steps of a run.
// Traces, reports and the output for live traffic use this package, so that each thing has the same name everywhere.
//
// The output depends only on the described things, not on a clock or on map order.
package describe
