// Package recorder builds the histories of runs: a Log of the events that package history describes, the Operations on
// the store, and a Timeline of lines in order of time. It also has the evidence, besides events, that runs of the
// simulator give a judge.
//
// None of its types is safe for concurrent use.
package recorder
