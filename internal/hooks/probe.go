package hooks

import (
	"context"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/sim"
)

// Probe says what to observe in one run, and receives the observations. It travels in the context of kernel.Run.Do, as
// a trace of net/http/httptrace does for requests, so that the public types of a run carry nothing that only this
// module reads.
type Probe struct {
	// Search makes the run part of a search through all schedules (exhaustive.Exploration): states are compared, and
	// linearizability and the comparison of lags, which a search cannot check, are left out.
	Search bool
	// Off are the reductions that the search does without. Unless UnreadDeadlines is among them, the search assumes
	// that no code reads the ttl of LOCK rows.
	Off sim.Reduction
	// Symmetric are the classes of the interchangeable actors, by name.
	Symmetric map[string]int
	// Ends and Judged collect from all runs of a search: the ends that requests tried, and the names of the invariants
	// that had something to judge. Judged also has EventualReads if a read was eventually consistent although no
	// replica was behind; LeftForLater if a program had a timer set when its script was over; SeesPasts if a node read
	// a stream, or restored an earlier state of a table; MeetsParts if locks or calls had requests such as Tried.Part
	// notes for pages; SomeParts if only sleeps chose the fractions of seconds that were tried; NeverDeleted if rows
	// had a ttl, but TTL never deletes; Passed with the name of an attribute if time did not stop at a time that rows
	// had in that attribute.
	Ends   Ends
	Judged map[string]bool
	// Memory says how the run may reuse what nodes did in other runs.
	Memory sim.Memory
	// Unvisited leaves out the visit after the run.
	Unvisited bool
	// Coverage asks for Order and States.
	Coverage bool
	// Record asks for Exchanges, Rows and Shown.
	Record bool
	// OnStep, if set, is called after each step (those of the final visit, too: see Step), once its lines are in the
	// trace. It is not called in a run without a trace.
	OnStep func(Step)
	// OnStale, if set, is called for each read that got an outdated answer from a replica: with the reader, and the
	// number of the read, from 1, among the reads that a replica may answer. Fresh is the number, so counted, of the
	// read to make consistent; 0 means none.
	OnStale func(actor string, read int)
	Fresh   int
	// OnWorld, if set, is called with the fingerprint of the world at each state of a search: of its rows, bodies and
	// faults, and of what invariants remember, but not of the answers that code has got.
	OnWorld func(uint64)
	// OnWrite, if set, is called with the key and the row that each write leaves. It may read them until it returns. In
	// a search whose runs continue earlier ones, it is not called again for the earlier writes.
	OnWrite func(key, row attr.Item)

	// Whole returns, as text, everything about a run of a search that another run of the same schedule must share.
	// State returns the fingerprint of the world at the end of such a run. Both are valid until the next run in the
	// same memory.
	Whole     func() string
	State     func() uint64
	Order     uint64      // the hash of the run's partial order (sim.Order)
	States    []uint64    // the fingerprints of the states before each step (sim.Sim.Fingerprint)
	Exchanges []Exchange  // what took effect in the store, in order
	Rows      []attr.Item // what was left in the store
	Shown     Shown       // what shows the run's violation
}

// These are not names of invariants: see Probe.
const (
	EventualReads = "eventually consistent reads"
	LeftForLater  = "left for later"
	SeesPasts     = "sees pasts"
	MeetsParts    = "meets parts of seconds"
	SomeParts     = "meets some parts of seconds"
	NeverDeleted  = "TTL never deletes"
	Passed        = "passed: "
)

// Step is a step that was taken. Changes, Events and Operations count, after the step, the changes in the store's log,
// the events of the history, and the calls and answers of operations. Visit marks the steps of the visit, which comes
// after the schedule and chooses nothing. Changed are the step's changes, in words.
type Step struct {
	sim.TraceStep
	Changes, Events, Operations int
	Changed                     []string
	Visit                       bool
	// Call is the request that reached the store in the step, if Probe.Record asks for it; nil if there was none.
	Call *Call
}

// Call is a request to the store and the store's answer, which a fault may have hidden from the caller.
type Call struct {
	Input  any // *dynamodb.XxxInput
	Output any
	Err    error
}

// Shown has the sequence numbers of the changes and events that show a violation, and the places of its operations.
type Shown struct{ Changes, Events, Operations []int }

// Exchange is one thing that took effect in the store in a run: a call with its answer, or a deletion by TTL.
type Exchange struct {
	Input  any // *dynamodb.XxxInput; nil for a deletion by TTL
	Output any
	Err    error
	What   string // the call, in the words of the trace
	// Hidden says that there is no answer to compare: a fault hid it, or a lag made it an old one.
	Hidden bool
	// Swept is the row that TTL deleted.
	Swept attr.Item
}

type key struct{}

// With returns a context whose runs are observed by p.
func With(ctx context.Context, p *Probe) context.Context { return context.WithValue(ctx, key{}, p) }

// Of returns the probe of a context; an empty one if it has none.
func Of(ctx context.Context) *Probe {
	if p, ok := ctx.Value(key{}).(*Probe); ok {
		return p
	}
	return none
}

// Afresh returns a context with the probe of ctx, in which runs do not reuse what nodes did in other runs.
func Afresh(ctx context.Context) context.Context {
	p := *Of(ctx)
	p.Memory = sim.Memory{Afresh: true}
	return With(ctx, &p)
}

var none = &Probe{}
