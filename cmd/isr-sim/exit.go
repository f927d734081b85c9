package main

import "fmt"

// The exit codes.
const (
	exitOK       = 0 // everything is as expected
	exitViolated = 1 // an invariant is violated, or a campaign was vacuous
	exitUsage    = 2 // the command line or a file is wrong
	exitUnknown  = 3 // no verdict: a bound was met, an interrupt, or the infrastructure failed
)

// exitError ends the command with a code. Without err everything has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usage(err error) error   { return &exitError{exitUsage, err} }
func unknown(err error) error { return &exitError{exitUnknown, err} }
