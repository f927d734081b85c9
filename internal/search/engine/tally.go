package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

// Tally sums up the worlds of a check.
type Tally struct {
	Worlds, Schedules, Steps int
	Marks                    schedules.MarkSet // in how many worlds each was reached
	Asked                    bool              // in some world, a request reached a table or S3
	Judged                   bool              // in some world, an invariant that judges had something to judge
	Misfit                   string            // why the mapping of rows does not fit the rows of some world
	Pageless                 string            // why no row of some world was a page
}

// NewTally returns a tally of no worlds.
func NewTally() Tally { return Tally{Marks: schedules.MarkSet{}} }

// Add adds a world.
func (t *Tally) Add(r *campaign.Report) {
	t.Worlds++
	t.Schedules += r.Schedules
	t.Steps += r.Steps
	t.Judged = t.Judged || len(r.Idle()) == 0
	t.Asked = t.Asked || r.AskedObjects || Asked(r.Metrics)
	if t.Misfit == "" {
		t.Misfit = r.Misfit
	}
	if t.Pageless == "" {
		t.Pageless = r.Pageless
	}
	for _, m := range r.Reached() {
		t.Marks[m]++
	}
}

// Asked says whether a request reached a table.
func Asked(all []ddbfake.Metrics) bool {
	return slices.ContainsFunc(all, func(m ddbfake.Metrics) bool { return m.Operation != "" || m.UserErrors > 0 })
}

// Words are the words in which a caller says that nothing was judged.
type Words struct {
	NoWorld string // no world came to its end
	Unasked string // no request reached a table
	Code    string // the code under test
	In      string // in the worlds
}

// Nothing says why no world was judged; "" if some world was. It does not depend on the marks that the check demands.
// served says that the code under test has answered.
func (t *Tally) Nothing(of *worlds.Subject, served bool, w Words) string {
	switch {
	case t.Worlds == 0:
		return w.NoWorld
	case !t.Asked:
		return w.Unasked
	case of.Unmet(t.Marks.Has) != "":
		return of.Nothing + w.In
	case of.Nothing != "" || !of.OfRows():
		return ""
	case !served:
		return w.Code + " served nothing" + w.In
	case t.Marks[mark.Published] == 0:
		return "no page was published" + w.In
	case !t.Judged:
		return "no invariant that judges had anything to judge" + w.In
	default:
		return ""
	}
}

// Rows says why the mapping of rows does not fit; "" if nothing shows that it does not.
func (t *Tally) Rows() string {
	if t.Misfit == "" && t.Marks[mark.Published] == 0 {
		return t.Pageless
	}
	return t.Misfit
}

// Missing returns the wanted marks that no world has reached: see worlds.Missing.
func (t *Tally) Missing(wanted []spec.Mark) (missing, untested []spec.Mark) {
	return worlds.Missing(wanted, t.Marks, t.Worlds, t.Schedules)
}

// Untested is a line that names marks which no world reached, if that may be chance.
func Untested(marks []spec.Mark) string {
	var names []string
	for _, m := range marks {
		names = append(names, string(m))
	}
	return fmt.Sprintf("not tested: %s: no world reached it, which may be chance with under %d worlds or %d schedules",
		strings.Join(names, ", "), worlds.EnoughWorlds, worlds.EnoughSchedules)
}
