package scenario

import (
	"fmt"
	"io"
	"strings"

	"github.com/isr-sim/isr-sim/scenario/sim"
)

// tracer prints a run step by step, with what each step changed and what each
// client was told.
//
// The columns: the number of the step; true time since the start; whose step it
// is; its kind; what happened. Below a step, "row" lines are entries of the
// store's change log, and "client" lines are the history.
type tracer struct {
	w       *world
	out     io.Writer
	changes int
	events  int
	err     error
}

func (t *tracer) step(taken sim.Taken) {
	w := t.w
	t.printf("%4d  %-10s  %-8s  %-10s  %s\n", taken.N, w.words().instant(taken.Time), taken.Step.Name, taken.Step.Kind, taken.Text)
	for _, c := range w.db.ChangesSince(t.changes) {
		t.changes = c.Seq
		t.printf("%s row     %s\n", strings.Repeat(" ", 27), w.words().change(c))
	}
	for _, e := range w.history.Since(t.events) {
		t.events = e.Seq
		t.printf("%s client  %s %s\n", strings.Repeat(" ", 27), e.Actor, e)
	}
}

func (t *tracer) printf(format string, args ...any) {
	if t.err != nil {
		return
	}
	_, t.err = fmt.Fprintf(t.out, format, args...)
}

// words returns how this world's things are called.
func (w *world) words() words { return words{w.start, w.pages} }
