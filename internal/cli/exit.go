package cli

import (
	"errors"
	"fmt"
	"io"
)

// The exit codes.
const (
	ExitOK       = 0 // everything is as expected
	ExitViolated = 1 // an invariant is violated, or a campaign was vacuous
	ExitUsage    = 2 // the command line or a file is wrong
	ExitUnknown  = 3 // no verdict: a bound was met, an interrupt, or the infrastructure failed
)

// Error ends the command with a code. Without Err there is nothing left to print.
type Error struct {
	Code int
	Err  error
	Hint string // the remedy; may be empty, and Err may end in one of its own
}

// Error implements error.
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the error that was wrapped.
func (e *Error) Unwrap() error { return e.Err }

// Usage is the error of a user's mistake.
func Usage(err error, hint string) error { return &Error{ExitUsage, err, hint} }

// Unknown is an error that keeps the command from a verdict.
func Unknown(err error, hint string) error { return &Error{ExitUnknown, err, hint} }

// Report prints an error and its hint, and returns its exit code.
func Report(stderr io.Writer, err error) int {
	if err == nil {
		return ExitOK
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		// An error of cobra itself is a misuse of the command line.
		e = &Error{ExitUsage, err, "isr-sim --help"}
	}
	if e.Err != nil {
		_, _ = fmt.Fprintln(stderr, "isr-sim:", e.Err)
	}
	if e.Hint != "" {
		_, _ = fmt.Fprintln(stderr, "hint:", e.Hint)
	}
	return e.Code
}
