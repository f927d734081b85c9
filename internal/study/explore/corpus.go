package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/base/inside"
	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Corpus is a folder of recorded runs that are worth repeating: scenario files with a replay entry. Their schedules
// failed, or were the first to reach something. Each has its whole scenario in it, so it can be moved, edited and run
// by itself. "" is no corpus, and a missing folder is an empty corpus. The commands refuse a missing folder, because a
// mistyped name has no failures in it. Nothing in it is ever deleted.
type Corpus string

// CorpusRun is the result of running a file of a corpus.
type CorpusRun struct {
	File     string `json:"file"`
	Violates string `json:"violates,omitempty"` // the invariant that the run violates now
	// Problem says why the file could not be read, does not replay the recorded run any more (the scenario's protocol or
	// isr-sim has changed since), or has no verdict. Then nothing is known about the run.
	Problem string `json:"problem,omitempty"`

	steps int
	marks []scenario.Mark
}

// Run runs the files that are about a scenario, by its name, and a protocol; the zero Protocol is the scenario's own.
// Files that failed when they were recorded come first, then those with fewer choices. An error is about the folder.
func (c Corpus) Run(ctx context.Context, s *scenario.Scenario, p isr.Protocol) ([]CorpusRun, error) {
	p, err := schedules.ProtocolOf(s, p)
	if err != nil {
		return nil, err
	}
	entries, runs, err := c.entries(s, p)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if ctx.Err() == nil {
			runs = append(runs, e.run(ctx, p))
		} else {
			runs = append(runs, CorpusRun{File: e.file, Problem: "was not run: " + ended(ctx)})
		}
	}
	return runs, nil
}

func ended(ctx context.Context) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "the time was up"
	}
	return "interrupted"
}

// Strangers are the files that no command can run: they cannot be read, have no replay entry, or name a protocol that
// does not exist any more. A file with the beginning of a name that Keep gives for one of the scenarios is left to the
// campaign of that scenario.
func (c Corpus) Strangers(scenarios []*scenario.Scenario, p isr.Protocol) ([]CorpusRun, error) {
	var strangers []CorpusRun
	err := c.each(func(file string, read *scenario.Scenario, err error) {
		known := slices.ContainsFunc(scenarios, func(s *scenario.Scenario) bool {
			return strings.HasPrefix(filepath.Base(file), prefix(s, cmp.Or(p.Name, s.Protocol)))
		})
		switch {
		case err == nil && read.Replay != nil:
			if _, err := scenario.ProtocolNamed(read.Replay.Protocol); err != nil && read.Replay.Protocol != p.Name {
				strangers = append(strangers, CorpusRun{File: file, Problem: doesNot + err.Error()})
			}
		case known:
		case err != nil:
			strangers = append(strangers, CorpusRun{File: file, Problem: unreadable + err.Error()})
		default:
			strangers = append(strangers, CorpusRun{File: file, Problem: noEntry})
		}
	})
	return strangers, err
}

// The problems of files.
const (
	unreadable = "cannot be read: "
	doesNot    = "does not replay any more: "
	noEntry    = unreadable + "found no replay entry, expected one: the file is cut, or no recorded run"
)

// entry is a file of a corpus.
type entry struct {
	file     string
	scenario *scenario.Scenario
}

// entries reads the folder. A file that cannot be read is among the runs if its name has the scenario and the protocol.
func (c Corpus) entries(s *scenario.Scenario, p isr.Protocol) (entries []entry, unread []CorpusRun, err error) {
	err = c.each(func(file string, read *scenario.Scenario, err error) {
		ours := strings.HasPrefix(filepath.Base(file), prefix(s, p.Name))
		switch {
		case err == nil && read.Replay != nil:
			if read.Name == s.Name && read.Replay.Protocol == p.Name {
				entries = append(entries, entry{file, read})
			}
		case !ours:
		case err != nil:
			unread = append(unread, CorpusRun{File: file, Problem: unreadable + err.Error()})
		default:
			unread = append(unread, CorpusRun{File: file, Problem: noEntry})
		}
	})
	if err != nil {
		return nil, nil, err
	}
	passed := func(e entry) int {
		if e.scenario.Replay.Violates == "" {
			return 1
		}
		return 0
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(passed(a)-passed(b), len(a.scenario.Replay.Choices)-len(b.scenario.Replay.Choices), strings.Compare(a.file, b.file))
	})
	return entries, unread, nil
}

// each reads the folder.
func (c Corpus) each(use func(file string, read *scenario.Scenario, err error)) error {
	if c == "" {
		return nil
	}
	files, err := os.ReadDir(string(c))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("corpus: %w", err)
	}
	for _, f := range files {
		if f.IsDir() || filepath.Ext(f.Name()) != ".yaml" {
			continue
		}
		file := filepath.Join(string(c), f.Name())
		read, err := scenario.Load(file)
		use(file, read, err)
	}
	return nil
}

func prefix(s *scenario.Scenario, protocol string) string { return s.Name + "." + protocol + "." }

func (e entry) run(ctx context.Context, p isr.Protocol) CorpusRun {
	recorded := e.scenario.Replay
	again := recorded.Run(e.scenario, p)
	again.Trace = io.Discard
	o, err := again.Do(ctx)
	r := CorpusRun{File: e.file}
	if err != nil {
		r.Problem = doesNot + err.Error()
		if diverged, ok := errors.AsType[*sim.DivergedError](err); ok {
			r.Problem = doesNot + diverged.Error()
		}
		return r
	}
	r.steps, r.marks = inside.In(o).Result.Steps, o.Marks
	if o.Verdict == invariant.Violated {
		r.Violates = o.Violation.Invariant.Name
	}
	switch {
	case recorded.Digest != "" && recorded.Digest != inside.In(o).Digest:
		r.Problem = doesNot + fmt.Sprintf("found a trace with the digest %s, expected %s", inside.In(o).Digest, recorded.Digest)
	case o.Verdict == invariant.Unknown:
		r.Problem = "has no verdict any more: " + o.Why
	case recorded.Violates != "" && r.Violates == "":
		r.Problem = fmt.Sprintf("does not violate %s any more, in the same run: the invariants have changed", recorded.Violates)
	}
	return r
}

// Verdict is unknown if the run is not the recorded one, or has no verdict.
func (r CorpusRun) Verdict() invariant.Verdict {
	switch {
	case r.Violates != "":
		return invariant.Violated
	case r.Problem != "":
		return invariant.Unknown
	default:
		return invariant.OK
	}
}

// Explain prints the result of the file; "" if its run violates nothing. program is how the reader calls isr-sim.
func (r CorpusRun) Explain(program string) string {
	switch {
	case r.Violates != "" && r.Problem != "":
		return fmt.Sprintf("corpus: %s violates %s, in another run than the recorded one: it %s", r.File, r.Violates, r.Problem)
	case r.Violates != "":
		return fmt.Sprintf("corpus: %s violates %s\nreplay: %s replay %s", r.File, r.Violates, program, r.File)
	case r.Problem != "":
		return fmt.Sprintf("corpus: %s %s\nhint: delete it if what has changed since was meant to", r.File, r.Problem)
	default:
		return ""
	}
}

// Keep writes the recorded run of a scenario into the folder, unless the folder has it already. It makes the folder if
// necessary. The word what is the reason for keeping the run.
func (c Corpus) Keep(s *scenario.Scenario, r scenario.Replay, what string) error {
	if c == "" {
		return nil
	}
	same := *s
	same.Replay = &r
	data, err := same.YAML()
	if err != nil {
		return err
	}
	return c.write(prefix(s, r.Protocol)+what+"."+r.Digest+".yaml", data)
}

// write writes a file, in the folder, which it makes if need be.
func (c Corpus) write(name string, data []byte) error {
	if err := os.MkdirAll(string(c), 0o777); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(string(c), name), data, 0o644)
}

// keeper adds the findings of a campaign to a corpus.
type keeper struct {
	corpus  Corpus
	set     schedules.Set
	steps   map[string]int // the size of the shortest run that is known to violate an invariant
	reached schedules.MarkSet
	err     error // the first error, after which nothing more is kept
}

func newKeeper(corpus Corpus, set schedules.Set, known []CorpusRun) *keeper {
	k := &keeper{corpus: corpus, set: set, steps: map[string]int{}, reached: schedules.MarkSet{}}
	for _, r := range known {
		if r.Problem != "" {
			continue
		}
		k.knows(r.Violates, r.steps, r.marks)
	}
	return k
}

func (k *keeper) knows(violates string, steps int, marks []scenario.Mark) {
	if before, known := k.steps[violates]; violates != "" && (!known || steps < before) {
		k.steps[violates] = steps
	}
	for _, mark := range marks {
		k.reached[mark]++
	}
}

// keeps says whether there is a folder, and it can be written.
func (k *keeper) keeps() bool { return k.corpus != "" && k.err == nil }

// note keeps a run at once if it is the first that violates its invariant, or that reaches some mark: a campaign may be
// killed.
func (k *keeper) note(ctx context.Context, o *scenario.Outcome) error {
	if !k.keeps() {
		return nil
	}
	what, violates := "", ""
	if o.Violation != nil {
		violates = o.Violation.Invariant.Name
		if _, known := k.steps[violates]; !known {
			what = violates
		}
	} else if missing := k.reached.Missing(o.Marks); len(missing) > 0 {
		what = "reach-" + string(missing[0])
	}
	if what == "" {
		return nil
	}
	if inside.In(o).Digest == "" {
		if err := k.set.Confirm(ctx, o); err != nil {
			return err
		}
	}
	k.knows(violates, inside.In(o).Result.Steps, o.Marks)
	k.err = k.corpus.Keep(k.set.Scenario, o.Replay(), what)
	return nil
}

// finish keeps the shortest run of each invariant, if it is shorter than the known ones, and returns the error of the
// folder.
func (k *keeper) finish(x *Exploration) error {
	for _, f := range x.Findings {
		if steps, known := k.steps[f.Name]; !k.keeps() || !known || f.Shortest.Steps >= steps {
			continue
		}
		r, err := x.Recorded(&f.Shortest)
		if err != nil {
			return err
		}
		r.Violates = f.Name
		k.err = k.corpus.Keep(k.set.Scenario, r, f.Name)
	}
	return k.err
}
