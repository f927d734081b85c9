package property_test

import (
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// noStalePages is an invariant of a team's own: it promises its users that nothing stale is served.
func noStalePages() invariant.Invariant {
	return invariant.Invariant{
		Name: "no-stale-pages", Statement: "nothing is served as stale",
		Check: func(ev invariant.Evidence) invariant.Finding {
			for _, e := range ev.History {
				if e.Kind == history.Served && e.As == history.Stale {
					return invariant.Finding{Verdict: invariant.Violated, Why: e.Actor + " was served a stale page", Events: []int{e.Seq}}
				}
			}
			return invariant.Finding{Verdict: invariant.OK}
		},
	}
}

// choices are checks whose invariants are not the usual ones.
func choices() map[string]property.Check {
	var every []string
	for _, inv := range invariant.All() {
		every = append(every, inv.Name)
	}
	own := []invariant.Invariant{noStalePages()}
	return map[string]property.Check{
		"an invariant of its own":            {Invariants: own, Without: []string{"atomic-publish"}, Schedules: 5},
		"without any":                        {Without: every},
		"without a name that is misspelt":    {Without: []string{"stale-writter"}},
		"without one twice":                  {Without: []string{"liveness", "liveness"}},
		"an invariant without a check":       {Invariants: []invariant.Invariant{{Name: "x", Statement: "y"}}},
		"an invariant with a name of ours":   {Invariants: []invariant.Invariant{invariant.Liveness()}},
		"an invariant that is also left out": {Invariants: own, Without: []string{"no-stale-pages"}},
	}
}

func TestChoicesOfInvariants(t *testing.T) {
	for store, want := range map[string][]string{
		"an invariant of its own": {"violated: TestChild under store-under-test", "no-stale-pages: nothing is served as stale", "was served a stale page",
			"atomic-publish: not judged: left out by the scenario"},
		"without any":                        {"vacuous: Check.Without leaves out all invariants"},
		"without a name that is misspelt":    {`found "stale-writter", expected one of stale-writer, `, `did you mean "stale-writer"?`},
		"without one twice":                  {"found liveness twice"},
		"an invariant without a check":       {`found "x" as number 1, expected an invariant with a name, a statement and a check`},
		"an invariant with a name of ours":   {"found a second invariant with the name liveness"},
		"an invariant that is also left out": {"found no-stale-pages, which is one of Check.Invariants"},
	} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := runChild(t, dir, store, []string{"-rapid.seed=1", "-rapid.shrinktime=0s", "-rapid.checks=20"})
			c.wantFailure(t, want...)
			if store != "an invariant of its own" {
				return
			}
			// The file says what is left out, and names no invariant that isr-sim does not know.
			s, err := scenario.Load(c.file())
			if err == nil || !strings.Contains(err.Error(), "store-under-test") {
				t.Fatalf("got %v, %v, want an error about the protocol alone", s, err)
			}
			text := string(readFile(t, c.file()))
			if !strings.Contains(text, "atomic-publish") || strings.Contains(text, "violates:") {
				t.Errorf("the file is\n%s", text)
			}
			runChild(t, dir, store, nil).wantFailure(t, want...) // by the file
		})
	}
}

// TestWithout checks a store that does not promise one thing: it publishes first, and gives the lease back later.
func TestWithout(t *testing.T) {
	p, err := scenario.ProtocolNamed("two-transactions")
	if err != nil {
		t.Fatal(err)
	}
	check := property.Check{Without: []string{"atomic-publish"}, Schedules: 2, Reach: []scenario.Mark{scenario.Published}}
	check.Run(t, func(n property.Node) (isr.Handler, error) {
		store, err := p.New(n.Config)
		if err != nil {
			return nil, err
		}
		return handler(store.Get), nil // its publish also forgets requests by name
	})
}
