package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/mutant"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

const twoReads = `
name: two-reads
cache: {revalidate: 60s}
actors:
  - name: alice
    script: [get /home, sleep 60500ms, get /home]
`

// lingering is a protocol that breaks freshness in twoReads.
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
	s, err := Parse("f.yaml", []byte(twoReads+choice))
	if err != nil {
		t.Fatal(err)
	}
	out, err := Run{Scenario: s, Protocol: lingering(t), Seed: 1, Strategy: sim.DelayBound(0), Options: o}.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
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
		{"that one", "invariants: [freshness, stale-writer]", invariant.Violated, []string{"lock-theft: not judged: left out by the scenario"}},
		{"others", "invariants: [stale-writer]", invariant.OK, []string{"freshness: not judged: left out by the scenario"}},
		{"without that one", "without: [freshness]", invariant.OK, []string{"freshness: not judged: left out by the scenario"}},
		{"without another", "without: [atomic-publish]", invariant.Violated, []string{"atomic-publish: not judged: left out by the scenario"}},
		{"without any", every + "]", invariant.Unknown, []string{"nothing was judged", "freshness: not judged"}},
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

func TestWhichInvariantsJudgeIsPrintedAndReadBack(t *testing.T) {
	for _, choice := range []string{"invariants: [freshness, stale-writer]", "without: [freshness]", "promise: {monotonic-reads: across-nodes, max-age: 61s}"} {
		s, err := Parse("f.yaml", []byte(twoReads+choice))
		if err != nil {
			t.Fatal(err)
		}
		text, err := s.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("f.yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		type choices struct {
			Invariants, Without []string
			Promise             Promise
		}
		if diff := cmp.Diff(choices{s.Invariants, s.Without, s.Promise}, choices{again.Invariants, again.Without, again.Promise}); diff != "" {
			t.Errorf("%s (-once +again):\n%s", choice, diff)
		}
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
		_, err := Parse("f.yaml", []byte(twoReads+choice))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error that says %s", choice, err, want)
		}
	}
}

// servesOnce is an invariant of a caller's own, which a second answer breaks.
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
			if len(served) < 2 || len(ev.Changes) == 0 || len(ev.Bodies) == 0 || len(ev.Operations) == 0 {
				return invariant.Finding{Verdict: invariant.OK}
			}
			// Numbers that nothing has must not break the report.
			return invariant.Finding{Verdict: verdict, Why: "it was answered again", Events: append(served, 0, 10_000), Changes: []int{-1, 10_000}, Operations: []int{99}}
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
	for _, line := range []string{"serves-once: a node is answered once", "it was answered again", "served /home as fresh", "freshness: not judged"} {
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
	if o := judgedBy(t, "without: [freshness]", own); o.Verdict != invariant.Unknown || !strings.Contains(o.Why, "gave the verdict Verdict(0)") {
		t.Errorf("%v (%s), want unknown: a check that gives no verdict is no ok", o.Verdict, o.Why)
	}
}

// A run's evidence suffices to judge it again.
func TestTheEvidenceOfARun(t *testing.T) {
	o := judgedBy(t, "promise: {monotonic-reads: across-nodes, max-age: 90s}", Options{})
	ev, kept := o.Evidence()
	if !kept || len(ev.Changes) == 0 || len(ev.History) == 0 || len(ev.Operations) == 0 || len(ev.Bodies) == 0 ||
		!ev.AcrossNodes || ev.MaxAge != 90*time.Second || ev.Revalidate != time.Minute {
		t.Fatalf("kept %v: %+v", kept, ev)
	}
	var broken []string
	invariant.Judge(ev, func(inv invariant.Invariant, _ invariant.Finding) { broken = append(broken, inv.Name) })
	if diff := cmp.Diff(o.Broken, broken); diff != "" {
		t.Errorf("judged again (-then +now):\n%s", diff)
	}
	s, err := Parse("f.yaml", []byte(twoReads))
	if err != nil {
		t.Fatal(err)
	}
	var pool Pool
	defer pool.Close()
	pooled, err := pool.Do(t.Context(), Run{Scenario: s, Protocol: lingering(t), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if ev, kept := pooled.Evidence(); kept || ev.Changes != nil {
		t.Error("the memory of a pool is another run's by now, but it was handed out")
	}
}

func TestAnInvariantOfOnesOwnIsWhole(t *testing.T) {
	s, err := Parse("f.yaml", []byte(twoReads))
	if err != nil {
		t.Fatal(err)
	}
	named := servesOnce(invariant.Violated)
	for want, inv := range map[string]invariant.Invariant{
		"expected one with a name":                     {Name: "x"},
		"a second invariant with the name freshness":   invariant.Freshness(),
		"a second invariant with the name serves-once": named,
	} {
		_, err := Run{Scenario: s, Protocol: lingering(t), Options: Options{Invariants: []invariant.Invariant{named, inv}}}.Do(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that says %s", err, want)
		}
	}
}
