package property

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/isr-sim/isr-sim/internal/base/heap"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Replay runs the store on the scenario file that a failed CheckStore has left, and fails as it did then:
//
//	func TestPausedWriter(t *testing.T) {
//		property.Replay(t, "testdata/isr-sim/TestStore.yaml", newStore)
//	}
//
// The recorded schedule comes first; under -v its trace is printed, step by step. When the store's bug is fixed, that
// schedule may pass or no longer fit the store's requests. After the recorded schedule, the file's world is run under
// as many other schedules as the file says, so that the file remains a test. If one of them violates an invariant, that
// failure is left as CheckStore leaves it, in testdata/isr-sim/TestPausedWriter.yaml, and from then on the test begins
// with that file.
//
// Any scenario file can be replayed, even one without a replay entry, and newStore may make another store than the one
// that failed. Replay also fails if no schedule reaches the marks that the file declares, and if the store answers with
// errors only.
func Replay(t *testing.T, file string, newStore func(Node) (isr.Handler, error)) {
	t.Helper()
	Check{}.Replay(t, file, newStore)
}

// Replay runs the store on a scenario file, as the function Replay does. Only these fields of c matter: Protocol, the
// name of the store; Rows, which replace the file's; Invariants; Without, which is added to the file's; and Goroutines,
// if the file does not say that the store has goroutines. (A file from a check with goroutines says so.) If a file was
// kept for an invariant that Without names, it has nothing left to show, and the replay is vacuous. A check that begins
// with such a file prints that, and goes on.
func (c Check) Replay(t *testing.T, file string, newStore func(Node) (isr.Handler, error)) {
	t.Helper()
	c.name(t)
	c.judges(t)
	defer heap.CollectRarely()()
	if own := fileName(t.Name()); own != path.Clean(filepath.ToSlash(file)) && exists(own) {
		c.begin(t, own, newStore) // a failure that this test itself has found in the world of the file
	}
	s := c.read(t, file)
	if name := c.leftOut(s); name != "" {
		t.Fatalf("vacuous: %s was kept for %s, which Check.Without leaves out: nothing is left to replay; delete "+
			"the file, or the test",
			file, name)
	}
	c.replay(t, s, file, newStore)
}

// begin replays the failure that an earlier run of the test left. If the file was kept for an invariant that is now
// left out, it is no longer a failure of this check. A message says so, even if the test passes and its log is not
// printed.
func (c Check) begin(t *testing.T, own string, newStore func(Node) (isr.Handler, error)) {
	t.Helper()
	defer heap.CollectRarely()()
	s := c.read(t, own)
	if name := c.leftOut(s); name != "" {
		said := fmt.Sprintf("%s was kept for %s, which Check.Without leaves out: that is not judged; delete the "+
			"file, or judge it again", own, name)
		fmt.Fprintln(os.Stderr, said) //nolint:forbidigo // without -v, the log of a test that passes is not printed
		t.Log(said)
	}
	c.replay(t, s, own, newStore)
}

// leftOut is the invariant for which a file was kept, if Without names that invariant; otherwise "".
func (c Check) leftOut(s *spec.Scenario) string {
	if s.Replay == nil || !slices.Contains(c.Without, s.Replay.Violates) {
		return ""
	}
	return s.Replay.Violates
}

// read reads a file once: it may be a pipe.
func (c Check) read(t *testing.T, file string) *spec.Scenario {
	t.Helper()
	s, err := c.world(file)
	if err != nil {
		t.Fatalf("replay: %v", err)
	}
	return s
}

func (c Check) replay(
	t *testing.T, s *spec.Scenario, file string, newStore func(Node) (isr.Handler, error),
) {
	t.Helper()
	c.Goroutines = c.Goroutines || s.Replay != nil && s.Replay.Goroutines
	if c.rows(t); len(c.Rows.Rows) > 0 || c.Rows.Translate != nil {
		s.Rows = c.Rows
	}
	c.leaveOut(s)
	r := newRunner(t, c, newStore)
	seed := uint64(0)
	if s.Replay != nil {
		seed = s.Replay.Seed
		r.recordedSchedule(s, file)
	}
	report, f := r.campaign(s, seed, s.Bounds.Schedules)
	if f != nil {
		own := fileName(t.Name())
		f.origin = "Found by property.Replay in the world of " + file
		if f.violates() { // other violations are made smaller only in other worlds
			r.announce(f, own)
		}
		t.Fatal(r.finish(f, own))
	}
	if why := r.vacuous(s, report, file); why != "" {
		t.Fatal(why)
	}
	t.Logf("the world of %s passes under %d schedules", file, s.Bounds.Schedules)
}

// recordedSchedule runs the schedule that the file has recorded, and fails the test if it fails.
func (r runner) recordedSchedule(s *spec.Scenario, file string) {
	r.t.Helper()
	trace, f := r.replay(s, *s.Replay)
	if testing.Verbose() {
		r.t.Logf("%s under %s, seed %d, choices %s\n\n%s", s.Name, r.name, s.Replay.Seed, s.Replay.Choices, trace)
	}
	switch {
	case f == nil:
		r.t.Logf("the recorded schedule of %s passes", file)
	case f.kind == kindDiverged:
		r.t.Logf("the recorded schedule of %s does not fit the store: %s", file, f.text)
	default:
		if f.details != "" {
			r.t.Log(f.details)
		}
		if r.name != s.Replay.Protocol {
			f.flags = "--protocol " + r.name + " " // the file names the store that it was recorded with
		}
		if was := s.Replay.Violates; was != "" && f.kind != "violated: "+was {
			f.how = "the file records a violation of " + was +
				", which this run does not show: does the check have the fields that it had then?"
		}
		report := f.report(r.t, file, r.subject.call) + r.artifacts(f, file)
		if *explaining && f.violates() {
			report += "\n" + r.explained(s, file)
		}
		r.t.Fatal(report)
	}
}

// vacuous returns the reason why a campaign without a violation has shown nothing; "" if it has shown something.
func (r runner) vacuous(s *spec.Scenario, report *campaign.Report, file string) string {
	switch {
	case !r.answers.asked:
		return "vacuous: nothing was violated in the world of " + file + ", but " + unasked + "\n" +
			r.answers.String()
	case r.subject.Unmet(report.Has) != "":
		return "vacuous: nothing was violated in the world of " + file + ", but " + r.subject.Nothing + " in it\n" +
			r.answers.String()
	case r.subject.OfRows() && r.answers.errors == r.answers.all:
		return "vacuous: nothing was violated in the world of " + file + ", but the store served nothing\n" +
			r.answers.String()
	case len(report.Missing)+len(report.Idle()) > 0 || len(s.Reach) > 0 && report.Vacuous():
		// A world that was drawn at random may have a fault that never strikes this store. A file that declares marks
		// must not.
		return prose.Report(report, "isr-sim", file) + r.answers.String()
	default:
		return ""
	}
}
