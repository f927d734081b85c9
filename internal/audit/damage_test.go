package audit_test

import (
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/audit"
	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
)

// history is the stream of a run that violates nothing.
type history struct {
	of      *spec.Scenario
	records []evidence.Record
}

func histories(t *testing.T) (all []history) {
	for _, s := range scenarios(t) {
		own, err := kernel.ProtocolNamed(s.Protocol)
		if err != nil {
			t.Fatal(err)
		}
		scenariotest.Logs(t, s, own, 3, func(changes []ddbfake.Change, outcome *kernel.Outcome) bool {
			if len(outcome.Broken) == 0 && len(changes) > 3 {
				all = append(all, history{s, recordsOf(changes)})
			}
			return true
		})
	}
	return all
}

func source(all []evidence.Record) iter.Seq2[evidence.Entry, error] {
	return func(yield func(evidence.Entry, error) bool) {
		for i := range all {
			if !yield(evidence.Entry{Record: &all[i]}, nil) {
				return
			}
		}
	}
}

// within is the number of records by which damaged histories are out of order.
const within = 16

func judged(t *testing.T, h history, sources ...[]evidence.Record) audit.Result {
	j, err := audit.New(options(h.of))
	if err != nil {
		t.Fatal(err)
	}
	var all []audit.Source
	for _, s := range sources {
		all = append(all, audit.Source{Entries: source(s)})
	}
	for e, err := range audit.Merge(4*within, all...) {
		if err != nil {
			t.Fatal(err)
		}
		j.Take(e.Record)
	}
	j.End()
	return j.Result()
}

// Whatever happens to the records of a correct run, no violation is reported; and records that are missing between two
// others of a row leave a doubt with the time of the gap.
func TestDamagedHistoryIsNoViolation(t *testing.T) {
	effort.Long(t)
	all := histories(t)
	random := rand.New(rand.NewPCG(1, 1))
	unknown := 0
	for trial := range 10_000 {
		h := all[trial%len(all)]
		records := slices.Clone(h.records)
		var dropped []evidence.Record
		if trial%2 == 0 {
			for range 1 + random.IntN(3) {
				i := random.IntN(len(records))
				dropped = append(dropped, records[i])
				records = slices.Delete(records, i, i+1)
			}
		}
		if trial%3 == 0 { // delivered at least once
			for range 1 + random.IntN(8) {
				i := random.IntN(len(records))
				records = slices.Insert(records, min(len(records), i+1+random.IntN(within)), records[i])
			}
		}
		if trial%5 == 0 { // in another order
			for range random.IntN(8) {
				i := random.IntN(len(records))
				j := min(len(records)-1, i+random.IntN(within))
				records[i], records[j] = records[j], records[i]
			}
		}
		sources := [][]evidence.Record{records}
		if trial%7 == 0 { // in two files, which overlap
			cut := random.IntN(len(records))
			sources = [][]evidence.Record{records[cut:], records[:min(len(records), cut+5)]}
		}
		result := judged(t, h, sources...)
		if result.Violations() > 0 {
			t.Fatalf("trial %d of %s: %v", trial, h.of.Name, result.Findings)
		}
		for _, d := range dropped {
			if !noticeable(h.records, dropped, d) {
				continue
			}
			unknown++
			covers := func(f audit.Finding) bool {
				return f.Verdict == invariant.Unknown && !f.From.After(d.Time) && !f.To.Before(d.Time)
			}
			if result.Verdict() != invariant.Unknown || !slices.ContainsFunc(result.Findings, covers) {
				t.Fatalf("trial %d of %s: record %d is missing, and the verdict is %v with %v", trial, h.of.Name,
					d.Place.Line, result.Verdict(), result.Findings)
			}
		}
	}
	if unknown < 1000 {
		t.Errorf("only %d missing records were noticeable", unknown)
	}
}

// noticeable reports whether the records around a missing one do not fit together.
func noticeable(all, dropped []evidence.Record, d evidence.Record) bool {
	isDropped := func(r *evidence.Record) bool {
		return slices.ContainsFunc(dropped, func(other evidence.Record) bool { return other.ID == r.ID })
	}
	var before, after *evidence.Record
	for i := range all {
		r := &all[i]
		if isDropped(r) || !r.Key.Equal(d.Key) || r.Table != d.Table || r.Region != d.Region {
			continue
		}
		switch c := r.Sequence.Compare(d.Sequence); {
		case c < 0:
			before = r
		case after == nil:
			after = r
		}
	}
	return before != nil && after != nil && !before.After.Equal(after.Before)
}
