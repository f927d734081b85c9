// Package scenario runs chaos scenarios: files that say who asks a cache for
// what, on which clocks, under which faults, and what must hold.
//
//	s, err := scenario.Load("paused-writer.yaml")
//	report, err := scenario.Campaign{Scenario: s, Seed: 1}.Run(ctx)
//	fmt.Print(report)
//
// A run that violates an invariant replays ([Scenario.Recorded]), shrinks ([Shrink])
// and is explained ([Explain]).
//
// Package sim decides the interleavings, ddbfake is the store, package isr and
// its mutants are the protocols, and package invariant judges.
//
// # Determinism
//
// A run is a value: scenario, protocol, seed and choices. It gives the same
// trace, byte for byte, on every machine. See [Run].
//
// # Limits
//
// One tenant, recipe A and its mutants, and any [isr.Handler] through
// [Campaign.Protocol]. Campaigns run on one core.
package scenario
