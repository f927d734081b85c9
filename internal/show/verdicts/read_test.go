package verdicts_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/show/verdicts"
)

func TestResultsAreReadAsTheyWereWritten(t *testing.T) {
	want := verdicts.Document{Version: "v1", Command: "explore", ExitCode: 1, Results: []verdicts.Result{{
		Scenario: "shop", Protocol: "blind-publish", Verdict: verdicts.Violated, Breaks: "stale-writer",
		Found: []verdicts.Found{{Invariant: "stale-writer", Schedule: 4, Schedules: 169}},
		Strategies: []verdicts.Strategy{{Strategy: "pos", Schedules: 249,
			Found: []verdicts.Found{{Invariant: "stale-writer", Schedules: 8}}}},
		Coverage: &verdicts.Coverage{
			Orders: 12, States: 460, NextIsNew: 0.5, Growth: []verdicts.Growth{{Schedule: 20, Orders: 6, States: 249}},
		},
	}}}
	got, err := verdicts.Read(bytes.NewReader(written(t, verdicts.JSON, want)))
	if err != nil {
		t.Fatal(err)
	}
	want.Format = 1
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOtherFilesAreNoResults(t *testing.T) {
	for _, text := range []string{"", "[]", "{}", `{"format":1,"results":null}`,
		`{"format":1,"scenario":"a record","steps":[{}]}`, `{"format":"isr-sim explorations"}`} {
		if _, err := verdicts.Read(strings.NewReader(text)); !errors.Is(err, verdicts.ErrNoResults) {
			t.Errorf("%q: got %v, want ErrNoResults", text, err)
		}
	}
	_, err := verdicts.Read(strings.NewReader(`{"format":2,"command":"run","results":[]}`))
	if err == nil || !strings.Contains(err.Error(), "found results of format 2, expected 1") {
		t.Errorf("a later version: got %v", err)
	}
}
