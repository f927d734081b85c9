// Package hold holds requests before they take effect, until a test releases or drops them. So a test in any language
// can decide the order in which requests take effect.
//
// A held request waits in front of the engine, in the goroutine of its connection, and has no number yet. Other
// requests overtake it. Its wait and the limit of its rule are in real time, whatever clock the fake has.
package hold

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/wire/httpdoor"
)

// MaxHeld is the maximum number of requests held at a time. One more fails.
const MaxHeld = 20_000

// maxNever is how many of the requests that were never released a Desk remembers. It counts all.
const maxNever = 1000

// Outcome is how a held request ends.
type Outcome uint8

// The outcomes.
const (
	// Release lets the request take effect, and answers it.
	Release Outcome = iota + 1
	// LoseRequest breaks the connection. The request has no effect.
	LoseRequest
	// LoseResponse lets the request take effect, and breaks the connection without an answer.
	LoseResponse

	fail
)

// Request is a held request.
type Request struct {
	ID        int
	Actor     string
	Operation string
	Region    string
	Rows      []httpdoor.Row
	Rule      string
	Since     time.Time     // by the fake's clock
	Limit     time.Duration // in real time
	Goes      bool          // after Limit the request takes effect; if false, it fails
	Gone      bool          // the client has closed its connection
}

// String describes the request in one line.
func (r Request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "request %d: %s by %q", r.ID, r.Operation, r.Actor)
	if len(r.Rows) > 0 {
		fmt.Fprintf(&b, " on table %q", r.Rows[0].Table)
	}
	fmt.Fprintf(&b, ", held by %q", r.Rule)
	return b.String()
}

// UnknownError is the error for a request that is not held.
type UnknownError struct{ ID int }

func (e *UnknownError) Error() string { return fmt.Sprintf("no request %d is held", e.ID) }

// ErrClosed is the error of a Desk that holds nothing any more.
var ErrClosed = errors.New("the server is about to end")

// Options configure a Desk.
type Options struct {
	// DB is the fake that serves the requests.
	DB *ddbfake.DB
	// Clock gives the time at which a request is held.
	Clock ddbfake.Clock
	// Log gets a line about each request that was never released. Nil drops them.
	Log func(line string)
}

// Desk holds requests. Its methods may be called by several goroutines at once.
type Desk struct {
	o     Options
	armed atomic.Bool // there are rules

	mu      sync.Mutex
	rules   []rule
	idle    []Rule // once the Desk has ended, the rules that had held nothing
	held    map[int]*parked
	last    int           // the latest ID
	changed chan struct{} // closed when a request comes
	never   []Request
	nevers  int
	closed  bool
}

type rule struct {
	Rule
	met int // number of matching requests so far
}

type parked struct {
	Request
	decided chan Outcome  // has room for one outcome
	done    chan struct{} // closed once the request has been served, or has failed
}

// New returns a Desk without rules.
func New(o Options) *Desk {
	if o.Log == nil {
		o.Log = func(string) {}
	}
	return &Desk{o: o, held: map[int]*parked{}, changed: make(chan struct{})}
}

// Add adds rules. Each counts the requests that match it from now on, as faults do.
func (d *Desk) Add(rules ...Rule) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range rules {
		d.rules = append(d.rules, rule{Rule: r})
	}
	d.armed.Store(len(d.rules) > 0)
}

// Rules returns the waiting rules.
func (d *Desk) Rules() []Rule {
	d.mu.Lock()
	defer d.mu.Unlock()
	rules := make([]Rule, len(d.rules))
	for i, r := range d.rules {
		rules[i] = r.Rule
	}
	return rules
}

// Idle returns the rules that have held no request. Once the Desk has ended, they are those at its end.
func (d *Desk) Idle() []Rule {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.idleRules()
}

func (d *Desk) idleRules() []Rule {
	idle := slices.Clone(d.idle)
	for i := range d.rules {
		if r := &d.rules[i]; r.met < max(r.match.Nth, 1) {
			idle = append(idle, r.Rule)
		}
	}
	return idle
}

// ClearRules drops all rules. Held requests stay held.
func (d *Desk) ClearRules() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rules = nil
	d.armed.Store(false)
}

// Serve serves a call at once, or after holding it. The function rows returns the rows that the call touches.
func (d *Desk) Serve(ctx context.Context, c ddbfake.Call, rows func(ddbfake.Call) []httpdoor.Row,
	serve func(context.Context, ddbfake.Call) (any, error)) (any, error) {
	if !d.armed.Load() {
		return serve(ctx, c)
	}
	p, err := d.park(c, rows)
	if p == nil {
		if err != nil {
			return nil, err
		}
		return serve(ctx, c)
	}
	defer close(p.done)
	c.Sent = p.Since
	outcome := d.wait(ctx, p)
	ctx = context.WithoutCancel(ctx) // a request that was sent may take effect even if its client is gone
	switch outcome {
	case LoseRequest:
		c.Fault = &ddbfake.Fault{Kind: ddbfake.FaultRequestLost}
	case LoseResponse:
		c.Fault = &ddbfake.Fault{Kind: ddbfake.FaultResponseLost}
	case fail:
		return nil, &smithy.GenericAPIError{
			Code: "IsrSimNeverReleasedException",
			Message: fmt.Sprintf("isr-sim: never released within %v: %s. The request has had no effect.", p.Limit,
				p.Request),
		}
	}
	return serve(ctx, c)
}

// park holds a call if a rule says so. Otherwise, both results are nil.
func (d *Desk) park(c ddbfake.Call, rows func(ddbfake.Call) []httpdoor.Row) (*parked, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, nil
	}
	r, ok := d.match(c)
	if !ok {
		return nil, nil
	}
	if len(d.held) >= MaxHeld {
		return nil, &smithy.GenericAPIError{Code: "IsrSimTooManyHeldException",
			Message: fmt.Sprintf("isr-sim: %d requests are held, which is the most", MaxHeld)}
	}
	d.last++
	p := &parked{
		Request: Request{
			ID: d.last, Actor: strings.Clone(c.Actor), Operation: operation(c.Input), Region: strings.Clone(c.Region),
			Rows: rows(c), Rule: r.String(), Since: d.o.Clock.Now(), Limit: r.limit, Goes: r.goes,
		},
		decided: make(chan Outcome, 1),
		done:    make(chan struct{}),
	}
	if p.Region == "" {
		p.Region = ddbfake.DefaultRegion
	}
	d.held[p.ID] = p
	close(d.changed)
	d.changed = make(chan struct{})
	return p, nil
}

// match returns the first rule that holds a call, and counts the call.
func (d *Desk) match(c ddbfake.Call) (Rule, bool) {
	for i := range d.rules {
		r := &d.rules[i]
		if !d.o.DB.Matches(r.match, c) {
			continue
		}
		r.met++
		first := max(r.match.Nth, 1)
		if r.met < first {
			continue
		}
		found := r.Rule
		if found.match.Times != ddbfake.Always && r.met >= first+max(found.match.Times, 1)-1 {
			d.rules = slices.Delete(d.rules, i, i+1)
			d.armed.Store(len(d.rules) > 0)
		}
		return found, true
	}
	return Rule{}, false
}

// operation returns the name of the operation of an input struct.
func operation(in any) string {
	name := fmt.Sprintf("%T", in)
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], "Input")
}

// wait waits until a call is released, is dropped, or reaches its limit.
func (d *Desk) wait(ctx context.Context, p *parked) Outcome {
	gone := func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		p.Gone = true
	}
	if parking := httpdoor.ParkingOf(ctx); parking != nil {
		parking.Park(gone)
		defer parking.Unpark()
	}
	defer context.AfterFunc(ctx, gone)()
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.Limit)
	defer cancel()
	select {
	case outcome := <-p.decided:
		return outcome
	case <-bound.Done():
	}
	if !d.expire(p) {
		return <-p.decided
	}
	if p.Goes {
		return Release
	}
	return fail
}

// expire records that a request was never released. It returns false if the request was released or dropped meanwhile.
func (d *Desk) expire(p *parked) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held[p.ID] != p {
		return false
	}
	delete(d.held, p.ID)
	then := "it fails, without an effect"
	if p.Goes {
		then = "it takes effect now"
	}
	d.forgotten(p.Request)
	d.o.Log(fmt.Sprintf("never released within %v: %s: %s", p.Limit, p.Request, then))
	return true
}

// forgotten records a request that was never released.
func (d *Desk) forgotten(r Request) {
	d.nevers++
	if len(d.never) < maxNever {
		d.never = append(d.never, r)
	}
}

// Held returns the held requests, in the order in which they came.
func (d *Desk) Held() []Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := make([]Request, 0, len(d.held))
	for _, id := range slices.Sorted(maps.Keys(d.held)) {
		list = append(list, d.held[id].Request)
	}
	return list
}

// Never returns the first maxNever requests that were never released, and the number of all.
func (d *Desk) Never() ([]Request, int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.never), d.nevers
}

// Decide ends the waits of requests, one by one, in the order of the given IDs. It returns when the last one has taken
// effect, or has failed. If one of them is not held, or is given twice, Decide changes nothing and returns an
// UnknownError.
func (d *Desk) Decide(outcome Outcome, ids ...int) error {
	taken, err := d.take(ids)
	if err != nil {
		return err
	}
	for _, p := range taken {
		p.decided <- outcome
		<-p.done
	}
	return nil
}

func (d *Desk) take(ids []int) ([]*parked, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := map[int]bool{}
	for _, id := range ids {
		if d.held[id] == nil || seen[id] {
			return nil, &UnknownError{id}
		}
		seen[id] = true
	}
	taken := make([]*parked, len(ids))
	for i, id := range ids {
		taken[i] = d.held[id]
		delete(d.held, id)
	}
	return taken, nil
}

// DecideAll does the same as Decide for all requests of an actor, in the order in which they came; "" is any actor. It
// returns their IDs.
func (d *Desk) DecideAll(outcome Outcome, actor string) []int {
	d.mu.Lock()
	var ids []int
	var taken []*parked
	for _, id := range slices.Sorted(maps.Keys(d.held)) {
		if p := d.held[id]; actor == "" || p.Actor == actor {
			ids, taken = append(ids, id), append(taken, p)
			delete(d.held, id)
		}
	}
	d.mu.Unlock()
	for _, p := range taken {
		p.decided <- outcome
		<-p.done
	}
	return ids
}

// Await waits until at least count requests of an actor are held at once; "" is any actor. It returns the error of ctx,
// or ErrClosed.
func (d *Desk) Await(ctx context.Context, count int, actor string) error {
	for {
		d.mu.Lock()
		n := len(d.held)
		if actor != "" {
			n = 0
			//isrsim:unordered counted in any order
			for _, p := range d.held {
				if p.Actor == actor {
					n++
				}
			}
		}
		changed, closed := d.changed, d.closed
		d.mu.Unlock()
		switch {
		case n >= count:
			return nil
		case closed:
			return ErrClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close ends the Desk. Requests still held have no effect. Their connections break, and they count as never released.
// Later requests are not held.
func (d *Desk) Close() {
	d.mu.Lock()
	d.closed = true
	d.idle, d.rules = d.idleRules(), nil
	d.armed.Store(false)
	for _, id := range slices.Sorted(maps.Keys(d.held)) {
		p := d.held[id]
		delete(d.held, id)
		d.forgotten(p.Request)
		d.o.Log(fmt.Sprintf("never released until the server ended: %s: it has no effect", p.Request))
		p.decided <- LoseRequest
	}
	close(d.changed)
	d.changed = make(chan struct{})
	d.mu.Unlock()
}
