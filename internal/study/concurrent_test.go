package study_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/protocols/mutant"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/study/concurrent"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// runNodes runs for a few seconds on a fake in real time.
func runNodes(t *testing.T, p isr.Protocol, d time.Duration) *concurrent.Outcome {
	t.Helper()
	clock := clockwork.NewRealClock()
	db := ddbfake.New(ddbfake.Options{Clock: clock})
	o, err := concurrent.Run{
		Protocol: p, Client: db.Client(), Table: "cache", Clock: clock, Actors: 8, For: d,
	}.Do(t.Context())
	must.OK(t, err)
	t.Logf("%d rounds, %d asked, %d operations, %d paused, %d taken, %d abandoned", o.Rounds, o.Asked, o.Operations,
		o.Paused, o.Taken, o.Abandoned)
	return o
}

func TestTheReferenceHoldsInRealParallel(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes real time")
	}
	t.Parallel()
	o := runNodes(t, recipe.Reference(), 10*time.Second)
	if o.Verdict != invariant.OK {
		t.Errorf("%v: %s\n%v", o.Verdict, o.Why, o.Lines)
	}
}

func TestABlindPublishShowsInRealParallel(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes real time")
	}
	t.Parallel()
	mutants := mutant.All()
	i := slices.IndexFunc(mutants, func(p isr.Protocol) bool { return p.Name == "blind-publish" })
	if i < 0 {
		t.Fatal("there is no mutant of that name")
	}
	o := runNodes(t, mutants[i], time.Minute)
	if o.Verdict != invariant.Violated || o.Violated.Name != invariant.Named("linearizable").Name {
		t.Fatalf("%v: %s", o.Verdict, o.Why)
	}
	if len(o.Lines) == 0 {
		t.Error("nothing shows it")
	}
}

// The clock of this test never moves. So an interrupt of the run must wake a sleeping node, or the run would wait for
// ever.
func TestInterruptedNodesWake(t *testing.T) {
	t.Parallel()
	clock := clockwork.NewFakeClock()
	r := concurrent.Run{
		Protocol: recipe.Reference(), Client: ddbfake.New(ddbfake.Options{Clock: clock}).Client(), Table: "cache",
		Clock: clock, Actors: 8, For: time.Minute,
	}
	bound, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	ctx, interrupt := context.WithCancel(bound)
	ended := make(chan *concurrent.Outcome, 1)
	go func() {
		o, err := r.Do(ctx)
		if err != nil {
			t.Error(err)
		}
		ended <- o
	}()
	must.OK(t, clock.BlockUntilContext(bound, r.Actors))
	interrupt()
	select {
	case o := <-ended:
		if o.Verdict != invariant.Unknown || o.Why != "interrupted" {
			t.Errorf("got %v: %s, want unknown: interrupted", o.Verdict, o.Why)
		}
	case <-bound.Done():
		t.Error("the run has not ended")
	}
}
