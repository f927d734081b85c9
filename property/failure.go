package property

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/record"
	"github.com/isr-sim/isr-sim/internal/study/explain"
	"github.com/isr-sim/isr-sim/internal/subject/list"
	"github.com/isr-sim/isr-sim/internal/subject/list/draw"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// failDir is the folder of failures, next to the test.
const failDir = "testdata/isr-sim"

// fileName returns the file of a test's failure, with slashes on every system.
func fileName(test string) string { return failDir + "/" + safeName(test) + ".yaml" }

// safeName turns the name of a test into one that a scenario and a file can have. Different tests get different names.
func safeName(test string) string {
	const longest = 100
	changed := false
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		default:
			changed = true
			return '-'
		}
	}, test)
	if !changed && len(name) <= longest {
		return name
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(test)) // a hash.Hash never fails
	suffix := fmt.Sprintf("-%08x", h.Sum32())
	return name[:min(len(name), longest-len(suffix))] + suffix
}

// file returns the failure as a scenario file.
func (f *failure) file() ([]byte, error) {
	s := *f.world
	first, _, _ := strings.Cut(f.text, "\n")
	s.About = f.origin + ".\n" + first
	if s.Rows.Translate != nil {
		s.About += "\nRows are those of a function (Check.Rows), which no file holds: replay it from its test."
	}
	s.Replay = f.replay
	if r := f.replay; r != nil && r.Violates != "" && !builtIn(r.Violates) {
		anonymous := *r
		anonymous.Violates = "" // isr-sim does not know the caller's own invariants
		s.Replay = &anonymous
	}
	s.Catches, s.Source, s.Broken = nil, nil, "" // these fields describe scenarios of isr-sim
	return s.YAML()
}

// builtIn reports whether an invariant belongs to package invariant.
func builtIn(name string) bool {
	return slices.ContainsFunc(list.Subjects(), func(of *list.About) bool {
		return slices.ContainsFunc(of.All, func(inv invariant.Invariant) bool { return inv.Name == name })
	})
}

// leave writes the failure to a file, all of it or nothing.
func (f *failure) leave(file string) error {
	yaml, err := f.file()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(filepath.FromSlash(file)), 0o775); err != nil {
		return err
	}
	return atomicfile.Write(filepath.FromSlash(file), yaml, 0o664)
}

// headline is the failure in a line or two: the verdict and the violated invariant.
func (f *failure) headline() string {
	lines := strings.Split(f.text, "\n")
	if !f.violates() || len(lines) < 4 {
		return lines[0]
	}
	name, _, _ := strings.Cut(lines[2], ": ")
	return lines[0] + "\n" + name + ": " + lines[3]
}

// announce writes a failure that can be made smaller to its file, and says so at once: a user who does not want to wait
// for a smaller one can interrupt the test. The time for shrinking begins here. The full report is printed only once,
// at the end of shrinking.
func (r runner) announce(f *failure, file string) {
	if !f.repeatable() {
		return
	}
	most := r.limit.begin(r.t)
	kept := r.keep(f, file)
	if most > 0 {
		// Without -v, the log of a test is printed only when the test is over.
		//nolint:forbidigo // as above
		fmt.Fprintf(os.Stderr,
			"%s%s\nscenario: %s\nreplay: %s\n"+
				"a smaller failure is looked for now, for %v at most (-%s), and printed in whole\n\n",
			kept, f.headline(), file, commandOf(r.t.Name()), most.Round(time.Millisecond), shrinkFlag)
	}
}

// finish shrinks the schedule of an announced failure, writes the result to its file, and returns its report.
func (r runner) finish(f *failure, file string) string {
	smaller := r.shrunk(f)
	if smaller != f {
		smaller.origin = f.origin + "; a schedule of few context switches"
	}
	report := r.keep(smaller, file) + smaller.report(r.t, file, r.subject.call)
	if smaller.violates() {
		report += r.record(smaller.world, *smaller.replay, nil, file)
	} else if smaller.repeatable() && strings.HasPrefix(smaller.kind, kindOther) {
		report += r.traced(smaller, file)
	}
	report += r.artifacts(smaller, file)
	if ended := r.limit.ended(); ended != "" && f.repeatable() {
		report += ended + "\n"
	}
	if smaller.details != "" {
		report = smaller.details + "\n" + report
	}
	return report
}

// keep writes the failure to its file, if a file can hold it. It returns the text of an error, or "".
func (r runner) keep(f *failure, file string) string {
	if !f.repeatable() {
		return ""
	}
	if err := f.leave(file); err != nil {
		return fmt.Sprintf("the failure could not be kept: %v\n", err)
	}
	return ""
}

// report prints the failure: verdict, invariant, statement and events, seed, and how to run it again.
func (f *failure) report(t *testing.T, file, call string) string {
	var b strings.Builder
	b.WriteString(f.text)
	if f.how != "" {
		fmt.Fprintf(&b, "\n%s\n", f.how)
	}
	if !f.repeatable() {
		return b.String()
	}
	fmt.Fprintf(&b, "seed %d, choices %s", f.replay.Seed, f.replay.Choices)
	if f.replay.Steps > 0 {
		fmt.Fprintf(&b, ", until step %d", f.replay.Steps)
	}
	b.WriteByte('\n')
	fmt.Fprintf(&b, "scenario: %s\n", file)
	fmt.Fprintf(&b, "replay: %s\n", commandOf(t.Name()))
	if f.violates() {
		fmt.Fprintf(&b, "explain: %s -%s\n", commandOf(t.Name()), explainFlag)
	}
	fmt.Fprintf(&b, "replay: "+call+"\n", file)
	if protocols.Known(f.replay.Protocol) == nil {
		fmt.Fprintf(&b, "replay: isr-sim replay %s%s\n", f.flags, file)
	}
	return b.String()
}

// commandOf is the shell command that runs one test. It works from anywhere in the module.
func commandOf(test string) string {
	of := "."
	if info, ok := debug.ReadBuildInfo(); ok {
		// The tests of each package are a separate program, whose name has the package's path. If go test was called
		// with files, the name has no path.
		if path, ok := strings.CutSuffix(info.Path, ".test"); ok && path != "" &&
			!strings.HasPrefix(path, "command-line-arguments") {
			of = path
		}
	}
	return fmt.Sprintf("go test -v -run '%s' %s", strings.ReplaceAll(runPattern(test), "'", `'\''`), of)
}

func runPattern(test string) string {
	parts := strings.Split(test, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// world is load for a scenario that the subject can carry out: to the invariants a lock without a page is a violation.
func (c Check) world(file string) (*spec.Scenario, error) {
	s, err := load(file)
	if err != nil {
		return nil, err
	}
	if of, want := s.Subject(), c.about().About(); of != want {
		return nil, fmt.Errorf("%s: found a scenario of %s, expected one of %s", file, of.Name(), want.Name())
	}
	return s, nil
}

// load reads a scenario file of a store under test. The file may name any protocol, including defaultName.
func load(file string) (*spec.Scenario, error) {
	const most = 16 << 20 // a device or a pipe may never end
	f, err := os.Open(filepath.FromSlash(file))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if len(data) > most {
		return nil, fmt.Errorf("%s: found more than %d MiB, expected a scenario file", file, most>>20)
	}
	var names []isr.Protocol
	for _, s := range draw.Subjects() {
		names = append(names, isr.Protocol{Name: s.UnderTest})
	}
	return spec.Parse(file, data, names...)
}

func exists(file string) bool {
	_, err := os.Stat(filepath.FromSlash(file))
	return !errors.Is(err, fs.ErrNotExist)
}

// traced writes the trace of a run that broke off, which has no record, beside its file, and says where it is.
func (r runner) traced(f *failure, file string) string {
	trace, _ := r.replay(f.world, *f.replay)
	to := strings.TrimSuffix(file, filepath.Ext(file)) + ".txt"
	if err := atomicfile.Write(filepath.FromSlash(to), []byte(trace+"\n"+f.text), 0o664); err != nil {
		return fmt.Sprintf("the trace could not be kept: %v\n", err)
	}
	return fmt.Sprintf("trace: %s\n", to)
}

// record writes the record of a failed run, with its explanation if there is one, beside its file, and says where it
// is.
func (r runner) record(world *spec.Scenario, replay spec.Replay, x *record.Explanation, file string) string {
	g := r.guard(&answers{})
	made, err := inside(r, func(ctx context.Context) (*record.Record, error) {
		return record.Of(ctx, r.recordedRun(g, world, &replay), toolVersion())
	})
	var text bytes.Buffer
	if err == nil {
		made.Explanation = x
		err = made.Write(&text)
	}
	to := strings.TrimSuffix(file, filepath.Ext(file)) + ".json"
	if err == nil {
		err = atomicfile.Write(filepath.FromSlash(to), text.Bytes(), 0o664)
	}
	if err != nil {
		return fmt.Sprintf("the run could not be recorded: %v\n", err)
	}
	return fmt.Sprintf("record: %s\n", to)
}

// artifacts tells go test -json the seed of a failure and the violated invariant, as attributes of the test. Under go
// test -artifacts it also puts the scenario, and its record or trace, into the test's folder of artifacts, and says
// where that is. The report for a browser is left to isr-sim report: drawing it here would bring its dependencies into
// the go.sum of each module with a check.
func (r runner) artifacts(f *failure, file string) string {
	if !f.repeatable() {
		return ""
	}
	r.t.Attr("isrsim.seed", strconv.FormatUint(f.replay.Seed, 10))
	endings := []string{".yaml", ".txt"}
	if f.violates() {
		r.t.Attr("isrsim.invariant", strings.TrimPrefix(f.kind, "violated: "))
		endings[1] = ".json"
	}
	if asked := flag.Lookup("test.artifacts"); asked == nil || asked.Value.String() != "true" {
		return ""
	}
	left, to := strings.TrimSuffix(filepath.FromSlash(file), filepath.Ext(file)), r.t.ArtifactDir()
	for _, ending := range endings {
		text, err := os.ReadFile(left + ending)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = atomicfile.Write(filepath.Join(to, filepath.Base(left)+ending), text, 0o664)
		}
		if err != nil {
			return fmt.Sprintf("the artifacts could not be written: %v\n", err)
		}
	}
	return "artifacts: " + to + "\n"
}

// toolVersion is the version of this module in the test's program.
func toolVersion() string {
	const module = "github.com/isr-sim/isr-sim"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	for _, dep := range info.Deps {
		if dep.Path == module {
			return dep.Version
		}
	}
	return "(devel)"
}

// explainFlag makes a test explain the failure that its last run left in a file. isr-sim explain cannot do that with
// the file alone, because the store is in the test.
const explainFlag = "isrsim.explain"

var explaining = flag.Bool(explainFlag, false,
	"explain the failure that the last run of the test has left: its chance after each step, and the events "+
		"that it needed")

// explainTails is the number of random tails for each step. Each is a run through the SDK; if none of 100 violates, the
// chance is below 3%.
const explainTails = 100

// explained prints the chance of a recorded violation after each of its steps, and writes it into the record of the
// run.
func (r runner) explained(s *spec.Scenario, file string) string {
	g := r.guard(&answers{})
	x, err := inside(r, func(ctx context.Context) (*explain.Explanation, error) {
		return explain.Explain{
			Failed: r.recordedRun(g, s, s.Replay), Tails: explainTails,
			Workers: 1, // the guard can follow only one run at a time
		}.Run(ctx)
	})
	if err != nil {
		return fmt.Sprintf("not explained: %v", err)
	}
	return fmt.Sprintf("why %s is violated\n\n%s%s",
		x.Outcome.Violation.Invariant.Name, x.Text(false), r.record(s, *s.Replay, x.Record(), file))
}

// shrinkRuns is the largest number of runs in which the schedule of a failure is shrunk: a second or two, through the
// SDK.
var shrinkRuns = 2000

// worse returns a failure of the same kind in the same world that does more harm, if some schedule leads to one;
// otherwise the failure itself.
func (r runner) worse(f *failure) *failure {
	if !f.violates() || f.seen == nil || r.limit.Err() != nil {
		return f
	}
	g := r.guard(&answers{})
	o, err := inside(r, func(ctx context.Context) (*kernel.Outcome, error) {
		return campaign.Worse(ctx, r.recordedRun(g, f.world, f.replay), f.seen)
	})
	if err != nil || o == nil || g.offence() != nil {
		return f // as in shrunk
	}
	more := r.outcome(f.world, o)
	more.how = f.how + "\nthen a schedule of the same world was found that does more harm"
	if _, again := r.replay(f.world, *more.replay); again == nil || again.kind != f.kind {
		return f
	}
	return more
}

// shrunk returns the failure with a schedule of fewer context switches and steps, in the world that rapid found. It
// returns the failure unchanged if it is not a violation, if it cannot be shrunk, or if no time is left.
func (r runner) shrunk(f *failure) *failure {
	if !f.violates() || r.limit.Err() != nil {
		return f
	}
	g := r.guard(&answers{})
	s, err := inside(r, func(ctx context.Context) (*campaign.Shrunk, error) {
		return campaign.Shrink{
			Failed: r.recordedRun(g, f.world, f.replay), Runs: shrinkRuns, ScheduleOnly: true,
		}.Run(ctx)
	})
	if err != nil || g.offence() != nil {
		return f // another schedule breaks the store differently: a different failure
	}
	if s.Before == s.After {
		return f
	}
	smaller := r.outcome(f.world, s.Outcome)
	smaller.replay.Choices = s.Scenario.Replay.Choices
	smaller.how = fmt.Sprintf("%s\nits schedule shrunk from %d context switches and %d steps to %d and %d",
		f.how, s.Before.Switches, s.Before.Steps, s.After.Switches, s.After.Steps)
	if _, again := r.replay(f.world, *smaller.replay); again == nil || again.kind != f.kind {
		return f
	}
	return smaller
}
