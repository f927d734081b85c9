package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/suggest"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// judges are the invariants that judge a run, and the names of those that do not, because the scenario leaves them out.
type judges struct {
	chosen bool                  // by is all of package invariant otherwise
	by     []invariant.Invariant // of package invariant
	own    []invariant.Invariant // the caller's
	out    []string
}

func (j judges) none() bool { return j.chosen && j.by == nil && j.own == nil }

// judgesOf chooses the invariants: those of package invariant, which are about pages or about locks, and the caller's
// own, without those that the scenario leaves out. An error is a mistake in the caller's own invariants, or a name that
// is unknown.
func judgesOf(s *Scenario, o Options) (j judges, err error) {
	locks := s.holds()
	if s.Invariants == nil && s.Without == nil && o.Invariants == nil && !locks {
		return judges{}, nil // as nearly every run: this costs nothing
	}
	all := invariant.All()
	if locks {
		all = invariant.OfLocks()
	}
	var names []string
	for _, inv := range slices.Concat(all, o.Invariants) {
		switch {
		case inv.Name == "" || inv.Statement == "" || inv.Check == nil:
			return j, fmt.Errorf("scenario %s: found the invariant %q, expected one with a name, a statement and a check", s.Name, inv.Name)
		case slices.Contains(names, inv.Name):
			return j, fmt.Errorf("scenario %s: found a second invariant with the name %s, expected a name of its own", s.Name, inv.Name)
		}
		names = append(names, inv.Name)
	}
	for _, name := range slices.Concat(s.Invariants, s.Without) {
		if !slices.Contains(names, name) {
			return j, fmt.Errorf("scenario %s: found the invariant %q, expected one of %s%s", s.Name, name, strings.Join(names, ", "), meant(name, names))
		}
	}
	j.chosen = true
	for _, inv := range all {
		if slices.Contains(s.Without, inv.Name) || s.Invariants != nil && !slices.Contains(s.Invariants, inv.Name) {
			j.out = append(j.out, inv.Name)
		} else {
			j.by = append(j.by, inv)
		}
	}
	for _, inv := range o.Invariants { // a file's list does not name the caller's own, but may leave them out
		if slices.Contains(s.Without, inv.Name) {
			j.out = append(j.out, inv.Name)
		} else {
			j.own = append(j.own, inv)
		}
	}
	return j, nil
}

func meant(word string, options []string) string {
	if option, ok := suggest.Nearest(word, options); ok {
		return fmt.Sprintf("; did you mean %q?", option)
	}
	return ""
}

// NotJudged says of each invariant of package invariant that the scenario leaves out that it was not judged, and why:
// one line each.
func (s *Scenario) NotJudged() (lines []string) {
	j, err := judgesOf(s, Options{})
	if err != nil {
		return nil // no run of the scenario has a verdict
	}
	for _, name := range j.out {
		lines = append(lines, name+": not judged: left out by the scenario")
	}
	return lines
}

// judgesNothing is why a run in which no invariant judges has no verdict.
const judgesNothing = "nothing was judged: the scenario leaves out all invariants"
