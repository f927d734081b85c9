package property

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// guard gives a node's world to the store under test, and notices when the store breaks the simulator's rule: every
// call must come from the goroutine in which the simulator called the store. A call from another goroutine is outside
// the schedule and could not be replayed.
type guard struct {
	first atomic.Pointer[error] // atomic, because the goroutine that breaks the rule is another one
	seen  atomic.Int64          // the number of requests that were searched for times

	mu      sync.Mutex // guards answers: stores with goroutines may answer at the same time
	answers *answers
	// goroutines says that calls may come from any goroutine: then the simulator's gate holds each of them.
	goroutines bool
	pageless   bool // the store has no pages
}

// offence returns the error about the first broken rule, or the reason why no store was made.
func (g *guard) offence() error {
	if first := g.first.Load(); first != nil {
		return *first
	}
	return nil
}

func (g *guard) note(err error) error {
	g.first.CompareAndSwap(nil, &err)
	return err
}

// protocol makes the store under test a protocol.
func (g *guard) protocol(name string, newStore func(Node) (isr.Handler, error)) isr.Protocol {
	return isr.Protocol{
		Name:    name,
		Summary: "the store under test",
		New: func(cfg isr.Config) (isr.Handler, error) {
			n, err := g.node(cfg)
			if err != nil {
				return nil, err
			}
			if newStore == nil {
				return nil, g.note(errors.New("newStore: found nil, expected a function"))
			}
			var store isr.Handler
			inStore(func() { store, err = newStore(n) })
			if err == nil && store == nil {
				err = errors.New("it returned neither a store nor an error")
			}
			if err != nil {
				return nil, g.note(fmt.Errorf("newStore: %w", err))
			}
			return g.counted(store), nil
		},
	}
}

// node is the node of cfg, with the guard on each way into the simulator.
func (g *guard) node(cfg isr.Config) (Node, error) {
	client, ok := cfg.Client.(*dynamodb.Client)
	if !ok {
		return Node{}, fmt.Errorf("the simulator's client is a %T, not one of the SDK", cfg.Client)
	}
	if g.goroutines {
		cfg.Clock = readClock{cfg.Clock, g}
		return Node{Config: cfg, Client: client}, nil
	}
	actor := actorOf(client)
	client = dynamodb.New(client.Options(), g.onClient(actor))
	cfg.Client = client
	cfg.Clock = guardedClock{cfg.Clock, g, actor}
	guarded := guardedBodies{cfg.Bodies, g, actor}
	cfg.Bodies = guarded
	if steps, ok := guarded.BodyStore.(hooks.BodySteps); ok {
		cfg.Bodies = guardedSteps{guarded, steps}
	}
	render := cfg.Render
	cfg.Render = func(ctx context.Context, key string, keepAlive func(context.Context) error) ([]byte, error) {
		if err := g.check(ctx, actor, "Render"); err != nil {
			return nil, err
		}
		return render(ctx, key, keepAlive)
	}
	return Node{Config: cfg, Client: client, calls: &calls{g, actor}}, nil
}

// calls checks the calls of a node whose store has no goroutines; nil means that it has some.
type calls struct {
	guard *guard
	actor string
}

// check is guard.check.
func (c *calls) check(ctx context.Context, call string) error {
	if c == nil {
		return nil
	}
	return c.guard.check(ctx, c.actor, call)
}

// check returns an error if the call comes from a goroutine that the simulator does not know, or if its context has a
// timeout. Package time stands still, so a timeout would never end: the code that waits for it would never run.
func (g *guard) check(ctx context.Context, actor, call string) error {
	if !calledByTheSimulator() {
		return g.note(fmt.Errorf("the store under test called %s on %s from a goroutine of its own: "+
			"the simulator decides every interleaving, so a store must do its work in the goroutine that called it, "+
			"or be checked with Goroutines", call, actor))
	}
	if _, timed := ctx.Deadline(); timed {
		return g.note(fmt.Errorf("the store under test called %s on %s with a context that has a timeout: "+
			"package time stands still, so no timeout would ever end, and what the store does then would not "+
			"be tested: check it with Goroutines (which Prove cannot do), or give it contexts without a timeout", call,
			actor))
	}
	if moved() {
		return g.note(fmt.Errorf("the store under test%s (noticed when %s called %s)", waited, actor, call))
	}
	return nil
}

// moved reports whether package time has moved in the bubble in which a store without goroutines is called.
func moved() bool {
	now := new(bubble).Now()
	return now.After(wallYear) && now.Before(inEarnest)
}

// onClient makes the client of a node check each call before it begins.
func (g *guard) onClient(actor string) func(o *dynamodb.Options) {
	return func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions[:len(o.APIOptions):len(o.APIOptions)], func(s *middleware.Stack) error {
			return s.Initialize.Add(middleware.InitializeMiddlewareFunc("isr-sim guard",
				func(
					ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
				) (middleware.InitializeOutput, middleware.Metadata, error) {
					if err := g.check(ctx, actor, fmt.Sprintf("DynamoDB (%T)", in.Parameters)); err != nil {
						return middleware.InitializeOutput{}, middleware.Metadata{}, err
					}
					g.checkTimes(actor, in.Parameters)
					out, metadata, err := next.HandleInitialize(ctx, in)
					g.requested(err)
					return out, metadata, err
				}), middleware.Before)
		})
	}
}

// readClock notes that a store with goroutines reads its node's clock. Package time, which it may read instead, has no
// error.
type readClock struct {
	clockwork.Clock
	guard *guard
}

// Now implements clockwork.Clock.
func (c readClock) Now() time.Time {
	c.guard.mu.Lock()
	c.guard.answers.clock = true
	c.guard.mu.Unlock()
	return c.Clock.Now()
}

// Since implements clockwork.Clock.
func (c readClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Until implements clockwork.Clock.
func (c readClock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

type guardedClock struct {
	clockwork.Clock
	guard *guard
	actor string
}

// Sleep returns at once if the calling goroutine is not allowed to call it: it cannot return an error.
func (c guardedClock) Sleep(d time.Duration) {
	if c.guard.check(context.Background(), c.actor, "Clock.Sleep") == nil { //nolint:forbidigo // it has no context
		c.Clock.Sleep(d)
	}
}

type guardedBodies struct {
	isr.BodyStore
	guard *guard
	actor string
}

func (b guardedBodies) PutBody(ctx context.Context, name string, body []byte) error {
	if err := b.guard.check(ctx, b.actor, "PutBody"); err != nil {
		return err
	}
	return b.BodyStore.PutBody(ctx, name, body)
}

func (b guardedBodies) GetBody(ctx context.Context, name string) ([]byte, error) {
	if err := b.guard.check(ctx, b.actor, "GetBody"); err != nil {
		return nil, err
	}
	return b.BodyStore.GetBody(ctx, name)
}

// guardedSteps is guardedBodies for clients that make their requests as steps.
type guardedSteps struct {
	guardedBodies
	hooks.BodySteps
}

func (b guardedSteps) Step(ctx context.Context, s hooks.BodyStep) error {
	if err := b.guard.check(ctx, b.actor, s.Text); err != nil {
		return err
	}
	if b.guard.pageless {
		b.guard.answers.asked = true
	}
	return b.BodySteps.Step(ctx, s)
}

// inStore calls the store under test: every call from the simulator into the store goes through it. It marks the
// goroutine, so that goroutines and coroutines that the store starts can be told apart. The runtime tells the number of
// a goroutine only by printing its whole stack. But it keeps one setting per goroutine, debug.SetPanicOnFault, which is
// false at first and matters only to code that reads unmapped memory: that setting is the mark.
//
// If package time stands still, the goroutines that the store has started end, or wait, before the simulator goes on:
// otherwise the speed of the machine would decide when they write to the store's memory. With Check.Goroutines the
// simulator sees to that.
func inStore(call func()) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	call()
	if new(bubble).Now().Equal(wallYear) {
		synctest.Wait()
	}
}

// calledByTheSimulator reports whether the simulator called the store in the goroutine that calls this function.
func calledByTheSimulator() bool {
	is := debug.SetPanicOnFault(true)
	debug.SetPanicOnFault(is)
	return is
}

// wallYear is where package time stands still in a bubble: 2000-01-01 00:00:00 UTC, forty years before the nodes'
// clocks.
var wallYear = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// inEarnest is earlier than any real clock.
var inEarnest = wallYear.AddDate(10, 0, 0)

// looked is the number of requests examined in each campaign. More are not needed, because a store reads its clocks in
// the same way in all requests.
const looked = 30

// wallTexts matches texts in a request that may be a time of package time: a number of nine or more digits, in seconds,
// milliseconds, microseconds or nanoseconds, or a date in ISO 8601.
var wallTexts = regexp.MustCompile(`"(\d{9,19}|(?:2000-01|1999-12)-\d\dT[^"]*)"`)

// checkTimes looks for times of package time in a request. They show that the store has read time.Now instead of the
// node's clock. Without this check, the store would be reported for violations that do not point to this cause.
func (g *guard) checkTimes(actor string, input any) {
	if g.seen.Add(1) > looked {
		return
	}
	text, _ := json.Marshal(input) // if this fails, the SDK reports the input
	for _, found := range wallTexts.FindAllSubmatch(text, -1) {
		if value := string(found[1]); ofWallYear(value) {
			_ = g.note(fmt.Errorf("the store under test read time.Now instead of the node's clock: %s sends %T with "+
				"%s, which is in the year 2000, where package time stands still; the nodes' clocks are in 2040", actor,
				input, value))
			return
		}
	}
}

// ofWallYear reports whether a text is a time within some weeks of wallYear, because leases and ttls end some time
// later. In microseconds and nanoseconds, only whole milliseconds count: package time stands at a whole second, so a
// random number of that many digits is hardly ever taken for a time.
func ofWallYear(text string) bool {
	const weeks = 6 * 7 * 24 * time.Hour
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return true // it is a date in ISO 8601
	}
	for inSecond := int64(1); inSecond <= int64(time.Second); inSecond *= 1000 {
		inMillisecond := max(1, inSecond/1000)
		if n%inMillisecond == 0 && time.Unix(n/inSecond, 0).Sub(wallYear).Abs() <= weeks {
			return true
		}
	}
	return false
}

// actorOf returns the name of the node that a client belongs to: its access key id.
func actorOf(client *dynamodb.Client) string {
	credentials := client.Options().Credentials
	if credentials == nil {
		return "a node"
	}
	c, err := credentials.Retrieve(context.Background()) //nolint:forbidigo // it sends no request
	if err != nil {
		return "a node"
	}
	return c.AccessKeyID
}

// answers counts the answers of the store.
type answers struct {
	all, errors, fresh int
	first              error // the first error that no fault explains, or else the first error

	clock bool // a store with goroutines has read its node's clock

	asked bool // a request reached the node's Client, in some run

	operations int // operations that the store reported; linearizable judges only those

	requests, refused int   // of stores without goroutines; refused are those that would be refused in any schedule
	refusal           error // the first of them
}

// requested counts a request.
func (g *guard) requested(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.answers
	a.requests++
	a.asked = true
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok || api.ErrorCode() != "ValidationException" && api.ErrorCode() != "ResourceNotFoundException" {
		return
	}
	if a.refused++; a.refusal == nil {
		a.refusal = err
	}
}

// String says how many answers were errors, and shows one of them. Answers of locks and calls are not counted: for
// these it reports on their requests.
func (a *answers) String() string {
	switch {
	case a.all == 0 && a.requests == 0:
		return ""
	case a.all == 0 && a.refused == 0:
		return fmt.Sprintf("none of its %d requests was malformed, or for a table that is not there", a.requests)
	case a.all == 0:
		return fmt.Sprintf("%d of its %d requests were refused, such as: %v", a.refused, a.requests, a.refusal)
	case a.errors == 0:
		return fmt.Sprintf("none of the store's %d answers was an error", a.all)
	}
	return fmt.Sprintf("%d of the store's %d answers were errors, such as: %v", a.errors, a.all, a.first)
}

// injected reports whether err can come from a fault of the world. Such an error tells nothing about the store.
func injected(err error) bool {
	if _, ok := errors.AsType[*ddbfake.NetworkError](err); ok {
		return true
	}
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return false
	}
	switch api.ErrorCode() {
	case "InternalServerError", "ProvisionedThroughputExceededException", "ThrottlingException":
		return true
	}
	return false
}

// counted returns a store that counts the answers of the given one, and can be closed if that one can.
func (g *guard) counted(store isr.Handler) isr.Handler {
	if g.pageless {
		return store // it has no answers to count
	}
	c := counted{store, g}
	if closer, ok := store.(io.Closer); ok {
		return struct {
			counted
			io.Closer
		}{c, closed{closer}}
	}
	return c
}

// closed closes a store as the simulator calls it: through inStore.
type closed struct{ store io.Closer }

func (c closed) Close() (err error) {
	inStore(func() { err = c.store.Close() })
	return err
}

// counted is a store whose answers are counted. It passes on the store's other methods.
type counted struct {
	store isr.Handler
	guard *guard
}

// under is the store itself.
func (c counted) under() isr.Handler { return c.store }

var _ interface {
	isr.Handler
	isr.Invalidator
	isr.Rollbacker
	isr.Regenerator
} = counted{}

func (c counted) Get(ctx context.Context, key string) (isr.Served, error) {
	return c.ask(func() (isr.Served, error) { return c.store.Get(c.guard.noting(ctx), key) })
}

func (c counted) Invalidate(ctx context.Context, key string) (err error) {
	inStore(func() { err = able[isr.Invalidator](c, "Invalidate").Invalidate(c.guard.noting(ctx), key) })
	return err
}

func (c counted) Rollback(ctx context.Context, key string) (err error) {
	inStore(func() { err = able[isr.Rollbacker](c, "Rollback").Rollback(c.guard.noting(ctx), key) })
	return err
}

func (c counted) Regenerate(ctx context.Context, key string, r isr.Request) (isr.Served, error) {
	return c.ask(func() (isr.Served, error) {
		return able[isr.Regenerator](c, "Regenerate").Regenerate(c.guard.noting(ctx), key, r)
	})
}

// noting counts the operations that the store reports.
func (g *guard) noting(ctx context.Context) context.Context {
	h := storeop.HooksOf(ctx)
	observe := h.Observe
	if observe == nil {
		return ctx
	}
	h.Observe = func(called storeop.Operation) func(storeop.Operation) {
		g.mu.Lock()
		g.answers.operations++
		g.mu.Unlock()
		return observe(called)
	}
	return h.In(ctx)
}

// ask calls the store and counts its answer.
func (c counted) ask(call func() (isr.Served, error)) (served isr.Served, err error) {
	inStore(func() { served, err = call() })
	c.count(served, err)
	return served, err
}

// able returns the store as a T, which has the method that a script needs. Without the method there is no verdict, as
// in package scenario.
func able[T any](c counted, method string) T {
	t, ok := c.store.(T)
	if !ok {
		panic(fmt.Errorf("a script asks for the method %s, which a %T does not have", method, c.store))
	}
	return t
}

func (c counted) count(served isr.Served, err error) {
	c.guard.mu.Lock()
	defer c.guard.mu.Unlock()
	answers := c.guard.answers
	answers.all++
	if err == nil && served.Fresh {
		answers.fresh++
	}
	if err != nil {
		if answers.errors++; answers.first == nil || injected(answers.first) && !injected(err) {
			answers.first = err
		}
	}
}
