package history

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Verb is what an operation does.
type Verb uint8

// What a node does with a page and its lease.
const (
	Read    Verb = iota + 1 // reads the page
	Acquire                 // takes the lease if nobody holds it
	Refresh                 // extends the lease
	Publish                 // makes a page visible and gives the lease back
	Release                 // gives the lease back
)

var verbNames = [...]string{Read: "read", Acquire: "acquire", Refresh: "refresh", Publish: "publish", Release: "release"}

// String returns the verb as reports print it.
func (v Verb) String() string {
	if v == 0 || int(v) >= len(verbNames) {
		return fmt.Sprintf("Verb(%d)", uint8(v))
	}
	return verbNames[v]
}

// Result is what a node knows of an operation of its own.
type Result uint8

// The results. InDoubt is the zero value: no answer, or one that says nothing of what happened.
const (
	InDoubt Result = iota // it may have taken effect, may still, or never will
	Done                  // it took effect
	Refused               // there is nothing to read, or it is not one's lease (by now)
)

// Operation is one call of a node to its store, as the node saw it.
type Operation struct {
	Actor string // the node, with its incarnation after a restart
	Verb  Verb
	Key   string // the cache key

	Began, Ended time.Time // true time of call and answer; Ended is zero without an answer
	// Call and Return are the places of call and answer in the order of all those of the run, from 1. Return is 0 without
	// an answer.
	Call, Return int
	Result       Result

	Token   string // of the lease
	Expires int64  // the lease as it is after the operation, in epoch seconds
	// Page names what was read or published, "" for none; its row may count as gone from the second TTL on, by the
	// reader's clock.
	Page string
	TTL  int64
}

// At is when the operation was answered, or called if it was not.
func (o Operation) At() time.Time {
	if o.Return == 0 {
		return o.Began
	}
	return o.Ended
}

// String prints the operation with its answer: "release alice-1 -> done". Instants
// are in epoch seconds.
func (o Operation) String() string {
	return o.Describe(func(second int64) string { return strconv.FormatInt(second, 10) })
}

// Describe prints the operation as String does, with instants as the caller
// writes them.
func (o Operation) Describe(instant func(second int64) string) string {
	var b strings.Builder
	b.WriteString(o.Verb.String())
	b.WriteString(prefixed(" ", o.Token))
	if o.Page != "" && o.Verb != Read {
		b.WriteString(" " + o.Page)
	}
	b.WriteString(" -> ")
	switch {
	case o.Result == InDoubt:
		b.WriteString("in doubt")
	case o.Result == Refused && o.Verb == Read:
		b.WriteString("nothing")
	case o.Result == Refused:
		b.WriteString("refused")
	case o.Verb == Read:
		b.WriteString(o.Page)
	case o.Verb == Acquire || o.Verb == Refresh:
		b.WriteString("until " + instant(o.Expires))
	default:
		b.WriteString("done")
	}
	return b.String()
}

// Answered returns the operation with its result.
func (o Operation) Answered(r Result) Operation {
	o.Result = r
	return o
}

// Observer hears of an operation when it is called; the function that it returns,
// when it has been answered.
type Observer func(called Operation) (answered func(Operation))

// Operations is a history of operations under construction. The zero Operations
// is empty and ready. It is not safe for concurrent use.
type Operations struct {
	all   []Operation
	order int
}

// Observer returns an observer that adds the operations of an actor, whose true
// time is now.
func (l *Operations) Observer(actor string, now func() time.Time) Observer {
	return func(called Operation) func(Operation) {
		l.order++
		called.Actor, called.Began, called.Call = actor, now(), l.order
		place := len(l.all)
		l.all = append(l.all, called)
		return func(answered Operation) {
			l.order++
			answered.Actor, answered.Began, answered.Call = called.Actor, called.Began, called.Call
			answered.Ended, answered.Return = now(), l.order
			l.all[place] = answered
		}
	}
}

// All returns the operations in the order of their calls. The slice is the
// history's own: read it only.
func (l *Operations) All() []Operation { return l.all }
