// Package describe puts the events of a store into words: rows, requests, answers, changes, and the steps of a run.
// Traces, reports and the output about live traffic use this package, so that each thing has the same name everywhere.
//
// The output depends on the described things alone. It does not depend on a clock or on the order of a map.
package describe
