package serve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/control"
	"github.com/isr-sim/isr-sim/internal/suggest"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/live"
)

// AllChecks is the text for all invariants that traffic decides.
const AllChecks = "all"

// ParseChecks returns the invariants that a text names, with commas between the names: all of live.Invariants for
// AllChecks, nil for "". An error may end in a hint.
func ParseChecks(text string) ([]invariant.Invariant, error) {
	all := live.Invariants()
	switch text {
	case "":
		return nil, nil
	case AllChecks:
		return all, nil
	}
	var some []invariant.Invariant
	for name := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(all, func(inv invariant.Invariant) bool { return inv.Name == name })
		if i < 0 {
			return nil, unknownCheck(name, all)
		}
		some = append(some, all[i])
	}
	return some, nil
}

// unknownCheck is the error for an unknown name, with the known ones.
func unknownCheck(name string, all []invariant.Invariant) error {
	var names []string
	for _, inv := range all {
		names = append(names, inv.Name)
	}
	hint := ""
	if slices.ContainsFunc(invariant.All(), func(inv invariant.Invariant) bool { return inv.Name == name }) {
		hint = "\nhint: traffic and posted history do not decide " + name
	} else if option, ok := suggest.Nearest(name, names); ok {
		hint = fmt.Sprintf("\nhint: did you mean %q?", option)
	}
	return fmt.Errorf("found %q, expected names of %s%s", name, strings.Join(names, ", "), hint)
}

// findings are the findings in the form of the control API.
func findings(checker *live.Checker) control.Findings {
	found := checker.Found()
	shown := control.Findings{
		Changes: found.Changes, Judged: found.Judged, Excepted: found.Excepted, Violations: found.Violations, Doubts: found.Doubts, Unjudged: found.Unjudged,
		Events: found.Events, Untold: found.Untold,
	}
	for _, inv := range checker.Invariants() {
		if slices.ContainsFunc(found.Untold, func(line string) bool { return strings.HasPrefix(line, inv.Name+":") }) {
			continue
		}
		shown.Checked = append(shown.Checked, inv.Name)
	}
	for _, b := range found.Broken {
		shown.Found = append(shown.Found, control.Finding{
			Verdict: b.Verdict.String(), Invariant: b.Invariant.Name, Statement: b.Invariant.Statement,
			Why: b.Why, Actor: b.Actor, Changes: b.Changes, Events: b.Events,
		})
	}
	return shown
}
