package isr

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/scenario/history"
)

// Client is the part of *dynamodb.Client that the protocol uses.
type Client interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// BodyStore keeps the generated bodies, as S3 does. A body is written once,
// under a name of its own, before anything points at it.
type BodyStore interface {
	PutBody(ctx context.Context, name string, body []byte) error
	// GetBody returns ErrNoBody if there is none of that name.
	GetBody(ctx context.Context, name string) ([]byte, error)
}

// ErrNoBody is what a BodyStore answers for a name it does not hold.
var ErrNoBody = errors.New("no such body")

// Renderer reads the origin and makes a page of it. A long rendering calls
// keepAlive between its parts: it refreshes the lease when half of it is over,
// and fails with ErrLeaseLost if the lease is no longer held.
type Renderer func(ctx context.Context, key string, keepAlive func(context.Context) error) ([]byte, error)

// Contention says what a request does that needs a page somebody else is
// regenerating.
type Contention uint8

const (
	// ServeStale serves the old page if there is one, and waits if not. It is the zero value.
	ServeStale Contention = iota
	// Wait waits for the holder, and serves the old page only when its patience is over.
	Wait
)

// Failure says what a request gets for which something failed: the origin, the
// store of rows or that of bodies.
type Failure uint8

const (
	// ServeLast serves the last page that was seen, as what it is, and an error only if none was. It is the zero value.
	ServeLast Failure = iota
	// Fail is the error, whatever pages there are.
	Fail
)

// Config is what a Cache needs. Client, Clock, Bodies, Render and Tokens are
// required; every other zero value has a default.
type Config struct {
	Client Client
	Clock  clockwork.Clock
	Bodies BodyStore
	Render Renderer
	Tokens func() string // makes lease tokens: unique, and not to be guessed

	Table      string        // default: the value of the environment variable FACETHEORY_CACHE_TABLE_NAME
	Tenant     string        // default: single-tenant keys
	Lease      time.Duration // default 30 s
	Revalidate time.Duration // the freshness window, whole seconds; default 60 s
	Retention  time.Duration // how long a page is kept after its freshness, to be served as stale; default 24 h
	// TTLBuffer is how long a row outlives its use before TTL may delete it: more than any two clocks may be apart, a
	// request may be on its way, and a rendering takes, together; default 1 h.
	TTLBuffer time.Duration
	Guards    Guards // of a publish, the same on all nodes; default GuardToken|GuardExpiry

	PointerETag bool // recipe B: the pointer has the etag, too, for readers that want no more

	Observe history.Observer // hears of every operation on the store; may be nil

	Failure    Failure
	Contention Contention
	Poll       time.Duration // how long to sleep between looks at a page somebody else is regenerating; default 1 s
	Patience   int           // how many times to sleep and look again before giving up; default 10
}
