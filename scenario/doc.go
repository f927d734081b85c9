// Package scenario runs chaos scenarios: files that say who asks a cache for
// what, on which clocks, under which faults, and what must hold.
//
//	s, err := scenario.Load("paused-writer.yaml")
//	report, err := scenario.Campaign{Scenario: s, Seed: 1}.Run(ctx)
//	fmt.Print(report)
//
// A run that violates an invariant replays ([Scenario.Recorded]), shrinks ([Shrink])
// and is explained ([Explain]). A [Campaign] ends with the first violation; an
// [Explorer] goes on, measures coverage, keeps a [Corpus], and can be split in
// shards that [MergeExplorations] adds up.
//
// [Campaign] tries some schedules, [Prove] runs them all.
//
// Package sim decides the interleavings, ddbfake is the store, package isr and
// its mutants are the protocols, and package invariant judges.
//
// # Determinism
//
// A run is a value: scenario, protocol, seed and choices. It gives the same
// trace, byte for byte, on every machine. See [Run]. Campaigns run on all cores,
// and what they come to does not depend on how many there are.
//
// # Limits
//
// The protocols of [Protocols], and any [isr.Handler] through [Campaign.Protocol].
// One table; bodies and origin are there for as long as a run, and lose nothing.
package scenario
