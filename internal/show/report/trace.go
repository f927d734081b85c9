package report

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/isr-sim/isr-sim/internal/show/record"
)

// The processes of a trace file.
const (
	nodesProcess = 1
	storeProcess = 2
)

// traceEvent is an event of the trace-event format.
//
// Source: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
type traceEvent struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	Time     int64          `json:"ts"` // in microseconds
	Duration *int64         `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	ID       int            `json:"id,omitempty"`
	Scope    string         `json:"s,omitempty"`
	Binding  string         `json:"bp,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
}

// Trace writes a file for viewers of traces, such as Perfetto. Many steps happen at the same true time, so each is
// drawn a microsecond after the step before it, which shows their order.
func Trace(out io.Writer, r *record.Record) error {
	t := tracer{story: read(r)}
	t.names()
	t.requests()
	t.steps()
	for _, st := range t.stops {
		name := "paused"
		if st.crashed {
			name = "crashed"
		}
		t.during(nodesProcess, 2*st.lane+2, name, "stop", st.from, st.until, nil)
	}
	for _, row := range t.rows {
		for _, sp := range row.spans {
			t.during(storeProcess, row.track+2, sp.label, sp.role, sp.from, sp.until, map[string]any{"row": row.name})
		}
	}
	e := json.NewEncoder(out)
	return e.Encode(map[string]any{
		"displayTimeUnit": "ms", "traceEvents": t.events,
		"otherData": map[string]string{
			"scenario": r.Scenario, "protocol": r.Protocol, "seed": r.Seed, "verdict": r.Verdict, "tool": r.Tool,
		},
	})
}

type tracer struct {
	*story
	events []traceEvent
}

// at is the time of a step in the trace. The end of the run is a microsecond after the last step.
func (t *tracer) at(step int) int64 {
	if step >= len(t.Steps) {
		return t.at(len(t.Steps)-1) + 1
	}
	return t.Steps[step].Time.Sub(t.Start).Microseconds() + int64(step)
}

func (t *tracer) during(process, thread int, name, category string, from, until int, args map[string]any) {
	lasts := t.at(until) - t.at(from)
	t.events = append(t.events, traceEvent{Name: name, Category: category, Phase: "X", Time: t.at(from),
		Duration: &lasts, Process: process, Thread: thread, Args: args})
}

// names names the lanes. The times during which a node does not run overlap its requests, so they are on a second track
// of the node.
func (t *tracer) names() {
	name := func(kind string, process, thread int, text string) {
		t.events = append(t.events,
			traceEvent{Name: kind, Phase: "M", Process: process, Thread: thread, Args: map[string]any{"name": text}})
	}
	name("process_name", nodesProcess, 0, "nodes")
	name("process_name", storeProcess, 0, "store")
	for i, a := range t.actors {
		name("thread_name", nodesProcess, 2*i+1, a.name)
		name("thread_name", nodesProcess, 2*i+2, a.name+" does not run")
	}
	name("thread_name", storeProcess, 1, "requests")
	for i, tr := range t.tracks {
		name("thread_name", storeProcess, i+2, tr.name)
	}
}

func (t *tracer) requests() {
	for i, r := range t.story.requests {
		text := t.Steps[r.effect].Text
		request, answer, _ := cutLast(text, " -> ")
		operation, _, _ := strings.Cut(request, " ")
		from, until := r.sent, r.answer
		if from < 0 {
			from = r.effect
		}
		if until < 0 {
			until = len(t.Steps)
		}
		if r.lane >= 0 && !r.orphan {
			t.during(nodesProcess, 2*r.lane+1, operation, "request", from, until,
				map[string]any{"request": request, "answer": answer})
			t.events = append(t.events,
				traceEvent{Name: operation, Category: "sent", Phase: "s", Time: t.at(from), Process: nodesProcess,
					Thread: 2*r.lane + 1, ID: i + 1},
				traceEvent{Name: operation, Category: "sent", Phase: "f", Binding: "e", Time: t.at(r.effect),
					Process: storeProcess, Thread: 1, ID: i + 1})
		}
		t.during(storeProcess, 1, operation, "effect", r.effect, r.effect+1,
			map[string]any{"request": request, "answer": answer})
	}
}

// steps draws the violation, and all steps that are not requests.
func (t *tracer) steps() {
	for i, step := range t.Steps {
		point := traceEvent{Name: step.Kind, Category: "step", Phase: "i", Scope: "t", Time: t.at(i),
			Process: storeProcess, Thread: 1, Args: map[string]any{"step": step.N, "text": step.Text}}
		if t.lane[i] >= 0 {
			point.Process, point.Thread = nodesProcess, 2*t.lane[i]+1
		}
		if step.Kind != "effect" && step.Kind != "response" {
			t.events = append(t.events, point)
		}
		if i == t.decisive {
			point.Name, point.Category, point.Scope = "violated: "+t.Violation.Invariant, "violation", "g"
			point.Args = map[string]any{"why": t.Violation.Why, "step": step.N}
			t.events = append(t.events, point)
		}
	}
}
