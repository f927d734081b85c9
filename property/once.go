package property

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/subject/list/draw"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Once is one machine's client of an idempotency layer (idempotency records). If it also has a method
// Close() error, this method is called when the machine ends.
type Once interface {
	// Do calls effect if the effect of the key has not happened yet. It returns the effect's result, from this call or
	// from an earlier one. If effect returns an error, the effect did not happen. If Do returns isr.ErrOtherInputs, the
	// key belongs to another payload. After any other error the call may be made again, and the machine makes it again.
	Do(ctx context.Context, key, payload string, effect func(context.Context) (string, error)) (string, error)
}

// OnceCheck has the settings of a check of an idempotency layer. A field that LockCheck also has means the
// same here.
type OnceCheck struct {
	Schedules  int
	Reach      []scenario.Mark // nil is OnceReach(); some call must be answered in any case
	Goroutines bool
	Table      *dynamodb.CreateTableInput
	TTL        string
	// InProgress and Retentions are the times that worlds give the layer. The defaults are 10 s, 2 s and 1.5 s for
	// InProgress, and an hour and a minute for Retentions.
	InProgress, Retentions []time.Duration
	// Payload says that a call is refused, with isr.ErrOtherInputs, if its key belongs to another payload. Worlds have
	// such calls only if it is set.
	Payload bool
	// Wait is how long a call may wait on its own while no other call has its key; default 2 s. Takeover is for calls
	// whose machine has died: how long after InProgress they may still count as in progress; by default as long as
	// InProgress.
	Wait, Takeover time.Duration
}

// OnceReach returns the marks that at least one world of a check of calls must reach, unless the check says otherwise.
// A layer has been tested only if some call was answered with the result of another call, if some call was made while
// another one was under way, and if some effect happened again when that was allowed.
func OnceReach() []scenario.Mark { return slices.Clone(draw.Calls.Reach) }

// CheckOnce checks an idempotency layer, in the same way as CheckLock checks a lock. It draws worlds with
// rapid. In them, machines make the same calls, while effects and requests fail. The runs are judged by
// invariant.OfCalls.
func CheckOnce(t *testing.T, newOnce func(Machine) (Once, error)) {
	t.Helper()
	OnceCheck{}.Run(t, newOnce)
}

// Run checks the layer as CheckOnce does.
func (c OnceCheck) Run(t *testing.T, newOnce func(Machine) (Once, error)) {
	t.Helper()
	c.check().Run(t, c.store(newOnce))
}

// Replay runs the layer on a scenario file that a failed check has left, as Check.Replay does.
func (c OnceCheck) Replay(t *testing.T, file string, newOnce func(Machine) (Once, error)) {
	t.Helper()
	c.check().Replay(t, file, c.store(newOnce))
}

// Prove runs the layer in the world of a scenario file under every schedule that the file's bounds admit, as
// LockCheck.Prove does with a lock. Scripts of the file make the calls (once pay-7 with 100). Unless the check or the
// file says otherwise, a call must be answered in some schedule, made while another one is under way, and answered with
// the result of another one.
func (c OnceCheck) Prove(t *testing.T, file string, newOnce func(Machine) (Once, error)) {
	t.Helper()
	c.check().Prove(t, file, c.store(newOnce))
}

// check returns the Check for the store that c.store makes.
func (c OnceCheck) check() Check {
	check := Check{
		Schedules: c.Schedules, Reach: c.Reach, Goroutines: c.Goroutines,
	}.of(draw.Calls, "Once", "layer", "call effect", c.TTL)
	check.subject.table = c.Table
	check.subject.terms = worlds.Extras{
		Leases: c.InProgress, Retentions: c.Retentions,
		Terms: worlds.Terms{Payload: c.Payload, Wait: c.Wait, Takeover: c.Takeover},
	}
	return check
}

// store makes the store that runs in the world's nodes.
func (c OnceCheck) store(newOnce func(Machine) (Once, error)) func(Node) (isr.Handler, error) {
	if newOnce == nil {
		return nil
	}
	return func(n Node) (isr.Handler, error) {
		once, err := newOnce(n.machine())
		if err != nil {
			return nil, err
		}
		if once == nil {
			return nil, errors.New("it returned neither a layer nor an error")
		}
		client := onceClient{once: once, calls: n.calls, terms: promise.OnceTerms{
			Payload: c.Payload, Wait: cmp.Or(c.Wait, hooks.DefaultWait), Takeover: cmp.Or(c.Takeover, n.Lease),
		}}
		if closer, ok := once.(io.Closer); ok {
			return struct {
				onceClient
				io.Closer
			}{client, closer}, nil
		}
		return client, nil
	}
}

// onceClient is a layer in the form in which a world's node runs it.
type onceClient struct {
	once  Once
	terms promise.OnceTerms
	calls *calls
}

// Get implements isr.Handler.
func (onceClient) Get(context.Context, string) (isr.Served, error) {
	return isr.Served{}, errors.New("calls have no pages: this scenario is for property.CheckStore")
}

// OnceTerms implements hooks.OnceClient.
func (c onceClient) OnceTerms() promise.OnceTerms { return c.terms }

// Once implements hooks.OnceClient.
func (c onceClient) Once(
	ctx context.Context, key, payload string, effect func(context.Context) (string, error),
) (result string, err error) {
	inStore(func() {
		result, err = c.once.Do(ctx, key, payload, func(ctx context.Context) (string, error) {
			if err := c.calls.check(ctx, "effect"); err != nil {
				return "", err
			}
			return effect(ctx)
		})
	})
	return result, err
}
