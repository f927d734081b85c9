package kernel

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/mutant"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

const twoReads = `
name: two-reads
cache: {revalidate: 60s}
actors:
  - name: alice
    script: [get /home, sleep 60500ms, get /home]
`

// lingering is a protocol that violates freshness in the scenario twoReads.
func lingering(t *testing.T) isr.Protocol {
	t.Helper()
	for _, m := range mutant.All() {
		if m.Name == "fresh-a-second-longer" {
			return m
		}
	}
	t.Fatal("no such mutant")
	return isr.Protocol{}
}

func judgedBy(t *testing.T, choice string, o Options) *Outcome {
	t.Helper()
	s, err := spec.Parse("f.yaml", []byte(twoReads+choice))
	must.OK(t, err)
	out, err := Run{
		Scenario: s, Protocol: lingering(t), Seed: 1, Strategy: strategy.DelayBound(0), Options: o,
	}.Do(t.Context())
	must.OK(t, err)
	return out
}

func TestAViolatedStatementHasTheValueOfE(t *testing.T) {
	lingers := judgedBy(t, "max-clock-skew: 1ms", Options{}).Violation.Invariant
	if lingers.Name != "freshness" || !strings.HasSuffix(lingers.Statement,
		" (e is 1ms, the promised max-clock-skew)") {
		t.Errorf("%s: %s", lingers.Name, lingers.Statement)
	}
	for _, test := range []struct {
		statement string
		e         time.Duration
		want      string
	}{
		{"not before T - 2e", time.Second, "not before T - 2e (e is 1s, the promised max-clock-skew)"},
		{"less 4e, or more", 200 * time.Millisecond, "less 4e, or more (e is 200ms, the promised max-clock-skew)"},
		{"more than e left", time.Second, "more than e left (e is 1s, the promised max-clock-skew)"},
		{"more than e left", 0, "more than e left (e is 0s, the promised max-clock-skew)"},
		{"one entry each", time.Second, "one entry each"},
	} {
		if got := withSkew(test.statement, test.e); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// A finding shows when its machines did not run between its first and its last line, and no other events of nodes.
func TestAFindingShowsTheStopsOfItsMachines(t *testing.T) {
	var seen invariant.Evidence
	for i, e := range []history.Event{
		{Kind: history.Crashed, Actor: "alice"},
		{Kind: history.Asked, Actor: "alice"},
		{Kind: history.Resumed, Actor: "alice", Change: 1},
		{Kind: history.Rendered, Actor: "alice", Change: 1},
		{Kind: history.Paused, Actor: "bob", Change: 1},
		{Kind: history.Stepped, Actor: "alice", Change: 2},
		{Kind: history.Served, Actor: "alice", Change: 2},
		{Kind: history.Paused, Actor: "alice", Change: 3},
	} {
		e.Seq = i + 1
		seen.History = append(seen.History, e)
	}
	for _, actor := range []string{"alice", "carol", "alice"} {
		seen.Changes = append(seen.Changes, ddbfake.Change{Seq: len(seen.Changes) + 1, Actor: actor})
	}
	for _, test := range []struct {
		events, changes, want []int
	}{
		{nil, nil, nil},
		{nil, []int{1, 3}, []int{3, 6}},
		{nil, []int{1, 2}, []int{3}},
		{nil, []int{2}, nil},
		{[]int{2, 7}, nil, []int{2, 3, 6, 7}},
		{[]int{2}, []int{2}, []int{2, 3}},
		{[]int{7}, []int{1}, []int{3, 6, 7}},
	} {
		f := invariant.Finding{Events: test.events, Changes: test.changes}
		more := (&world{by: subject.Judged{Rows: true}}).meanwhile(seen, f)
		if !slices.Equal(more.Events, test.want) || !slices.Equal(more.Changes, test.changes) {
			t.Errorf("events %v and changes %v: shows the events %v and the changes %v, want %v and the same",
				test.events, test.changes, more.Events, more.Changes, test.want)
		}
	}
}

func TestAScenarioChoosesItsInvariants(t *testing.T) {
	every := "without: ["
	for _, inv := range invariant.All() {
		every += inv.Name + ", "
	}
	for _, test := range []struct {
		name, choice string
		want         invariant.Verdict
		left         []string // in the explanation
	}{
		{"all", "", invariant.Violated, nil},
		{"that one", "invariants: [freshness, stale-writer]", invariant.Violated,
			[]string{"not judged, left out by the scenario: lock-theft, monotonic-publication, "}},
		{"others", "invariants: [stale-writer]", invariant.OK, []string{", freshness, "}},
		{"without that one", "without: [freshness]", invariant.OK,
			[]string{"not judged, left out by the scenario: freshness\n"}},
		{"without another", "without: [atomic-publish]", invariant.Violated,
			[]string{"not judged, left out by the scenario: atomic-publish\n"}},
		{"without any", every + "]", invariant.Unknown, []string{"nothing was judged", ", freshness, "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := judgedBy(t, test.choice, Options{})
			if o.Verdict != test.want {
				t.Errorf("%v (%s), want %v", o.Verdict, o.Why, test.want)
			}
			text := o.Explain("two-reads", "p")
			for _, line := range test.left {
				if !strings.Contains(text, line) {
					t.Errorf("it does not say %q:\n%s", line, text)
				}
			}
			if test.left == nil && strings.Contains(text, "not judged") {
				t.Errorf("nothing is left out, but:\n%s", text)
			}
		})
	}
}

func TestAWrongChoiceOfInvariantsIsAnError(t *testing.T) {
	for choice, want := range map[string]string{
		"invariants: [freshnes]":                       `did you mean "freshness"?`,
		"without: [stale-writter]":                     `did you mean "stale-writer"?`,
		"without: [freshness, freshness]":              "twice",
		"invariants: []":                               "found no invariant",
		"invariants: [freshness]\nwithout: [liveness]": "found both",
		"promise: {max-age: 0s}":                       "1s",
		"promise: {monotonic-reads: everywhere}":       "across-nodes",
	} {
		_, err := spec.Parse("f.yaml", []byte(twoReads+choice))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error that says %s", choice, err, want)
		}
	}
}

// servesOnce is an invariant of the caller's own. A second answer violates it.
func servesOnce(verdict invariant.Verdict) invariant.Invariant {
	return invariant.Invariant{
		Name: "serves-once", Statement: "a node is answered once",
		Check: func(ev invariant.Evidence) invariant.Finding {
			var served []int
			for _, e := range ev.History {
				if e.Kind == history.Served {
					served = append(served, e.Seq)
				}
			}
			if len(served) < 2 || len(ev.Changes) == 0 || len(ev.Bodies) == 0 ||
				len(ev.Operations) == 0 {
				return invariant.Finding{Verdict: invariant.OK}
			}
			// Numbers of events, changes and operations that do not exist must do no harm to the report.
			f := invariant.Finding{Verdict: verdict, Why: "it was answered again", Events: append(served, 0, 10_000),
				Changes: []int{-1, 10_000}}
			f.Operations = []int{99}
			return f
		},
	}
}

func TestAnInvariantOfOnesOwnJudges(t *testing.T) {
	own := Options{Invariants: []invariant.Invariant{servesOnce(invariant.Violated)}}
	o := judgedBy(t, "without: [freshness]", own)
	if o.Verdict != invariant.Violated || o.Violation.Invariant.Name != "serves-once" {
		t.Fatalf("%v %v, want serves-once violated", o.Verdict, o.Why)
	}
	text := o.Explain("two-reads", "p")
	for _, line := range []string{"serves-once: a node is answered once", "it was answered again",
		"served /home as fresh", "not judged, left out by the scenario: freshness"} {
		if !strings.Contains(text, line) {
			t.Errorf("it does not say %q:\n%s", line, text)
		}
	}
	if o := judgedBy(t, "", own); len(o.Broken) != 2 || o.Violation.Invariant.Name != "freshness" {
		t.Errorf("broken are %q, want freshness and then serves-once", o.Broken)
	}
	if o := judgedBy(t, "invariants: [stale-writer]", own); o.Verdict != invariant.Violated {
		t.Errorf("%v, want its own invariant to judge beside those that the file names", o.Verdict)
	}
	own.Invariants[0] = servesOnce(0)
	if o := judgedBy(t, "without: [freshness]", own); o.Verdict != invariant.Unknown ||
		!strings.Contains(o.Why, "gave the verdict Verdict(0)") {
		t.Errorf("%v (%s), want unknown: a check that gives no verdict is no ok", o.Verdict, o.Why)
	}
}

// The evidence of a run is enough to judge the run again.
func TestTheEvidenceOfARun(t *testing.T) {
	o := judgedBy(t, "promise: {monotonic-reads: across-nodes, max-age: 90s}", Options{})
	ev, kept := o.Evidence()
	if !kept || len(ev.Changes) == 0 || len(ev.History) == 0 || len(ev.Operations) == 0 ||
		len(ev.Bodies) == 0 ||
		!ev.AcrossNodes || ev.MaxAge != 90*time.Second || ev.Revalidate != time.Minute {
		t.Fatalf("kept %v: %+v", kept, ev)
	}
	var broken []string
	invariant.Judge(ev, func(inv invariant.Invariant, _ invariant.Finding) { broken = append(broken, inv.Name) })
	if diff := cmp.Diff(o.Broken, broken); diff != "" {
		t.Errorf("judged again (-then +now):\n%s", diff)
	}
	s, err := spec.Parse("f.yaml", []byte(twoReads))
	must.OK(t, err)
	var pool hooks.Pool
	defer pool.Close()
	pooled, err := Run{Scenario: s, Protocol: lingering(t), Seed: 1}.Do(pool.In(t.Context()))
	must.OK(t, err)
	if ev, kept := pooled.Evidence(); kept || ev.Changes != nil {
		t.Error("the memory of a pool is another run's by now, but it was handed out")
	}
}

func TestAnInvariantOfOnesOwnIsWhole(t *testing.T) {
	s := must.Of(spec.Parse("f.yaml", []byte(twoReads)))(t)
	named := servesOnce(invariant.Violated)
	for want, inv := range map[string]invariant.Invariant{
		"expected one with a name":                     {Name: "x"},
		"a second invariant with the name freshness":   invariant.Named("freshness"),
		"a second invariant with the name serves-once": named,
	} {
		_, err := Run{
			Scenario: s, Protocol: lingering(t), Options: Options{Invariants: []invariant.Invariant{named, inv}},
		}.Do(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that says %s", err, want)
		}
	}
}

// happened runs a scenario, given as the text of a file, without a preemption. It returns the world at the end of the
// run.
func happened(t *testing.T, file string, p isr.Protocol) *world {
	t.Helper()
	s, err := spec.Parse("f.yaml", []byte(file))
	must.OK(t, err)
	w, err := newWorld(context.Background(), Run{Scenario: s, Protocol: p},
		sim.Config{Strategy: strategy.DelayBound(0), MaxSteps: s.Bounds.Steps})
	must.OK(t, err)
	if r := w.sim.Run(); r.End != sim.Finished {
		t.Fatalf("the run ended %v: %v", r.End, r.Err)
	}
	return w
}

// TestEventsSayWhoseTheyAreAndWhereTheLogStood: if two events have the same Change, nothing was written between them.
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

// TestBodiesAreKnownFromTheMomentTheyAreStored: they are known even before a row leads to them.
func TestBodiesAreKnownFromTheMomentTheyAreStored(t *testing.T) {
	w := happened(t, "name: one\nactors: [{name: alice, script: [get /home]}]", recipe.Reference())
	want := []recorder.Body{
		{Time: w.start, Actor: "alice", Name: "pages/alice-1", Body: "/home@0#alice-render-1", Change: 1},
	}
	if diff := cmp.Diff(want, w.bodyLog); diff != "" {
		t.Errorf("bodies (-want +got):\n%s", diff)
	}
}

const lagging = `
name: lagging
protocol: recipe-a
cache: {lease: 5s, revalidate: 20s, retention: 5s, ttl-buffer: 4s, render: 1s, contention: wait}
compare-lags: [at-once, 1h, 48h, never]
actors:
  - {name: alice, script: [get /home, sleep 28s, get /home, sleep 50h, get /home], crashes: 1, restarts: 1}
  - {name: bob, script: [sleep 2s, get /home, sleep 7s, get /home, sleep 50h, get /home], pauses: 3, pause-for: 1s}
settle: 30s
reach: [ttl-deletion, expired-row-read]
bounds: {ticks: 6, schedules: 200}
`

// compared runs schedules. It returns the number of runs in which a lag changed the result, and the number of runs in
// which a lag led to decisions that do not fit the schedule.
func compared(t *testing.T, protocol string) (differ, diverged int) {
	t.Helper()
	s, err := spec.Parse("f.yaml", []byte(lagging))
	must.OK(t, err)
	p, err := ProtocolNamed(protocol)
	must.OK(t, err)
	plan, stage := strategy.Only(sim.RandomWalk), newStage()
	defer stage.Close()
	for i := range 200 {
		run := Run{Scenario: s, Protocol: p, Seed: sim.Derive(1, i), Strategy: plan.At(i), ExpectedSteps: 60,
			stage: stage, probe: &hooks.Probe{}}
		w, o, err := run.perform(context.Background())
		must.OK(t, err)
		mine := decisions(w.history.Events())
		lags, err := run.underOtherLags(context.Background(), o)
		must.OK(t, err)
		if len(lags) != len(s.CompareLags) {
			t.Fatalf("%d lags were compared, want %d", len(lags), len(s.CompareLags))
		}
		switch {
		case slices.ContainsFunc(lags, func(l recorder.Lagged) bool { return l.Diverged != "" }):
			diverged++
		case slices.ContainsFunc(lags, func(l recorder.Lagged) bool {
			return !slices.Equal(decisions(l.History), mine)
		}):
			differ++
			if protocol == recipe.Reference().Name {
				for _, l := range lags {
					t.Errorf("schedule %d, %s:\n%v\nunder its own lag:\n%v", i, l.Lag, decisions(l.History), mine)
				}
			}
		}
	}
	return differ, diverged
}

// decisions returns a history without the parts that change with deletions by TTL.
func decisions(events []history.Event) []history.Event {
	events = slices.Clone(events)
	for i := range events {
		events[i].Change = 0
	}
	return events
}

func TestTheReferenceDecidesTheSameUnderEveryLag(t *testing.T) {
	effort.OneAtATime(t)
	if differ, diverged := compared(t, recipe.Reference().Name); differ+diverged > 0 {
		t.Errorf("of 200 schedules, %d come to something else under another lag and %d do not fit", differ, diverged)
	}
}

// A cache that takes a lock to be free only when TTL has deleted the row waits needlessly.
func TestAProtocolThatWaitsForTTLIsSeenUnderOtherLags(t *testing.T) {
	effort.OneAtATime(t)
	if differ, diverged := compared(t, "acquire-waits-for-ttl"); differ == 0 || diverged == 0 {
		t.Errorf("of 200 schedules, %d come to something else under another lag and %d do not fit; want some of both",
			differ, diverged)
	}
}
