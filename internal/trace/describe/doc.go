// Package describe puts the events of a store into words: rows, requests, answers, changes, and the steps of a run.
// Traces, reports and the output about live traffic are written with it, so that each thing has one name everywhere.
//
// The output depends on the described things alone: on no clock, and on no order of a map.
package describe
