package recorder

import (
	"time"

	"github.com/isr-sim/isr-sim/scenario/history"
)

// Operations is a history of operations under construction. The zero Operations is empty and ready.
type Operations struct {
	all   []history.Operation
	order int
}

// Observer returns an observer that adds the operations of an actor. now returns true time.
func (l *Operations) Observer(actor string, now func() time.Time) history.Observer {
	return func(called history.Operation) func(history.Operation) {
		l.order++
		called.Actor, called.Began, called.Call = actor, now(), l.order
		place := len(l.all)
		l.all = append(l.all, called)
		return func(answered history.Operation) {
			l.order++
			answered.Actor, answered.Began, answered.Call = called.Actor, called.Began, called.Call
			answered.Ended, answered.Return = now(), l.order
			l.all[place] = answered
		}
	}
}

// Order returns how many calls and answers there were.
func (l *Operations) Order() int { return l.order }

// All returns the operations in the order of their calls. The slice is the history's own: read it only.
func (l *Operations) All() []history.Operation { return l.all }
