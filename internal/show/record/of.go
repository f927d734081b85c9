package record

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// Of makes the record of a run by running it. The run's Strategy must be strategy.Replay of the recorded choices. The
// parameter version is the version of the program that writes the record. The errors are those of kernel.Run.Do.
func Of(ctx context.Context, run kernel.Run, version string) (*Record, error) {
	if run.Trace == nil {
		run.Trace = io.Discard
	}
	var steps []hooks.Step
	p := &hooks.Probe{Record: true, OnStep: func(s hooks.Step) { steps = append(steps, s) }}
	o, err := run.Do(hooks.With(ctx, p))
	if err != nil {
		return nil, err
	}
	ev, kept := o.Evidence()
	if !kept {
		return nil, fmt.Errorf("scenario %s: the run has kept nothing of what it saw", run.Scenario.Name)
	}
	replay := o.Replay()
	r := &Record{
		Format: Format, Tool: "isr-sim " + version,
		Scenario: run.Scenario.Name, About: run.Scenario.About, File: fileOf(run.Scenario, replay),
		Protocol: replay.Protocol, Seed: strconv.FormatUint(replay.Seed, 10), Choices: replay.Choices.String(),
		Swarm: replay.Swarm, AllStops: replay.AllStops,
		Digest: o.Digest, Start: fakeclock.Epoch,
		Verdict: o.Verdict.String(), Why: o.Why,
	}
	r.actors(run.Scenario)
	means, err := r.meanings(ev)
	if err != nil {
		return nil, err
	}
	r.steps(steps, ev, means)
	for _, b := range ev.Bodies {
		r.Bodies = append(r.Bodies, Body{Time: b.Time, Actor: b.Actor, Name: b.Name, Body: b.Body, Gone: b.Gone})
	}
	if o.Verdict == invariant.Violated {
		v := o.Violation
		r.Violation = &Violation{
			Invariant: v.Invariant.Name, Statement: v.Invariant.Statement, Why: v.Why,
			Changes: p.Shown.Changes, Events: p.Shown.Events, Lines: v.Lines,
		}
		r.Violation.Step = r.decisive(p.Shown)
		if r.Violation.Step == 0 {
			r.Violation.Step = stepOf(steps, ev.Operations, p.Shown.Operations)
		}
	}
	return r, nil
}

// fileOf returns the scenario file, with the replay in it; "" if a file cannot hold it.
func fileOf(s *spec.Scenario, replay spec.Replay) string {
	text, err := s.With(replay).YAML()
	if err != nil {
		return ""
	}
	return string(text)
}

func (r *Record) actors(s *spec.Scenario) {
	r.Actors = []Actor{}
	for _, a := range s.Actors {
		actor := Actor{Name: a.Name, Tenant: a.Tenant, PPM: a.Drift.PPM, Script: []string{}}
		if a.Drift.Offset != 0 {
			actor.Offset = a.Drift.Offset.String()
		}
		for _, c := range a.Script {
			actor.Script = append(actor.Script, c.String())
		}
		r.Actors = append(r.Actors, actor)
	}
}

// steps gives each step its changes and its events.
func (r *Record) steps(steps []hooks.Step, ev invariant.Evidence, means map[int][]Meaning) {
	r.Steps = make([]Step, len(steps))
	changes, events := ev.Changes, ev.History
	for i, s := range steps {
		step := Step{
			N: s.N, Time: s.Time, Actor: s.Step.Actor(), Lane: s.Step.Name, Kind: s.Step.Kind.String(), Text: s.Text,
			Visit: s.Visit, Options: s.Options, Call: callOf(s.Call),
		}
		own := s.Changed // the step's changes are the last ones so far; changes before the first step made the tables
		for len(changes) > 0 && changes[0].Seq <= s.Changes {
			if left := s.Changes - changes[0].Seq + 1; left <= len(own) {
				change := changeOf(changes[0], own[len(own)-left])
				change.Means = means[change.Seq]
				step.Changes = append(step.Changes, change)
			}
			changes = changes[1:]
		}
		for len(events) > 0 && events[0].Seq <= s.Events {
			step.Events = append(step.Events, eventOf(events[0]))
			events = events[1:]
		}
		r.Steps[i] = step
	}
}

func changeOf(c ddbfake.Change, text string) Change {
	region := c.Region
	if region == ddbfake.DefaultRegion {
		region = ""
	}
	return Change{
		Seq: c.Seq, Request: c.Request, Time: c.Time, Sent: c.Sent, Actor: c.Actor, Cause: c.Cause.String(),
		Table: c.Table, Region: region, Key: rowOf(c.Key), Before: rowOf(c.Before), After: rowOf(c.After), Text: text,
	}
}

func eventOf(e history.Event) Event {
	return Event{
		Seq: e.Seq, Time: e.Time, Actor: e.Actor, Kind: e.Kind.String(), Key: e.Key, As: e.As.String(), Body: e.Body,
		Note: e.Note, Tenant: e.Tenant, Request: e.Request, Inputs: e.Inputs, Text: e.String(),
	}
}

// decisive returns the number of the step with the last of the changes and events that show the violation.
func (r *Record) decisive(shown hooks.Shown) (n int) {
	is := func(of []int, seq int) bool { return len(of) > 0 && of[len(of)-1] == seq }
	for _, s := range r.Steps {
		for _, c := range s.Changes {
			if is(shown.Changes, c.Seq) {
				n = s.N
			}
		}
		for _, e := range s.Events {
			if is(shown.Events, e.Seq) {
				n = s.N
			}
		}
	}
	return n
}

// stepOf returns the step in which the decisive operation was answered or, if it was never answered, the step in which
// it was called. The decisive operation is the last of the shown operations. Without one, stepOf returns 0.
func stepOf(steps []hooks.Step, all []storeop.Operation, shown []int) int {
	if len(shown) == 0 || shown[len(shown)-1] < 1 || shown[len(shown)-1] > len(all) {
		return 0
	}
	o := all[shown[len(shown)-1]-1]
	at := o.Return
	if at == 0 {
		at = o.Call
	}
	for _, s := range steps {
		if s.Operations >= at {
			return s.N
		}
	}
	return 0
}

func rowOf(item attr.Item) Row {
	if item == nil {
		return nil
	}
	return jsonOf(item.ToSDK())
}

func jsonOf(m map[string]types.AttributeValue) map[string]any {
	row := make(map[string]any, len(m))
	//isrsim:unordered the encoder sorts names
	for name, v := range m {
		row[name] = valueOf(v)
	}
	return row
}

// Typed splits the value of an attribute in DynamoDB's JSON into type and value: it has one member, named by its type.
func Typed(v any) (kind string, value any, is bool) {
	members, _ := v.(map[string]any)
	for kind, value := range members { //isrsim:unordered there is one
		return kind, value, len(members) == 1 &&
			slices.Contains([]string{"S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"}, kind)
	}
	return "", nil, false
}

// valueOf is a value in DynamoDB's JSON; encoding/json writes binary values in base64, as DynamoDB does.
func valueOf(v types.AttributeValue) map[string]any {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return map[string]any{"S": v.Value}
	case *types.AttributeValueMemberN:
		return map[string]any{"N": v.Value}
	case *types.AttributeValueMemberB:
		return map[string]any{"B": v.Value}
	case *types.AttributeValueMemberBOOL:
		return map[string]any{"BOOL": v.Value}
	case *types.AttributeValueMemberNULL:
		return map[string]any{"NULL": v.Value}
	case *types.AttributeValueMemberM:
		return map[string]any{"M": jsonOf(v.Value)}
	case *types.AttributeValueMemberL:
		list := make([]any, len(v.Value))
		for i, e := range v.Value {
			list[i] = valueOf(e)
		}
		return map[string]any{"L": list}
	case *types.AttributeValueMemberSS:
		return map[string]any{"SS": v.Value}
	case *types.AttributeValueMemberNS:
		return map[string]any{"NS": v.Value}
	case *types.AttributeValueMemberBS:
		return map[string]any{"BS": v.Value}
	default:
		return map[string]any{}
	}
}
