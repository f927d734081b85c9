package property_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"github.com/jonboulle/clockwork"
	"golang.org/x/sync/singleflight"

	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

func TestHeartbeatsPass(t *testing.T) {
	t.Parallel()
	property.Check{Goroutines: true, Schedules: effort.Fewer(5, 2)}.Run(t, property.NewLeaser)
}

// TestCloseMayWait: a goroutine that sleeps before each attempt ends by itself when its node is down, and Close waits
// for that.
func TestCloseMayWait(t *testing.T) {
	t.Parallel()
	property.Check{Goroutines: true, Schedules: 2}.Run(t, func(n property.Node) (isr.Handler, error) {
		store, err := recipe.New(n.Config)
		var behind sync.WaitGroup
		get := func(ctx context.Context, key string) (isr.Served, error) {
			behind.Go(func() {
				time.Sleep(10 * time.Second) //nolint:forbidigo // the bubble's time
				_, _ = n.Bodies.GetBody(ctx, "none")
			})
			return store.Get(ctx, key)
		}
		return waiting{handler(get), &behind}, err
	})
}

// aBusyFleet has machines that answer before they write articles, and stop for longer than a lease. One cannot publish
// an article that nobody else asks for.
const aBusyFleet = `name: busy
cache: {revalidate: 1s, lease: 5s, attempts: 1}
bounds: {ticks: 2, schedules: 200}
actors:
  - {name: alice, script: [get /home]}
  - {name: bob, script: [sleep 2s, get /home, get /home, sleep 7s, get /home, get /home], pauses: 2, pause-for: 6s}
  - {name: carol, script: [sleep 4s, get /home, get /about]}
faults: [maybe error-before op=UpdateItem actor=carol times=2]
`

// TestWorkBehindAnAnswerPasses: a stale article is served at once, and written again by a goroutine whose context
// belongs to no request. Before it writes, its lease may be over, and its machine may have another one. If keys do not
// say which rows belong to a page, the requests for it do.
func TestWorkBehindAnAnswerPasses(t *testing.T) {
	effort.NotShort(t)
	for _, slugs := range effort.Fewer([]bool{false, true}, []bool{true}) {
		t.Run(strconv.FormatBool(slugs), func(t *testing.T) {
			t.Parallel()
			property.Check{Rows: articleRows, Goroutines: true}.Replay(t, fileOf(t, aBusyFleet),
				func(n property.Node) (isr.Handler, error) {
					ctx, end := context.WithCancel(context.Background())
					return &behind{articles: articles{Node: n, slugs: slugs}, ctx: ctx, end: end}, nil
				})
		})
	}
}

// behind answers with the articles that it has, and writes new ones afterwards.
type behind struct {
	articles
	going sync.WaitGroup
	ctx   context.Context // the context of its goroutines
	end   func()
}

func (b *behind) Get(ctx context.Context, key string) (isr.Served, error) {
	out, err := b.Client.GetItem(ctx,
		&dynamodb.GetItemInput{TableName: &b.Table, Key: b.row(key), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return isr.Served{}, err
	}
	page, at := b.page(out.Item)
	if page == nil {
		return b.articles.Get(ctx, key)
	}
	if !b.fresh(at) {
		me := b.Tokens()
		if row, err := b.lock(ctx, key, me); err == nil {
			b.going.Go(func() { _, _ = b.renew(b.ctx, key, me, row) })
		}
	}
	return isr.Served{Body: page, Fresh: b.fresh(at)}, nil
}

func (b *behind) Close() error {
	b.end()
	b.going.Wait()
	return nil
}

// waiting is a store whose Close waits for its goroutines.
type waiting struct {
	handler
	behind *sync.WaitGroup
}

func (w waiting) Close() error {
	w.behind.Wait()
	return nil
}

// outsideChannel was made outside of every bubble.
var outsideChannel = make(chan error)

// sharedFlight is a typical package variable. It makes machines wait for each other, which hides their races.
var sharedFlight singleflight.Group

// goroutineStores are stores that a check must refuse because of their goroutines.
func goroutineStores() map[string]func(property.Node) (isr.Handler, error) {
	return map[string]func(property.Node) (isr.Handler, error){
		"heartbeat after release": property.NewRevivingLeaser,
		"is stuck once it has failed": func(n property.Node) (isr.Handler, error) {
			if _, err := os.Stat(failFile); err == nil {
				var mu sync.Mutex
				mu.Lock()
				mu.Lock() // a bubble does not notice this wait
			}
			return property.NewRevivingLeaser(n)
		},
		"shares a flight": func(n property.Node) (isr.Handler, error) {
			store, err := recipe.New(n.Config)
			return handler(func(ctx context.Context, key string) (isr.Served, error) {
				served, err, _ := sharedFlight.Do(key, func() (any, error) { return store.Get(ctx, key) })
				return served.(isr.Served), err
			}), err
		},
		"reads package time": func(n property.Node) (isr.Handler, error) {
			n.Clock = clockwork.NewRealClock()
			return recipe.New(n.Config)
		},
		"leaves a goroutine": func(n property.Node) (isr.Handler, error) {
			go func() { <-make(chan int) }()
			return recipe.New(n.Config)
		},
		"waits for itself": func(property.Node) (isr.Handler, error) {
			return handler(func(context.Context, string) (isr.Served, error) {
				return isr.Served{}, <-make(chan error)
			}), nil
		},
		"panics in a goroutine": func(property.Node) (isr.Handler, error) {
			return handler(func(context.Context, string) (isr.Served, error) {
				go func() { panic("no such page") }()
				return isr.Served{}, <-make(chan error)
			}), nil
		},
		"locks a mutex twice": func(property.Node) (isr.Handler, error) {
			return handler(func(context.Context, string) (isr.Served, error) {
				var mu sync.Mutex
				mu.Lock()
				mu.Lock()
				return isr.Served{}, nil
			}), nil
		},
		"holds a mutex over a sleep": func(n property.Node) (isr.Handler, error) {
			var mu sync.Mutex
			return handler(func(context.Context, string) (isr.Served, error) {
				both := make(chan error)
				for range 2 {
					go func() {
						mu.Lock()
						defer mu.Unlock()
						time.Sleep(time.Second) //nolint:forbidigo // the bubble's time
						both <- nil
					}()
				}
				return isr.Served{}, errors.Join(<-both, <-both)
			}), nil
		},
		"waits for the outside": func(property.Node) (isr.Handler, error) {
			return handler(func(context.Context, string) (isr.Served, error) {
				return isr.Served{}, <-outsideChannel
			}), nil
		},
		"panics in a node": func(property.Node) (isr.Handler, error) {
			return handler(func(context.Context, string) (isr.Served, error) { panic("no such page") }), nil
		},
	}
}

// TestHeartbeatAfterReleaseIsFound follows a failure in goroutines through all stages: it is found, shrunk, left in a
// file and replayed, with the same text each time.
func TestHeartbeatAfterReleaseIsFound(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	const store = "heartbeat after release"
	dir := t.TempDir()
	c := runChild(t, dir, store, []string{"-rapid.seed=1", "-rapid.shrinktime=" + effort.Fewer("2s", "0s")})
	c.wantFailure(t, "violated: TestChild under store-under-test", "lock-theft: ", "found in schedule ",
		"scenario: "+failFile, "replay: property.Replay(t, \""+failFile+"\", newStore)")
	one := runChild(t, dir, store, nil, "GOMAXPROCS=1")
	one.wantFailure(t, "effect", "violated: TestChild under store-under-test", "lock-theft: ")
	eight := runChild(t, dir, store, nil, "GOMAXPROCS=8")
	if diff := cmp.Diff(durations.ReplaceAllString(one.output, ""),
		durations.ReplaceAllString(eight.output, "")); diff != "" {
		t.Errorf("two replays differ (-1 processor +8):\n%s", diff)
	}
	// A store without the bug passes on the same file.
	property.Replay(t, c.file(), property.NewLeaser)
}

// TestAFailureIsThereBeforeItIsShrunk: a failure is printed and written to its file before the shrinking begins,
// because a user may interrupt the shrinking.
func TestAFailureIsThereBeforeItIsShrunk(t *testing.T) {
	t.Parallel()
	const store = "is stuck once it has failed"
	dir := t.TempDir()
	// Without -v, a log is not printed before the test's end.
	cmd := childCommand(t, dir, store, []string{"-rapid.seed=1", "-rapid.shrinktime=10m"})
	stderr, err := cmd.StderrPipe()
	must.OK(t, err)
	must.OK(t, cmd.Start())
	var printed strings.Builder
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		printed.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(),
			"a smaller failure is looked for now, for 10m0s at most (-rapid.shrinktime)") {
			break
		}
	}
	// The next run waits for a mutex, for 20 s.
	interrupted := cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait()
	if interrupted != nil {
		t.Errorf("the test was over: %v", interrupted)
	}
	c := child{dir: dir, output: printed.String()}
	c.wantFailure(t, "violated: TestChild under store-under-test", "lock-theft: ",
		"scenario: "+failFile, "replay: go test ")
	s, err := spec.Parse("TestChild.yaml", readFile(t, c.file()), isr.Protocol{Name: "store-under-test"})
	if err != nil || s.Replay == nil || !s.Replay.Goroutines {
		t.Fatalf("the file: %v, %+v", err, s)
	}
	runChild(t, dir, "heartbeat after release", nil).wantFailure(t, "effect",
		"violated: TestChild under store-under-test", "lock-theft: ")
}

// TestAStuckRunEndsShrinking: the first run that does not end also ends the shrinking, and in time.
func TestAStuckRunEndsShrinking(t *testing.T) {
	t.Parallel()
	longWait(t)
	began := time.Now() //nolint:forbidigo // the time that people wait
	c := runChild(t, t.TempDir(), "is stuck once it has failed", []string{"-rapid.seed=1", "-rapid.shrinktime=3s"})
	c.wantFailure(t, "violated: TestChild under store-under-test", "a smaller failure is looked for now",
		"violated: TestChild under store-under-test", "shrinking ended with a run that did not end within ")
	if took := time.Since(began); took > 20*time.Second { //nolint:forbidigo // as above
		t.Errorf("it took %v, with 3s for shrinking", took)
	}
}

// longWait skips a test in short runs and under the race detector. The test waits ten seconds to be sure that nothing
// goes on.
func longWait(t *testing.T) {
	t.Helper()
	effort.Long(t)
}

// TestBadGoroutines checks stores that get no verdict.
func TestBadGoroutines(t *testing.T) {
	for _, tc := range []struct {
		store string
		want  []string
	}{
		{"leaves a goroutine", []string{
			"broken: the store under test: when the run was over, a goroutine was left that waits for ever",
			"method Close() error",
			" (starts): chan receive in github.com/isr-sim/isr-sim/property_test.goroutineStores",
		}},
		{"shares a flight", []string{"broken: the store under test: ", " went on because ",
			" did: they share something, ", ": newStore must make a new store at each call", "scenario: " + failFile}},
		{"reads package time", []string{"vacuous: nothing was violated, but none of ", " reached clock-step",
			"hint: nothing has read a node's Clock; time.Now has no error here"}},
		{"waits for itself", []string{
			"deadlock: actors wait, but nothing can happen", " (get /",
			"): chan receive in github.com/isr-sim/isr-sim/property_test.goroutineStores",
			"scenario: " + failFile, "trace: " + strings.TrimSuffix(failFile, ".yaml") + ".txt",
		}},
		{"panics in a node", []string{"broken: the store under test: actor ", "panicked: no such page"}},
		{"panics in a goroutine",
			[]string{"panic: no such page", ` labels:{"call": "get /`, "property_test.goroutineStores"}},
		{"locks a mutex twice", []string{"deadlock: a goroutine waits for a mutex whose holder waits for it too",
			" (get /", "): sync.Mutex.Lock in github.com/isr-sim/isr-sim/property_test.goroutineStores"}},
		{"holds a mutex over a sleep",
			[]string{"deadlock: a goroutine waits for a mutex whose holder waits for it too, or for time to pass",
				"): sync.Mutex.Lock in "}},
		{"waits for the outside", []string{
			"broken: the store under test: a goroutine waits for the outside", " (get /",
			"): chan receive in github.com/isr-sim/isr-sim/property_test.goroutineStores",
		}},
	} {
		t.Run(tc.store, func(t *testing.T) {
			t.Parallel()
			if slices.Contains(
				[]string{"locks a mutex twice", "holds a mutex over a sleep", "waits for the outside"}, tc.store,
			) {
				longWait(t)
			}
			if tc.store == "reads package time" { // TestTally covers the hint, and TestFewWorldsAreNotVacuous the check
				effort.Nightly(t)
			}
			runChild(t, t.TempDir(), tc.store, []string{"-rapid.seed=1", "-rapid.checks=10", "-rapid.shrinktime=" +
				effort.Fewer("1s", "0s")}).wantFailure(t, tc.want...)
		})
	}
}
