// Package scenario runs chaos scenarios: files that say who asks a cache for
// what, on which clocks, under which faults, and what must hold. It reads such a
// file and makes one run of it.
//
//	s, err := scenario.Load("paused-writer.yaml")
//	run := scenario.Run{Scenario: s, Protocol: recipe.Reference(), Seed: 1, Trace: os.Stdout}
//	o, err := run.Do(ctx)
//	fmt.Print(o.Explain(s.Name, run.Protocol.Name))
//
// Package sim decides the interleavings, ddbfake is the store, package isr and
// its mutants are the protocols, and package invariant judges. One run says
// little: package campaign makes many, and shrinks and explains the one that
// fails.
//
// # Determinism
//
// A run is a value: scenario, protocol, seed and choices. It gives the same
// trace, byte for byte, on every machine. See [Run]. An [Outcome] has what replays
// it, and a scenario file may have it, too ([Scenario.Recorded]).
//
// # Limits
//
// Files name the protocols of [Protocols]; a Run takes any [isr.Handler]. There is
// one table ([TableName]). Bodies and the origin exist for as long as a run. They
// fail only as the scenario's faults say: see [DependencyFaults].
package scenario
