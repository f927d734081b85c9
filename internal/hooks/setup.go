package hooks

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// TableName is the name of the one table of every scenario.
const TableName = "isr-cache"

// Setup holds what the runs of a context need besides their scenario and its options. It travels as a Probe does.
type Setup struct {
	// Before, if set, is called with the run's seed before anything happens in the run, on the run's own goroutine and
	// in its bubble. It resets everything that the code under test uses outside of its node, such as a global source of
	// randomness. In a search in which code draws random bytes, it is also called before each step of a node's code.
	Before func(seed uint64)
	// Drew, if set, says whether the code under test has used that randomness since Drew or Before was last called.
	Drew func() bool
	// Repeats, if set, reports whether code under test that is run again from the same seed must do the same. A
	// campaign then runs one schedule in a hundred again, whatever its verdict.
	Repeats func() bool
	// Enter, if set, wraps each call of the code under test: it must call its parameter, which makes that call.
	Enter func(call func())
	// Blind does not record the answers of the store, and so leaves out the check for linearizability, which takes
	// longer than all others.
	Blind bool
	// Table, if set, is how the table is created, for code whose rows have other keys than pk and sk. It gets the name
	// TableName, and TTL by the attribute TTL.
	Table *dynamodb.CreateTableInput
	// TTL is the attribute by which TTL deletes rows of Table, NoTTL if it has none; default ttl. A scenario with Rows
	// takes the attribute that they name.
	TTL string
}

// NoTTL is the Setup.TTL of a table without TTL.
const NoTTL = "-"

type setupKey struct{}

// WithSetup returns a context whose runs are made with s.
func WithSetup(ctx context.Context, s Setup) context.Context {
	return context.WithValue(ctx, setupKey{}, s)
}

// SetupOf returns the settings of a context's runs.
func SetupOf(ctx context.Context) Setup {
	s, _ := ctx.Value(setupKey{}).(Setup)
	return s
}

// Bubble lets the code of a run start goroutines: it calls run in a bubble of testing/synctest whose time is
// fakeclock.Epoch. The error says that a goroutine waits for ever. See sim.Bubble.
type Bubble func(run func(sim.Bubble)) error

type bubbleKey struct{}

// InBubble returns a context whose runs happen in a bubble. Nil means no bubble.
func InBubble(ctx context.Context, b Bubble) context.Context {
	return context.WithValue(ctx, bubbleKey{}, b)
}

// BubbleOf returns the bubble of a context's runs; nil if there is none.
func BubbleOf(ctx context.Context) Bubble {
	b, _ := ctx.Value(bubbleKey{}).(Bubble)
	return b
}

// KeepsFault says whether swarm testing leaves a possible fault, given as its text, on in the run of a seed. Each fault
// is on in half of the runs, independently of the others. A run with few kinds of faults tries these more deeply than a
// run in which all kinds get into each other's way. The draw depends on the fault's text, not on its place, so that it
// stays the same when other faults come and go.
//
// Source: Groce, Zhang, Eide, Chen, Regehr: Swarm testing (ISSTA 2012).
func KeepsFault(seed uint64, fault string) bool {
	return sim.Stream(seed, "swarm "+fault).IntN(2) == 0
}
