// Package campaign makes many runs of a scenario, and finds out about the one
// that fails.
//
//	report, err := campaign.Campaign{Scenario: s, Seed: 1}.Run(ctx)
//	fmt.Println(report.Summary())
//	if report.Failure != nil {
//		fmt.Print(report.Failure.Explain(s.Name, report.Protocol.Name))
//	}
//
// What makes many runs: a [Campaign] tries some schedules and ends with the first
// violation. [Prove] runs every schedule within the scenario's bounds.
//
// What is about one run: [Shrink] makes it small, and [Explain] finds the step that
// decided it.
//
// A campaign that never got to the interesting places has tested nothing: it is
// vacuous, and fails ([Report.Vacuous]).
//
// # Determinism
//
// Runs are made on all cores, and what they come to does not depend on how many
// there are. A run that is not ok is made again; a protocol that then does something
// else is a [scenario.NondeterminismError].
//
// # Limits
//
// A verdict ok of a Campaign is about the schedules that were run. A proof is about
// all within the bounds, for one seed.
package campaign
