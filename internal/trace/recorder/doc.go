// Package recorder builds the histories of runs: a Log of the events that package history describes, the Operations on
// the store, and a Timeline of lines in order of time. It has what our own runs tell a judge besides events.
//
// None of its types is safe for
// concurrent use.
package recorder
