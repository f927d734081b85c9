// Package campaign makes many runs of a scenario, and shrinks the one that fails.
//
//	report, err := campaign.Campaign{Scenario: s, Seed: 1}.Run(ctx)
//	fmt.Println(report.Summary())
//	if report.Failure != nil {
//		fmt.Print(report.Failure.Explain(s.Name, report.Protocol.Name))
//	}
//
// Two types make many runs. A [Campaign] tries some schedules and ends with the first violation. [Prove] runs every
// schedule within the scenario's bounds.
//
// [Shrink] makes a failing run smaller. The command `isr-sim explain` finds the step that decided it.
//
// A campaign that never got to the interesting places has tested nothing: it is vacuous, and fails ([Report.Vacuous]).
//
// # Determinism
//
// Runs are made on all cores, and the results do not depend on their number. A run that is not ok is made again. If the
// protocol then does something else, the error is a [scenario.NondeterminismError].
//
// # Limits
//
// The verdict ok of a Campaign is about the schedules that were run. The verdict ok of a proof is about all schedules
// within the bounds, for one seed.
package campaign
