package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/jobs"
	"github.com/isr-sim/isr-sim/internal/study/explore"
)

// FindShard returns the shard that the flag or the environment names, and which of them does. Without either, the shard
// is the whole campaign.
func FindShard(flag string, getenv func(string) string) (s explore.Shard, by string, err error) {
	if flag != "" {
		if s, err = explore.ParseShard(flag); err != nil {
			return s, "", cli.Usage(fmt.Errorf("--%w", err), "")
		}
		return s, "--shard", nil
	}
	job, err := jobs.Find(getenv)
	return explore.Shard{Index: max(job.Index, 1), Count: max(job.Count, 1)}, job.Engine, cli.Usage(err, "")
}

// Sum adds up the verdicts of explorations.
type Sum struct {
	Code int // the exit code of the worst

	tally cli.Tally
}

// Print prints an exploration and counts it.
func (r *Sum) Print(out io.Writer, x *explore.Exploration) {
	r.Code = cli.Worse(r.Code, cli.CodeOf(x.Passed(), x.Verdict()))
	if len(x.Doubts(shell.Program())) > 0 {
		r.Code = cli.Worse(r.Code, cli.ExitUnknown)
	}
	r.tally.Add(x.Passed(), x.Verdict(), x.Vacuous())
	fmt.Fprintf(out, "%s\n\n%s\n", x.Row(), x.Explain(shell.Program()))
}

// End prints the sum and returns the command's result.
func (r *Sum) End(out io.Writer) error {
	if r.tally.Total() > 1 {
		fmt.Fprintf(out, "%s\n", &r.tally)
	}
	if r.Code != cli.ExitOK {
		return &cli.Error{Code: r.Code}
	}
	return nil
}

// NewFile begins the file of --out; nil means no file. A name that ends in a slash is a folder, in which the file gets
// the name inFolder.
func NewFile(name, inFolder string) (*atomicfile.Draft, error) {
	if name == "" {
		return nil, nil // no file is wanted
	}
	if strings.HasSuffix(name, "/") {
		if err := os.MkdirAll(name, 0o777); err != nil {
			return nil, cli.Usage(fmt.Errorf("--out: %w", err), "")
		}
		name += inFolder
	}
	file, err := atomicfile.Create(name)
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("--out: %w", err), "")
	}
	if file.Name() != name {
		file.Discard() // it can be created: Save does so, and a kill before that leaves no file
	}
	return file, nil
}

// Save writes the file of --out, unless it is nil.
func Save(file *atomicfile.Draft, found []*explore.Exploration) error {
	if file == nil {
		return nil
	}
	var err error
	name := file.Place()
	if file.Name() != name {
		file, err = atomicfile.Create(name)
		defer file.Discard()
	}
	if err == nil {
		err = explore.WriteExplorations(file, found)
	}
	if err == nil {
		err = file.Commit(0o644)
	}
	if err != nil {
		return fmt.Errorf("--out: %s: not written: %w", name, err)
	}
	return nil
}

// Saved is the progress of a shard, saved in a file beside that of --out: a killed shard goes on from there.
type Saved struct {
	explore.Saved

	file string
	due  func() (seconds float64, due bool)
}

// savedEnding ends the name of the file.
const savedEnding = ".part"

// NewSaved looks for the saved progress of an earlier run beside the file of --out. Without a file (nil) nothing is
// saved. due returns how many seconds the command has run, and whether it is time to save.
func NewSaved(out io.Writer, file *atomicfile.Draft, version string, due func() (float64, bool)) (*Saved, error) {
	s := &Saved{Saved: explore.Saved{Version: version}, due: due}
	if file == nil || file.Name() == file.Place() { // no file, or a device or a pipe, beside which nothing can be
		return s, nil
	}
	s.file = file.Place() + savedEnding
	data, err := os.ReadFile(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		var before *explore.Saved
		if before, err = explore.ReadSaved(s.file, data, version); err == nil {
			s.Saved = *before
			fmt.Fprintf(out,
				"%s: a run before was killed: this one goes on after %s; what ran later is lost, and is run again\n",
				s.file, s.Ran())
			return s, nil
		}
	}
	return nil, cli.Usage(err, "delete it to begin anew, or give another --out")
}

// Of is the saved part of the i-th scenario, or nil.
func (s *Saved) Of(i int) *explore.Part {
	if i < len(s.Parts) {
		return s.Parts[i]
	}
	return nil
}

// Foreign explains the error of a part that belongs to another campaign.
func (s *Saved) Foreign(err error) error {
	return cli.Usage(fmt.Errorf("%s: %w", s.file, err), "delete it to begin anew, or give another --out")
}

// Put saves the part of the i-th scenario if it is time, or if the part is whole. A failed write changes nothing. Put
// reports whether it tried.
func (s *Saved) Put(i int, part func() *explore.Part, whole bool) bool {
	if s.file == "" {
		return false
	}
	seconds, due := s.due()
	if !due && !whole {
		return false
	}
	so := explore.Saved{Version: s.Version, Seconds: s.Seconds + seconds,
		Parts: append(slices.Clip(s.Parts[:min(i, len(s.Parts))]), part())}
	if whole {
		s.Parts = so.Parts
	}
	var text bytes.Buffer
	if so.Write(&text) == nil {
		_ = atomicfile.Write(s.file, text.Bytes(), 0o644)
	}
	return true
}

// Done deletes the file of the progress. Call it after the file of --out is written.
func (s *Saved) Done() {
	if s.file != "" {
		_ = os.Remove(s.file)
	}
}
