package property

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/mutant"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// rough is a world in which much can happen to its three contenders.
func rough() *spec.Scenario {
	s := simple()
	s.Bounds.Ticks = 4
	s.Lag = spec.Lag{Scheduler: true}
	s.Cache.Render = s.Cache.Lease - time.Second
	s.Actors = append(s.Actors, spec.Actor{Name: "carol", Script: s.Actors[0].Script})
	for i := range s.Actors {
		a := &s.Actors[i]
		a.Pauses, a.PauseFor, a.Crashes, a.Restarts = 1, s.Cache.Lease, 1, 1
		a.Script = append(a.Script, spec.Command{Verb: "sleep", For: s.Cache.Revalidate}, a.Script[0])
	}
	s.Faults = []spec.Fault{{Fault: ddbfake.Fault{Kind: ddbfake.FaultResponseLost}, Maybe: true}}
	return s
}

// trace runs one schedule of a world and returns its trace.
func trace(t *testing.T, r runner, s *spec.Scenario, seed int) string {
	t.Helper()
	recorded := spec.Replay{Seed: uint64(seed), Choices: choicesOf(seed)}
	text, f := r.replay(s, recorded)
	if f != nil {
		text += f.kind + "\n" + f.text
	}
	return text
}

// choicesOf makes a schedule that fits every world: it takes the first or the second step, or the only one.
func choicesOf(seed int) (choices sim.Choices) {
	rng := sim.Stream(uint64(seed), "test")
	for range 400 {
		choices = append(choices, rng.IntN(2))
	}
	return choices
}

// TestBubbleChangesNothing runs code without goroutines with and without a
// bubble: the traces are the same.
func TestBubbleChangesNothing(t *testing.T) {
	for _, p := range append(kernel.Protocols()[:1], mutant.All()[0]) {
		newStore := func(n Node) (isr.Handler, error) { return p.New(n.Config) }
		plain, own := newRunner(t, Check{Protocol: p.Name}, newStore), newRunner(t,
			Check{Protocol: p.Name, Goroutines: true}, newStore)
		for seed := range effort.Quick(effort.Fewer(40, 10), 4) {
			s := rough()
			if diff := cmp.Diff(trace(t, plain, s, seed), trace(t, own, s, seed)); diff != "" {
				t.Fatalf("%s, seed %d: the traces differ (-without +in a bubble):\n%s", p.Name, seed, diff)
			}
		}
	}
}

// TestBubbleIsDeterministic runs a store with goroutines under many schedules, on
// one processor and on eight.
func TestBubbleIsDeterministic(t *testing.T) {
	r := newRunner(t, Check{Protocol: defaultName, Goroutines: true}, NewLeaser)
	first := map[int]string{}
	for _, processors := range []int{1, 8} {
		t.Run(fmt.Sprint(processors), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			for seed := range effort.Quick(effort.Fewer(100, 25), 8) {
				text := trace(t, r, rough(), seed)
				if first[seed] == "" {
					first[seed] = text
				}
				if diff := cmp.Diff(first[seed], text); diff != "" {
					t.Fatalf("seed %d: two runs differ:\n%s", seed, diff)
				}
			}
		})
	}
}

// TestBubbleKnowsWhatHappensAtATime has machines that stop, crash and come back at a given time, windows of faults, and
// late answers. Code without goroutines has the same trace with and without a bubble, and code with goroutines has the
// same trace in every run.
func TestBubbleKnowsWhatHappensAtATime(t *testing.T) {
	timed := func() *spec.Scenario {
		s := rough()
		s.Skew = time.Second
		for i, events := range [][]sim.Planned{
			{{Kind: sim.Crash, At: 2 * time.Second}, {Kind: sim.Restart, At: 12 * time.Second}},
			{{Kind: sim.Pause, At: time.Second, For: 11 * time.Second}},
			{{Kind: sim.ClockStep, At: 3 * time.Second, For: time.Second}},
		} {
			s.Actors[i].Crashes, s.Actors[i].Restarts, s.Actors[i].Pauses, s.Actors[i].Events = 0, 0, 0, events
		}
		s.Faults = []spec.Fault{
			{Fault: ddbfake.Fault{Kind: ddbfake.FaultRequestLost, Actor: s.Actors[2].Name}, CutOff: true,
				From: 9 * time.Second, To: 12 * time.Second},
			{Fault: ddbfake.Fault{Times: ddbfake.Always}, Latency: 100 * time.Millisecond,
				LatencyUpTo: 2 * time.Second, Maybe: true},
			{Fault: ddbfake.Fault{Kind: ddbfake.FaultThrottled, Op: "GetItem"},
				From: 20 * time.Second, To: 30 * time.Second},
		}
		return s
	}
	p := kernel.Protocols()[0]
	newStore := func(n Node) (isr.Handler, error) { return p.New(n.Config) }
	plain, own := newRunner(t, Check{Protocol: p.Name}, newStore), newRunner(t,
		Check{Protocol: p.Name, Goroutines: true}, newStore)
	many := newRunner(t, Check{Protocol: defaultName, Goroutines: true}, NewLeaser)
	crashes, late := 0, 0
	for seed := range effort.Fewer(20, 8) {
		text := trace(t, plain, timed(), seed)
		if diff := cmp.Diff(text, trace(t, own, timed(), seed)); diff != "" {
			t.Fatalf("seed %d: the traces differ (-without +in a bubble):\n%s", seed, diff)
		}
		crashes += strings.Count(text, "loses its memory")
		late += strings.Count(text, "(the answer takes ")
		if diff := cmp.Diff(trace(t, many, timed(), seed), trace(t, many, timed(), seed)); diff != "" {
			t.Fatalf("seed %d: two runs differ:\n%s", seed, diff)
		}
	}
	if crashes == 0 || late == 0 {
		t.Errorf("%d crashes and %d late answers, want some of each", crashes, late)
	}
}

// TestTimeInBubble runs a store that reads every clock.
func TestTimeInBubble(t *testing.T) {
	s := simple()
	s.Skew = time.Second
	s.Actors[0].Drift.Offset = time.Second
	s.Actors = append(s.Actors,
		spec.Actor{Name: "carol", Script: []spec.Command{{Verb: "sleep", For: time.Minute}}})
	asked := 0
	r := newRunner(t, Check{Protocol: defaultName, Goroutines: true}, func(n Node) (isr.Handler, error) {
		return getter(func(ctx context.Context, _ string) (isr.Served, error) {
			asked++
			began := n.Clock.Now()
			offset := began.Sub((&bubble{}).Now())
			if offset != 0 && offset != time.Second {
				t.Errorf("the node's clock differs from package time by %v", offset)
			}
			timer, ticker := n.Clock.NewTimer(3*time.Second), n.Clock.NewTicker(2*time.Second)
			defer ticker.Stop()
			stopped := n.Clock.AfterFunc(time.Second, func() { t.Error("a stopped timer fires") })
			if !stopped.Stop() {
				t.Error("a running timer says that it does not run")
			}
			var order []string
			for range 2 {
				select {
				case <-timer.Chan():
					order = append(order, "timer "+n.Clock.Since(began).Truncate(time.Millisecond).String())
				case <-ticker.Chan():
					order = append(order, "ticker "+n.Clock.Since(began).Truncate(time.Millisecond).String())
				}
			}
			before := n.Clock.Now()
			// the schedule may let it sleep for longer
			if n.Clock.Sleep(time.Second); n.Clock.Since(before) < time.Second {
				t.Errorf("a sleep of 1s took %v", n.Clock.Since(before))
			}
			if diff := cmp.Diff([]string{"ticker 2s", "timer 3s"}, order); diff != "" {
				t.Errorf("what fires, and when (-want +got):\n%s", diff)
			}
			// If the schedule delays the request too long, the context ends first.
			call, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_, err := n.Client.GetItem(call,
				&dynamodb.GetItemInput{TableName: &n.Table, Key: pagecache.Key("pk", isr.SortMeta)})
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a call under a timeout: %v", err)
			}
			return isr.Served{}, errors.Join(errors.New("nothing yet"), err)
		}), nil
	})
	s.Bounds.Ticks = 8
	timeouts := 0
	for seed := range 50 {
		text := trace(t, r, s, seed)
		timeouts += strings.Count(text, context.DeadlineExceeded.Error())
		if strings.Contains(text, "broken") {
			t.Fatal(text)
		}
	}
	if asked != 100 || timeouts == 0 {
		t.Errorf("asked %d times, of which %d ended in a timeout; want 100, and some", asked, timeouts)
	}
}

// getter is a store that consists of the function Get.
type getter func(ctx context.Context, key string) (isr.Served, error)

func (g getter) Get(ctx context.Context, key string) (isr.Served, error) { return g(ctx, key) }

// NewLeaser makes a store that keeps its leases as lock clients do: while a page is rendered, a goroutine extends the
// lease, with a timeout for each call.
func NewLeaser(n Node) (isr.Handler, error) { return newLeaser(n, false) }

// NewRevivingLeaser is NewLeaser, but releases the lock without waiting for a heartbeat that is under way. The
// heartbeat does not check whose lock the row is: it may write the released lock again, over the next holder's lock.
//
// Source: https://github.com/awslabs/amazon-dynamodb-lock-client/pull/116,
// https://github.com/tristanls/dynamodb-lock-client/issues/1
func NewRevivingLeaser(n Node) (isr.Handler, error) { return newLeaser(n, true) }

func newLeaser(n Node, reviving bool) (isr.Handler, error) {
	rows, err := pagecache.NewRecipeA(n.Config)
	if err != nil {
		return nil, err
	}
	l := &leaser{RecipeA: rows, node: n, reviving: reviving, closed: make(chan struct{})}
	cache, err := pagecache.NewOn(l, n.Config)
	if err != nil {
		return nil, err
	}
	return closing{cache, l.Close}, nil
}

// closing is a cache with Get and Close, and nothing else.
type closing struct {
	cache *pagecache.Cache
	end   func() error
}

// Close calls the store's end.
func (c closing) Close() error { return c.end() }

// Get asks the cache.
func (c closing) Get(ctx context.Context, key string) (isr.Served, error) {
	return c.cache.Get(ctx, key)
}

// leaser is a store with heartbeats.
type leaser struct {
	*pagecache.RecipeA
	node     Node
	reviving bool

	mu     sync.Mutex
	beat   *heartbeat
	once   sync.Once
	closed chan struct{}
}

type heartbeat struct {
	stop, stopped chan struct{}
	mu            sync.Mutex
	lease         pagecache.Lease
}

func (l *leaser) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	lease, err := l.RecipeA.Acquire(ctx, key)
	if err != nil {
		return lease, err
	}
	b := &heartbeat{stop: make(chan struct{}), stopped: make(chan struct{}), lease: lease}
	l.mu.Lock()
	l.beat = b
	l.mu.Unlock()
	go l.run(ctx, b)
	return lease, nil
}

func (l *leaser) run(ctx context.Context, b *heartbeat) {
	defer close(b.stopped)
	every := l.node.Lease / 3
	ticker := l.node.Clock.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-b.stop:
			return
		case <-l.closed:
			return
		case <-ticker.Chan():
			call, cancel := context.WithTimeout(ctx, every)
			lease, err := l.extend(call, b.lease)
			cancel()
			if err == nil {
				b.mu.Lock()
				b.lease = lease
				b.mu.Unlock()
			}
		}
	}
}

// extend is the heartbeat's call.
func (l *leaser) extend(ctx context.Context, lease pagecache.Lease) (pagecache.Lease, error) {
	if !l.reviving {
		return l.RecipeA.Refresh(ctx, lease)
	}
	lock := l.NewLock(lease.Key, lease.Token)
	number := func(e pagecache.EpochSeconds) types.AttributeValue {
		return &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(e), 10)}
	}
	_, err := l.node.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &l.node.Table, Key: pagecache.Key(lock.PK, isr.SortLock),
		UpdateExpression:         aws.String("SET lease_token = :mine, lease_expires_at = :expires, #ttl = :ttl"),
		ExpressionAttributeNames: map[string]string{"#ttl": "ttl"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":mine": &types.AttributeValueMemberS{Value: lease.Token}, ":expires": number(lock.LeaseExpiresAt),
			":ttl": number(lock.TTL),
		},
	})
	lease.ExpiresAt = lock.LeaseExpiresAt
	return lease, err
}

// end stops the heartbeat and returns the lease as the heartbeat left it.
func (l *leaser) end(lease pagecache.Lease) pagecache.Lease {
	l.mu.Lock()
	b := l.beat
	l.beat = nil
	l.mu.Unlock()
	if b == nil {
		return lease
	}
	close(b.stop)
	if !l.reviving {
		<-b.stopped
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lease
}

func (l *leaser) Publish(ctx context.Context, lease pagecache.Lease, m pagecache.Meta) error {
	return l.RecipeA.Publish(ctx, l.end(lease), m)
}

func (l *leaser) Release(ctx context.Context, lease pagecache.Lease) error {
	return l.RecipeA.Release(ctx, l.end(lease))
}

// Close ends the heartbeat.
func (l *leaser) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// SetShrinkRuns is for a process without time to look for small schedules.
func SetShrinkRuns(n int) { shrinkRuns = n }

// CommandOf is the command of a test.
func CommandOf(test string) string { return commandOf(test) }

// FileName is the file of a test's failure.
func FileName(test string) string { return fileName(test) }
