package flags

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
	"github.com/isr-sim/isr-sim/internal/study/explore"
	"github.com/isr-sim/isr-sim/internal/study/shared"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Corpus is the corpus of --corpus.
type Corpus struct {
	explore.Corpus

	address string
	begin   bool
	fresh   bool // the corpus is empty, and the user knows it
}

// Register adds the flags. The parameter what is the end of the help of --corpus: how the command uses the schedules.
func (c *Corpus) Register(cmd *cobra.Command, what string) {
	f := cmd.Flags()
	f.StringVar(&c.address, "corpus", "",
		"recorded schedules, in a folder, in s3://BUCKET/PREFIX or on a branch, git+URL#BRANCH: "+what)
	f.BoolVar(&c.begin, "corpus-new", false,
		"create the folder, the bucket's prefix or the branch of --corpus if it does not exist, as for a first run")
	f.StringVar(&c.Night, "night", "",
		"the name under which --corpus keeps what this campaign did; names must sort by time (default: "+
			"today's date)")
}

// Ready opens the corpus. A missing one is created only on request: the name may be mistyped, and a new corpus lacks
// the earlier failures. today is the default name of the night. The caller calls Close.
func (c *Corpus) Ready(ctx context.Context, out io.Writer, version, today string) error {
	c.Version, c.Night = version, cmp.Or(c.Night, today)
	if err := explore.CheckNight(c.Night); err != nil {
		return cli.Usage(fmt.Errorf("--night: %w", err), "")
	}
	if c.address == "" {
		if c.begin {
			return cli.Usage(errors.New("--corpus-new needs --corpus with the name of a folder"),
				"--corpus corpus --corpus-new")
		}
		return nil
	}
	var err error
	if c.fresh, err = c.open(ctx); err == nil && c.fresh {
		fmt.Fprintf(out, "corpus: %s is new: no recorded schedule is run\n", c.address)
	}
	return err
}

// Open opens the corpus that is at an address.
func (c *Corpus) Open(ctx context.Context, address string) error {
	c.address = address
	_, err := c.open(ctx)
	return err
}

// open opens the corpus, and reports whether it is new.
func (c *Corpus) open(ctx context.Context) (fresh bool, err error) {
	if shared.Is(c.address) {
		if c.Shared, fresh, err = shared.Open(ctx, c.address, c.begin); err == nil {
			c.Folder = c.Shared.Folder
			return fresh, nil
		}
		if errors.Is(err, shared.ErrMissing) {
			return false, cli.Usage(fmt.Errorf("--corpus: %w, expected a corpus", err),
				"to begin a corpus there, add --corpus-new")
		}
		return false, cli.Unknown(fmt.Errorf("--corpus: %w", err), "")
	}
	c.Folder = c.address
	info, err := os.Stat(c.Folder)
	switch {
	case err == nil && info.IsDir():
		return c.empty()
	case err == nil:
		return false, cli.Usage(fmt.Errorf("--corpus: found the file %s, expected a folder", c.Folder), "")
	case errors.Is(err, fs.ErrNotExist) && !c.begin:
		return false, cli.Usage(fmt.Errorf("--corpus: found no folder %s, expected one", c.Folder),
			"to begin a corpus there, add --corpus-new")
	}
	if err := os.MkdirAll(c.Folder, 0o777); err != nil {
		return false, cli.Usage(fmt.Errorf("--corpus: %w", err), "")
	}
	return true, nil
}

// empty is the error for a folder without corpus files, unless a new corpus was requested: the corpus may be in another
// folder, or one level deeper.
func (c *Corpus) empty() (fresh bool, err error) {
	files, err := os.ReadDir(c.Folder)
	if err != nil {
		return false, cli.Unknown(fmt.Errorf("--corpus: %w", err), "")
	}
	var folders []string
	for _, f := range files {
		if !f.IsDir() {
			return false, nil
		}
		folders = append(folders, filepath.Join(c.Folder, f.Name()))
	}
	if c.begin {
		return true, nil
	}
	hint := "to begin a corpus there, add --corpus-new"
	if len(folders) > 0 {
		hint = "a corpus is one folder, such as " + folders[0] + "; " + hint
	}
	return false, cli.Usage(
		fmt.Errorf("--corpus: found no file in the folder %s, expected recorded schedules", c.Folder), hint)
}

// SaysNone reports, if n is 0, that an existing corpus had no file for a scenario and a protocol, so that nobody
// believes that files were run.
func (c *Corpus) SaysNone(out io.Writer, n int, scenario, protocol string) {
	if n == 0 && c.Folder != "" && !c.fresh {
		fmt.Fprintf(out, "corpus: %s has no recorded schedule of %s under %s: none was run\n", c.address, scenario,
			protocol)
	}
}

// Close sends the files that have not reached the shared corpus yet.
func (c *Corpus) Close(ctx context.Context) error {
	if err := c.Shared.Close(ctx); err != nil {
		return fmt.Errorf("--corpus: %w", err)
	}
	return nil
}

// Strangers judges the files that no campaign can run. It returns lines about them, and the exit code.
func (c *Corpus) Strangers(
	r *Results, scenarios []*spec.Scenario, p isr.Protocol,
) (lines []string, code int, err error) {
	runs, err := c.Corpus.Strangers(scenarios, p)
	for _, run := range runs {
		lines = append(lines, run.Explain(shell.Program()))
	}
	return lines, judge(r, runs, "corpus", p.Name, invariant.OK), cli.Unknown(err, "")
}

// Run runs the files of the scenario and the protocol, and returns the exit code.
func (c *Corpus) Run(ctx context.Context, r *Results, s *spec.Scenario, p isr.Protocol) (int, error) {
	runs, err := c.Corpus.Run(ctx, s, p)
	protocol := cmp.Or(p.Name, s.Protocol)
	if err == nil {
		c.SaysNone(r.Out, len(runs), s.Name, protocol)
	}
	return judge(r, runs, s.Name, protocol, campaign.Expected(s, protocol)), cli.Unknown(err, "")
}

// judge prints the results of files, and returns the exit code.
func judge(r *Results, runs []explore.CorpusRun, name, protocol string, expected invariant.Verdict) int {
	code := cli.ExitOK
	for _, run := range runs {
		verdict := run.Verdict()
		passed := verdict == invariant.OK || verdict == expected
		if !passed {
			code = cli.Worse(code, cli.CodeOf(false, verdict))
		}
		line := run.Explain(shell.Program())
		if line == "" {
			continue
		}
		fmt.Fprintln(r.Out, line)
		r.Add("", verdicts.Result{
			Scenario: name, Protocol: protocol, Verdict: verdicts.Verdict(verdict.String()), Passed: passed,
			Invariant: run.Violates, Message: line, File: run.File, Line: 1,
		})
	}
	return code
}

// NotWritten wraps an error in writing the files of the corpus; nil gives nil.
func (c *Corpus) NotWritten(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("--corpus: %s: not written: %w", c.address, err)
}

// Errors is the list of one error; nil gives none.
func Errors(err error) []error {
	if err == nil {
		return nil
	}
	return []error{err}
}
