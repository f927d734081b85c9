package kernel

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

func asItIs(text string) string { return text }

// put is a change that leaves a row with a value; "" deletes it.
func put(key attr.Item, value string) ddbfake.Change {
	c := ddbfake.Change{Table: hooks.TableName, Key: key}
	if value != "" {
		c.After = maps.Clone(key)
		c.After["value"] = attr.S(value)
	}
	return c
}

func rowKey(sk string) attr.Item { return attr.Item{"pk": attr.S("a"), "sk": attr.S(sk)} }

// A copy of the fingerprinter does not change with the original, nor the original with the copy.
func TestCopiesOfFingerprintersAreApart(t *testing.T) {
	s := spec.Defaults()
	s.Faults = []spec.Fault{{}} // a read may show the order of rows
	s.Faults[0].Kind = ddbfake.FaultStaleRead
	for name, changed := range map[string]func(p, q *fingerprinter) (changed, kept *fingerprinter){
		"the original": func(p, q *fingerprinter) (*fingerprinter, *fingerprinter) { return p, q },
		"the copy":     func(p, q *fingerprinter) (*fingerprinter, *fingerprinter) { return q, p },
	} {
		state := func(p *fingerprinter) uint64 {
			return (&world{stage: newStage(), scenario: s, clock: fakeclock.New(fakeclock.Epoch),
				fingerprinter: p}).fingerprint()
		}
		p := newFingerprinter(s, true, asItIs, asItIs)
		for _, sk := range []string{isr.SortMeta, isr.SortLock, "other"} {
			p.change(put(rowKey(sk), "1"))
		}
		changed, kept := changed(p, p.clone())
		before := state(kept)
		first := state(changed)
		changed.change(put(rowKey(isr.SortMeta), "2"))
		if state(changed) == first || state(kept) != before {
			t.Errorf("%s changes alone: it counts as before: %t, the other one does: %t", name, state(changed) == first,
				state(kept) == before)
		}
		if changed.change(put(rowKey("x"), "1")); state(kept) != before || kept.rows[rowName{pk: "a", sk: "x"}] != 0 {
			t.Errorf("a row of %s is in the other one, too", name)
		}
	}
}

// Without stale reads, a deleted row leaves nothing in the state.
func TestADeletedRowLeavesNoState(t *testing.T) {
	p := newFingerprinter(&spec.Scenario{}, true, asItIs, nil)
	p.change(put(rowKey("x"), "1"))
	if p.change(put(rowKey("x"), "")); p.sum != 0 {
		t.Errorf("a row that was deleted counts: %x", p.sum)
	}
}

// Each request that changes more than rows counts, with its region, its input, the time and the rows that it found. A
// request with an error counts if the fault that struck it lets it take effect.
func TestStatesHaveWhatChangesTables(t *testing.T) {
	type request struct {
		region, table string
		at            time.Duration
		row           string
		refused       bool
		struck        ddbfake.FaultKind
		in            any
	}
	tables := func(r request) fingerprint.Hash {
		w := &world{stage: newStage(), scenario: spec.Defaults(), clock: fakeclock.New(fakeclock.Epoch.Add(r.at)),
			fingerprinter: newFingerprinter(spec.Defaults(), true, asItIs, nil), struck: r.struck}
		w.fingerprinter.change(put(rowKey("x"), r.row))
		asked := &storeRequest{node: &node{world: w}, call: ddbfake.Call{Region: r.region, Input: r.in}}
		if r.in == nil {
			asked.call.Input = &dynamodb.CreateBackupInput{TableName: aws.String(r.table)}
		}
		if r.refused {
			asked.err = errors.New("refused")
		}
		w.noteTables(asked)
		return w.fingerprinter.tables
	}
	all := map[fingerprint.Hash]request{}
	for _, r := range []request{
		{}, {region: "us-east-1"}, {table: "pages"}, {at: time.Second}, {row: "1"},
		{region: "eu-west-1", refused: true, struck: ddbfake.FaultResponseLost},
	} {
		h := tables(r)
		if other, is := all[h]; is || h == 0 {
			t.Errorf("%+v counts as %+v, or not at all", r, other)
		}
		all[h] = r
	}
	for _, r := range []request{
		{refused: true}, {refused: true, struck: ddbfake.FaultThrottled}, {in: &dynamodb.ListTablesInput{}},
	} {
		if tables(r) != 0 {
			t.Errorf("%+v changes no table, and counts", r)
		}
	}
}

// Actors that differ only by name are symmetric, unless something else knows one of them by name.
func TestSymmetricActors(t *testing.T) {
	named := func(f spec.Fault) []spec.Fault { return []spec.Fault{f} }
	var ofAlice, slow spec.Fault
	ofAlice.Actor, slow.LatencyUpTo = "alice", time.Second
	for name, c := range map[string]struct {
		s    spec.Scenario
		want int
	}{
		"two":          {spec.Scenario{}, 2},
		"a fault":      {spec.Scenario{Faults: named(spec.Fault{})}, 2},
		"one's fault":  {spec.Scenario{Faults: named(ofAlice)}, 0},
		"drawn delays": {spec.Scenario{Faults: named(slow)}, 0},
		"a name": {
			spec.Scenario{Actors: []spec.Actor{{Name: "a", Script: []spec.Command{{Verb: "visit", Key: "/a"}}}}}, 2,
		},
	} {
		script := []spec.Command{{Verb: "visit", Key: "/home"}}
		c.s.Actors = append(c.s.Actors,
			spec.Actor{Name: "alice", Script: script}, spec.Actor{Name: "bob", Script: script})
		if name == "a name" { // every script has the first actor's name
			c.s.Actors[1].Script, c.s.Actors[2].Script = c.s.Actors[0].Script, c.s.Actors[0].Script
		}
		if got := symmetricOf(&c.s); len(got.Names) != c.want || len(got.Class) != c.want {
			t.Errorf("%s: symmetric are %v, want %d", name, got.Names, c.want)
		}
	}
}
