// Package recorder builds the histories that package history describes: a Log of events, the Operations on the store,
// and a Timeline of lines in order of time.
//
// It is apart from package history because a judge of a history needs the values only. None of its types is safe for
// concurrent use.
package recorder
