package cli_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/cli"
)

func TestReport(t *testing.T) {
	broken := errors.New("found a, expected b")
	for _, test := range []struct {
		err    error
		code   int
		stderr string
	}{
		{nil, cli.ExitOK, ""},
		{cli.Usage(broken, ""), cli.ExitUsage, "isr-sim: found a, expected b\n"},
		{cli.Unknown(broken, "try c"), cli.ExitUnknown, "isr-sim: found a, expected b\nhint: try c\n"},
		{cli.Unknown(context.Canceled, ""), cli.ExitUnknown, "isr-sim: interrupted\n"}, // of isr-sim policy
		{&cli.Error{Code: cli.ExitViolated}, cli.ExitViolated, ""},
		{broken, cli.ExitUsage, "isr-sim: found a, expected b\nhint: isr-sim --help\n"}, // cobra's own
		{cli.And(nil), cli.ExitOK, ""},
		{cli.And(nil, errFull), cli.ExitUnknown, "isr-sim: full\n"},
		{cli.And(&cli.Error{Code: cli.ExitViolated}, errFull, errAgain), cli.ExitViolated,
			"isr-sim: full\nisr-sim: full again\n"},
		{cli.And(cli.Usage(broken, "try c"), errFull), cli.ExitUsage,
			"isr-sim: found a, expected b\nhint: try c\nisr-sim: full\n"},
	} {
		var stderr strings.Builder
		if got := cli.Report(&stderr, test.err); got != test.code || stderr.String() != test.stderr {
			t.Errorf("Report(%v) = %d and %q, want %d and %q", test.err, got, stderr.String(), test.code, test.stderr)
		}
	}
	if !errors.Is(cli.Usage(broken, ""), broken) {
		t.Error("a usage error has lost its cause")
	}
}

// full is a disk that is full after as many writes as left says.
type full struct{ left int }

var (
	errFull  = errors.New("full")
	errAgain = errors.New("full again")
)

func (f *full) Write(p []byte) (int, error) {
	f.left--
	switch {
	case f.left >= 0:
		return len(p), nil
	case f.left == -1:
		return 0, errFull
	}
	return 0, errAgain
}

// An output keeps its first error: what a command prints before and after it is not whole.
func TestOutput(t *testing.T) {
	out := &cli.Output{To: &full{left: 1}}
	for i, want := range []error{nil, errFull, errAgain} {
		if _, err := out.Write([]byte("line\n")); !errors.Is(err, want) {
			t.Errorf("write %d: %v, want %v", i, err, want)
		}
	}
	if !errors.Is(out.Err, errFull) {
		t.Errorf("the output keeps %v, want %v", out.Err, errFull)
	}
}
