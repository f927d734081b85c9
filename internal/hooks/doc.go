// Package hooks connects packages of this module that meet inside a run without importing each other: a Probe looks at
// the run's steps and coverage, BodySteps lets a client of S3 reach the run's body store, LockClient is the lock that a
// script's hold takes, and OnceClient is the idempotency layer of a script's calls. Package kernel is at one end of
// them; campaigns, reports, programs and package property are at the other.
package hooks
