package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/mistake"
)

// Format is the version of the form. It grows when a reader for the former version could misread a file. A new field
// alone does not change it.
const Format = 1

// Record is everything that one run showed. Times are true times, which no node knows. Names of rows and attributes are
// the cache's own.
type Record struct {
	// Format is the version of this form.
	Format int `json:"format" jsonschema:"enum=1"`
	// Tool is the program that wrote the record, with its version.
	Tool string `json:"tool"`
	// Scenario is the name of the scenario, About its description.
	Scenario string `json:"scenario"`
	About    string `json:"about,omitempty"`
	// File is the scenario file, in YAML; empty if a file cannot hold it.
	File string `json:"file,omitempty"`
	// Protocol, Seed, Choices, Swarm and AllStops are what isr-sim replay needs. Seed is a number of 64 bits in
	// decimal.
	Protocol string `json:"protocol"`
	Seed     string `json:"seed"`
	Choices  string `json:"choices"`
	Swarm    bool   `json:"swarm,omitempty"`
	AllStops bool   `json:"allStops,omitempty"`
	// Watched says that no schedule decided the run: it cannot be replayed, and has no choices and no digest.
	Watched bool `json:"watched,omitempty"`
	// Digest is the beginning of the SHA-256 of the run's trace.
	Digest string `json:"digest"`
	// Start is the time at which the run begins.
	Start time.Time `json:"start"`
	// Times are the attributes of rows that hold times, by name, each with its unit: s, ms, us, ns or iso8601.
	Times map[string]string `json:"times,omitempty"`
	// Actors are the nodes, in the scenario's order.
	Actors []Actor `json:"actors"`
	// Steps are the steps of the schedule, and of the visit after it, in order.
	Steps []Step `json:"steps"`
	// Orders has, for each key of a run that was watched, an order of the key's operations, by their numbers. It is the
	// longest order found in which one page and one lease would have given the operations' answers. If an operation is
	// not in this order, no order explains its answer.
	Orders [][]int `json:"orders,omitempty"`
	// Bodies are the writes and deletions in the body store, in order.
	Bodies []Body `json:"bodies,omitempty"`
	// Verdict is ok, violated or unknown; Why is the reason for unknown.
	Verdict string `json:"verdict" jsonschema:"enum=ok,enum=violated,enum=unknown"`
	Why     string `json:"why,omitempty"`
	// NotSimulated lists the means of the program that are not simulated and so were not judged, such as "what workers
	// do".
	NotSimulated []string `json:"notSimulated,omitempty"`
	// Violation is set if the verdict is violated.
	Violation *Violation `json:"violation,omitempty"`
	// Explanation is the result of isr-sim explain, and only in its records.
	Explanation *Explanation `json:"explanation,omitempty"`
}

// Actor is a node, with the commands of its clients.
type Actor struct {
	Name   string `json:"name"`
	Tenant string `json:"tenant,omitempty"`
	// Offset is the time by which its clock is ahead at the start, as Go prints a duration; PPM is the clock's drift in
	// millionths.
	Offset string `json:"offset,omitempty"`
	PPM    int64  `json:"ppm,omitempty"`
	// Script is the commands of its clients, in the words of scenario files.
	Script []string `json:"script"`
}

// Step is one step.
type Step struct {
	// N numbers the steps from 1. Time is the time after the step.
	N    int       `json:"n"`
	Time time.Time `json:"time"`
	// Actor is the node; empty for a step of time, or of the store itself. Lane is the name in the trace: after a
	// restart, the node alice is called alice.2 there, and its second goroutine alice/b.
	Actor string `json:"actor,omitempty"`
	Lane  string `json:"lane"`
	// Kind is one of start, effect, response, timer, resume, restart, pause, crash, clock-step, orphan, external, tick;
	// and in a run that was watched, one of effect, external, note (a client tells something), call and answer (of an
	// operation).
	Kind string `json:"kind" jsonschema:"enum=start,enum=effect,enum=response,enum=timer,enum=resume,enum=restart,enum=pause,enum=crash,enum=clock-step,enum=orphan,enum=external,enum=tick,enum=note,enum=call,enum=answer"`
	// Text is the step in words.
	Text string `json:"text"`
	// Visit says that the step belongs to the visit after the schedule, when all faults are over.
	Visit bool `json:"visit,omitempty"`
	// Options is the number of steps that were possible here.
	Options int `json:"options"`
	// Operation is the number, from 1, of the operation whose call or answer the step is.
	Operation int `json:"operation,omitempty"`
	// Call is the request that reached the store in this step. Records of former versions, and of runs that were
	// watched, have none.
	Call    *Call    `json:"call,omitempty"`
	Changes []Change `json:"changes,omitempty"`
	Events  []Event  `json:"events,omitempty"`
}

// Call is a request to the store and the store's answer, which a fault may have hidden from the caller.
type Call struct {
	Operation string `json:"operation"`
	// Request and Answer are in DynamoDB's JSON. Error is the name of the exception instead of an answer, or the text
	// of another error.
	Request map[string]any `json:"request"`
	Answer  map[string]any `json:"answer,omitempty"`
	Error   string         `json:"error,omitempty"`
}

// Change is a row that the step has changed.
type Change struct {
	// Seq numbers the changes of the run from 1. Request numbers the calls of the store. Changes of one transaction
	// have the same number, and changes by TTL have 0.
	Seq     int `json:"seq"`
	Request int `json:"request,omitempty"`
	// Time is when the change took effect by the service's clock, Sent is when the request was sent.
	Time time.Time `json:"time"`
	Sent time.Time `json:"sent"`
	// Actor is the node; empty for TTL. Cause is client or ttl, or replica for a write that came from another region.
	Actor string `json:"actor,omitempty"`
	Cause string `json:"cause" jsonschema:"enum=client,enum=ttl,enum=replica"`
	Table string `json:"table"`
	// Region is where the table is, if that is not us-east-1.
	Region string `json:"region,omitempty"`
	// Key are the row's key attributes. Before and After are the whole row, or null if there was none. All are in
	// DynamoDB's JSON.
	Key    Row `json:"key"`
	Before Row `json:"before"`
	After  Row `json:"after"`
	// Means is the meaning of the row for the checkers, once for each of its roles. Rows without such a role, and
	// records of former versions, have none.
	Means []Meaning `json:"means,omitempty"`
	// Text is the change in words.
	Text string `json:"text"`
}

// Meaning is a role of a row, with its meaning in that role after the change.
type Meaning struct {
	// Role is page, lock, version or request.
	Role string `json:"role" jsonschema:"enum=page,enum=lock,enum=version,enum=request"`
	// Gone says that the row no longer has the role.
	Gone bool `json:"gone,omitempty"`
	// Token is the token in a lock.
	Token string `json:"token,omitempty"`
	// Until is when the lease of a lock ends, and when a page or a version ceases to be fresh.
	Until *time.Time `json:"until,omitempty"`
}

// Row is a row in DynamoDB's JSON: attribute names to values such as {"S": "/home"}.
type Row map[string]any

// Event is something that a client, or its node, saw.
type Event struct {
	// Seq numbers the events of the run from 1.
	Seq  int       `json:"seq"`
	Time time.Time `json:"time"`
	// Actor is the node, with its incarnation after a restart. Kind is one of those in docs/REPORT.md.
	Actor string `json:"actor"`
	Kind  string `json:"kind"`
	Key   string `json:"key,omitempty"`
	// As is the cache's claim about a page that it serves: fresh or stale. Body is the rendering.
	As   string `json:"as,omitempty"`
	Body string `json:"body,omitempty"`
	Note string `json:"note,omitempty"`
	// Tenant, Request and Inputs belong to a page that was asked for with them.
	Tenant  string `json:"tenant,omitempty"`
	Request string `json:"request,omitempty"`
	Inputs  string `json:"inputs,omitempty"`
	// Text is the event in words.
	Text string `json:"text"`
}

// Body is one write or deletion in the body store.
type Body struct {
	Time  time.Time `json:"time"`
	Actor string    `json:"actor"`
	Name  string    `json:"name"`
	Body  string    `json:"body,omitempty"`
	Gone  bool      `json:"gone,omitempty"`
}

// Violation is a broken invariant, with its evidence.
type Violation struct {
	Invariant string `json:"invariant"`
	Statement string `json:"statement"`
	// Why is the sentence that says what happened.
	Why string `json:"why"`
	// Step is the number of the step with the decisive change or event; 0 if there is no such step.
	Step int `json:"step,omitempty"`
	// Changes and Events are the sequence numbers of the few changes and events that matter. Operations are the numbers
	// of the operations that matter. Lines are all of these in words, in order of time.
	Changes    []int    `json:"changes,omitempty"`
	Events     []int    `json:"events,omitempty"`
	Operations []int    `json:"operations,omitempty"`
	Lines      []string `json:"lines"`
}

// Explanation says what a violation needed, and how likely it was after each step.
type Explanation struct {
	// Tails is the number of random tails that were run for each of the counts below.
	Tails int `json:"tails"`
	// Before is the number of violations among random tails that begin before the first step, and After[i] is the
	// number among tails that begin after the step Steps[i]. Steps of the visit have no such number.
	Before int   `json:"before"`
	After  []int `json:"after"`
	// Causes are events that need not have happened, the needed ones first.
	Causes []Cause `json:"causes"`
}

// Cause is an event that need not have happened, with the number of violations in runs without it.
type Cause struct {
	// Step is the number of the event's step. If the cause is not a step but a property of the whole world, it is the
	// number of the first step that it changes.
	Step int    `json:"step"`
	What string `json:"what"`
	// Effect is needed if no run without the cause violates the invariant, helped if fewer runs do, and idle otherwise.
	Effect string `json:"effect" jsonschema:"enum=needed,enum=helped,enum=idle"`
	// Without is the number of violations in runs without the cause; From and To are the 95% interval of their chance.
	// With is the number of violations in runs with the cause.
	Without int     `json:"without"`
	From    float64 `json:"from"`
	To      float64 `json:"to"`
	With    int     `json:"with"`
}

// Write writes the record, with a line feed at its end.
func (r *Record) Write(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// Read reads a record. Fields that it does not know are no error: a later version may have written them.
func Read(in io.Reader) (*Record, error) {
	d := json.NewDecoder(in)
	d.UseNumber()
	r := &Record{}
	err := d.Decode(r)
	if other, is := errors.AsType[*json.UnmarshalTypeError](err); is && other.Field == "format" {
		return nil, errors.New("found a JSON file of another kind, such as the result of explore --out, expected " +
			"one that isr-sim wrote with --record")
	}
	if err != nil {
		return nil, fmt.Errorf("found no record of a run: %w", mistake.JSON(err))
	}
	if r.Format < 1 {
		return nil, fmt.Errorf(
			"found a JSON file without the format of a record, expected one that isr-sim wrote with --record",
		)
	}
	if r.Format > Format {
		return nil, fmt.Errorf(
			"found a record of format %d, expected one from 1 to %d: a later version of isr-sim has written it",
			r.Format, Format,
		)
	}
	if len(r.Steps) == 0 || r.Scenario == "" {
		return nil, fmt.Errorf(
			"found a JSON file without the steps of a run, expected one that isr-sim wrote with --record",
		)
	}
	return r, nil
}
