package main

import (
	"errors"
	"fmt"
	"io"
)

// The exit codes.
const (
	exitOK       = 0 // everything is as expected
	exitViolated = 1 // an invariant is violated, or a campaign was vacuous
	exitUsage    = 2 // the command line or a file is wrong
	exitUnknown  = 3 // no verdict: a bound was met, an interrupt, or the infrastructure failed
)

// exitError ends the command with a code. Without err there is nothing left to print.
type exitError struct {
	code int
	err  error
	hint string // the remedy; may be empty, and err may end in one of its own
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage is the error of a user's mistake. unknown is an error that keeps the command from a verdict.
func usage(err error, hint string) error   { return &exitError{exitUsage, err, hint} }
func unknown(err error, hint string) error { return &exitError{exitUnknown, err, hint} }

// report prints an error and its hint, and returns its exit code.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	e, ok := errors.AsType[*exitError](err)
	if !ok {
		// An error of cobra itself is a misuse of the command line.
		e = &exitError{exitUsage, err, "isr-sim --help"}
	}
	if e.err != nil {
		fmt.Fprintln(stderr, "isr-sim:", e.err)
	}
	if e.hint != "" {
		fmt.Fprintln(stderr, "hint:", e.hint)
	}
	return e.code
}

// output is where the command prints. It keeps the first error, such as that of a full disk or a closed pipe, so that
// half an output does not pass for a whole one.
type output struct {
	to  io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}
