package explore

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/study/shared"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Corpus is a folder of recorded runs that are worth repeating: scenario files with a replay entry. Their schedules
// failed, or were the first to reach something. Each file has its whole scenario, so it can be moved, edited and run by
// itself. The zero Corpus is no corpus, and a missing folder is an empty one. The commands refuse a missing folder,
// because a mistyped name has no failures in it.
//
// A violation is kept as the smallest schedule that shows it, and the file's name has the order of that schedule: so
// two who find the same thing write the same file. For each scenario, protocol, invariant or mark, and version of
// isr-sim, the best Most files are kept: those with fewer choices, then the older ones. A dropped file leaves a note
// behind, so that everything ever found can be counted.
//
// Source: TigerBeetle's CFO (src/scripts/cfo.zig) keeps seeds in this order: failing ones, then quicker, then older.
type Corpus struct {
	Folder string
	// Shared is the remote place that Folder mirrors, or nil. In a shared corpus, a run that no longer replays is
	// marked with the version at which it stopped, and is not run again, because nobody would delete it.
	Shared *shared.Mirror
	// Version is the version of isr-sim. Night is the name of the campaign: nights are ordered by name.
	Version, Night string
}

// Most is the number of files that a corpus keeps for one scenario, protocol, version, and invariant or mark.
const Most = 4

// The suffixes of the files beside a scenario file that record its fate.
const (
	stoppedEnding = ".stopped" // it no longer replays, since the version in this file
	droppedEnding = ".dropped" // there are better files
)

// CorpusRun is the result of running a file of a corpus.
type CorpusRun struct {
	File     string `json:"file"`
	Violates string `json:"violates,omitempty"` // the invariant that the run violates now
	// Problem says why the file could not be read, no longer replays the recorded run (the scenario's protocol or
	// isr-sim has changed since), or has no verdict. Then nothing is known about the run.
	Problem string `json:"problem,omitempty"`
	// Stopped is the version of isr-sim at which the file stopped replaying, some night before. It was not run.
	Stopped string `json:"stopped,omitempty"`

	steps int
	marks []spec.Mark
}

// Run runs the files of a scenario, by its name, and a protocol; the zero Protocol is the scenario's own. Files that
// failed when they were recorded come first, then those with fewer choices. An error concerns the folder.
func (c Corpus) Run(ctx context.Context, s *spec.Scenario, p isr.Protocol) ([]CorpusRun, error) {
	p, err := schedules.ProtocolOf(s, p)
	if err != nil {
		return nil, err
	}
	entries, runs, err := c.entries(s, p)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		switch {
		case e.stopped != "":
			runs = append(runs, CorpusRun{File: e.file, Stopped: e.stopped})
		case ctx.Err() == nil:
			r := e.run(ctx, p)
			if r.Problem != "" && ctx.Err() == nil {
				if err := c.mark(ctx, e.file, stoppedEnding, r.Problem); err != nil {
					return runs, err
				}
			}
			runs = append(runs, r)
		default:
			runs = append(runs, CorpusRun{File: e.file, Problem: "was not run: " + ended(ctx)})
		}
	}
	return runs, nil
}

// mark records the fate of a file of a shared corpus, in a file beside it.
func (c Corpus) mark(ctx context.Context, file, ending, why string) error {
	if c.Shared == nil {
		return nil
	}
	name := stem(file) + ending
	if err := c.write(name, []byte(c.Version+"\n"+why+"\n")); err != nil {
		return fmt.Errorf("corpus: %w", err)
	}
	_ = c.Shared.Push(ctx, []string{name}, nil) // Close tries again, and returns the error
	return nil
}

// stem is the name of a file without its folder and its ending.
func stem(file string) string { return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) }

// version reads the version in the file with this ending beside a file of the corpus; "" if there is none.
func (c Corpus) version(file, ending string) string {
	data, err := os.ReadFile(filepath.Join(c.Folder, stem(file)+ending))
	if err != nil {
		return ""
	}
	version, _, _ := strings.Cut(string(data), "\n")
	return cmp.Or(version, "an unknown version")
}

func ended(ctx context.Context) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "the time was up"
	}
	return "interrupted"
}

// Strangers returns the files that no command can run: unreadable, without a replay entry, or of a protocol that no
// longer exists. A file that Keep could have named for one of the scenarios is left to that scenario's campaign.
func (c Corpus) Strangers(scenarios []*spec.Scenario, p isr.Protocol) ([]CorpusRun, error) {
	var strangers []CorpusRun
	err := c.each(func(file string, read *spec.Scenario, err error) {
		known := slices.ContainsFunc(scenarios, func(s *spec.Scenario) bool {
			return strings.HasPrefix(filepath.Base(file), prefix(s, cmp.Or(p.Name, s.Protocol)))
		})
		switch {
		case err == nil && read.Replay != nil:
			// A file starts no command: those of programs are left to the campaigns of the programs.
			if _, err := kernel.ProtocolNamed(read.Replay.Protocol); err != nil &&
				inName(read.Replay.Protocol) == read.Replay.Protocol {
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
	scenario *spec.Scenario
	stopped  string // the version at which it stopped replaying
	kept     keptFile
}

// keptFile has the sort key of a file in a corpus.
type keptFile struct {
	origin
	fails bool
	name  string // the name of the file; set for a board
}

// before compares files: failing ones come first, then those with fewer choices, then older ones.
func (k keptFile) before(o keptFile) int {
	return cmp.Or(last(!k.fails, !o.fails), k.choices-o.choices, strings.Compare(k.night, o.night))
}

// last sorts true after false.
func last(x, y bool) int {
	rank := map[bool]int{true: 1}
	return rank[x] - rank[y]
}

// kept is the first line of a file: the version that kept it, the night, and the number of choices.
const kept = "# kept by isr-sim %s in the night %s with %d choices\n"

var keptLine = regexp.MustCompile(`^# kept by isr-sim (.*) in the night (\S*) with (\d+) choices\n?$`)

// origin is the first line of a file that Keep wrote; it is zero for other files.
type origin struct {
	version, night string
	choices        int
}

func originOf(file string) origin {
	f, err := os.Open(file)
	if err != nil {
		return origin{}
	}
	defer f.Close() //nolint:errcheck // it was only read
	line, _ := bufio.NewReader(io.LimitReader(f, 1000)).ReadString('\n')
	return parseOrigin(line)
}

func parseOrigin(line string) origin {
	parts := keptLine.FindStringSubmatch(line)
	if parts == nil {
		return origin{}
	}
	choices, _ := strconv.Atoi(parts[3])
	return origin{parts[1], parts[2], choices}
}

// entries reads the folder. An unreadable file is among the runs if its name has the scenario and the protocol.
func (c Corpus) entries(s *spec.Scenario, p isr.Protocol) (entries []entry, unread []CorpusRun, err error) {
	err = c.each(func(file string, read *spec.Scenario, err error) {
		ours := strings.HasPrefix(filepath.Base(file), prefix(s, p.Name))
		switch {
		case err == nil && read.Replay != nil:
			if read.Name == s.Name && read.Replay.Protocol == p.Name {
				e := entry{file, read, c.version(file, stoppedEnding),
					keptFile{origin: originOf(file), fails: read.Replay.Violates != ""}}
				e.kept.choices = len(read.Replay.Choices)
				entries = append(entries, e)
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
	slices.SortFunc(entries,
		func(a, b entry) int { return cmp.Or(a.kept.before(b.kept), strings.Compare(a.file, b.file)) })
	return entries, unread, nil
}

func (c Corpus) each(use func(file string, read *spec.Scenario, err error)) error {
	if c.Folder == "" {
		return nil
	}
	files, err := os.ReadDir(c.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("corpus: %w", err)
	}
	for _, f := range files {
		if ending := filepath.Ext(f.Name()); f.IsDir() || ending != ".yaml" && ending != ".yml" {
			continue
		}
		file := filepath.Join(c.Folder, f.Name())
		if c.version(file, droppedEnding) != "" {
			continue // another process was killed between marking and deleting it
		}
		read, err := spec.Load(file)
		use(file, read, err)
	}
	return nil
}

func prefix(s *spec.Scenario, protocol string) string {
	return s.Name + "." + inName(protocol) + "."
}

// inName is a protocol as part of file names. The command of a program may have any characters, so its hash is used
// instead.
func inName(protocol string) string {
	if !strings.HasPrefix(protocol, shell.ExecPrefix) {
		return protocol
	}
	sum := sha256.Sum256([]byte(protocol))
	return "exec-" + hex.EncodeToString(sum[:4])
}

func (e entry) run(ctx context.Context, p isr.Protocol) CorpusRun {
	recorded := e.scenario.Replay
	again := kernel.Replay(*recorded, e.scenario, p)
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
	r.steps, r.marks = o.Result.Steps, o.Marks
	if o.Verdict == invariant.Violated {
		r.Violates = o.Violation.Invariant.Name
	}
	switch {
	case recorded.Digest != "" && recorded.Digest != o.Digest:
		r.Problem = doesNot + fmt.Sprintf("found a trace with the digest %s, expected %s",
			o.Digest, recorded.Digest)
	case o.Verdict == invariant.Unknown:
		r.Problem = "has no verdict any more: " + o.Why
	case recorded.Violates != "" && r.Violates == "":
		r.Problem = fmt.Sprintf("does not violate %s any more, in the same run: the invariants have changed",
			recorded.Violates)
	}
	return r
}

// Replays reports whether a run, made from its scenario's replay entry, is the run that was recorded.
func Replays(ctx context.Context, run kernel.Run) bool {
	return entry{scenario: run.Scenario}.run(ctx, run.Protocol).Problem == ""
}

// Verdict is unknown if the run is not the recorded one, or has no verdict.
func (r CorpusRun) Verdict() invariant.Verdict {
	switch {
	case r.Violates != "":
		return invariant.Violated
	case r.Problem != "": // and not r.Stopped: the night that noticed it had no verdict
		return invariant.Unknown
	default:
		return invariant.OK
	}
}

// Explain prints the result of the file; "" if its run violates nothing. program is the reader's name for isr-sim.
func (r CorpusRun) Explain(program string) string {
	switch {
	case r.Violates != "" && r.Problem != "":
		return fmt.Sprintf("corpus: %s violates %s, in another run than the recorded one: it %s", r.File, r.Violates,
			r.Problem)
	case r.Violates != "":
		return fmt.Sprintf("corpus: %s violates %s\nreplay: %s replay %s", r.File, r.Violates, program, r.File)
	case r.Problem != "":
		return fmt.Sprintf("corpus: %s %s\nhint: delete it if what has changed since was meant to", r.File, r.Problem)
	default:
		return ""
	}
}

// Keep writes the recorded run of a scenario into the folder, making it if necessary, unless the run is there already,
// and sends it to the shared corpus. The parameter what is the reason: the invariant that the run violates, or the mark
// that it reached. A violated run is shrunk first; steps counts the steps of the result. An error concerns the folder:
// an unsent file is sent later.
func (c Corpus) Keep(
	ctx context.Context, s *spec.Scenario, p isr.Protocol, r spec.Replay, what string,
) (steps int, err error) {
	if c.Folder == "" {
		return 0, nil
	}
	same, id := s.With(r), r.Digest
	if r.Violates != "" {
		var small *spec.Scenario
		if small, steps, id = smallest(ctx, s, p, r); small != nil {
			same = small
		}
	}
	data, err := same.YAML()
	if err != nil {
		return steps, err
	}
	e := entry{file: filepath.Join(c.Folder, prefix(s, r.Protocol)+what+"."+id+".yaml"), scenario: same}
	if _, err := os.Stat(e.file); err == nil || c.version(e.file, droppedEnding) != "" {
		return steps, nil
	}
	if err := c.write(filepath.Base(e.file),
		append(fmt.Appendf(nil, kept, c.Version, c.Night, len(same.Replay.Choices)), data...)); err != nil {
		return steps, err
	}
	worst, err := c.tooMany(s, p, what)
	if err != nil {
		return steps, err
	}
	add, remove := []string{filepath.Base(e.file)}, []string(nil)
	for _, w := range worst {
		name := filepath.Base(w.file)
		if err := c.write(stem(name)+droppedEnding, []byte(c.Version+"\n")); err != nil {
			return steps, err
		}
		if err := os.Remove(w.file); err != nil {
			return steps, err
		}
		add = slices.DeleteFunc(add, func(n string) bool { return n == name })
		add, remove = append(add, stem(name)+droppedEnding), append(remove, name)
	}
	_ = c.Shared.Push(ctx, add, remove) // Close tries again, and has the error
	return steps, nil
}

// tooMany returns the files of this version for an invariant or a mark that are not among the best.
func (c Corpus) tooMany(s *spec.Scenario, p isr.Protocol, what string) ([]entry, error) {
	all, _, err := c.entries(s, p)
	all = slices.DeleteFunc(all, func(e entry) bool {
		return e.kept.version != c.Version || !strings.HasPrefix(filepath.Base(e.file), prefix(s, p.Name)+what+".")
	})
	return all[min(Most, len(all)):], err
}

// smallest shrinks the schedule of a violated run, and returns the scenario with it, its steps, and the hash of its
// order. If that fails, the scenario is nil, and the trace's digest replaces the hash.
func smallest(
	ctx context.Context, s *spec.Scenario, p isr.Protocol, r spec.Replay,
) (small *spec.Scenario, steps int, order string) {
	ctx = context.WithoutCancel(ctx) // what was found is kept after the end of the campaign, too
	runs := shrinkRuns
	if schedules.OfProgram(p) {
		runs /= 10 // a program's runs take much longer
	}
	shrunk, err := campaign.Shrink{Failed: kernel.Replay(r, s, p), ScheduleOnly: true, Runs: runs}.Run(ctx)
	if err != nil {
		return nil, 0, r.Digest
	}
	probe := hooks.Probe{Coverage: true}
	o, err := kernel.Replay(*shrunk.Scenario.Replay, shrunk.Scenario, p).Do(hooks.With(ctx, &probe))
	if err != nil {
		return nil, 0, r.Digest
	}
	return shrunk.Scenario, o.Result.Steps, fmt.Sprintf("%016x", probe.Order)
}

// shrinkRuns bounds the runs that make a schedule small: about a second.
const shrinkRuns = 2000

// write writes a file in the folder, which it creates if necessary.
func (c Corpus) write(name string, data []byte) error {
	if err := os.MkdirAll(c.Folder, 0o777); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(c.Folder, name), data, 0o644)
}
