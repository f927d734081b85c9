package describe

import (
	"fmt"
	"io"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
)

// Trace prints a run step by step, with the changes of each step and the answers to each client.
//
// The columns: the number of the step; true time since the start; the actor; the kind; the event. Below a step, "row"
// lines are entries of the store's change log, and "client" lines are the history.
type Trace struct {
	Out     io.Writer
	Words   Words
	DB      *ddbfake.DB
	History *recorder.Log
	// Operations, if set, is the history of operations that OnStep counts.
	Operations *recorder.Operations
	// OnStep, if set, is called after each step.
	OnStep func(hooks.Step)
	// Call, if set, returns the request that has reached the store since the last call of Call. OnStep gets this
	// request.
	Call func() *hooks.Call
	// Visit means that the steps belong to the visit after the schedule.
	Visit bool
	// Err is the first error of Out. Nothing is printed after it.
	Err error

	changes int
	events  int
}

// Step prints a step that was taken.
func (t *Trace) Step(taken sim.TraceStep) {
	t.printf("%4d  %-10s  %-8s  %-10s  %s\n", taken.N, t.Words.Instant(taken.Time), taken.Step.Name,
		taken.Step.Kind, taken.Text)
	var changed []string
	for _, c := range t.DB.ChangesSince(t.changes) {
		t.changes = c.Seq
		text := t.Words.Change(c)
		t.printf("%s row     %s\n", strings.Repeat(" ", 27), text)
		changed = append(changed, text)
	}
	for _, e := range t.History.Since(t.events) {
		t.events = e.Seq
		t.printf("%s client  %s %s\n", strings.Repeat(" ", 27), e.Actor, e)
	}
	if t.OnStep != nil {
		step := hooks.Step{TraceStep: taken, Changes: t.changes, Events: t.events, Changed: changed, Visit: t.Visit}
		if t.Operations != nil {
			step.Operations = t.Operations.Order()
		}
		if t.Call != nil {
			step.Call = t.Call()
		}
		t.OnStep(step)
	}
}

func (t *Trace) printf(format string, args ...any) {
	if t.Err != nil {
		return
	}
	_, t.Err = fmt.Fprintf(t.Out, format, args...)
}
