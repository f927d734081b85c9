package property

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/internal/bodystep"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// guard hands a node's world to the store under test and notices when the store breaks the simulator's rules: every
// call must come from the goroutine in which the simulator called the store. Another one would run outside of the
// schedule, and its calls could not be replayed.
type guard struct {
	mu    sync.Mutex // the offender is another goroutine by nature
	first error
	seen  int // requests that were looked at for times

	answers *answers
	// goroutines says that calls may come from any goroutine: the simulator's gate holds each of them.
	goroutines bool
	skew       time.Duration // that the world promises
}

// offence returns the first broken rule, or why there was no store.
func (g *guard) offence() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.first
}

func (g *guard) note(err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.first == nil {
		g.first = err
	}
	return err
}

// protocol makes a protocol of the store under test.
func (g *guard) protocol(name string, newStore func(Node) (isr.Handler, error)) isr.Protocol {
	return isr.Protocol{
		Name:    name,
		Summary: "the store under test",
		New: func(cfg isr.Config) (isr.Handler, error) {
			n, err := g.node(cfg)
			if err != nil {
				return nil, err
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

// node is the node of cfg, with a guard on each way into the simulator.
func (g *guard) node(cfg isr.Config) (Node, error) {
	client, ok := cfg.Client.(*dynamodb.Client)
	if !ok {
		return Node{}, fmt.Errorf("the simulator's client is a %T, not one of the SDK", cfg.Client)
	}
	if g.goroutines {
		return Node{Config: cfg, Client: client, skew: g.skew}, nil
	}
	actor := actorOf(client)
	client = dynamodb.New(client.Options(), g.onClient(actor))
	cfg.Client = client
	cfg.Clock = guardedClock{cfg.Clock, g, actor}
	guarded := guardedBodies{cfg.Bodies, g, actor}
	cfg.Bodies = guarded
	if steps, ok := guarded.BodyStore.(bodystep.Steps); ok {
		cfg.Bodies = guardedSteps{guarded, steps}
	}
	render := cfg.Render
	cfg.Render = func(ctx context.Context, key string, keepAlive func(context.Context) error) ([]byte, error) {
		if err := g.check(actor, "Render"); err != nil {
			return nil, err
		}
		return render(ctx, key, keepAlive)
	}
	return Node{Config: cfg, Client: client, skew: g.skew}, nil
}

// check returns an error if the call comes from a goroutine that the simulator knows nothing of.
func (g *guard) check(actor, call string) error {
	if calledByTheSimulator() {
		return nil
	}
	return g.note(fmt.Errorf("the store under test called %s on %s from a goroutine of its own: "+
		"the simulator decides every interleaving, so a store must do its work in the goroutine that called it, "+
		"or be checked with Goroutines", call, actor))
}

// onClient has the client of a node check each call before it begins.
func (g *guard) onClient(actor string) func(o *dynamodb.Options) {
	return func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions[:len(o.APIOptions):len(o.APIOptions)], func(s *middleware.Stack) error {
			return s.Initialize.Add(middleware.InitializeMiddlewareFunc("isr-sim guard",
				func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
					if err := g.check(actor, fmt.Sprintf("DynamoDB (%T)", in.Parameters)); err != nil {
						return middleware.InitializeOutput{}, middleware.Metadata{}, err
					}
					g.checkTimes(actor, in.Parameters)
					return next.HandleInitialize(ctx, in)
				}), middleware.Before)
		})
	}
}

type guardedClock struct {
	clockwork.Clock
	guard *guard
	actor string
}

// Sleep returns at once to a goroutine that must not be there: it has no error to return.
func (c guardedClock) Sleep(d time.Duration) {
	if c.guard.check(c.actor, "Clock.Sleep") == nil {
		c.Clock.Sleep(d)
	}
}

type guardedBodies struct {
	isr.BodyStore
	guard *guard
	actor string
}

func (b guardedBodies) PutBody(ctx context.Context, name string, body []byte) error {
	if err := b.guard.check(b.actor, "PutBody"); err != nil {
		return err
	}
	return b.BodyStore.PutBody(ctx, name, body)
}

func (b guardedBodies) GetBody(ctx context.Context, name string) ([]byte, error) {
	if err := b.guard.check(b.actor, "GetBody"); err != nil {
		return nil, err
	}
	return b.BodyStore.GetBody(ctx, name)
}

// guardedSteps are guardedBodies for clients of another kind.
type guardedSteps struct {
	guardedBodies
	bodystep.Steps
}

func (b guardedSteps) Step(ctx context.Context, s bodystep.Step) error {
	if err := b.guard.check(b.actor, s.Text); err != nil {
		return err
	}
	return b.Steps.Step(ctx, s)
}

// inStore calls the store under test: every way from the simulator into the store leads through here. So a goroutine
// that the simulator called the store in has this function on its stack, and no goroutine or coroutine that a store
// starts has it. (The number of a goroutine would say the same, but the runtime tells it only by printing the whole
// stack.)
//
//go:noinline
func inStore(call func()) {
	call()
}

// inStoreEntry is where the code of inStore begins, as the stack of a call from there tells it.
var inStoreEntry = func() (entry uintptr) {
	inStore(func() {
		var callers [2]uintptr // this function and its caller
		runtime.Callers(1, callers[:])
		entry = runtime.FuncForPC(callers[1] - 1).Entry()
	})
	return entry
}()

// calledByTheSimulator says whether the calling goroutine is one that the simulator called the store in.
func calledByTheSimulator() bool {
	var small [96]uintptr
	stack := small[:]
	n := runtime.Callers(0, stack)
	for n == len(stack) {
		stack = make([]uintptr, 4*len(stack))
		n = runtime.Callers(0, stack)
	}
	// The outermost calls first: it is one of them. inStore is short, so few others need a look at their function.
	for _, caller := range slices.Backward(stack[:n]) {
		if caller-inStoreEntry < 1<<10 && runtime.FuncForPC(caller-1).Entry() == inStoreEntry {
			return true
		}
	}
	return false
}
