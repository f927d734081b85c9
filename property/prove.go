package property

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/isr-sim/isr-sim/internal/base/heap"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/engine"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Prove runs the store in the world of a scenario file under every schedule that the file's bounds admit, until a
// schedule violates an invariant or none is left:
//
//	func TestTwoWriters(t *testing.T) {
//		property.Check{Rows: rows}.Prove(t, "testdata/two-writers.yaml", newStore)
//	}
//
// The test passes only if the search is complete and has tried, for each lease, requests before its end, at its end and
// after it. The test's log (-v) then says so, with the number of schedules, the invariants that hold in all of them and
// had something to judge, and the deadlines. A violation is made smaller and left in testdata/isr-sim as CheckStore
// leaves it, and the next Prove begins with it. campaign.Prove says which schedules a search leaves out, and what it
// assumes. Two further assumptions: machines share no memory, and ids from crypto/rand are compared for equality only,
// because they come from one seed. For equal inputs to a machine, the store's code runs only once. The first hundred
// schedules, and one in a hundred of the others, also run from the beginning. A store whose runs differ is refused as
// not deterministic.
//
// Only these fields of c matter: Rows, which replace the rows of the file; Promise and Without, which are added to the
// file's; Invariants, which judge the runs that are made, but are not proved; Protocol; Schedules (if it is positive,
// the search ends after that many schedules, and the test fails); and Reach, the marks that some schedule must reach.
// If Reach is nil, the marks are those of the file. If the file declares none, a page must have been published and
// served as fresh. Goroutines cannot be proved.
//
// After 4,096 schedules, a search in which code seldom runs uses up to four cores, of which one at a time runs code, if
// there are no Invariants and Rows are no function. The result does not depend on the number of cores. A search ends
// ten seconds before the test's own time is over (go test -timeout), and then the test fails.
func (c Check) Prove(t *testing.T, file string, newStore func(Node) (isr.Handler, error)) {
	t.Helper()
	c.name(t)
	c.rows(t)
	c.judges(t)
	if c.Goroutines {
		t.Fatal("property: Check.Goroutines: found true, expected false for Prove: a search compares states, and " +
			"those of goroutines are not known")
	}
	own := fileName(t.Name())
	if exists(own) {
		c.begin(t, own, newStore)
	}
	s, err := c.provable(file)
	if err != nil {
		t.Fatalf("prove: %v", err)
	}
	defer heap.CollectRarely()()
	r := newRunner(t, c, newStore)
	defer r.limit.endBefore(t.Deadline())()
	proof, f := r.prove(s, c.Schedules)
	if f != nil {
		f.origin = "Found by property.Check.Prove in the world of " + file
		if f.violates() {
			r.announce(f, own)
		}
		t.Fatal(r.finish(f, own))
	}
	if why := r.unproved(proof, file); why != "" {
		t.Fatal(why)
	}
	t.Log(c.proved(proof, file))
}

// proved tells which invariants a proof has proved, which others were judged, and which were not.
func (c Check) proved(proof *campaign.Proof, file string) string {
	said := prose.Extent(proof) + "\n" + prose.Proved(proof, "the bounds of "+file)
	for _, inv := range c.Invariants {
		if !slices.Contains(proof.Scenario.Without, inv.Name) {
			said += inv.Name + ": judged in these schedules, and not proved: it is the test's own\n"
		}
	}
	for _, name := range proof.Scenario.Without {
		said += name + ": not judged: left out\n"
	}
	return said
}

// provable reads the scenario of a proof.
func (c Check) provable(file string) (*spec.Scenario, error) {
	s, err := c.world(file)
	if err != nil {
		return nil, err
	}
	if len(c.Rows.Rows) > 0 || c.Rows.Translate != nil {
		s.Rows = c.Rows
	}
	for _, f := range s.Faults {
		if s.Rows.Translate != nil && (f.Key == isr.SortMeta || f.Key == isr.SortLock) {
			return nil,
				fmt.Errorf("%s: found a fault for key %s with Check.Rows as a function, expected a fault without key: "+
					"which rows that function takes for %[2]s depends on the past of a run, which a search does "+
					"not compare", file, f.Key)
		}
	}
	promised := &s.Promise
	promised.AcrossNodes = promised.AcrossNodes || c.Promise.AcrossNodes
	promised.Recipe = promised.Recipe || c.Promise.Recipe
	if age := c.Promise.MaxAge; promised.MaxAge == 0 || age > 0 && age < promised.MaxAge {
		promised.MaxAge = age
	}
	c.leaveOut(s)
	switch {
	case c.Reach != nil:
		s.Reach = c.Reach
	case len(s.Reach) == 0:
		s.Reach = c.about().Proof
	}
	return s, nil
}

// leaveOut adds Without to the invariants that a scenario leaves out.
func (c Check) leaveOut(s *spec.Scenario) {
	for _, name := range c.Without {
		switch i := slices.Index(s.Invariants, name); {
		case i >= 0:
			s.Invariants = slices.Delete(s.Invariants, i, i+1)
		case s.Invariants == nil && !slices.Contains(s.Without, name):
			s.Without = append(s.Without, name)
		}
	}
}

// prove makes the search, and returns the failure that it finds, if any.
func (r runner) prove(s *spec.Scenario, schedules int) (*campaign.Proof, *failure) {
	g := r.guard(r.answers)
	search := campaign.Prove{
		Scenario: s, Protocol: g.protocol(r.name, r.newStore), MaxSchedules: schedules, Options: r.options(),
	}
	beside := newBeside()
	defer beside.end()
	search.Setup.Beside = beside.run
	proof, err := inside(r, func(ctx context.Context) (*campaign.Proof, error) {
		if r.subject.ttl != nil {
			ctx = r.subject.ttl.Watch(ctx)
		}
		return search.Run(ctx)
	})
	if f := r.broken(s, g, err); f != nil {
		return nil, f
	}
	switch {
	case proof.Verdict == invariant.Violated:
		f := r.outcome(s, proof.Failure)
		f.how = fmt.Sprintf("found in schedule %d of a search through all, after %d steps", proof.FailedAt,
			proof.Failure.Result.Steps)
		r.doubt(f, proof.Failure)
		return nil, f
	case proof.Doubt != nil:
		f := r.outcome(s, proof.Doubt)
		f.how = "found in a search through all schedules"
		r.doubt(f, proof.Doubt)
		return nil, f
	default:
		return proof, nil
	}
}

// unproved returns the reason why a search without a violation still proves nothing; "" if it proves something.
func (r runner) unproved(proof *campaign.Proof, file string) string {
	misfit := proof.Misfit
	if misfit != "" {
		misfit += "\n"
	}
	switch {
	case !proof.Explored.Complete:
		if r.limit.over.Load() {
			proof.Why = "the time of the test is nearly over (go test -timeout)"
		}
		return fmt.Sprintf("%s\nit ended because: %s\n"+
			"hint: narrower bounds in %s make a search short (ticks, sweeps, pauses, crashes, faults, actors)\n",
			prose.Extent(proof), proof.Why, file)
	case proof.Verdict != invariant.OK:
		return fmt.Sprintf("%v: %s: %s\nall schedules were run, and prove nothing\n", proof.Verdict, file, proof.Why)
	case r.answers.requests == 0 && !r.answers.asked: // no goroutines: all are counted
		return fmt.Sprintf("vacuous: nothing was violated in the %d schedules of %s, but %s\n%s", proof.Schedules, file,
			unasked, r.answers)
	case r.subject.Unmet(proof.Has) != "":
		return fmt.Sprintf("vacuous: nothing was violated in the %d schedules of %s, but %s\n%s", proof.Schedules, file,
			r.subject.Nothing, r.answers)
	case r.subject.OfRows() && r.answers.errors == r.answers.all:
		return fmt.Sprintf(
			"vacuous: nothing was violated in the %d schedules of %s, but the store served nothing\n%s%s",
			proof.Schedules, file, misfit, r.answers,
		)
	case len(proof.Proved()) == 0:
		return fmt.Sprintf(
			"vacuous: all invariants that a search can prove are left out of %s, or had nothing to judge\n", file,
		)
	case len(proof.Unreached()) > 0 && proof.Scenario.Bounds.Ticks == 0:
		return prose.Report(&proof.Report, "isr-sim", file) +
			"hint: one tick has time go to the end of any lease at any moment (bounds: {ticks: 1})\n"
	case proof.Vacuous():
		return prose.Report(&proof.Report, "isr-sim", file) + misfit + r.answers.String()
	case r.subject.unmet != nil && proof.NothingExpires():
		return r.unexpired(proof, file)
	default:
		return ""
	}
}

// unexpired returns the reason why TTL deleted nothing in a world of a lock or of calls although rows look expired, or
// "". Without this reason, the text of the proof would promise too much.
func (r runner) unexpired(proof *campaign.Proof, file string) string {
	why, _ := r.subject.unmet(&tally{Tally: engine.Tally{Worlds: 1}}, true)
	if why == "" {
		return ""
	}
	return fmt.Sprintf("vacuous: nothing was violated in the %d schedules of %s, but %s\n", proof.Schedules, file, why)
}
