package property

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// TestUnstableStoreIsFound has a store that is broken in every other run.
func TestUnstableStoreIsFound(t *testing.T) {
	blind, err := scenario.ProtocolNamed("lease-in-milliseconds")
	if err != nil {
		t.Fatal(err)
	}
	nodes := 0
	r := newRunner(t, Check{Protocol: DefaultName}, func(n Node) (isr.Handler, error) {
		if nodes++; (nodes-1)/2%2 == 0 {
			return blind.New(n.Config)
		}
		return isr.New(n.Config)
	})
	s, err := world{simple()}.checked()
	if err != nil {
		t.Fatal(err)
	}
	_, f := r.campaign(s, 1, 50)
	if f == nil || f.kind != kindUnstable || f.repeatable() {
		t.Fatalf("a store that does not repeat itself is reported as %+v", f)
	}
	// What was found, what shows it, that it cannot be repeated, and what differed.
	rest := f.text
	for _, want := range []string{
		"violated: simple under store-under-test\n\nlock-theft: a write that replaces, ", "  +0s         ", "LOCK of /home: ",
		"that run cannot be repeated: the store under test is not deterministic", "violated: lock-theft after ", " the first time, and then it broke: ",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Errorf("the report lacks %q, or it comes too early:\n%s", want, f.text)
		}
		rest = after
	}
}

// simple returns a world of two contenders.
func simple() *scenario.Scenario {
	s := scenario.Defaults()
	s.Name, s.Protocol = "simple", DefaultName
	for _, name := range []string{"alice", "bob"} {
		s.Actors = append(s.Actors, scenario.Actor{Name: name, Script: []scenario.Command{{Verb: scenario.Get, Key: "/home"}}})
	}
	return s
}

func TestOriginTellsGoroutinesApart(t *testing.T) {
	// Two coroutines that the same code made, and one that code in the first one made.
	coroutine := func(run func()) origin {
		next, stop := iter.Pull(func(yield func(origin) bool) {
			run()
			yield(deep(50))
		})
		defer stop()
		o, _ := next()
		return o
	}
	var nested origin
	first := coroutine(func() {
		next, stop := iter.Pull(func(yield func(origin) bool) { yield(originNow()) })
		defer stop()
		nested, _ = next()
	})
	second := coroutine(func() {})
	started := make(chan origin)
	go func() { started <- originNow() }()
	if first != second {
		t.Error("two of the simulator's coroutines look different")
	}
	if first == nested {
		t.Error("a coroutine of the store's own looks like one of the simulator's")
	}
	if first == <-started {
		t.Error("a goroutine of the store's own looks like a coroutine of the simulator's")
	}
}

// deep calls originNow at the given depth: the way there must not matter.
func deep(n int) origin {
	if n == 0 {
		return originNow()
	}
	return deep(n - 1)
}

func TestNames(t *testing.T) {
	for _, tc := range []struct{ test, file, run string }{
		{"TestStore", "testdata/isr-sim/TestStore.yaml", "^TestStore$"},
		{"TestStore/in_eu-west-1", "testdata/isr-sim/TestStore-in_eu-west-1-e35f2b23.yaml", "^TestStore$/^in_eu-west-1$"},
		{"TestStore/a.b", "testdata/isr-sim/TestStore-a-b-81a40abe.yaml", `^TestStore$/^a\.b$`},
	} {
		if got := fileName(tc.test); got != tc.file {
			t.Errorf("fileName(%q) = %q, want %q", tc.test, got, tc.file)
		}
		if got := runPattern(tc.test); got != tc.run {
			t.Errorf("runPattern(%q) = %q, want %q", tc.test, got, tc.run)
		}
	}
	long := strings.Repeat("é", 200)
	if name := safeName("Test" + long); len(name) != 100 {
		t.Errorf("a long name has %d bytes, want 100: %s", len(name), name)
	}
	if safeName("TestA/b") == safeName("TestA.b") {
		t.Error("two tests share a file")
	}
}

func TestMissing(t *testing.T) {
	wanted := []scenario.Mark{scenario.LockTakenOver, scenario.TTLDeletion, scenario.Mark(ddbfake.FaultResponseLost.String())}
	count := tally{worlds: enoughWorlds, marks: map[scenario.Mark]int{scenario.TTLDeletion: 1, scenario.NodePaused: 9}}
	if got := count.missing(wanted); len(got) != 2 || got[0] != wanted[0] || got[1] != wanted[2] {
		t.Errorf("missing: %v, want %v and %v", got, wanted[0], wanted[2])
	}
	if got := count.missing([]scenario.Mark{}); len(got) != 0 {
		t.Errorf("missing %v of nothing wanted", got)
	}
	count.worlds--
	if got := count.missing(wanted); len(got) != 0 {
		t.Errorf("missing %v after too few worlds to say so", got)
	}
	pages := []scenario.Mark{scenario.Published, scenario.ServedFresh}
	if got := count.missing(pages); !slices.Equal(got, pages) {
		t.Errorf("missing %v, want %v", got, pages)
	}
	count.worlds = enoughForThePages - 1
	if got := count.missing(pages); len(got) != 0 {
		t.Errorf("missing %v after too few worlds to say so", got)
	}
}
