package invariant_test

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// An exhaustive search counts two runs as one if their confirmed invalidations, open questions and old bodies are the
// same.
func TestInvalidationsAreRemembered(t *testing.T) {
	made := func(body string) *run { return newRun().renders("alice", body) }
	asked := func(actor string, r *run) *run { return r.wait(10*second).happens(actor, history.Invalidating) }
	told := func(at time.Duration) *run {
		return asked("carol", made("1")).wait(at).happens("carol", history.Invalidated)
	}
	confirmed := func() *run { return told(12 * second) }
	four := func(last string) *run {
		return confirmed().wait(13 * second).asks("alice").asks("bob").asks("carol").asks(last)
	}
	for _, test := range []past{
		{name: "under way", a: made("1"), b: asked("carol", made("1"))},
		{name: "by another node", a: asked("carol", made("1")), b: asked("dave", made("1"))},
		{name: "of another body", a: asked("carol", made("1")), b: asked("carol", made("2"))},
		{name: "of another tenant's page", a: confirmed(),
			b: asked("carol", newRun().of("t1").renders("alice", "1")).wait(12*second).happens("carol",
				history.Invalidated)},
		{name: "of another page", a: confirmed(), b: confirmed().keyed("/other")},
		{name: "confirmed", a: asked("carol", made("1")), b: confirmed()},
		{name: "a second later", a: confirmed(), b: told(13 * second)},
		{name: "a nanosecond later", a: confirmed(), b: told(12*second + nano)},
		{name: "asked for since", a: confirmed(), b: confirmed().wait(13 * second).asks("bob")},
		{name: "asked for by four", a: four("dave"), b: four("carol")},
		{name: "asked for by another", a: confirmed().wait(13 * second).asks("bob"),
			b: confirmed().wait(13 * second).asks("dave")},
		{name: "another page asked for", a: confirmed(),
			b: confirmed().wait(13 * second).of("t1").asks("bob"), equal: true},
		{name: "asked for and served", a: confirmed(),
			b: confirmed().wait(13*second).asks("bob").gets("bob", "2"), equal: true},
		{name: "told to a node that crashed then", a: confirmed(),
			b: confirmed().happens("carol", history.Crashed), equal: true},
		{name: "of a page that nobody has made", a: newRun(), b: asked("carol", newRun()), equal: true},
		{name: "failed", a: made("1"), b: asked("carol", made("1")).happens("carol", history.Failed), equal: true},
	} {
		test.check(t, invariant.Named("no-lost-invalidation"))
	}
}
