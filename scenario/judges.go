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
	by   []invariant.Invariant // nil is all of package invariant
	none bool                  // all are left out
	out  []string
}

// judgesOf chooses the invariants: those of package invariant and the caller's own, without those that the scenario
// leaves out. An error is a mistake in the caller's own invariants, or a name that is unknown.
func judgesOf(s *Scenario, o Options) (j judges, err error) {
	if s.Invariants == nil && s.Without == nil && o.Invariants == nil {
		return judges{}, nil // as nearly every run: this costs nothing
	}
	all := invariant.All()
	for _, own := range o.Invariants {
		switch {
		case own.Name == "" || own.Statement == "" || own.Check == nil:
			return j, fmt.Errorf("scenario %s: found the invariant %q, expected one with a name, a statement and a check", s.Name, own.Name)
		case slices.ContainsFunc(all, func(other invariant.Invariant) bool { return other.Name == own.Name }):
			return j, fmt.Errorf("scenario %s: found a second invariant with the name %s, expected a name of its own", s.Name, own.Name)
		}
		all = append(all, own)
	}
	if s.Invariants == nil && s.Without == nil {
		return judges{by: all}, nil
	}
	var names []string
	for _, inv := range all {
		names = append(names, inv.Name)
	}
	for _, name := range slices.Concat(s.Invariants, s.Without) {
		if !slices.Contains(names, name) {
			return j, fmt.Errorf("scenario %s: found the invariant %q, expected one of %s%s", s.Name, name, strings.Join(names, ", "), meant(name, names))
		}
	}
	for _, inv := range all {
		// The caller's own are not a file's to name.
		own := slices.ContainsFunc(o.Invariants, func(other invariant.Invariant) bool { return other.Name == inv.Name })
		if named := own || s.Invariants == nil || slices.Contains(s.Invariants, inv.Name); named && !slices.Contains(s.Without, inv.Name) {
			j.by = append(j.by, inv)
		} else {
			j.out = append(j.out, inv.Name)
		}
	}
	j.none = j.by == nil
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
