package invariant_test

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/invariant"
)

// checkFinding compares a finding with the expected verdict, changes and events.
func checkFinding(t *testing.T, got invariant.Finding, want invariant.Verdict, changes, events []int) {
	t.Helper()
	if got.Verdict != want || (got.Why == "") != (want == invariant.OK) {
		t.Fatalf("%v (%s), want %v", got.Verdict, got.Why, want)
	}
	checkShown(t, got, changes, events)
}

// firstNumber finds the change or event with which a doubt begins.
var firstNumber = regexp.MustCompile(`^(change|event) (\d+)`)

// checkShown compares the changes and events of a finding with the expected ones. If a doubt begins with the number of
// a change or an event, the finding must name it.
func checkShown(t *testing.T, got invariant.Finding, changes, events []int) {
	t.Helper()
	if got.Verdict == invariant.Unknown && changes == nil {
		if named := firstNumber.FindStringSubmatch(got.Why); named != nil {
			shown := map[string][]int{"change": got.Changes, "event": got.Events}[named[1]]
			if n, _ := strconv.Atoi(named[2]); !slices.Contains(shown, n) {
				t.Errorf("%s\nit shows changes %v and events %v", got.Why, got.Changes, got.Events)
			}
			return
		}
	}
	if diff := cmp.Diff([][]int{changes, events}, [][]int{got.Changes, got.Events}); diff != "" {
		t.Errorf("%s\nchanges and events named (-want +got):\n%s", got.Why, diff)
	}
}

func TestAllInvariantsAreNamedAndStated(t *testing.T) {
	var names []string
	for _, inv := range invariant.All() {
		if inv.Name == "" || inv.Statement == "" || inv.Check == nil {
			t.Errorf("%+v lacks something", inv)
		}
		if slices.Contains(names, inv.Name) {
			t.Errorf("two invariants are called %s", inv.Name)
		}
		names = append(names, inv.Name)
		if got := inv.Check(invariant.Evidence{}); !reflect.DeepEqual(got, invariant.Finding{Verdict: invariant.OK}) {
			t.Errorf("%s, when nothing happened: got %+v, want ok", inv.Name, got)
		}
	}
	want := []string{
		"stale-writer", "lock-theft", "monotonic-publication", "no-dangling-pointer", "ttl-well-formed",
		"freshness", "ttl-is-gc", "single-flight", "no-lost-invalidation", "idempotent-regeneration",
		"tenant-isolation", "linearizable", "monotonic-reads", "read-your-writes", "bounded-staleness", "liveness",
		"expired-publish", "atomic-publish",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// The zero Verdict is not valid, so evidence that was not judged can never pass for ok.
func TestVerdictsPrint(t *testing.T) {
	for v, want := range map[invariant.Verdict]string{
		0: "Verdict(0)", invariant.OK: "ok", invariant.Violated: "violated",
		invariant.Unknown: "unknown", 9: "Verdict(9)",
	} {
		if got := v.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
