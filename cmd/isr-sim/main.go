// Command isr-sim runs chaos scenarios against ISR protocols on DynamoDB.
//
// Without arguments it runs every embedded scenario on the embedded fake and prints one row per scenario. Exit codes: 0
// all as expected, 1 an invariant is violated (or a campaign never reached a mark that its scenario declares), 2 usage
// or bad input, 3 the verdict is unknown or the infrastructure failed.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/terminal"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first interrupt asks for an orderly end. A second one kills the process.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main for tests: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	// Text from others, such as programs and the keys of files, must not steer the terminal.
	stderr = terminal.Plain(stderr)
	out := &cli.Output{To: stdout}
	if terminal.Is(stdout) {
		out.To = terminal.Plain(stdout)
	}
	root := newRoot(out, stderr)
	lines := terminal.Output(stdout)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if fits(cmd) {
			out.To = lines
		}
		return cli.GivenFlags(cmd)
	}
	cli.FitHelp(root, terminal.Width(stdout))
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(cli.LeaveRuns(ctx))
	if closeErr := lines.Close(); closeErr != nil && out.Err == nil {
		out.Err = closeErr
	}
	if out.Err != nil {
		if errors.Is(err, out.Err) { // a command that gave up for this reason was used correctly
			err = nil
		}
		err = cli.And(err, fmt.Errorf("print: %w", out.Err))
	}
	return cli.Report(stderr, err)
}

// fits reports whether the output of a command is for readers only, so that its lines may be broken for a narrow
// terminal. Files such as the scenario that shrink prints, and results for machines, stay whole.
func fits(cmd *cobra.Command) bool {
	switch cmd.Name() {
	case "isr-sim", "run", "explore", "merge", "prove", "museum", "mutants", "replay", "explain", "list":
	default:
		return false
	}
	if markdown := cmd.Flags().Lookup("markdown"); markdown != nil && markdown.Changed {
		return false
	}
	given, err := cmd.Flags().GetStringArray("format")
	return err != nil || !slices.ContainsFunc(given, func(f string) bool {
		return !strings.Contains(f, "=") && !verdicts.Format(f).WithText()
	})
}
