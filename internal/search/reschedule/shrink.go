package reschedule

import (
	"slices"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// Shrink looks for a schedule that shows the same behaviour with fewer context switches, then with fewer steps, then in
// less time. It is greedy and deterministic: the result is never worse than the parameter from, and another Shrink does
// not make it smaller.
//
// It deletes deviations from the default schedule, as delta debugging does. It joins stretches of one actor's steps.
// And it lets another actor go first, moment by moment.
//
// Source: Zeller, Hildebrandt: Simplifying and isolating failure-inducing input (TSE 2002); Jalbert, Sen: A trace
// simplification technique for effective debugging of concurrent programs (FSE 2010).
func Shrink(from Recorded, attempt Attempt) Recorded {
	best := from
	for {
		next := best
		for _, pass := range []func(Recorded, Attempt) Recorded{
			deleteDeviations, joinStretches, takeDetours, deletePairs,
		} {
			if r := pass(next, attempt); r.compare(&next) < 0 {
				next = r
			}
		}
		if next.compare(&best) >= 0 {
			return best
		}
		best = next
	}
}

// better attempts a schedule and keeps it if it is less than best.
func better(best *Recorded, s sim.Strategy, attempt Attempt) bool {
	r, ok := Record(s, attempt)
	if !ok || r.compare(best) >= 0 {
		return false
	}
	*best = r
	return true
}

// deleteDeviations deletes the deviations that the behaviour does not need. It tries to delete many at a time first. A
// schedule with fewer of them is kept for a while even if it is no better: it may lead to a better one.
func deleteDeviations(from Recorded, attempt Attempt) Recorded {
	best, few := from, from
	for size := len(few.Deviations); size > 0; size /= 2 {
		for at := 0; at < len(few.Deviations); {
			r, ok := Record(Deviate(without(few.Deviations, at, size)), attempt)
			if !ok || len(r.Deviations) >= len(few.Deviations) {
				at += size
				continue
			}
			if few = r; few.compare(&best) < 0 {
				best = few
			}
		}
	}
	return best
}

// without returns the deviations without some of them, from a position on.
func without(all []Deviation, at, count int) []Deviation {
	return slices.Concat(all[:at], all[min(at+count, len(all)):])
}

// joinStretches joins each stretch of one actor's steps with the actor's next stretch: it moves the later one forward,
// or the earlier one back.
func joinStretches(best Recorded, attempt Attempt) Recorded {
	for at := 0; at < len(best.Moves); {
		end, next, nextEnd := stretches(best.Moves, at)
		if next == nextEnd {
			at = max(end, at+1)
			continue
		}
		m := best.Moves
		hoisted := slices.Concat(m[:end], m[next:nextEnd], m[end:next], m[nextEnd:])
		delayed := slices.Concat(m[:at], m[end:next], m[at:end], m[next:])
		if !better(&best, Follow(hoisted), attempt) && !better(&best, Follow(delayed), attempt) {
			at = end
		}
	}
	return best
}

// stretches returns the end of the stretch of one actor's own steps that begins at a move, and the beginning and end of
// the same actor's next stretch. If there is no next one, next is nextEnd.
func stretches(moves []sim.Move, at int) (end, next, nextEnd int) {
	same := func(i int) bool { return own(moves[i].Kind) && moves[i].Name == moves[at].Name }
	for end = at; end < len(moves) && same(end); {
		end++
	}
	if end == at {
		return end, end, end
	}
	for next = end; next < len(moves) && !same(next); {
		next++
	}
	for nextEnd = next; nextEnd < len(moves) && same(nextEnd); {
		nextEnd++
	}
	return end, next, nextEnd
}

// takeDetours lets another actor's code go first, wherever that is possible.
func takeDetours(best Recorded, attempt Attempt) Recorded {
	for i := 0; i < len(best.detours); {
		if !better(&best, Deviate(append(slices.Clip(best.Deviations), best.detours[i])), attempt) {
			i++
		}
	}
	return best
}

// deletePairs deletes pairs of deviations. Often neither can be deleted alone: one leads away from the default
// schedule, and the other back.
func deletePairs(best Recorded, attempt Attempt) Recorded {
	for i := 0; i < len(best.Deviations); i++ {
		for j := i + 1; j < len(best.Deviations); {
			if !better(&best, Deviate(without(without(best.Deviations, j, 1), i, 1)), attempt) {
				j++
			}
		}
	}
	return best
}
