package scenario

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	stdhttp "net/http"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/transport/http"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// client is a node's DynamoDB client. It does on the simulator what the SDK's client does. It sends a failed request
// again, without delay and without jitter, and gives each transaction one idempotency token for all its attempts.
//
// Source: https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html
type client struct{ n *node }

var _ isr.Client = client{}

// sdkClient is a real client of the SDK whose wire is the simulator's: slower, and what code that needs a
// *dynamodb.Client gets.
func (n *node) sdkClient() *dynamodb.Client {
	calls := &sdkCalls{}
	do := func(ctx context.Context, c ddbfake.Call) (any, error) {
		var attempt int
		c.Sent, attempt = calls.attempt(ddbfake.Invocation(ctx), n.proc.Now())
		return n.call(ctx, c, attempt)
	}
	return ddbfake.NewClient(do, ddbfake.WithActor(n.proc.Name()), ddbfake.WithClientID(n.world.nextClient()), func(o *dynamodb.Options) {
		o.Retryer = ddbfake.Retryer(n.world.scenario.Cache.Attempts)
		if n.own != nil {
			n.own.tellsTrouble(o)
		}
	})
}

// sdkCalls counts the attempts of a client's calls. Several of a client's calls are under way at the same time only in
// a bubble.
type sdkCalls struct {
	mu   sync.Mutex
	last []sdkCall // as many as were under way at the same time, and not many more
}

type sdkCall struct {
	invocation string
	sent       time.Time
	attempts   int
}

// manyCalls is how many calls a client remembers.
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
func send[O any](c client, input any) (*O, error) {
	sent := c.n.proc.Now()
	for attempt := 1; ; attempt++ {
		out, err := c.n.call(c.n.world.ctx, ddbfake.Call{Actor: c.n.proc.Name(), Sent: sent, Input: input}, attempt)
		if err == nil {
			answer, ok := out.(*O)
			if !ok {
				return nil, fmt.Errorf("the store answered with %T", out)
			}
			return answer, nil
		}
		if !retryable(err) {
			return nil, err
		}
		if attempt >= c.n.world.scenario.Cache.Attempts {
			return nil, fmt.Errorf("exceeded maximum number of attempts, %d, %w", attempt, err)
		}
	}
}

// standard is asked which errors are worth another attempt, and nothing else: it neither waits nor counts.
var standard = retry.NewStandard()

// retryable says whether the SDK's standard retryer would send the call again.
func retryable(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return standard.IsErrorRetryable(err)
	}
	// The retryer takes microseconds, and a contender's refusals are many, so it is asked about each exception once.
	of := exception{api.ErrorCode(), api.ErrorFault()}
	again, known := verdicts.Load(of)
	if !known {
		if of.fault == smithy.FaultServer {
			// It knows the service's own faults by their status, which a call without a wire has not.
			err = &http.ResponseError{Err: err, Response: serverFault}
		}
		again, _ = verdicts.LoadOrStore(of, standard.IsErrorRetryable(err))
	}
	return again == true
}

// verdicts holds the retryer's answer about each exception: bool.
var verdicts sync.Map

type exception struct {
	code  string
	fault smithy.ErrorFault
}

// serverFault is the response around an error of the service's own.
var serverFault = &http.Response{Response: &stdhttp.Response{StatusCode: stdhttp.StatusInternalServerError}}

func (c client) GetItem(_ context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return send[dynamodb.GetItemOutput](c, in)
}

func (c client) PutItem(_ context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return send[dynamodb.PutItemOutput](c, in)
}

func (c client) UpdateItem(_ context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return send[dynamodb.UpdateItemOutput](c, in)
}

func (c client) DeleteItem(_ context.Context, in *dynamodb.DeleteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return send[dynamodb.DeleteItemOutput](c, in)
}

func (c client) Query(_ context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return send[dynamodb.QueryOutput](c, in)
}

func (c client) TransactWriteItems(_ context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if in.ClientRequestToken == nil {
		withToken := *in
		token := c.n.world.nextID(c.n.proc.Name() + calls)
		withToken.ClientRequestToken = &token
		in = &withToken
	}
	return send[dynamodb.TransactWriteItemsOutput](c, in)
}

// call parks the node until the call has taken effect and its answer is there.
func (n *node) call(ctx context.Context, c ddbfake.Call, attempt int) (any, error) {
	r := &n.request
	if n.world.bubble != nil || n.busy {
		r = new(storeRequest)
	}
	n.busy = true // for good if the node dies over it: the request may still be under way
	*r = storeRequest{node: n, call: c, attempt: attempt, named: n.namedFor(ctx)}
	if err := n.do(ctx, r); err != nil {
		return nil, err
	}
	n.busy = false
	return r.out, r.err
}

// SortKey implements sim.Sorted.
func (r *storeRequest) SortKey() string {
	if r.sortKey == "" {
		r.sortKey = r.makeSortKey()
	}
	return r.sortKey
}

func (r *storeRequest) makeSortKey() string {
	in := r.call.Input
	if t, ok := in.(*dynamodb.TransactWriteItemsInput); ok {
		same := *t
		same.ClientRequestToken = nil // numbered in the order of arrival
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
	touches []sim.Access // see Accesses; nil is not known yet, or anything
	out     any
	err     error
	twice   bool   // it was delivered twice
	hidden  bool   // it took effect, and its sender was not told
	changed int    // how many rows it changed
	named   *named // nil is the node's
	sortKey string // see SortKey; "" is not known yet
	slow    *Fault // that holds up the answer; nil is none
	late    time.Duration
}

// Outcomes implements sim.Request: the ordinary outcome, and each fault that the schedule may choose for this call, as
// one more than its place in world.possible.
func (r *storeRequest) Outcomes() []int {
	if len(r.node.world.possible) == 0 {
		return ordinary
	}
	r.ways = append(r.ways[:0], 0)
	for i := range r.node.world.possible {
		f := &r.node.world.possible[i]
		if f.left != 0 && r.node.world.canStrike(&f.fault, r.call) {
			r.node.world.met[f.declared] = true
			r.ways = append(r.ways, i+1)
		}
	}
	return r.ways
}

// Apply implements sim.Request.
func (r *storeRequest) Apply(outcome int) {
	w := r.node.world
	call := r.call
	var struck *Fault
	r.slow = nil
	if outcome > 0 {
		struck = w.possible[outcome-1].strike()
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
		if struck.CutOff {
			w.mark(CutOff)
		}
	}
	if w.fingerprinter != nil {
		w.countCall(call)
	}
	cmp.Or(r.named, r.node.named).note(call.Input, w.rows)
	w.struck = 0
	r.out, r.err = w.db.Do(w.ctx, call)
	r.twice = w.struck == ddbfake.FaultDuplicate
	r.hidden = w.struck.Effective() && !r.twice
	r.changed = w.afterCall(r)
}

// Delay implements sim.Slow.
func (r *storeRequest) Delay() time.Duration {
	if r.slow == nil {
		return 0
	}
	w := r.node.world
	w.mark(SlowAnswer)
	r.late = w.delay(r.slow, r.node)
	return r.late
}

// Describe implements sim.Request.
func (r *storeRequest) Describe(int) string {
	words := r.node.world.words()
	text := words.Input(r.call.Input) + " -> " + words.Outcome(r.out, r.err)
	if r.twice {
		text += " (delivered twice)"
	}
	if r.late > 0 {
		text += fmt.Sprintf(" (the answer takes %v)", r.late)
	}
	return text
}

// DescribeAnswer implements sim.Request.
func (r *storeRequest) DescribeAnswer() string { return r.node.world.words().Outcome(r.out, r.err) }
