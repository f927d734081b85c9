package invariant_test

import (
	"testing"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// oldAndNew is a run in which carol renders the page as "old", and alice renders it as "new" a minute later.
func oldAndNew() *run {
	return newRun().asks("carol").renders("carol", "old").gets("carol", "old").
		wait(60*second).asks("alice").renders("alice", "new").gets("alice", "new")
}

// atNext lets a second pass. Then the actor asks for the page, and is served the body.
func (r *run) atNext(actor string, as history.ServedAs, body string) *run {
	r.wait(r.now.Sub(t0) + second)
	return r.asks(actor).event(actor, history.Served, as, body)
}

// TestMonotonicReadsJudgesWhoAsksAgain: if no page is served twice, nothing is judged, and ok means nothing.
func TestMonotonicReadsJudgesWhoAsksAgain(t *testing.T) {
	asked := func(h *told, actor, key string) *told {
		return h.event(0, history.Event{Actor: actor, Kind: history.Asked, Key: key}).
			served(actor, "r1", history.Fresh, 0).of(key)
	}
	of := invariant.Named("monotonic-reads")
	for name, test := range map[string]struct {
		h            *told
		alone, among bool // with a promise for each node by itself, and for all nodes together
	}{
		"once":      {asked(newHistory(), "alice", "/"), false, false},
		"twice":     {asked(asked(newHistory(), "alice", "/"), "alice", "/"), true, true},
		"by two":    {asked(asked(newHistory(), "alice", "/"), "bob", "/"), false, true},
		"two pages": {asked(asked(newHistory(), "alice", "/"), "alice", "/other"), false, false},
		"asked, no answer": {
			asked(newHistory(), "alice", "/").event(0, history.Event{Actor: "alice", Kind: history.Asked, Key: "/"}),
			false, false,
		},
	} {
		alone := invariant.Evidence{Record: invariant.Record{History: test.h.Events()}}
		among := alone
		among.AcrossNodes = true
		got := [2]bool{of.HasSubject(alone), of.HasSubject(among)}
		if got != [2]bool{test.alone, test.among} {
			t.Errorf("%s: something to judge: %v, want %v", name, got, [2]bool{test.alone, test.among})
		}
	}
}
