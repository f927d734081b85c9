// Command isr-sim runs chaos scenarios against ISR protocols on DynamoDB.
//
// Without arguments it runs every embedded scenario on the embedded fake and prints one row a scenario. Exit codes: 0
// all as expected, 1 an invariant is violated (or a campaign never reached a mark that its scenario declares), 2 usage
// or bad input, 3 the verdict is unknown or the infrastructure failed.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/isr-sim/isr-sim/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first interrupt asks for an orderly end. A second one kills the process.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without a process: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out := &cli.Output{To: stdout}
	root := newRoot(out, stderr)
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	code := cli.Report(stderr, root.ExecuteContext(ctx))
	if out.Err != nil {
		return cli.Report(stderr, unknown(fmt.Errorf("print: %w", out.Err), ""))
	}
	return code
}
