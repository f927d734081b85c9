package property_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/racing"
	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

func TestHeartbeatsPass(t *testing.T) {
	t.Parallel()
	property.Check{Goroutines: true, Schedules: racing.Fewer(property.DefaultSchedules, 10)}.Run(t, property.NewLeaser)
}

// goroutineStores are stores with goroutines that a check must refuse.
func goroutineStores() map[string]func(property.Node) (isr.Handler, error) {
	return map[string]func(property.Node) (isr.Handler, error){
		"heartbeat after release": property.NewRevivingLeaser,
		"leaves a goroutine": func(n property.Node) (isr.Handler, error) {
			go func() { <-make(chan int) }()
			return isr.New(n.Config)
		},
		"waits for itself": func(property.Node) (isr.Handler, error) {
			return handler(func(context.Context, string) (isr.Served, error) {
				return isr.Served{}, <-make(chan error)
			}), nil
		},
		"panics in a node": func(property.Node) (isr.Handler, error) {
			return handler(func(context.Context, string) (isr.Served, error) { panic("no such page") }), nil
		},
		"holds a mutex over a call": func(n property.Node) (isr.Handler, error) {
			var mu sync.Mutex
			return handler(func(ctx context.Context, key string) (isr.Served, error) {
				both := make(chan error)
				for range 2 {
					go func() {
						mu.Lock()
						defer mu.Unlock()
						_, err := n.Render(ctx, key, func(context.Context) error { return nil })
						both <- err
					}()
				}
				return isr.Served{}, errors.Join(<-both, <-both)
			}), nil
		},
	}
}

// TestHeartbeatAfterReleaseIsFound is the whole way of a failure in goroutines:
// it is found, shrunk, left in a file and replayed, with the same words each time.
func TestHeartbeatAfterReleaseIsFound(t *testing.T) {
	t.Parallel()
	const store = "heartbeat after release"
	dir := t.TempDir()
	c := runChild(t, dir, store, []string{"-rapid.seed=1", "-rapid.shrinktime=" + racing.Fewer("2s", "0s")})
	c.wantFailure(t, "violated: TestChild under store-under-test", "lock-theft: ", "found in schedule ", "scenario: "+failFile,
		"replay: property.Replay(t, \""+failFile+"\", newStore)")
	one := runChild(t, dir, store, nil, "GOMAXPROCS=1")
	one.wantFailure(t, "effect", "violated: TestChild under store-under-test", "lock-theft: ")
	eight := runChild(t, dir, store, nil, "GOMAXPROCS=8")
	if diff := cmp.Diff(durations.ReplaceAllString(one.output, ""), durations.ReplaceAllString(eight.output, "")); diff != "" {
		t.Errorf("two replays differ (-1 processor +8):\n%s", diff)
	}
	// What is mended passes on the same file.
	property.Replay(t, c.file(), property.NewLeaser)
}

// TestBadGoroutines checks stores that have no verdict.
func TestBadGoroutines(t *testing.T) {
	for _, tc := range []struct {
		store string
		want  []string
	}{
		{"leaves a goroutine", []string{"broken: the store under test: when the run was over, a goroutine was left that waits for ever", "method Close() error"}},
		{"waits for itself", []string{"deadlock: actors wait, but nothing can happen"}},
		{"panics in a node", []string{"broken: the store under test: actor ", "panicked: no such page"}},
		{"holds a mutex over a call", []string{"a run did not end within", "waits for a mutex that another holds over a call"}},
	} {
		t.Run(tc.store, func(t *testing.T) {
			t.Parallel()
			runChild(t, t.TempDir(), tc.store, []string{"-rapid.seed=1", "-rapid.shrinktime=" + racing.Fewer("1s", "0s")}).wantFailure(t, tc.want...)
		})
	}
}
