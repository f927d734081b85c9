package ddbfake

import (
	"math/rand/v2"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// In whatever order writers, readers and snapshots use a log, it has the same changes as a plain slice. Slices that
// readers have got do not change.
func TestChangeLog(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	type side struct {
		log   changeLog
		model []int // the requests, by Seq
	}
	type handed struct {
		changes []Change
		want    []int
	}
	sides := []*side{{}}
	r := (&place{key: primaryKey{hash: "a"}}).image(packed.Record{}, 0)
	var kept []handed
	for step := range 4000 {
		s := sides[random.IntN(len(sides))]
		switch random.IntN(20) {
		case 0:
			sides = append(sides, &side{s.log.copy(), append([]int(nil), s.model...)})
		case 1:
			kept = append(kept, handed{s.log.all(), append([]int(nil), s.model...)})
		case 2:
			after := random.IntN(len(s.model) + 1)
			kept = append(kept, handed{s.log.since(after), append([]int(nil), s.model[after:]...)})
		default:
			s.log.add(logEntry{request: step + 1, table: &tableID{}, after: r})
			s.model = append(s.model, step+1)
		}
		if got := s.log.lastSeq(); got != len(s.model) {
			t.Fatalf("step %d: the last change is %d, want %d", step, got, len(s.model))
		}
		if got := s.log.seqBefore(3); len(s.model) > 0 && got != 3 {
			t.Fatalf("step %d: before the change at 3 is %d", step, got)
		}
	}
	for _, s := range sides {
		kept = append(kept, handed{s.log.all(), s.model})
	}
	for i, h := range kept {
		if len(h.changes) != len(h.want) {
			t.Fatalf("slice %d has %d changes, want %d", i, len(h.changes), len(h.want))
		}
		for j, c := range h.changes {
			if c.Request != h.want[j] {
				t.Fatalf("slice %d has request %d at %d, want %d", i, c.Request, j, h.want[j])
			}
		}
	}
}
