package property

import (
	"crypto/rand" //nolint:depguard // to give it a seed
	"fmt"
	"io"
	"testing"
	"testing/cryptotest"
)

// random seeds crypto/rand for each run, from the run's seed: stores take tokens
// and the versions of records from it.
type random struct {
	in  *testing.T // whose bubble the runs happen in
	was io.Reader  // crypto/rand's Reader before the first run
	// unseeded says why it cannot be seeded: the test is parallel to others, which share it.
	unseeded string
}

// seed is scenario.Run's Before.
func (r *random) seed(seed uint64) {
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

// left has crypto/rand be what it was when t is over, although a run in a bubble
// that does not end has taken its seed.
func (r *random) left(t *testing.T) {
	if r.was == nil || r.unseeded != "" {
		return
	}
	t.Cleanup(func() { rand.Reader = r.was })
	cryptotest.SetGlobalRandom(t, 0)
}
