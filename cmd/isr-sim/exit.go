package main

import "github.com/isr-sim/isr-sim/internal/cli"

// The exit codes.
const (
	exitOK       = cli.ExitOK
	exitViolated = cli.ExitViolated
	exitUsage    = cli.ExitUsage
	exitUnknown  = cli.ExitUnknown
)

// exitError ends the command with a code.
type exitError = cli.Error

// usage is the error of a user's mistake. unknown is an error that keeps the command from a verdict.
func usage(err error, hint string) error   { return cli.Usage(err, hint) }
func unknown(err error, hint string) error { return cli.Unknown(err, hint) }
