package flags

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/jobs"
	"github.com/isr-sim/isr-sim/internal/cli/tally"
	"github.com/isr-sim/isr-sim/internal/study/explore"
)

// FindShard returns the shard that the flag or the environment says this is, and its source. Without either, the
// shard is the whole campaign.
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

	tally tally.Tally
}

// Print prints an exploration and counts it.
func (r *Sum) Print(out io.Writer, x *explore.Exploration) {
	r.Code = cli.Worse(r.Code, cli.CodeOf(x.Passed(), x.Verdict()))
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

// NewFile begins the file of --out; nil is none. A name that ends in a slash is a folder, in which the file has the
// given name.
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
	return file, nil
}

// Save writes the file of --out, unless it is nil.
func Save(file *atomicfile.Draft, found []*explore.Exploration) error {
	if file == nil {
		return nil
	}
	err := explore.WriteExplorations(file, found)
	if err == nil {
		err = file.Commit(0o644)
	}
	if err != nil {
		return fmt.Errorf("--out: %s: not written: %w", file.Place(), err)
	}
	return nil
}
