package scenario

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// happened runs a scenario, given as a file, without a preemption, and returns its world when it is over.
func happened(t *testing.T, file string, p isr.Protocol) *world {
	t.Helper()
	s, err := Parse("f.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(context.Background(), Run{Scenario: s, Protocol: p}, sim.Config{Strategy: sim.DelayBound(0), MaxSteps: s.Bounds.Steps})
	if err != nil {
		t.Fatal(err)
	}
	if r := w.sim.Run(); r.End != sim.Finished {
		t.Fatalf("the run ended %v: %v", r.End, r.Err)
	}
	return w
}

// TestEventsSayWhoseTheyAreAndWhereTheLogStood: between two events with the same Change, nothing has been written.
func TestEventsSayWhoseTheyAreAndWhereTheLogStood(t *testing.T) {
	w := happened(t, `
name: tenants
cache: {render: 1s}
actors:
  - {name: alice, tenant: t1, script: [get /home]}
  - {name: bob, tenant: t2, script: [change /home, get /home]}
  - {name: carol, script: [sleep 1h, get /home]}
`, recipe.Reference())
	type seen struct {
		Actor, Tenant, Body string
		Kind                history.Kind
		Change              int
	}
	var got []seen
	for _, e := range w.history.Events() {
		got = append(got, seen{e.Actor, e.Tenant, e.Body, e.Kind, e.Change})
	}
	want := []seen{
		{"alice", "t1", "", history.Asked, 0},
		{"alice", "t1", "t1/home@0#alice-render-1", history.Rendered, 1}, // the lock is taken
		{"bob", "t2", "", history.Changed, 1},
		{"bob", "t2", "", history.Asked, 1},
		{"bob", "t2", "t2/home@1#bob-render-1", history.Rendered, 2},
		{"bob", "t2", "t2/home@1#bob-render-1", history.Served, 4}, // META is put, the lock deleted
		{"alice", "t1", "t1/home@0#alice-render-1", history.Served, 6},
		{"carol", "", "", history.Asked, 6},
		{"carol", "", "/home@0#carol-render-1", history.Rendered, 7},
		{"carol", "", "/home@0#carol-render-1", history.Served, 9},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestBodiesAreKnownFromTheMomentTheyAreStored: before anything leads to them.
func TestBodiesAreKnownFromTheMomentTheyAreStored(t *testing.T) {
	w := happened(t, "name: one\nactors: [{name: alice, script: [get /home]}]", recipe.Reference())
	want := []history.Body{{Time: w.start, Actor: "alice", Name: "pages/alice-1", Body: "/home@0#alice-render-1", Change: 1}}
	if diff := cmp.Diff(want, w.bodyLog); diff != "" {
		t.Errorf("bodies (-want +got):\n%s", diff)
	}
}
