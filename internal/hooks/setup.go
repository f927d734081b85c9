package hooks

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Setup is what the runs of a context are made with, besides their scenario and its options. It travels as a Probe does.
type Setup struct {
	// Before, if set, is called with the run's seed before anything of the run happens, on the run's own goroutine and in
	// its bubble. It is for things that the code under test takes from outside of its node, such as a global source of
	// randomness.
	Before func(seed uint64)
	// Blind does not record the answers of the store, and so leaves out the check for linearizability, which takes longer
	// than all others.
	Blind bool
	// Table, if set, is how the table is created, for code whose rows have other keys than pk and sk. It gets the name
	// scenario.TableName, and TTL by the attribute TTL.
	Table *dynamodb.CreateTableInput
	// TTL is the attribute by which TTL deletes rows of Table, NoTTL if it has none; default ttl. A scenario with Rows
	// takes theirs.
	TTL string
}

// NoTTL is the Setup.TTL of a table without TTL.
const NoTTL = "-"

type setupKey struct{}

// WithSetup returns a context whose runs are made with s.
func WithSetup(ctx context.Context, s Setup) context.Context {
	return context.WithValue(ctx, setupKey{}, s)
}

// SetupOf returns what the runs of a context are made with.
func SetupOf(ctx context.Context) Setup {
	s, _ := ctx.Value(setupKey{}).(Setup)
	return s
}
