package report_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/rules/browser"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/record"
)

// The report of a page that was served too late opens at the step where the page became too old, not minutes later.
func TestBoundedStalenessOpensWhereItBegan(t *testing.T) {
	s, p := scenariotest.Embedded(t, "long-outage"), scenariotest.Protocol(t, "last-page-for-ever")
	found := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: p, Seed: 1})
	if found.Failure == nil {
		t.Fatal("last-page-for-ever passes long-outage")
	}
	r := recorded(t, found.Failure.Replay().Run(s, p))
	read, end := -1, -1
	var key string
	for i, step := range r.Steps {
		for _, e := range step.Events {
			if e.Seq == r.Violation.Events[0] {
				read, key = i, e.Key
			}
		}
		if step.N == r.Violation.Step {
			end = i
		}
	}
	begins := func(what string, want int) {
		t.Helper()
		for _, n := range elements(t, page(t, r)) {
			if attribute(n, "id") != "data" {
				continue
			}
			var data struct{ Begins, At int }
			if err := json.Unmarshal([]byte(textOf(n)), &data); err != nil {
				t.Fatal(err)
			}
			if data.Begins != want || data.At != end {
				t.Errorf("%s: it opens at step %d and ends at %d, want %d and %d", what, data.Begins, data.At, want,
					end)
			}
		}
	}
	if read < 0 || end < read+5 {
		t.Fatalf("the page is read at %d, and served too old at %d", read, end)
	}
	begins("nothing has changed", read)
	change := record.Event{Seq: 1 << 30, Kind: "changed", Key: key}
	for _, at := range []int{read + 3, read + 1} {
		r.Steps[at].Events = append(r.Steps[at].Events, change)
	}
	r.Steps[read+2].Events = append(r.Steps[read+2].Events,
		record.Event{Seq: 1<<30 + 1, Kind: "invalidating", Key: key})
	begins("its data changes twice", read+1)
	r.Steps[read+1].Events[len(r.Steps[read+1].Events)-1].Key = "/another"
	begins("it is invalidated, and then its data changes", read+2)

	b := browser.Open(t, "file:")
	load(t, b, r, 1280, 800)
	where := browser.Value[string](b, "document.getElementById('where').textContent")
	what := browser.Value[string](b, "document.getElementById('what').textContent")
	if !strings.HasPrefix(where, fmt.Sprintf("Step %d of", r.Steps[read+2].N)) ||
		!strings.HasPrefix(what, "It began here. ") {
		t.Errorf("it opens with %q, %q", where, what)
	}
	if !browser.Value[bool](b, fmt.Sprintf("%s(%d)", inView, read+2)) {
		t.Error("the step where it began is not in view")
	}
	browser.Value[bool](b, "document.getElementById('violation').click(), true")
	if what := browser.Value[string](b, "document.getElementById('what').textContent"); !strings.HasPrefix(what,
		"✕ violated here. ") {
		t.Errorf("the button of the violation leads to %q", what)
	}
	b.Keep("begins.png")
	b.Quiet()
}
