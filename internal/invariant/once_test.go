package invariant

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/promise"
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
	tests := []struct{ name, story, violated string }{
		{"one effect, two callers", alicesCall + "2 bob asks a\n2 bob told r1", ""},
		{"again after it was told", alicesCall + "2 bob asks a\n2 bob begins\n2 bob happens r2\n2 bob told r2",
			"effect-once same-result"},
		{"again just before it may be forgotten",
			alicesCall + "58 bob asks a\n58 bob begins\n58 bob happens r2\n58 bob told r2", "effect-once same-result"},
		{"again after it may be forgotten",
			alicesCall + "59 bob asks a\n59 bob begins\n59 bob happens r2\n59 bob told r2", ""},
		{"begun after another was told, by a call that was made before", alicesEffect +
			"12 bob asks a\n13 alice told r1\n14 bob begins\n14 bob happens r2\n14 bob told r1", "effect-once"},
		{"begun after another was told, by a call that stood still", "0 bob asks a\n11 alice asks a\n" +
			"11 alice begins\n11 alice happens r1\n11 alice told r1\n12-11 bob begins\n12-11 bob happens r2\n" +
			"12-11 bob told r1", ""},
		// of a history without the pause
		{"asked before, and begun when the other may be forgotten",
			"0 alice asks a\n1 bob asks a\n1 bob begins\n1 bob happens r2\n2 bob told r2\n61 alice begins\n" +
				"61 alice happens r1\n61 alice told r1", "free-call"},
		{"told the old one after the new one", alicesCall +
			"59 bob asks a\n59 bob begins\n59 bob happens r2\n59 bob told r2\n60 carol asks a\n60 carol told r1",
			"same-result"},
		{"twice in progress", alicesEffect +
			"3 bob asks a\n3 bob begins\n3 bob happens r2\n4 bob told r2\n4 alice told r2", "effect-once"},
		{"twice in one call",
			alicesEffect + "1 alice begins-again\n2 alice happens r2\n2 alice told r2", "effect-once"},
		{"twice in one call, the second time in vain",
			alicesEffect + "1 alice begins-again\n2 alice fails\n2 alice told r1", ""},
		{"twice in one call, which did not know of the first time",
			alicesEffect + "1 alice begins\n2 alice happens r2\n2 alice told r2", ""},
		{"twice in one call at once",
			"0 alice asks a\n0 alice begins\n0 alice begins-again\n1 alice happens r1\n1 alice happens r2\n" +
				"2 alice told r2", "effect-once"},
		{"twice in one call at once, one of them in vain",
			"0 alice asks a\n0 alice begins\n0 alice begins-again\n1 alice fails\n1 alice happens r2\n2 alice told r2",
			""},
		{"again in one call, when it is no longer in progress",
			alicesEffect + "10-9 alice begins-again\n11-10 alice happens r2\n11-10 alice told r2", ""},
		{"taken over from the dead",
			alicesEffect + "2 alice crashed\n10 bob asks a\n10 bob begins\n10 bob happens r2\n10 bob told r2", ""},
		{"taken over early from the dead", alicesEffect +
			"2 alice crashed\n9 bob asks a\n9 bob begins\n9 bob happens r2\n9 bob told r2", "effect-once"},
		{"one that stood still loses its place",
			alicesEffect + "12 bob asks a\n12 bob begins\n12 bob happens r2\n12 bob told r2\n13 alice told r2", ""},
		{"one that stood still is told its own", alicesEffect +
			"12 bob asks a\n12 bob begins\n12 bob happens r2\n12 bob told r2\n13 alice told r1", "same-result"},
		// of a history without its trouble
		{"after an effect that failed",
			"0 alice asks a\n0 alice begins\n1 alice fails\n1 alice refused\n2 bob asks a\n2 bob begins\n" +
				"2 bob happens r2\n2 bob told r2", "free-call"},
		{"an invented result", alicesCall + "2 bob asks a\n2 bob told r9", "same-result"},
		{"told before it happened",
			"0 alice asks a\n0 alice told r1\n1 bob asks a\n1 bob begins\n1 bob happens r1\n1 bob told r1",
			"same-result"},
		{"begun too late for its own call",
			"0 bob asks a\n1 alice asks a\n5 alice begins\n5 alice happens r1\n10 bob begins\n10 bob happens r2\n" +
				"10 bob told r1\n10 alice told r1", ""},
		{"another payload is refused", alicesCall + "2 bob asks b\n2 bob other", ""},
		{"another payload is told the result", alicesCall + "2 bob asks b\n2 bob told r1", "same-payload"},
		{"the same payload is refused", alicesCall + "2 bob asks a\n2 bob other", "same-payload"},
		{"refused for a payload that came later", "0 alice asks a\n1 alice other\n2 bob asks b", "same-payload"},
		{"told to try again while another is at it",
			"0 alice asks a\n1 bob asks a\n1 bob refused\n2 alice begins\n2 alice happens r1\n2 alice told r1", ""},
		{"told to try again without another", alicesCall + "2 bob asks a\n2 bob refused", "free-call"},
		{"waits without another", alicesCall + "2 bob asks a\n5 bob told r1", "free-call"},
		{"waits until it is no longer in progress itself",
			"0 alice asks a\n10 alice begins\n10 alice happens r1\n10 alice told r1", "free-call"},
		{"late, and told to try again", alicesEffect + "11-9 alice refused", ""},
		{"late, and its effect never began", "0 alice asks a\n11 alice refused", "free-call"},
		{"its request was held up before its effect",
			"0 alice asks a\n12-11 alice begins\n13-11 alice happens r1\n13-11 alice refused", ""},
		{"its request was held up, and it waited before its effect",
			"0 alice asks a\n12-9 alice begins\n13-9 alice happens r1\n13-9 alice refused", "free-call"},
		{"its request was held up, and it gave up", "0 alice asks a\n12-10 alice refused", ""},
		{"it waited, and its request was held up after that",
			"0 alice asks a\n3 alice begins\n4 alice happens r1\n30-26 alice refused", "free-call"},
		{"no result in the end",
			"0 alice asks a\n1 alice crashed\n5 visitor settled\n26 visitor.1 asks a\n26 visitor.1 refused",
			"free-call call-liveness"},
		{"told to try again in the end", "0 visitor settled\n1 visitor.1 asks a\n1 visitor.1 refused",
			"free-call call-liveness"},
		{"no answer in the end", "0 visitor settled\n1 visitor.1 asks a", "call-liveness"},
		{"a result too late",
			"0 visitor settled\n1 visitor.1 asks a\n1 visitor.1 begins\n20-19 visitor.1 happens r2\n" +
				"21-19 visitor.1 told r2", "call-liveness"},
		{"a result in the end",
			"0 alice asks a\n1 alice crashed\n5 visitor settled\n16 visitor.1 asks a\n16 visitor.1 begins\n" +
				"16 visitor.1 happens r2\n16 visitor.1 told r2", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var violated []string
			Judge(calls(t, test.story), func(inv Invariant, f Finding) {
				if f.Verdict == Violated && (f.Why == "" || len(f.Events) == 0) {
					t.Errorf("%s: found %+v, expected a reason and events", inv.Name, f)
				}
				violated = append(violated, inv.Name)
			}, OfCalls()...)
			if got := strings.Join(violated, " "); got != test.violated {
				t.Errorf("got %q, want %q", got, test.violated)
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
