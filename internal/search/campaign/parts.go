package campaign

import (
	"cmp"
	"slices"

	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
)

// Sum is the search of which these are all parts, in their order, each at its end (see Prove.Split). A proof From it
// has nothing left to run: its verdict, its states, its marks and its deadlines are those of a proof that was not
// split. Its schedules are those of the parts, which run the top of the tree each, and some states twice.
func Sum(parts []*Search) *Search {
	sum := *parts[0]
	sum.Reached = &sim.Saved{Sets: [][]uint64{nil}}
	sum.Total = total{Marks: schedules.MarkSet{}, Unmet: slices.Clone(parts[0].Total.Unmet)}
	sum.Judged = map[string]bool{}
	ends := hooks.Ends{}
	for _, p := range parts {
		t := &sum.Total
		t.Schedules += p.Total.Schedules
		t.Steps += p.Total.Steps
		t.Unmet = slices.DeleteFunc(t.Unmet, func(n int) bool { return !slices.Contains(p.Total.Unmet, n) })
		//isrsim:unordered sums
		for mark, n := range p.Total.Marks {
			t.Marks[mark] += n
		}
		//isrsim:unordered a set is made
		for name, judged := range p.Judged {
			sum.Judged[name] = sum.Judged[name] || judged
		}
		for _, e := range p.Ends {
			ends[e.End] = ends[e.End].Plus(e.Met)
		}
		sum.Misfit, sum.Doubt, sum.Failed = cmp.Or(sum.Misfit, p.Misfit), cmp.Or(sum.Doubt, p.Doubt),
			cmp.Or(sum.Failed, p.Failed)
		sum.Reached.Schedules += p.Reached.Schedules
		sum.Reached.TooLong += p.Reached.TooLong
		sum.Reached.States = append(sum.Reached.States, p.Reached.States...)
	}
	sum.Ends = sortedEnds(ends)
	slices.Sort(sum.Reached.States)
	sum.Reached.States = slices.Compact(sum.Reached.States)
	sum.Reached.Asleep = make([]uint32, len(sum.Reached.States))
	return &sum
}

// Ended says that nothing is left to run: the search is complete but for schedules that were cut, or has come to a
// violation.
func (s *Search) Ended() bool {
	f := s.Reached.Frontier
	left := slices.ContainsFunc(s.Reached.Frames, func(f sim.SavedFrame) bool { return len(f.Todo) > 0 })
	return s.Failed != nil || !left && (f == nil || len(f.Queue)+len(f.Found) == 0)
}
