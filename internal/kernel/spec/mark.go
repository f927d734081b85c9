package spec

import (
	"slices"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/subject/list"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

// Mark names an event that a run can reach. A campaign that never reaches the marks of its scenario has tested nothing,
// and fails. [Marks] lists all marks, and docs/SCENARIOS.md explains them.
type Mark string

// Marks returns every mark in the order in which reports print them.
func Marks() []Mark { return slices.Clone(allMarks) }

// The order of marks: the default subject's, then those of no subject, then other subjects', then the kinds of faults.
var allMarks = func() []Mark {
	var marks []Mark
	for i, s := range list.Subjects() {
		for _, m := range s.Marks() {
			marks = append(marks, Mark(m))
		}
		if i == 0 {
			marks = append(marks, mark.NodePaused, mark.NodeCrashed, mark.NodeRestarted, mark.ClockSet,
				mark.SkewBroken, mark.CutOff, mark.SlowAnswer, mark.OrphanTookPlace, mark.Replicated)
		}
	}
	for _, kind := range ddbfake.FaultKinds() {
		marks = append(marks, Mark(kind.String()))
	}
	for _, fault := range mark.DependencyFaults() {
		marks = append(marks, Mark(fault))
	}
	return marks
}()
