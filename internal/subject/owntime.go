package subject

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/aws/smithy-go/middleware"

	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/trace/request"
)

// OwnTime separates a node's own time from the time for which it waits for others. Goroutines of the node share it.
type OwnTime struct {
	mu       sync.Mutex
	open     int           // requests under way
	since    time.Time     // since when there have been requests under way
	excused  time.Duration // the time of earlier requests, and of late timers
	failures []failure     // requests that failed, in order
	wrong    bool          // the latest request was malformed
	// beat is when the node last had the answer to a write, or was told of a failure. quiet is the excused time up to
	// then. A refused write is no beat: a node that is refused has lost its lock, and may stop.
	beat  time.Time
	quiet time.Duration
}

// failure is a request that failed, and not because of its conditions.
type failure struct {
	invocation string // the invocation id of the attempt, if a program's SDK made it
	at         time.Time
	retried    bool // the SDK sent it again, so that its caller was not told
	malformed  bool // the caller's own mistake
}

// Request notes that a request is sent. It returns a function that notes that the caller has the answer.
func (o *OwnTime) Request(now func() time.Time) (answered func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open++; o.open == 1 {
		o.since = now()
	}
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.open--; o.open == 0 {
			o.excused += now().Sub(o.since)
		}
	}
}

// Waited returns how long the node has waited for others so far.
func (o *OwnTime) Waited(now time.Time) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open > 0 {
		return o.excused + now.Sub(o.since)
	}
	return o.excused
}

// Waits returns how long the node has waited for others in earlier spans, and when the present span began; that is now
// if no request is under way.
func (o *OwnTime) Waits(now func() time.Time) (before time.Duration, since time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open > 0 {
		return o.excused, o.since
	}
	return o.excused, now()
}

// Answered notes the answer to an attempt of a request; writes says whether the request may write. A nil OwnTime notes
// nothing.
func (o *OwnTime) Answered(writes bool, now func() time.Time, err error) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case !writes && (err == nil || request.Refusal(err)):
	case err != nil && request.Refusal(err):
		o.beat = time.Time{}
	default:
		o.beat, o.quiet = now(), o.excused
	}
}

// Silent returns how long ago the last beat was, without the time that is excused.
func (o *OwnTime) Silent(now time.Time) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.beat.IsZero() || o.open > 0 {
		return 0
	}
	return max(now.Sub(o.beat)-(o.excused-o.quiet), 0)
}

// Late notes that a timer of the node fired too late, as if the node had stood still.
func (o *OwnTime) Late(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.excused += max(d, 0)
}

// Attempted notes the result of a request.
func (o *OwnTime) Attempted(invocation string, now time.Time, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wrong = err != nil && request.Malformed(err)
	if err != nil && !request.Refusal(err) {
		o.failures = append(o.failures, failure{invocation: invocation, at: now, malformed: request.Malformed(err)})
		if !now.IsZero() {
			o.beat, o.quiet = now, o.excused
		}
	}
}

// Retries notes that the SDK of a program makes an attempt. The SDK itself cannot be observed, but the attempts of one
// call have the same invocation id. So the caller did not see the failure of the previous attempt, and the call has
// been under way since then.
func (o *OwnTime) Retries(invocation string, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.failures {
		if f := &o.failures[i]; invocation != "" && f.invocation == invocation && !f.retried {
			f.retried = true
			o.excused += now.Sub(f.at)
		}
	}
}

// Troubles returns how many requests have failed so far.
func (o *OwnTime) Troubles() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.failures)
}

// Troubled says whether a caller was told of a failure. The parameter before is the number of earlier failures that do
// not count. A malformed request does not count, unless it is the reason for a refusal by the code under test: if all
// requests are malformed, the table has other keys, and the check reports that.
func (o *OwnTime) Troubled(before int, refused bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.failures[before:], func(f failure) bool {
		return !f.retried && (!f.malformed || refused && o.wrong)
	})
}

// ownClient is the key of the context value that marks calls through the node's client.
type ownClient struct{}

// TellsTrouble makes a client of the SDK note the outcome that the caller of each call gets, after the SDK's own
// retries. It is one of the client's APIOptions.
func (o *OwnTime) TellsTrouble(s *middleware.Stack) error {
	return s.Initialize.Add(middleware.InitializeMiddlewareFunc("isr-sim trouble", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		out, meta, err := next.HandleInitialize(context.WithValue(ctx, ownClient{}, true), in)
		o.Attempted("", time.Time{}, cmp.Or(err, request.InPart(out.Result)))
		return out, meta, err
	}), middleware.Before)
}

// Watch makes a program's request, which belongs to the SDK call with the invocation id, and notes its result. Requests
// that come through the node's client are noted there.
func (o *OwnTime) Watch(
	ctx context.Context, invocation string, now func() time.Time, send func() (any, error),
) (any, error) {
	if o == nil || ctx.Value(ownClient{}) != nil {
		return send()
	}
	began, ended := now(), false
	o.Retries(invocation, began)
	defer func() {
		// A program that drops a request, as at a time limit, unwinds this call. If the request was held up, it counts
		// as failed.
		if now := now(); !ended && now.After(began) {
			o.Attempted(invocation, now, errGivenUp)
		}
	}()
	if late, is := ctx.Value(hooks.Late{}).(*func()); is {
		*late = func() {
			if now := now(); now.After(began) {
				o.Attempted("", now, errGivenUp)
			}
		}
	}
	out, err := send()
	ended = true
	o.Attempted(invocation, now(), cmp.Or(err, request.InPart(out)))
	return out, err
}

// errGivenUp is the failure of a request whose answer a program no longer waited for.
var errGivenUp = errors.New("the program gave the request up")
