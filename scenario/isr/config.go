package isr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
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

	Table      string        // default: the environment variable FACETHEORY_CACHE_TABLE_NAME, see TableEnv
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

// withDefaults fills in the defaults and checks the rest.
func (c Config) withDefaults() (Config, error) {
	if c.Client == nil || c.Clock == nil || c.Bodies == nil || c.Render == nil || c.Tokens == nil {
		return c, errors.New("isr: Config needs Client, Clock, Bodies, Render and Tokens")
	}
	if c.Table == "" {
		c.Table = os.Getenv(TableEnv)
	}
	if c.Table == "" {
		return c, fmt.Errorf("isr: no table: set Config.Table or the environment variable %s", TableEnv)
	}
	err := cmp.Or(
		byDefault("Lease", &c.Lease, 30*time.Second),
		byDefault("Revalidate", &c.Revalidate, time.Minute),
		byDefault("Retention", &c.Retention, 24*time.Hour),
		byDefault("TTLBuffer", &c.TTLBuffer, time.Hour),
		byDefault("Poll", &c.Poll, time.Second),
	)
	if err != nil {
		return c, err
	}
	if c.Revalidate%time.Second != 0 {
		return c, fmt.Errorf("isr: Config.Revalidate is %v, expected whole seconds: the row holds no fractions", c.Revalidate)
	}
	if c.Guards > AllGuards {
		return c, fmt.Errorf("isr: Config.Guards is %#x, expected 0 (for the default) or a combination of guards, up to %#x", uint8(c.Guards), uint8(AllGuards))
	}
	if c.Guards == 0 {
		c.Guards = GuardToken | GuardExpiry
	}
	if c.Patience < 0 {
		return c, fmt.Errorf("isr: Config.Patience is %d, expected 0 (for the default) or more", c.Patience)
	}
	if c.Patience == 0 {
		c.Patience = 10
	}
	return c, nil
}

// buffer is TTLBuffer in whole seconds, rounded up.
func (c *Config) buffer() EpochSeconds { return Ceil(time.Unix(0, int64(c.TTLBuffer))) }

// pageTTL is the ttl of the rows of a page that is fresh until then.
func (c *Config) pageTTL(freshUntil EpochSeconds) EpochSeconds {
	return Ceil(freshUntil.Time().Add(c.Retention)) + c.buffer()
}

// byDefault gives a duration that is zero its default, and refuses a negative one.
func byDefault(name string, d *time.Duration, byItself time.Duration) error {
	if *d < 0 {
		return fmt.Errorf("isr: Config.%s is %v, expected 0 (for the default) or more", name, *d)
	}
	if *d == 0 {
		*d = byItself
	}
	return nil
}
