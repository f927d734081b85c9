package concurrent

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// How often a node pauses, or stops waiting for an answer.
const (
	pauseEvery   = 8  // in writes, on average
	abandonEvery = 60 // in requests for pages, on average
)

// node is one machine: it asks for one page after another.
type node struct {
	name    string
	witness *witness
	random  *rand.Rand
	clock   clockwork.Clock
	until   time.Time // when it stops
	config  isr.Config
	new     func(isr.Config) (isr.Handler, error)
	tokens  int
}

func newNode(ctx context.Context, r Run, w *witness, number int, until time.Time) *node {
	clock := waking{r.Clock, ctx.Done()}
	n := &node{
		name: fmt.Sprintf("node%d", number), witness: w, clock: clock, until: until, new: r.Protocol.New,
		random: rand.New(rand.NewPCG(r.Seed, uint64(w.number)<<32|uint64(number))),
	}
	n.config = isr.Config{
		Client: pausing{r.Client, n}, Clock: clock, Bodies: w, Render: n.render, Tokens: n.token, Table: r.Table,
		Lease: lease, Revalidate: revalidate,
	}
	return n
}

// waking is a clock whose sleepers wake when the run is interrupted. The end of a request's context does not wake them,
// because a machine that stands still does not notice it.
type waking struct {
	clockwork.Clock
	interrupted <-chan struct{}
}

// Sleep returns after d, or when the run is interrupted.
func (c waking) Sleep(d time.Duration) {
	timer := c.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.Chan():
	case <-c.interrupted:
	}
}

// token names a lease. A node is one goroutine, so nothing needs to be locked.
func (n *node) token() string {
	n.tokens++
	return fmt.Sprintf("%s-round%d-%d", n.name, n.witness.number, n.tokens)
}

// run asks for pages until the time is over. An error says that the protocol could not be set up. Errors of the store
// are not returned, because they are part of the evidence.
func (n *node) run(ctx context.Context) error {
	ctx = storeop.Hooks{Observe: n.witness.observer(n.name)}.In(ctx)
	cache, err := n.new(n.config)
	if err != nil {
		return fmt.Errorf("concurrent: %w", err)
	}
	for ctx.Err() == nil && n.clock.Now().Before(n.until) {
		n.get(ctx, cache, fmt.Sprintf("/round%d/page%d", n.witness.number, n.random.IntN(keysARound)))
		n.clock.Sleep(n.between(20*time.Millisecond, 80*time.Millisecond))
	}
	return nil
}

func (n *node) between(least, most time.Duration) time.Duration {
	return least + time.Duration(n.random.Int64N(int64(most-least)))
}

// get asks for one page. Now and then it waits only a short time for the answer.
func (n *node) get(ctx context.Context, cache isr.Handler, key string) {
	if n.random.IntN(abandonEvery) == 0 {
		n.witness.count(&n.witness.abandoned)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, n.between(time.Millisecond, 50*time.Millisecond))
		defer cancel()
	}
	n.witness.count(&n.witness.asked)
	n.witness.record(n.name, history.Event{Kind: history.Asked, Key: key})
	served, err := cache.Get(ctx, key)
	e := history.Event{Kind: history.Served, Key: key, As: history.Stale, Body: string(served.Body)}
	switch {
	case err != nil:
		e = history.Event{Kind: history.Failed, Key: key, Note: err.Error()}
	case served.Fresh:
		e.As = history.Fresh
	}
	n.witness.record(n.name, e)
}

// render makes a body that differs from all other bodies.
func (n *node) render(_ context.Context, key string, _ func(context.Context) error) ([]byte, error) {
	body := fmt.Sprintf("%s by %s, rendering %d", key, n.name, n.tokens)
	n.witness.record(n.name, history.Event{Kind: history.Rendered, Key: key, Body: body})
	n.clock.Sleep(n.between(0, render))
	return []byte(body), nil
}

// pausing is a client whose node now and then stops after making a request and before sending it: for a moment, or for
// longer than its lease.
type pausing struct {
	*dynamodb.Client
	n *node
}

func (p pausing) pause() {
	if p.n.random.IntN(pauseEvery) == 0 && p.n.clock.Now().Before(p.n.until) {
		p.n.witness.count(&p.n.witness.paused)
		// a lease may last a second longer, because its end is rounded up
		p.n.clock.Sleep(p.n.between(2*lease, 3*lease))
	}
}

func (p pausing) PutItem(
	ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options),
) (*dynamodb.PutItemOutput, error) {
	p.pause()
	return p.Client.PutItem(ctx, in, options...)
}

func (p pausing) UpdateItem(
	ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	p.pause()
	return p.Client.UpdateItem(ctx, in, options...)
}

func (p pausing) DeleteItem(
	ctx context.Context, in *dynamodb.DeleteItemInput, options ...func(*dynamodb.Options),
) (*dynamodb.DeleteItemOutput, error) {
	p.pause()
	return p.Client.DeleteItem(ctx, in, options...)
}

func (p pausing) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	p.pause()
	return p.Client.TransactWriteItems(ctx, in, options...)
}
