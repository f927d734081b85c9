package property

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/subject/list/draw"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// shape is how the goroutines of a lock synchronise. The lock itself is the same in all shapes.
type shape struct {
	name string
	// alone returns a function that calls its parameter, one call at a time. The parameter sends a request.
	alone func() func(func() error) error
	// waits says that a timer's goroutine may wait for a mutex that another one holds over a request. Time stands still
	// then, so a heartbeat is seldom late, and seldom found to write over another holder's lock.
	waits bool
	// beat calls its parameter every so often, in goroutines, until the context ends, and then returns.
	beat func(ctx context.Context, n *Machine, every time.Duration, call func(context.Context))
}

func byMutex() func(func() error) error {
	var mu sync.Mutex
	return func(f func() error) error {
		mu.Lock()
		defer mu.Unlock()
		return f()
	}
}

// byChannel uses a channel with room for one as a mutex.
func byChannel() func(func() error) error {
	turn := make(chan struct{}, 1)
	return func(f func() error) error {
		turn <- struct{}{}
		defer func() { <-turn }()
		return f()
	}
}

func onTicks(ctx context.Context, ticks <-chan time.Time, call func(context.Context)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			call(ctx)
		}
	}
}

func byClockTicker(ctx context.Context, n *Machine, every time.Duration, call func(context.Context)) {
	ticker := n.Clock.NewTicker(every)
	defer ticker.Stop()
	onTicks(ctx, ticker.Chan(), call)
}

func byTicker(ctx context.Context, _ *Machine, every time.Duration, call func(context.Context)) {
	ticker := time.NewTicker(every) //nolint:forbidigo // the bubble's time
	defer ticker.Stop()
	onTicks(ctx, ticker.C, call)
}

// byTimer starts a timer after each call.
func byTimer(ctx context.Context, n *Machine, every time.Duration, call func(context.Context)) {
	for ctx.Err() == nil {
		timer := n.Clock.NewTimer(every)
		select {
		case <-ctx.Done():
		case <-timer.Chan():
			call(ctx)
		}
		timer.Stop()
	}
}

// byFunc makes package time call a function, each time in a new goroutine.
func byFunc(ctx context.Context, _ *Machine, every time.Duration, call func(context.Context)) {
	for ctx.Err() == nil {
		done := make(chan struct{})
		//nolint:forbidigo // the bubble's time
		timer := time.AfterFunc(every, func() {
			defer close(done)
			call(ctx)
		})
		select {
		case <-done:
		case <-ctx.Done():
			if !timer.Stop() {
				<-done
			}
		}
	}
}

// byDeadline waits for the deadline of a context, and gives each call a deadline of one interval.
func byDeadline(ctx context.Context, _ *Machine, every time.Duration, call func(context.Context)) {
	for ctx.Err() == nil {
		within, cancel := context.WithTimeout(ctx, every)
		<-within.Done()
		cancel()
		within, cancel = context.WithTimeout(ctx, every)
		call(within)
		cancel()
	}
}

var shapes = []shape{
	{"mutex, the clock's ticker", byMutex, true, byClockTicker},
	{"mutex, a ticker", byMutex, true, byTicker},
	{"mutex, the clock's timer", byMutex, false, byTimer},
	{"mutex, AfterFunc", byMutex, false, byFunc},
	{"mutex, deadlines", byMutex, true, byDeadline},
	{"RWMutex, a ticker", func() func(func() error) error {
		var mu sync.RWMutex
		return func(f func() error) error {
			mu.RLock()   // as a reader, and then as a writer
			mu.RUnlock() //nolint:gocritic,staticcheck // the reader has nothing else to do
			mu.Lock()
			defer mu.Unlock()
			return f()
		}
	}, true, byTicker},
	{"channel, a ticker", byChannel, false, byTicker},
	{"semaphore, the clock's ticker", func() func(func() error) error {
		one := semaphore.NewWeighted(1)
		return func(f func() error) error {
			if err := one.Acquire(context.Background(), 1); err != nil {
				return err
			}
			defer one.Release(1)
			return f()
		}
	}, false, byClockTicker},
	{"single flight, AfterFunc", func() func(func() error) error {
		var flight singleflight.Group
		lock := byMutex() // a flight merges only equal calls: others need the lock
		return func(f func() error) error {
			_, err, _ := flight.Do(fmt.Sprintf("%p", f), func() (any, error) { return nil, lock(f) })
			return err
		}
	}, false, byFunc},
	{"Cond, a ticker", func() func(func() error) error {
		taken, given := false, sync.NewCond(new(sync.Mutex))
		return func(f func() error) error {
			given.L.Lock()
			for taken {
				given.Wait()
			}
			taken = true
			given.L.Unlock()
			err := f()
			given.L.Lock()
			taken = false
			given.Broadcast()
			given.L.Unlock()
			return err
		}
	}, false, byTicker},
	{"mutex, a group", byMutex, true, inGroup},
}

func inGroup(ctx context.Context, n *Machine, every time.Duration, call func(context.Context)) {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { byTicker(ctx, n, every, call); return nil })
	group.Go(func() error { byClockTicker(ctx, n, 3*every/2, call); return nil })
	_ = group.Wait()
}

// shaped is one machine's client of the lock: one row per lock, with its owner and the end of its lease.
type shaped struct {
	Machine
	shape  shape
	broken string // what is written without a condition, over the locks of others: nothing, "all", or "heartbeats"
	life   context.Context
	end    context.CancelFunc
	going  sync.WaitGroup
}

func (l *shaped) Close() error {
	l.end()
	l.going.Wait()
	return nil
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func milliseconds(t time.Time) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(t.UnixMilli(), 10)}
}

func (l *shaped) Acquire(ctx context.Context, name string) (Held, error) {
	h := &shapedHold{
		lock: l, owner: l.Tokens(), alone: l.shape.alone(),
		row: map[string]types.AttributeValue{"pk": text(name), "sk": text("LOCK")},
	}
	now := l.Clock.Now()
	until := now.Add(l.Lease)
	_, err := l.Client.UpdateItem(ctx, h.write(until, "(attribute_not_exists(pk) OR #u <= :now OR #o = :o)",
		map[string]types.AttributeValue{":now": milliseconds(now)}))
	if err != nil {
		return nil, err
	}
	h.until = until
	beating, stop := context.WithCancel(l.life)
	h.stop = stop
	h.going.Add(1)
	l.going.Go(func() {
		defer h.going.Done()
		l.shape.beat(beating, &l.Machine, l.Lease/4, func(ctx context.Context) { _ = h.Extend(ctx) })
	})
	return h, nil
}

type shapedHold struct {
	lock  *shaped
	owner string
	row   map[string]types.AttributeValue
	alone func(func() error) error
	until time.Time // guarded by alone
	stop  context.CancelFunc
	going sync.WaitGroup
}

// write is a request that extends the lock under a condition.
func (h *shapedHold) write(until time.Time, condition string,
	values map[string]types.AttributeValue) *dynamodb.UpdateItemInput {
	in := &dynamodb.UpdateItemInput{
		TableName: &h.lock.Table, Key: h.row, UpdateExpression: aws.String("SET #o = :o, #u = :u"),
		ExpressionAttributeNames:  map[string]string{"#o": "owner", "#u": "until"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":o": text(h.owner), ":u": milliseconds(until)},
	}
	heartbeat := values == nil
	if broken := h.lock.broken; broken != "all" && !(broken == "heartbeats" && heartbeat) {
		in.ConditionExpression = &condition
		maps.Copy(in.ExpressionAttributeValues, values)
	}
	return in
}

// Extend does what a heartbeat does.
func (h *shapedHold) Extend(ctx context.Context) error {
	return h.alone(func() error {
		until := h.lock.Clock.Now().Add(h.lock.Lease)
		_, err := h.lock.Client.UpdateItem(ctx, h.write(until, "#o = :o", nil))
		if _, refused := errors.AsType[*types.ConditionalCheckFailedException](err); refused {
			h.until = time.Time{}
			h.stop()
		}
		if err == nil {
			h.until = until
		}
		return err
	})
}

func (h *shapedHold) StillHeld(context.Context) (held bool, _ error) {
	err := h.alone(func() error {
		held = h.lock.Clock.Now().Before(h.until)
		return nil
	})
	return held, err
}

func (h *shapedHold) Release(ctx context.Context) error {
	h.stop()
	h.going.Wait()
	return h.alone(func() error {
		h.until = time.Time{}
		_, err := h.lock.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: &h.lock.Table, Key: h.row, ConditionExpression: aws.String("#o = :o"),
			ExpressionAttributeNames:  map[string]string{"#o": "owner"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":o": text(h.owner)},
		})
		if _, refused := errors.AsType[*types.ConditionalCheckFailedException](err); refused {
			return nil
		}
		return err
	})
}

// aPausedHolder is a world in which timers fire while requests are under way, and leases end.
const aPausedHolder = `name: shapes
protocol: lock-under-test
cache: {lease: 10s, poll: 5s, patience: 9, attempts: 3}
actors:
  - {name: alice, script: [hold job for 30s], pauses: 1, pause-for: 25s}
  - {name: bob, script: [sleep 1s, hold job for 9s]}
faults: [maybe response-lost times=1, maybe latency 1s-4s times=2]
settle: 60s
bounds: {ticks: 8}
`

// TestShapesOfLocks: a lock passes however its goroutines wait for each other and for time, and the same bug is found
// in each shape.
func TestShapesOfLocks(t *testing.T) {
	s := must.Of(spec.Parse("shapes.yaml", []byte(aPausedHolder), isr.Protocol{Name: draw.Locks.UnderTest}))(t)
	for _, sh := range effort.Quick(shapes, shapes[1:4]) {
		for _, broken := range []string{"", "all", "heartbeats"} {
			if broken == "heartbeats" && (sh.waits || testing.Short()) {
				continue
			}
			t.Run(sh.name+"/"+broken, func(t *testing.T) {
				c := LockCheck{Goroutines: true, TTL: NoTTL}
				r := newRunner(t, c.check(), c.store(func(n Machine) (Lock, error) {
					l := &shaped{Machine: n, shape: sh, broken: broken}
					l.life, l.end = context.WithCancel(context.Background())
					return l, nil
				}))
				for seed := range effort.Fewer(uint64(3), 1) {
					_, f := r.campaign(s, seed, 8)
					switch {
					case f != nil && broken == "":
						trace, _ := r.replay(s, *f.replay)
						t.Errorf("seed %d: %s\n%s", seed, trace, f.text)
					case broken != "" && (f == nil || !f.violates()):
						t.Errorf("seed %d: found %+v, expected a violation", seed, f)
					}
				}
			})
		}
	}
}

// TestTimeStopsAtAMutex: if a timer's goroutine waits for a mutex, time stops at that instant, in each run.
func TestTimeStopsAtAMutex(t *testing.T) {
	s := must.Of(spec.Parse("shapes.yaml", []byte(aPausedHolder), isr.Protocol{Name: draw.Locks.UnderTest}))(t)
	c := LockCheck{Goroutines: true, TTL: NoTTL}
	for _, sh := range shapes[:2] {
		r := newRunner(t, c.check(), c.store(func(n Machine) (Lock, error) {
			l := &shaped{Machine: n, shape: sh}
			l.life, l.end = context.WithCancel(context.Background())
			return l, nil
		}))
		for seed := range effort.Fewer(4, 2) {
			text := trace(t, r, s, seed)
			if diff := cmp.Diff(text, trace(t, r, s, seed)); diff != "" || strings.Contains(text, "broken") {
				t.Errorf("%s, seed %d: two runs differ, or are broken:\n%s\n%s", sh.name, seed, diff, text)
			}
		}
	}
}
