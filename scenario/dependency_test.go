package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// troubled is a scenario with the given faults.
func troubled(faults string) string {
	return fmt.Sprintf(`
name: troubled
protocol: recipe-a
cache: {lease: 10s, revalidate: 20s}
actors:
  - {name: alice, script: [get /home, sleep 21s, get /home]}
  - {name: bob, script: [sleep 1s, get /home]}
faults: [%s]
settle: 30s
bounds: {ticks: 0, schedules: 300}
`, faults)
}

// answers returns what clients were told, in order: "alice served fresh", "alice failed".
func answers(w *world) (told []string) {
	for _, e := range w.history.Events() {
		if e.Kind == history.Served || e.Kind == history.Failed {
			told = append(told, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Actor, e.Kind, e.As)))
		}
	}
	return told
}

func TestDependencyFaultsStrikeWhoseTurnItIs(t *testing.T) {
	for _, test := range []struct {
		fault  string
		want   string // what clients are told
		bodies int    // that are stored
	}{
		{"body-put-failed", "alice failed, bob served fresh, alice served fresh", 2},
		{"body-put-failed times=2", "alice failed, bob failed, alice served fresh", 1},
		{"body-put-failed nth=2", "alice served fresh, bob served fresh, alice served stale", 1},
		{"body-put-failed actor=bob", "alice served fresh, bob served fresh, alice served fresh", 2},
		{"body-put-lost", "alice failed, bob served fresh, alice served fresh", 3},
		{"body-get-failed", "alice served fresh, bob failed, alice served fresh", 2},
		{"origin-failed actor=alice times=always", "alice failed, bob served fresh, alice served stale", 1},
		{"origin-failed nth=2 times=2", "alice served fresh, bob served fresh, alice served stale", 1},
	} {
		w := happened(t, troubled(test.fault), recipe.Reference())
		if got := strings.Join(answers(w), ", "); got != test.want {
			t.Errorf("%s: clients were told %q, want %q", test.fault, got, test.want)
		}
		if len(w.bodyLog) != test.bodies {
			t.Errorf("%s: %d bodies are stored, want %d", test.fault, len(w.bodyLog), test.bodies)
		}
		kind, _, _ := strings.Cut(test.fault, " ")
		if struck := !strings.Contains(test.fault, "bob"); w.marks[Mark(kind)] != struck || (len(w.unmetFaults()) == 0) != struck {
			t.Errorf("%s: marked %v, unmet %v", test.fault, w.marks, w.unmetFaults())
		}
	}
}

// Whoever has seen a page may be served it for want of a better one, unless the cache is told to fail.
func TestWhatAFailureIsServedIsAPolicy(t *testing.T) {
	for policy, want := range map[string]string{"serve-last": "alice served fresh, bob served fresh, alice served stale", "error": "alice served fresh, bob served fresh, alice failed"} {
		file := strings.Replace(troubled("origin-failed nth=2"), "cache: {", "cache: {failure: "+policy+", ", 1)
		w := happened(t, file, recipe.Reference())
		if got := strings.Join(answers(w), ", "); got != want {
			t.Errorf("%s: clients were told %q, want %q", policy, got, want)
		}
		if printed, err := w.scenario.YAML(); err != nil || strings.Contains(string(printed), "failure:") != (policy == "error") {
			t.Errorf("%s: printed as\n%s\n%v", policy, printed, err)
		}
	}
}

func TestDependencyFaultsAreParsed(t *testing.T) {
	for _, test := range []struct{ fault, problem, hint string }{
		{"body-put-fails", "want a kind (throttled, request-lost, response-lost, error-before, error-after, conflict, duplicate, stale-read, unprocessed, " +
			"body-put-failed, body-put-lost, body-get-failed, origin-failed, cut-off, latency)", `did you mean "body-put-failed"?`},
		{"origin-failed op=GetItem", "want nothing but actor, nth, times, from and to behind origin-failed", "such as: origin-failed actor=alice times=2"},
		{"origin-failed twice", "want nothing but actor, nth, times, from and to behind origin-failed", "such as: origin-failed actor=alice times=2"},
		{"origin-failed actor=carol", `found a fault of actor "carol", expected one of alice, bob`, ""},
		{"maybe origin-failed nth=2", "found nth=2 in a fault that strikes when the schedule says so", "leave out nth, or leave out maybe"},
	} {
		_, err := Parse("f.yaml", []byte(troubled(test.fault)))
		if err == nil || !strings.Contains(err.Error(), test.problem) || !strings.Contains(err.Error(), test.hint) {
			t.Errorf("%s: %v\nwant it to say %q and %q", test.fault, err, test.problem, test.hint)
		}
	}
}
