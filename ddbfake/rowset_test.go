package ddbfake

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

type rowSetSide struct {
	set   rowSet
	model map[primaryKey]*row
}

// place returns what a writer knows about the place of a row, which may be from before the set was swept.
func (s *rowSetSide) place(rng *rand.Rand, key primaryKey) (at *cell) {
	if rng.IntN(2) == 0 {
		at = s.set.cell(key)
	}
	if rng.IntN(50) == 0 {
		s.set.sweep()
	}
	return at
}

// TestRowSet draws operations on sets that are copies of each other, and compares each set with a map of its own.
func TestRowSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	sides := []*rowSetSide{{newRowSet(), map[primaryKey]*row{}}}
	for step := range 50_000 {
		s := sides[rng.IntN(len(sides))]
		key := primaryKey{fmt.Sprintf("CACHE#%03d", rng.IntN(150)), []string{"LOCK", "META"}[rng.IntN(2)]}
		switch n := rng.IntN(1000); {
		case n < 600:
			if got, want := s.set.Get(key), s.model[key]; got != want {
				t.Fatalf("step %d: Get(%v) = %v, want %v", step, key, got, want)
			}
		case n < 850:
			r := (&place{key: key}).image(packed.Of(attr.Item{"step": attr.Int(int64(step))}), 0)
			s.set.Set(r, s.place(rng, key))
			s.model[key] = r
		case n < 998:
			if r := s.model[key]; r != nil {
				s.set.Delete(r, s.place(rng, key))
				delete(s.model, key)
			}
		case s.set.Len() != len(s.model):
			t.Fatalf("step %d: Len() = %d, want %d", step, s.set.Len(), len(s.model))
		case len(sides) < 6:
			sides = append(sides, &rowSetSide{s.set.Copy(), maps.Clone(s.model)})
		default:
			*sides[rng.IntN(len(sides))] = rowSetSide{s.set.Copy(), maps.Clone(s.model)}
		}
	}
	if !slices.ContainsFunc(sides, func(s *rowSetSide) bool { return s.set.recent != nil }) {
		t.Error("the shortcut was never used")
	}
	for i, s := range sides {
		want := slices.SortedFunc(maps.Values(s.model), func(a, b *row) int { return a.key.compare(b.key) })
		var got []*row
		s.set.Scan(func(r *row) bool { got = append(got, r); return true })
		if !slices.Equal(got, want) || s.set.Len() != len(want) {
			t.Errorf("set %d: Scan gives %d rows that are not the %d wanted", i, len(got), len(want))
		}
		middle := want[len(want)/2]
		var up, down []*row
		s.set.Ascend(middle.key, func(r *row) bool { up = append(up, r); return true })
		s.set.Descend(middle.key, func(r *row) bool { down = append(down, r); return true })
		slices.Reverse(down)
		if !slices.Equal(up, want[len(want)/2:]) || !slices.Equal(down, want[:len(want)/2+1]) {
			t.Errorf("set %d: Ascend and Descend from %v give %d and %d rows", i, middle.key, len(up), len(down))
		}
	}
}
