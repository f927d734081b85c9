package sim

import (
	"cmp"
	"fmt"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// DivergedAt is the error of a replay that does not fit.
func DivergedAt(step, choice, options int) DivergedError {
	return DivergedError{Step: step, choice: choice, options: options}
}

// ID identifies the step among those possible now.
func (s Step) ID() uint64 { return s.id() }

// Confused names two possible steps that share a name in equal states although they are not steps of two symmetric
// actors in the same state; otherwise "".
func (s *Sim) Confused() string {
	for i := range s.steps {
		for j := range i {
			a, b := &s.steps[i], &s.steps[j]
			if s.Canonical(a) != s.Canonical(b) {
				continue
			}
			if a.proc != nil && b.proc != nil {
				x, y := a.proc.actor, b.proc.actor
				unknown := s.interchangeable(x) && s.interchangeable(y) &&
					s.cfg.Symmetry.Rank(x.Name)+s.cfg.Symmetry.Rank(y.Name) == 0
				if x != y && unknown && x.Class == y.Class && x.fingerprint() == y.fingerprint() {
					continue
				}
			}
			return fmt.Sprintf("%s %v and %s %v", a.Name, a.Kind, b.Name, b.Kind)
		}
	}
	return ""
}

// Agree lets the code of each of a team send a request ("" for none) after the same history: first one after the other,
// with meetings between them, and then all between two meetings.
func Agree(asked ...string) (oneByOne, together error) {
	meet := func(apart bool) (err error) {
		all := teamOf(len(asked), 0)
		for i, m := range all {
			if asked[i] != "" {
				m.same = map[fingerprint.Hash]output{7: {"a", asked[i], 3}}
			}
			if apart {
				err = cmp.Or(err, meeting(all))
			}
		}
		if !apart {
			err = meeting(all)
		}
		return err
	}
	return meet(true), meet(false)
}

// KeptOf gives a team of three, with memory for room histories, one request per meeting, each after a new history. It
// returns how many the team still has.
func KeptOf(room, asked int) int {
	all := teamOf(3, room)
	for i := range asked {
		all[0].same = map[fingerprint.Hash]output{fingerprint.Hash(i): {is: "a"}}
		if err := meeting(all); err != nil {
			panic(err)
		}
	}
	return len(all[0].team.same)
}

func teamOf(size, room int) (all []*Histories) {
	for range size {
		all = append(all, new(Histories))
	}
	all[0].Most = room
	all[0].Divide(all[1:])
	return all
}

func meeting(all []*Histories) (err error) {
	for _, m := range all {
		err = cmp.Or(err, m.Meet())
	}
	return err
}
