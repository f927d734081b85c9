package pagecache

import (
	"context"
	"errors"
	"time"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Lease is the right to regenerate a key, as its holder knows it.
type Lease struct {
	Key       string // the cache key
	Token     string
	ExpiresAt EpochSeconds
	Seen      int64       // the version of META on which the page to be published builds; 0 if none was seen
	Request   isr.Request // the request for which the page is made; its ID is "" if there is none
}

// Store is how a protocol keeps META and LOCK. RecipeA is the reference; a mutant usually replaces one method.
type Store interface {
	// Config returns the configuration with its defaults filled in.
	Config() isr.Config
	// Read returns the META row, by a strongly consistent read. The error is ErrMiss if there is none, or if its time
	// is over. If its time is over, or the row is only an invalidation, Meta has the row's Version.
	Read(ctx context.Context, key string) (Meta, error)
	// Fresh reports whether the page may be served as fresh at now.
	Fresh(m Meta, now time.Time) bool
	// Acquire takes the lease if it is free. The error is ErrHeld if it is not.
	Acquire(ctx context.Context, key string) (Lease, error)
	// Refresh extends a lease that is still held. The error is ErrLeaseLost if it is not.
	Refresh(ctx context.Context, l Lease) (Lease, error)
	// Publish makes m visible and gives the lease back, both or neither. The error is ErrLeaseLost if the lease is no
	// longer held, and ErrOvertaken if META's version is no longer Lease.Seen, or META is newer than m. For a lease
	// with a Request, it also stores m as the answer to the request; the error is ErrAnswered if there already is one.
	Publish(ctx context.Context, l Lease, m Meta) error
	// Invalidate ends the freshness of the page. Every later publish of data that may have been read before is refused.
	// The error is ErrUnsupported without guard.Version.
	Invalidate(ctx context.Context, key string) error
	// Older returns the visible page, and the newest of the older pages. The error is ErrMiss if there is none, and
	// ErrUnsupported if the protocol keeps none.
	Older(ctx context.Context, key string) (visible, older Meta, err error)
	// Restore makes older visible if visible is still the visible page, and gives the lease back, both or neither.
	// ErrLeaseLost and ErrOvertaken are as for Publish.
	Restore(ctx context.Context, l Lease, visible, older Meta) error
	// Begin records a request, unless it is recorded already, and returns its row. The error is ErrOtherInputs if the
	// request was recorded with another hash.
	Begin(ctx context.Context, key string, r isr.Request) (RequestRow, error)
	// Asked returns the row of a request. The error is ErrMiss if there is none, and ErrOtherInputs as for Begin.
	Asked(ctx context.Context, key string, r isr.Request) (RequestRow, error)
	// Fail records that a request's page could not be made. The error is ErrAnswered if the request is not in progress.
	Fail(ctx context.Context, key string, r isr.Request) error
	// Release gives the lease back without publishing. The error is ErrLeaseLost if it is no longer held.
	Release(ctx context.Context, l Lease) error
}

// These are the answers of a Store besides success, [isr.ErrMiss], [isr.ErrLeaseLost] and [isr.ErrUnsupported]. Test
// with errors.Is.
var (
	ErrHeld      = errors.New("somebody else holds the lease")
	ErrOvertaken = errors.New("the page has been published or invalidated since it was looked at")
	ErrAnswered  = errors.New("the request has been answered")
)

// opError says which operation on which key failed. Most of these errors, such as ErrHeld, are answers that a cache
// acts upon, and are never printed. So only Error makes the text.
type opError struct {
	operation, key string
	err            error
}

func (e *opError) Error() string { return "isr: " + e.operation + " " + e.key + ": " + e.err.Error() }
func (e *opError) Unwrap() error { return e.err }

func storeError(operation, key string, err error) error { return &opError{operation, key, err} }
