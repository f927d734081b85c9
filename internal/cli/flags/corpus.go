package flags

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
	"github.com/isr-sim/isr-sim/internal/study/explore"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Corpus is the folder of --corpus.
type Corpus struct {
	explore.Corpus

	begin bool
}

// Register adds the flags. Its parameter, called what, is the end of the help of --corpus: it says how the command uses
// the schedules.
func (c *Corpus) Register(cmd *cobra.Command, what string) {
	cmd.Flags().StringVar((*string)(&c.Corpus), "corpus", "", "a folder of recorded schedules: "+what)
	cmd.Flags().BoolVar(&c.begin, "corpus-new", false, "make the folder of --corpus if it is not there, as on the first night")
}

// Given says whether the user asks for a corpus.
func (c *Corpus) Given() bool { return c.Corpus != "" || c.begin }

// Ready makes sure that there is a folder. A missing folder is made only on request: the name may be mistyped, and a
// new folder has none of the failures from before.
func (c *Corpus) Ready(out io.Writer) error {
	if c.Corpus == "" {
		if c.begin {
			return cli.Usage(errors.New("--corpus-new needs --corpus with the name of a folder"), "--corpus corpus --corpus-new")
		}
		return nil
	}
	info, err := os.Stat(string(c.Corpus))
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return cli.Usage(fmt.Errorf("--corpus: found the file %s, expected a folder", string(c.Corpus)), "")
	case errors.Is(err, fs.ErrNotExist) && !c.begin:
		return cli.Usage(fmt.Errorf("--corpus: found no folder %s, expected one", string(c.Corpus)), "to begin a corpus there, add --corpus-new")
	}
	if err := os.MkdirAll(string(c.Corpus), 0o777); err != nil {
		return cli.Usage(fmt.Errorf("--corpus: %w", err), "")
	}
	fmt.Fprintf(out, "corpus: %s is new: no recorded schedule is run\n", c.Corpus)
	return nil
}

// Strangers judges the files that no campaign can run, and returns the exit code.
func (c *Corpus) Strangers(r *Results, scenarios []*scenario.Scenario, p isr.Protocol) (int, error) {
	runs, err := c.Corpus.Strangers(scenarios, p)
	return judge(r, runs, "corpus", p.Name, invariant.OK), cli.Unknown(err, "")
}

// Run runs the files that have the scenario and the protocol, and returns the exit code.
func (c *Corpus) Run(ctx context.Context, r *Results, s *scenario.Scenario, p isr.Protocol) (int, error) {
	runs, err := c.Corpus.Run(ctx, s, p)
	protocol := cmp.Or(p.Name, s.Protocol)
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
	return fmt.Errorf("--corpus: %s: not written: %w", c.Corpus, err)
}
