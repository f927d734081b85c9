package worlds

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/subject/list"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

// Subject is what a check in Go and a check of a program need to know about a subject: which worlds are drawn for it,
// and what they must reach.
type Subject struct {
	Verb spec.Verb // what all its code can do
	// Fill draws everything in a world except the bounds.
	Fill func(*rapid.T, *spec.Scenario, Extras)
	// Settle returns the time, from the end of a world's faults, within which all must be well again; 0: no code can
	// promise that. A longer time than needed would leave bugs unseen.
	Settle func(*spec.Scenario, Extras) time.Duration
	// Wrong names a field of the terms whose value would let all code pass, and says why; nil means that no field has
	// one.
	Wrong func(Extras) (field, why string)
	Reach []spec.Mark // what some world of a check must reach, unless the check says otherwise
	Proof []spec.Mark // what some schedule of a proof must reach, unless the check or its file says otherwise
	// Nothing says that no world reached the first mark of Reach, so that nothing was judged. It is "" for pages, whose
	// rows say more.
	Nothing string
	// Also is a verb that some of its code can do. It was tested only if a world reached its mark; no invariant notices
	// if none did.
	Also Also
	// UnderTest is the name of code in a Go test, in the files that the test leaves, unless the code has another one.
	UnderTest string
	Program   Program
}

// Also is a verb, and the mark that a run reaches when the verb succeeds.
type Also struct {
	Verb spec.Verb
	Mark spec.Mark
}

// Program has the flag that tells isr-sim check that a program is of this subject, and the texts about it.
type Program struct {
	Flag, Usage string // the flag, and its help; "" for pages
	Named       string // what the flag checks
	InGo        string // the check in Go
	Hint        string // for a program that cannot do the verb

	Flags []string // the flags that this subject has, but not all subjects
	Lacks string   // why it does not have the flags of pages
}

// About is the subject of scenarios.
func (s *Subject) About() *list.About { return list.Named(string(s.Verb)).About }

// OfRows reports whether the subject is judged by its rows, too.
func (s *Subject) OfRows() bool { return s.About().Judged().Rows }

// Unmet is Nothing if the first mark of Reach was not reached; otherwise "".
func (s *Subject) Unmet(reached func(spec.Mark) bool) string {
	if s.Nothing == "" || reached(s.Reach[0]) {
		return ""
	}
	return s.Nothing
}

// Reaches reports whether a run can reach a mark. It cannot reach the marks of other subjects.
func (s *Subject) Reaches(m spec.Mark) bool {
	return !slices.ContainsFunc(list.Subjects(), func(other *list.About) bool {
		return other != s.About() && slices.Contains(other.Marks(), string(m)) && !slices.Contains(ofAnyRow, m)
	})
}

// ofAnyRow are marks of pages that requests for any rows can reach, whatever the rows mean.
var ofAnyRow = []spec.Mark{
	mark.LockTakenOver, mark.LockRefused, mark.OwnCommitMet, mark.ExpiredRowRead, mark.TTLDeletion, mark.LeaseRefreshed,
}

// ResponseLost is the mark of a lost answer of the store.
var ResponseLost = spec.Mark(ddbfake.FaultResponseLost.String())
