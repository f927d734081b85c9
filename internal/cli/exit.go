package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/invariant"
)

// The exit codes.
const (
	ExitOK       = 0 // everything is as expected
	ExitViolated = 1 // an invariant is violated, or a campaign was vacuous
	ExitUsage    = 2 // the command line or a file is wrong
	ExitUnknown  = 3 // no verdict: a bound was reached, an interrupt, or the infrastructure failed
)

// Error ends the command with a code. Without Err there is nothing left to print.
type Error struct {
	Code int
	Err  error
	Hint string // the remedy; "" if there is none, or if Err ends with it
	// Also are further errors, such as those of files that were not written. They do not change the code.
	Also []error
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

// Usage wraps an error that is a mistake of the user; nil gives nil.
func Usage(err error, hint string) error { return coded(ExitUsage, err, hint) }

// Unknown wraps an error that keeps the command from a verdict; nil gives nil. A cancelled context means an interrupt:
// nothing else cancels the context of a command.
func Unknown(err error, hint string) error {
	if err == context.Canceled { //nolint:errorlint // an error around it says more
		err = errors.New("interrupted")
	}
	return coded(ExitUnknown, err, hint)
}

// Coded wraps the error of a function that knows no exit codes: with Usage if it is a mistake of the user, and
// otherwise with Unknown. Nil gives nil.
func Coded(err error) error {
	if m, ok := errors.AsType[*mistake.Error](err); ok {
		return Usage(m.Err, m.Hint)
	}
	return Unknown(err, "")
}

func coded(code int, err error, hint string) error {
	if err == nil {
		return nil
	}
	return &Error{Code: code, Err: err, Hint: hint}
}

// And adds further failures to the result of a command: a violation stays one, and ok becomes unknown.
func And(err error, besides ...error) error {
	if len(besides) == 0 {
		return err
	}
	e := Error{Code: ExitUnknown}
	if err != nil {
		e = *ErrorOf(err)
	}
	e.Also = slices.Concat(e.Also, besides)
	return &e
}

// ErrorOf is the error that ends a command. Cobra's own errors mean that the command line is wrong.
func ErrorOf(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: ExitUsage, Err: err, Hint: "isr-sim --help"}
}

// Report prints an error and its hint, and returns its exit code.
func Report(stderr io.Writer, err error) int {
	if err == nil {
		return ExitOK
	}
	e := ErrorOf(err)
	if e.Err != nil {
		_, _ = fmt.Fprintln(stderr, "isr-sim:", e.Err)
	}
	if e.Hint != "" {
		_, _ = fmt.Fprintln(stderr, "hint:", e.Hint)
	}
	for _, besides := range e.Also {
		_, _ = fmt.Fprintln(stderr, "isr-sim:", besides)
	}
	return e.Code
}

// Tally counts campaigns by their results. The zero Tally is empty.
type Tally struct {
	passed, violated, vacuous, unknown, unexpected int
}

// Add counts a campaign.
func (t *Tally) Add(passed bool, verdict invariant.Verdict, vacuous bool) {
	switch {
	case passed:
		t.passed++
	case verdict == invariant.Unknown:
		t.unknown++
	case verdict == invariant.Violated:
		t.violated++
	case vacuous:
		t.vacuous++
	default:
		t.unexpected++
	}
}

// Total returns how many campaigns there were.
func (t *Tally) Total() int { return t.passed + t.violated + t.vacuous + t.unknown + t.unexpected }

// String is one line: "10 scenarios: 8 as expected, 2 violated".
func (t *Tally) String() string {
	var parts []string
	for _, p := range []struct {
		count int
		what  string
	}{
		{t.passed, "as expected"}, {t.violated, "violated"}, {t.vacuous, "vacuous"},
		{t.unexpected, "expected a violation and found none"}, {t.unknown, "unknown"},
	} {
		if p.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.count, p.what))
		}
	}
	return fmt.Sprintf("%d scenarios: %s", t.Total(), strings.Join(parts, ", "))
}
