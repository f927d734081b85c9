package property

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/atomicfile"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// failDir is the folder of failures, next to the test.
const failDir = "testdata/isr-sim"

// fileName returns the file of a test's failure, slashes as on every system.
func fileName(test string) string { return failDir + "/" + safeName(test) + ".yaml" }

// safeName makes a name of a test's that can stand in a scenario and a file. Two tests get two names.
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
		anonymous.Violates = "" // a file knows no invariant of the caller's own
		s.Replay = &anonymous
	}
	s.Catches, s.Source, s.Broken = nil, nil, "" // what a world is to isr-sim
	return s.YAML()
}

// builtIn says whether an invariant is one of package invariant, of pages or of locks.
func builtIn(name string) bool {
	return slices.ContainsFunc(slices.Concat(invariant.All(), invariant.OfLocks()), func(inv invariant.Invariant) bool { return inv.Name == name })
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

// announce writes a failure that can be made smaller to its file, and prints it, at once: a user who does not want to
// wait for a smaller one can interrupt the test. The time for shrinking begins.
func (r runner) announce(f *failure, file string) {
	if !f.repeatable() {
		return
	}
	most := r.limit.begin(r.t)
	kept := r.keep(f, file)
	if most > 0 {
		// Without -v, the log of a test is printed when it is over.
		fmt.Fprintf(os.Stderr, "%s%s\na smaller failure is looked for now, for %v at most (-%s); until then this one is kept\n\n", //nolint:forbidigo // as above
			kept, f.report(r.t, file, r.subject.call), most.Round(time.Millisecond), shrinkFlag)
	}
}

// finish makes the schedule of a failure that has been announced smaller, writes the result to its file, and returns
// its report.
func (r runner) finish(f *failure, file string) string {
	smaller := r.shrunk(f)
	if smaller != f {
		smaller.origin = f.origin + "; a schedule of few context switches"
	}
	report := r.keep(smaller, file) + smaller.report(r.t, file, r.subject.call)
	if smaller.violates() {
		report += r.record(smaller.world, *smaller.replay, nil, file)
	}
	if ended := r.limit.ended(); ended != "" && f.repeatable() {
		report += ended + "\n"
	}
	if smaller.details != "" {
		report = smaller.details + "\n" + report
	}
	return report
}

// keep writes the failure to its file, if a file can hold it. It returns the error in words, or "".
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
	fmt.Fprintf(&b, "seed %d, choices %s\n", f.replay.Seed, f.replay.Choices)
	fmt.Fprintf(&b, "scenario: %s\n", file)
	fmt.Fprintf(&b, "replay: %s\n", commandOf(t.Name()))
	if f.violates() {
		fmt.Fprintf(&b, "explain: %s -%s\n", commandOf(t.Name()), explainFlag)
	}
	fmt.Fprintf(&b, "replay: "+call+"\n", file)
	named := func(p isr.Protocol) bool { return p.Name == f.replay.Protocol }
	if slices.ContainsFunc(scenario.Protocols(), named) {
		fmt.Fprintf(&b, "replay: isr-sim replay %s%s\n", f.flags, file)
	}
	return b.String()
}

// commandOf is the command that runs one test, and begins with the test's file, as a shell takes it, wherever in the
// module that is.
func commandOf(test string) string {
	of := "."
	if info, ok := debug.ReadBuildInfo(); ok {
		// The tests of a package are a program of its own. Without packages, go test is given files.
		if path, ok := strings.CutSuffix(info.Path, ".test"); ok && path != "" && !strings.HasPrefix(path, "command-line-arguments") {
			of = path
		}
	}
	return fmt.Sprintf("go test -v -run '%s' %s", strings.ReplaceAll(runPattern(test), "'", `'\''`), of)
}

// runPattern is the -run flag that runs one test.
func runPattern(test string) string {
	parts := strings.Split(test, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// load reads a scenario file of a store under test. The file may name any protocol, and DefaultName.
func load(file string) (*scenario.Scenario, error) {
	data, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		return nil, err
	}
	return scenario.Parse(file, data, isr.Protocol{Name: DefaultName}, isr.Protocol{Name: lockName})
}

func exists(file string) bool {
	_, err := os.Stat(filepath.FromSlash(file))
	return !errors.Is(err, fs.ErrNotExist)
}
