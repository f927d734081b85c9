package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/internal/trace/request"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// client is a node's DynamoDB client. On the simulator it does the same as the SDK's client on the service. It sends a
// failed request again, without delay and without jitter, and gives each transaction one idempotency token for all its
// attempts.
//
// Source: https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html
type client struct{ n *node }

var _ isr.Client = client{}

// Options returns the options of the node's client that a cache may ask for: its region.
func (c client) Options() dynamodb.Options {
	return dynamodb.Options{Region: c.n.region}
}

// sdkClient returns a real client of the SDK whose requests go to the simulator, for code that needs a
// *dynamodb.Client. It is slower than client.
func (n *node) sdkClient() *dynamodb.Client {
	calls := &sdkCalls{}
	do := func(ctx context.Context, c ddbfake.Call) (any, error) {
		var attempt int
		invocation := ddbfake.Invocation(ctx)
		c.Sent, attempt = calls.attempt(invocation, n.now())
		return n.own.Watch(ctx, invocation, n.proc.Now, func() (any, error) { return n.call(ctx, c, attempt) })
	}
	return ddbfake.NewClient(do, ddbfake.WithActor(n.proc.Name()), ddbfake.WithClientID(n.client),
		func(o *dynamodb.Options) {
			o.Retryer = ddbfake.Retryer(n.world.scenario.Cache.Attempts)
			o.Region = n.region
			if n.own != nil {
				o.APIOptions = append(o.APIOptions[:len(o.APIOptions):len(o.APIOptions)], n.own.TellsTrouble)
			}
		})
}

// sdkCalls counts the attempts of a client's calls. A client has several calls under way at the same time only in a
// bubble.
type sdkCalls struct {
	mu   sync.Mutex
	last []sdkCall // about as many calls as were ever under way at the same time
}

type sdkCall struct {
	invocation string
	sent       time.Time
	attempts   int
}

// manyCalls is how many calls a client remembers at most.
const manyCalls = 64

// attempt notes an attempt of a call, and returns when the call was first sent.
func (s *sdkCalls) attempt(invocation string, now time.Time) (sent time.Time, attempt int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.last) - 1; i >= 0 && invocation != ""; i-- {
		if c := &s.last[i]; c.invocation == invocation {
			c.attempts++
			return c.sent, c.attempts
		}
	}
	if len(s.last) == manyCalls {
		s.last = slices.Delete(s.last, 0, manyCalls/2)
	}
	s.last = append(s.last, sdkCall{invocation, now, 1})
	return now, 1
}

// send makes one call with all its attempts.
func send[O any](c client, input any, options []func(*dynamodb.Options)) (*O, error) {
	sent, region := c.n.now(), c.n.regionOf(options)
	if c.n.proc.Remembers() && c.n.world.unread && request.AsksLockTTL(input) {
		c.n.proc.Wrong(&sim.TakenError{
			Off: sim.UnreadDeadlines, Why: c.n.proc.Name() + " has DynamoDB look at the ttl of a lock",
		})
	}
	for attempt := 1; ; attempt++ {
		out, err := c.n.call(c.n.world.ctx,
			ddbfake.Call{Actor: c.n.proc.Name(), Region: region, Sent: sent, Input: input}, attempt)
		if err == nil {
			answer, ok := out.(*O)
			if !ok {
				return nil, fmt.Errorf("the store answered with %T", out)
			}
			return answer, nil
		}
		if !request.Retryable(err) {
			return nil, err
		}
		if attempt >= c.n.world.scenario.Cache.Attempts {
			return nil, fmt.Errorf("exceeded maximum number of attempts, %d, %w", attempt, err)
		}
	}
}

func (c client) GetItem(
	_ context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.GetItemOutput, error) {
	return send[dynamodb.GetItemOutput](c, in, o)
}

func (c client) PutItem(
	_ context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.PutItemOutput, error) {
	return send[dynamodb.PutItemOutput](c, in, o)
}

func (c client) UpdateItem(
	_ context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	return send[dynamodb.UpdateItemOutput](c, in, o)
}

func (c client) DeleteItem(
	_ context.Context, in *dynamodb.DeleteItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.DeleteItemOutput, error) {
	return send[dynamodb.DeleteItemOutput](c, in, o)
}

func (c client) Query(
	_ context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options),
) (*dynamodb.QueryOutput, error) {
	return send[dynamodb.QueryOutput](c, in, o)
}

func (c client) TransactWriteItems(
	_ context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	if in.ClientRequestToken == nil {
		withToken := *in
		token := c.n.NextID(c.n.proc.Name() + ownCalls)
		withToken.ClientRequestToken = &token
		in = &withToken
	}
	return send[dynamodb.TransactWriteItemsOutput](c, in, o)
}

// call parks the node until the call has taken effect and its answer is there.
func (n *node) call(ctx context.Context, c ddbfake.Call, attempt int) (any, error) {
	r, free := &n.request, n.world.bubble == nil && !n.busy && !n.proc.Remembers()
	if free {
		n.busy = true // it stays true if the node dies during the call, because the request may still be under way
	} else {
		r = new(storeRequest)
	}
	*r = storeRequest{node: n, call: c, attempt: attempt, named: n.namedFor(ctx)}
	if err := n.Do(ctx, r); err != nil {
		n.own.Answered(request.Writes(c.Input), n.proc.Now, err)
		return nil, err
	}
	if free { // other requests of a program may have come and gone meanwhile
		n.busy = false
	}
	n.own.Answered(request.Writes(c.Input), n.proc.Now, r.err)
	return r.out, r.err
}

func (r *storeRequest) SortKey() string {
	if r.sortKey == "" {
		r.sortKey = r.makeSortKey()
	}
	return r.sortKey
}

// Asks implements sim.Remembered.
func (r *storeRequest) Asks() string {
	token := ""
	if in, ok := r.call.Input.(*dynamodb.TransactWriteItemsInput); ok {
		token = aws.ToString(in.ClientRequestToken)
	}
	return fmt.Sprintf("%s%s, attempt %d, sent at %d in %s %s", r.SortKey(), token, r.attempt, r.call.Sent.UnixNano(),
		r.call.Region, r.call.Actor)
}

// storeAnswer is the answer to a storeRequest, and its fingerprint.
type storeAnswer struct {
	out   any
	err   error
	print fingerprint.Hash
}

// Answer implements sim.Remembered.
func (r *storeRequest) Answer() any {
	print, _ := request.AnswerFingerprint(r.out, r.err, request.AsItIs)
	return storeAnswer{r.out, r.err, print}
}

// Tell implements sim.Remembered.
func (r *storeRequest) Tell(answer any) (same bool) {
	a, is := answer.(storeAnswer)
	r.out, r.err = a.out, a.err
	print, _ := request.AnswerFingerprint(a.out, a.err, request.AsItIs)
	return is && print == a.print
}

func (r *storeRequest) makeSortKey() string {
	in := r.call.Input
	if t, ok := in.(*dynamodb.TransactWriteItemsInput); ok {
		same := *t
		same.ClientRequestToken = nil // tokens are numbered in the order of arrival
		in = &same
	}
	text, err := json.Marshal(in)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%T %s", in, text)
}

// storeRequest is one attempt of a call to DynamoDB.
type storeRequest struct {
	node    *node
	call    ddbfake.Call
	attempt int
	ways    []int        // see Outcomes
	touches []sim.Access // see Accesses; nil means that they are not known yet, or could be anything
	out     any
	err     error
	twice   bool        // it was delivered twice
	hidden  bool        // it took effect, but its sender was not told
	changed int         // how many rows it changed
	named   *named      // nil means the node's
	sortKey string      // see SortKey; "" means not known yet
	slow    *spec.Fault // the fault that delays the answer, or nil
	late    time.Duration
}

// Outcomes implements sim.Request. Outcome 0 is the ordinary one. Each fault that the schedule may choose for this call
// is an outcome, too: its number is its place in world.possible plus one. A fault that may strike one of several rows
// has an outcome for each of them; from one to the next, the number grows by the number of possible faults.
func (r *storeRequest) Outcomes() []int {
	if len(r.node.world.possible) == 0 {
		return subject.Ordinary
	}
	r.ways = append(r.ways[:0], 0)
	for i := range r.node.world.possible {
		f := &r.node.world.possible[i]
		if f.left != 0 && r.node.world.canStrike(&f.fault, r.call) {
			r.node.world.meet(f.declared)
			for part := range max(partsOfBatch(&f.fault, r.call.Input), 1) {
				r.ways = append(r.ways, i+1+part*len(r.node.world.possible))
			}
		}
	}
	return r.ways
}

// DateSent implements sim.Dated, because a change is judged by the time at which it was sent.
func (r *storeRequest) DateSent() time.Time { return r.call.Sent }

func (r *storeRequest) Apply(outcome int) {
	w := r.node.world
	call := r.call
	var struck *spec.Fault
	r.slow, r.late = nil, 0
	if outcome > 0 {
		struck = w.possible[(outcome-1)%len(w.possible)].strike()
		if struck.Latency > 0 {
			struck, r.slow = nil, struck
		}
	}
	if len(w.certain) > 0 {
		if struck == nil {
			struck = w.struckBy(call, false)
		}
		if r.slow == nil {
			r.slow = w.struckBy(call, true)
		}
	}
	if struck != nil {
		call.Fault = &struck.Fault
		if partsOfBatch(struck, call.Input) > 1 {
			call.Undone = leavesUndone(struck, (outcome-1)/max(len(w.possible), 1))
		}
		if struck.CutOff {
			w.Mark(mark.CutOff)
		}
	}
	if w.fingerprinter != nil {
		w.countCall(call)
	}
	cmp.Or(r.named, r.node.named).note(call.Input, w.rows)
	w.struck = 0
	if w.fresh > 0 {
		call.Input = w.asFresh(call.Input)
	}
	done := w.ofToken(call.Input)
	r.out, r.err = w.db.Do(w.ctx, call)
	done()
	if inStatements(w.struck, call.Input) { // the other statements have taken effect
		w.struck = ddbfake.FaultUnprocessed
	}
	w.stored = w.changed()
	r.twice = w.struck == ddbfake.FaultDuplicate
	r.hidden = takesEffect(w.struck) && !r.twice
	r.changed = w.afterCall(r)
	w.noteTables(r)
	w.noteAnswer(r)
	if r.hidden {
		w.untold.note(r, w.seen, w.struck)
	}
}

// Orphaned implements sim.Deserted.
func (r *storeRequest) Orphaned() { r.node.world.untold.note(r, r.node.world.seen, 0) }

func (r *storeRequest) Delay() time.Duration {
	if r.slow == nil {
		return 0
	}
	w := r.node.world
	w.Mark(mark.SlowAnswer)
	r.late = w.delay(r.slow, r.node)
	return r.late
}

func (r *storeRequest) Describe(int) string {
	words := r.node.world.words()
	text := words.Input(r.call.Input)
	if words.Regions {
		text += words.In(r.call.Region)
	}
	text += " -> " + words.Outcome(r.out, r.err)
	if r.twice {
		text += " (delivered twice)"
	}
	if r.late > 0 {
		text += fmt.Sprintf(" (the answer takes %v)", r.late)
	}
	return text
}

func (r *storeRequest) DescribeAnswer() string { return r.node.world.words().Outcome(r.out, r.err) }

// The kinds of objects in accesses.
const (
	bodyObject   = "body"
	storeObject  = "store" // of the bodies
	originObject = "origin"
	faultObject  = "fault"
	rowObject    = "row"
	orderObject  = "order" // of the writes of a row in several regions
	tokenObject  = "token" // of a transaction
	leadsObject  = "leads" // which body a row leads to: every write of a row may change that
	pageObject   = "page"  // in a region, with all its rows
)

// accessesIn returns what a call to DynamoDB in a region reads and writes; nil if that could be anything in the table.
// A call that writes a row also reads the bodies, because the row may lead to one. The ClientRequestToken of a
// transaction counts as written: of two transactions with one token, in one region, at most the first one takes effect,
// whatever their rows.
func (w *world) accessesIn(region string, input any) []sim.Access {
	touched, writes, judged := make([]sim.Access, 0, 4), false, []string{""}
	if w.replicator == nil {
		region = ""
	} else { // leases that nodes take in different regions are judged by each other, too
		judged = append(w.reached(region), "")
	}
	all := request.EachRow(input, func(table *string, key map[string]types.AttributeValue, write bool) {
		table = aws.String(request.TableName(aws.ToString(table)))
		if row := w.partsOf(table, key); w.replicator == nil {
			touched = append(touched, rowAccess(write, row))
		} else {
			touched = append(touched, w.touch(region, write, row...)...)
		}
		if write {
			writes, touched = true, withPages(touched, w.rows.mapping().PagesOf(*table, key), judged...)
		}
	})
	if !all {
		return nil
	}
	if writes {
		touched = w.withOrder(append(touched, sim.Access{Object: leads}))
	}
	if token := w.givenToken(input); token != "" {
		touched = append(touched, sim.Access{Object: sim.ObjectNamed(tokenObject, region, token), Write: true})
	}
	return touched
}

// withPages adds accesses to pages in some regions. The order of two writes to a page's rows matters, even if the rows
// are different: invariants judge a write of META while another machine has the lease, although no request sees that.
func withPages(touched []sim.Access, pages []string, regions ...string) []sim.Access {
	for _, page := range pages {
		for _, region := range regions {
			access := sim.Access{Object: sim.ObjectNamed(pageObject, region, page), Write: true}
			if !slices.Contains(touched, access) {
				touched = append(touched, access)
			}
		}
	}
	return touched
}

// withOrder adds an access to the order of all writes to the accesses of a write, if a read can see that order.
func (w *world) withOrder(touched []sim.Access) []sim.Access {
	if !w.showsOrder {
		return touched
	}
	return append(touched, sim.Access{Object: sim.ObjectNamed(orderObject, "rows"), Write: true})
}

var leads = sim.ObjectNamed(leadsObject)

// partsOf returns the parts of a row's name in accesses; row is the key, or the whole row. Rows of tables with unknown
// keys count as one row without parts: there, an attribute pk need not be a key.
func (w *world) partsOf(table *string, row map[string]types.AttributeValue) []string {
	if w.rows != nil {
		if !slices.Contains(spec.TableNames(w.scenario.Rows), aws.ToString(table)) {
			return nil // the mapping does not have this table
		}
		return []string{w.rows.Name(aws.ToString(table), row)}
	}
	if name, is := rowOf(row); is && !w.ownKeys && aws.ToString(table) == hooks.TableName {
		return []string{name.pk, name.sk}
	}
	return nil
}

// rowAccess is the access to a row of a table that is in one region.
func rowAccess(write bool, row []string) sim.Access {
	return sim.Access{Object: sim.ObjectNamed(append([]string{rowObject}, row...)...), Write: write}
}

func (r *storeRequest) Accesses(outcome int) []sim.Access {
	if r.touches == nil {
		if r.touches = r.node.world.accessesIn(r.call.Region, r.call.Input); r.touches != nil {
			r.touches = r.node.world.withCertain(r.touches)
		}
	}
	if r.touches == nil {
		return nil
	}
	return withPossible(r.touches, outcome)
}

// regionOf is the region to which a call of a node goes: the node's region, unless the options of the call name another
// one, as a real client's may do.
func (n *node) regionOf(options []func(*dynamodb.Options)) string {
	if n.world.replicator == nil {
		return ""
	}
	o := dynamodb.Options{Region: n.region}
	for _, set := range options {
		set(&o)
	}
	return o.Region
}
