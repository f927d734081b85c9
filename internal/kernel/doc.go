// Package kernel makes one run of a scenario. Package spec has the scenario.
//
//	s, err := spec.Load("paused-writer.yaml")
//	run := kernel.Run{Scenario: s, Protocol: recipe.Reference(), Seed: 1, Trace: os.Stdout}
//	o, err := run.Do(ctx)
//	fmt.Print(o.Explain(s.Name, run.Protocol.Name))
//
// Package sim decides the interleavings, ddbfake is the store, package isr and its mutants are the protocols, and
// package invariant judges. The things to check (pages, locks, calls) are subjects below internal/subject, which the
// kernel knows by an interface. One run shows little. Package campaign makes many runs, and shrinks the one that fails.
// Package scenario is the API for other programs.
//
// # Determinism
//
// A run is a value: scenario, protocol, seed and choices. The same value gives the same trace, byte for byte, on every
// machine. See [Run]. [Outcome.Replay] returns everything that is needed to replay a run, and a scenario file can hold
// it ([Recorded]).
//
// # Limits
//
// Files name the protocols that isr-sim list prints, and a program gets them from [Protocols]; a Run takes any
// [isr.Handler]. There is one table, isr-cache. Bodies and the origin exist as long as the run does. They fail only as
// the scenario's faults say.
package kernel
