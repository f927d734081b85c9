package property_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/property"
)

// beatingTurnstile is a lock whose holder extends it by a goroutine, which holds
// a mutex over each request, as lock clients do. Each other field is a bug.
type beatingTurnstile struct {
	throwsAway bool // a heartbeat whose answer was lost, and that met its own commit, counts as a lost lock
	revives    bool // a release does not wait for the heartbeat, which does not ask whose lock it is
}

// beatingLeases are those that leave time for a heartbeat.
var beatingLeases = []time.Duration{10 * time.Second, 3 * time.Second, 30 * time.Second}

func beatingTurnstiles() map[string]beatingTurnstile {
	return map[string]beatingTurnstile{
		"lock: beats":             {},
		"lock: beats, throws":     {throwsAway: true},
		"lock: beats and revives": {revives: true},
	}
}

// beating is a beatingTurnstile on a machine.
type beating struct {
	turnstile
	bugs   beatingTurnstile
	once   sync.Once
	closed chan struct{}
}

func newBeatingTurnstiles(bugs beatingTurnstile) func(property.LockNode) (property.Lock, error) {
	return func(n property.LockNode) (property.Lock, error) {
		return &beating{turnstile: turnstile{LockNode: n, extendsAnyones: bugs.revives}, bugs: bugs, closed: make(chan struct{})}, nil
	}
}

// Close ends the heartbeats.
func (l *beating) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// beatingPassage is a lock that was taken. Of its methods it has no Extend: it
// extends itself.
type beatingPassage struct {
	of       *beating
	released chan struct{}

	mu      sync.Mutex // held over each request
	passage *passage
	lost    bool
	beats   int
}

// Acquire implements property.Lock.
func (l *beating) Acquire(ctx context.Context, gate string) (property.Held, error) {
	taken, err := l.turnstile.Acquire(ctx, gate)
	if err != nil {
		return nil, err
	}
	p := &beatingPassage{of: l, released: make(chan struct{}), passage: taken.(*passage)}
	go p.beat(ctx)
	return p, nil
}

func (p *beatingPassage) beat(ctx context.Context) {
	ticker := p.of.Clock.NewTicker(p.of.Lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-p.released:
			return
		case <-p.of.closed:
			return
		case <-ctx.Done():
			return
		case <-ticker.Chan():
			p.extend(ctx)
		}
	}
}

func (p *beatingPassage) extend(ctx context.Context) {
	if p.of.bugs.revives {
		_ = p.passage.Extend(ctx)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost {
		return
	}
	badge := p.passage.badge
	if p.of.bugs.throwsAway {
		// It asks for the end that it knows, which its own commit has changed.
		p.beats++
		if err := p.passage.extendFrom(ctx, p.beats); err != nil {
			p.lost = notMine(err) == nil || p.lost
		}
		return
	}
	if err := p.passage.Extend(ctx); err != nil && notMine(err) == nil && p.passage.badge == badge {
		p.lost = true
	}
}

// StillHeld implements property.HeldChecker.
func (p *beatingPassage) StillHeld(ctx context.Context) (bool, error) {
	if p.of.bugs.revives {
		return p.passage.StillHeld(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	held, err := p.passage.StillHeld(ctx)
	return held && !p.lost, err
}

// Token implements property.HeldFencer.
func (p *beatingPassage) Token() int64 { return p.passage.Token() }

// Release implements property.Held.
func (p *beatingPassage) Release(ctx context.Context) error {
	close(p.released)
	if !p.of.bugs.revives {
		p.mu.Lock()
		defer p.mu.Unlock()
	}
	p.lost = true
	return p.passage.Release(ctx)
}

// TestLockWithHeartbeatsPasses holds that a mutex which is held over a request is
// no obstacle. Such a check takes long.
func TestLockWithHeartbeatsPasses(t *testing.T) {
	t.Parallel()
	c := runChild(t, t.TempDir(), "lock: beats", []string{"-rapid.seed=1", "-rapid.checks=" + property.Fewer("20", "10")})
	if !c.passed {
		t.Errorf("the correct lock is accused:\n%s", c.output)
	}
}

// TestBugsOfHeartbeatsAreFound has bugs that only heartbeats have. The seed is one of those whose first worlds are small:
// a world with many heartbeats under a mutex takes minutes.
func TestBugsOfHeartbeatsAreFound(t *testing.T) {
	for lock, want := range map[string]string{"lock: beats, throws": "kept-lease: ", "lock: beats and revives": "lock-under-test"} {
		t.Run(lock, func(t *testing.T) {
			t.Parallel()
			runChild(t, t.TempDir(), lock, []string{"-rapid.seed=3", "-rapid.shrinktime=0s"}).wantFailure(t, "violated: TestChild under ", want)
		})
	}
}
