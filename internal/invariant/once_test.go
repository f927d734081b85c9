package invariant

import (
	"cmp"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// calls reads the story of a key whose calls are in progress for 10 s, and whose result is kept for 60 s. Each line is
// an event, as in "0 alice asks a", "1 alice begins", "1 alice happens r1", "2 alice told r1", "2 alice fails", "2
// alice refused", "2 alice other" and "9 visitor settled". A name with a dot means another call of the same actor. In
// "11-8 alice begins", the layer is not to blame for 8 s of the time since the call.
func calls(t *testing.T, story string) Evidence {
	t.Helper()
	kinds := map[string]history.Kind{
		"asks": mark.EventCallAsked, "begins": mark.EventEffectBegun, "happens": mark.EventEffect,
		"fails": mark.EventEffectFailed, "told": mark.EventCallAnswered, "refused": mark.EventCallRefused,
		"other": mark.EventCallOther, "crashed": history.Crashed, "settled": history.Settled,
	}
	ev := Evidence{Record: Record{Settle: 20 * time.Second},
		Held: 10 * time.Second, Retention: time.Minute,
		Once: &promise.OnceTerms{Payload: true, Wait: 2 * time.Second, Takeover: 10 * time.Second},
	}
	for i, line := range strings.Split(strings.TrimSpace(story), "\n") {
		words := append(strings.Fields(line), "")
		after, excused, _ := strings.Cut(words[0], "-")
		at, err := time.ParseDuration(after + "s")
		held, wrong := time.ParseDuration(cmp.Or(excused, "0") + "s")
		what, done := strings.CutSuffix(words[2], "-again")
		kind := kinds[what]
		if err != nil || wrong != nil || kind == 0 {
			t.Fatalf("found %q, expected an event", line)
		}
		actor, _, _ := strings.Cut(words[1], ".")
		e := history.Event{Seq: i + 1, Time: time.Unix(1e9, 0).Add(at), Actor: actor, Kind: kind}
		if kind >= mark.EventCallAsked {
			e.Key, e.Hold = "order-7", &history.Hold{ID: words[1], Excused: held, Done: done}
			if kind == mark.EventCallAsked {
				e.Inputs = words[3]
			} else {
				e.Body = words[3]
			}
		}
		ev.History = append(ev.History, e)
	}
	return ev
}

const (
	alicesEffect = "0 alice asks a\n0 alice begins\n1 alice happens r1\n"
	alicesCall   = alicesEffect + "1 alice told r1\n"
)

// TestCalls checks what each invariant of calls finds, and what it lets pass.
func TestCalls(t *testing.T) {
	text := string(must.Of(os.ReadFile("testdata/calls/stories.txt"))(t))
	for _, paragraph := range strings.Split(text, "\ncase ")[1:] {
		story, rest, _ := strings.Cut(paragraph, "\n=>")
		name, story, _ := strings.Cut(story, "\n")
		want, _, _ := strings.Cut(rest, "\n")
		t.Run(name, func(t *testing.T) {
			var violated []string
			Judge(calls(t, story), func(inv Invariant, f Finding) {
				if f.Verdict == Violated && (f.Why == "" || len(f.Events) == 0) {
					t.Errorf("%s: found %+v, expected a reason and events", inv.Name, f)
				}
				violated = append(violated, inv.Name)
			}, OfCalls()...)
			if got := strings.Join(violated, " "); got != strings.TrimSpace(want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestCallsOfLayersThatPromiseLess checks what is judged if the layer states no promises, or does not promise to
// compare payloads.
func TestCallsOfLayersThatPromiseLess(t *testing.T) {
	for _, once := range []*promise.OnceTerms{nil, {Wait: time.Hour}} {
		for _, story := range []string{alicesCall + "2 bob asks b\n2 bob told r1",
			alicesCall + "2 bob asks a\n5 bob told r1"} {
			ev := calls(t, story)
			ev.Once = once
			Judge(ev, func(inv Invariant, f Finding) {
				t.Errorf("terms %+v, %q: found %v of %s", once, story, f, inv.Name)
			}, OfCalls()...)
		}
	}
}

// TestTwoResultsAreToldInTheirOrder: the caller who was told last comes last in a report.
func TestTwoResultsAreToldInTheirOrder(t *testing.T) {
	for last, story := range map[string]string{
		"alice was told r1 for order-7, and bob was told r2 before": alicesEffect +
			"12 bob asks a\n12 bob begins\n12 bob happens r2\n12 bob told r2\n13 alice told r1",
		"bob was told r2 for order-7, and alice was told r1 before": alicesCall +
			"2 bob asks a\n2 bob begins\n2 bob happens r2\n2 bob told r2",
	} {
		if f := checkSameResult(calls(t, story)); !strings.HasPrefix(f.Why, last) {
			t.Errorf("got %q, want %q", f.Why, last)
		}
	}
}

// TestCallsWithoutAnEnd: liveness is not judged in a run whose visitor made no call.
func TestCallsWithoutAnEnd(t *testing.T) {
	if f := checkCallLiveness(calls(t, alicesCall+"5 visitor settled")); f.Verdict != Unknown {
		t.Errorf("got %v, want unknown", f.Verdict)
	}
}
