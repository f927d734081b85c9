package property

import (
	"crypto/rand" //nolint:depguard // to give it a seed
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/cryptotest"

	"github.com/isr-sim/isr-sim/internal/race"
)

// random seeds crypto/rand for each run, from the run's seed: stores take tokens and the versions of records from it.
type random struct {
	in  *testing.T // whose bubble the runs happen in
	mu  sync.Mutex // a run that is stuck is never waited for
	was io.Reader  // crypto/rand's Reader before the first run
	// unseeded says why it cannot be seeded: the test is parallel to others, which share it.
	unseeded string
}

// seed is scenario.Run's Before.
func (r *random) seed(seed uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() {
		if v := recover(); v != nil {
			r.unseeded = fmt.Sprint(v)
		}
	}()
	if r.was == nil {
		r.was = rand.Reader
	}
	cryptotest.SetGlobalRandom(r.in, seed) // until the bubble's end
}

// left has crypto/rand be what it was when t is over, although a run in a bubble that does not end has taken its seed.
// With the race detector it keeps the seed: what that run has read is not ordered before anything, and would be
// reported.
func (r *random) left(t *testing.T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.was == nil || r.unseeded != "" || race.Enabled {
		return
	}
	t.Cleanup(func() { rand.Reader = r.was })
	cryptotest.SetGlobalRandom(t, 0)
}
