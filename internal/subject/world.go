package subject

import (
	"context"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// World is everything that exists in one run, as a subject sees it.
type World interface {
	Times() *Times
	// State is what the world keeps for the subject.
	State() State
	// Protocol is the name of the protocol that is run.
	Protocol() string
	Now() time.Time
	// Context never ends.
	Context() context.Context
	// Commands are those of the scripts, in their order.
	Commands() []Command
	// Keys are those of the scripts, sorted.
	Keys() []Key
	// NextID gives out names that are unique in the run.
	NextID(of string) string
	// Mark notes that the run has reached a mark.
	Mark(name string)
	// Add adds an event, whose time, actor and change the subject has set, to the history.
	Add(history.Event)
	History() []history.Event
	// Changes is the change log in the form that invariants read.
	Changes() []ddbfake.Change
	// Changed notes a change of the subject's state, except for answers to clients, by the fingerprints before and
	// after. UpToNames returns a text, for fingerprints, without the names of interchangeable nodes.
	Changed(before, now fingerprint.Hash)
	UpToNames(text string) string
	// LastChange is the number of the last change in the store's log.
	LastChange() int
	// Visitor boots the nth node of State.Visit. The map ids is empty at first, and all these nodes share it.
	Visitor(p *sim.Proc, tenant string, nth int, ids map[string]int) (Node, isr.Handler)
	// StopAt makes time stop at the end of a promise that begins now.
	StopAt(promised time.Duration)
	// StopAround is for a promise to an actor that begins now. It makes time stop on both sides of the promise's end,
	// and of the end that an invariant enforces, which rows may round. A search stops nowhere else.
	StopAround(actor string, promised, rounded time.Duration)
}

// Key is the key of a command, and the tenant of its node; "" without tenants.
type Key struct{ Tenant, Name string }

// String is the key's name in bodies, traces and operations: /home, or t1/home for the page of a tenant.
func (k Key) String() string {
	switch {
	case k.Tenant == "":
		return k.Name
	case strings.HasPrefix(k.Name, "/"):
		return k.Tenant + k.Name
	default:
		return k.Tenant + ":" + k.Name
	}
}

// Times are the durations and bounds that a scenario gives the code under test. Each subject says what they mean to it.
type Times struct {
	Lease, Revalidate, Retention, Render, KeepAlive time.Duration

	Poll     time.Duration // until a refused command is tried again
	Patience int           // how often a refused command is tried

	SameBytes bool          // renderings of the same data have the same bytes
	Settle    time.Duration // after faults have stopped
}

// Node is one machine, as a subject sees it.
type Node interface {
	World() World
	Proc() *sim.Proc
	Tenant() string
	// Own tells the node's own time from the time for which it waits. It is nil unless times are judged.
	Own() *OwnTime
	// NextID gives out names that are unique in the run, to the node's code.
	NextID(of string) string
	// Given counts the names of a kind that were given to the node's code. Got notes one more, which the world gave it.
	Given(of string) int
	Got(of string)
	// Mark notes that the node's code has reached a mark.
	Mark(name string)
	// Record adds an event of the node to the history.
	Record(history.Event)
	// Do sends a request into the world, and returns when the answer has arrived. It returns an error only in a bubble.
	Do(context.Context, sim.Request) error
	// Sleep waits by the node's clock. It returns an error only in a bubble.
	Sleep(context.Context, time.Duration) error
	// Idle sleeps between two commands. A handler that has something left to do meanwhile spends the time itself.
	Idle(ctx context.Context, handler any, d time.Duration) error
	// Enter calls the code under test if its client does not do so itself: a check may inspect the caller.
	Enter(call func())
	// Turn waits for the node's place in the order of actors. It does not return if the node has crashed.
	Turn()
	// Life is the context of the node's work. It ends with the node.
	Life() context.Context
	// Question begins a question about a key: the partitions that the node's requests name from now on belong to it.
	Question(ctx context.Context, key string) context.Context
	// Partition returns the function that says in which partition the rows of a key are, by the requests of the
	// question to which the context belongs; "" means unknown.
	Partition(context.Context) func(Key) string
	// Close closes the node's handler, if it can be closed, when its script is over.
	Close(isr.Handler)
	// Origin returns the faults that can strike one request to the origin.
	Origin() Faults
}

// Faults are the faults that can strike one request to something outside of the store.
type Faults interface {
	// Outcomes are those of a sim.Request.
	Outcomes() []int
	// Accesses adds the accesses of the faults to those of the request.
	Accesses(touched []sim.Access, outcome int) []sim.Access
	// Strike lets a fault whose turn it is strike the request, and returns its name; "" if there is none.
	Strike(outcome int) (fault string)
	// Error returns the error that a client gets for a fault; nil if there is none.
	Error(fault string) error
}

// Rendering is the kind of the names of renderings, behind the name of their node.
const Rendering = recorder.RenderingOf

// Ordinary is the only outcome of a request that no fault can strike.
var Ordinary = []int{0}
