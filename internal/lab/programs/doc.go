// Package programs has the small concurrent programs on which the literature compares schedulers, as actors of the
// simulator.
//
//	for i := range 10_000 {
//		cfg := sim.Config{Seed: sim.Derive(1, i), Strategy: strategy.POS, ExpectedSteps: 40}
//		if shown, _ := programs.Reorder(3).Run(cfg); shown {
//			return i + 1 // schedules to the first violation
//		}
//	}
//
// Each access to a shared variable, each lock and each unlock is a request. The creation of a thread by the main thread
// is several requests: see creation.
//
// # Limits
//
// The originals are C on pthreads, run under tools that count other events. So compare figures by rank, not by size.
package programs
