package isr

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/jonboulle/clockwork"
)

// Client is the part of *dynamodb.Client that the protocol uses.
type Client interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(
		context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options),
	) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(
		context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options),
	) (*dynamodb.DeleteItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	TransactWriteItems(
		context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options),
	) (*dynamodb.TransactWriteItemsOutput, error)
}

// BodyStore keeps the generated bodies, like S3. Each body is written only once, under a unique name, before a row
// points to it.
type BodyStore interface {
	PutBody(ctx context.Context, name string, body []byte) error
	// GetBody returns ErrNoBody if there is no body of that name.
	GetBody(ctx context.Context, name string) ([]byte, error)
}

// ErrNoBody is the answer of a BodyStore for a name without a body.
var ErrNoBody = errors.New("no such body")

// Renderer reads the origin and makes a page from its data. A long rendering calls keepAlive between its parts. When
// half of the lease is over, keepAlive refreshes the lease. If the lease is no longer held, it fails with ErrLeaseLost.
type Renderer func(ctx context.Context, key string, keepAlive func(context.Context) error) ([]byte, error)

// Contention says how a request is answered while another node is regenerating the page.
type Contention uint8

const (
	// ServeStale serves the old page; if there is none, it waits. It is the zero value.
	ServeStale Contention = iota
	// Wait waits for the holder, and serves the old page only after the node has waited for as long as it may.
	Wait
)

// Failure says how a request is answered if the origin, the table or the body store fails.
type Failure uint8

const (
	// ServeLast serves the last page that the node has seen, fresh or stale, and returns an error only if it has seen
	// none. It is the zero value.
	ServeLast Failure = iota
	// Fail returns an error, even if there is a page.
	Fail
)

// Config configures a cache. Client, Clock, Bodies, Render, Tokens and Table are required; every other zero value has a
// default.
type Config struct {
	Client Client
	Clock  clockwork.Clock
	Bodies BodyStore
	Render Renderer
	Tokens func() string // makes lease tokens, which must be unique and impossible to guess
	Table  string

	Tenant     string        // default: single-tenant keys
	Lease      time.Duration // default 30 s
	Revalidate time.Duration // the freshness window, whole seconds; default 60 s
	Retention  time.Duration // how long a page is kept and served as stale after its freshness window; default 24 h
	// TTLBuffer is how long a row outlives its use before TTL may delete it. It must exceed the sum of the skew of any
	// two clocks, the time that a request is under way, and the time of a rendering; default 1 h.
	TTLBuffer  time.Duration
	Failure    Failure
	Contention Contention
	Poll       time.Duration // the sleep between two looks at a page that another node is regenerating; default 1 s
	Patience   int           // the number of sleeps before the wait is given up; default 10
	// MaxClockSkew is a promise of the world, for caches that compare the clocks of machines: no machine's clock is
	// ever further than this from true time. The published recipes do not compare clocks.
	MaxClockSkew time.Duration
}
