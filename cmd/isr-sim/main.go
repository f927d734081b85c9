// Command isr-sim runs chaos scenarios against ISR protocols on DynamoDB.
//
// Without arguments it runs every embedded scenario on the embedded fake and
// prints one row a scenario. Exit codes: 0 all as expected, 1 an invariant is
// violated (or a campaign never reached what its scenario declares), 2 usage or
// bad input, 3 the verdict is unknown or the infrastructure failed.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without a process: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot(stdout)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		if e.err != nil {
			fmt.Fprintln(stderr, "isr-sim:", e.err)
		}
		return e.code
	}
	// What cobra itself refuses is a misuse of the command line.
	fmt.Fprintln(stderr, "isr-sim:", err)
	fmt.Fprintln(stderr, "hint: isr-sim --help")
	return exitUsage
}
