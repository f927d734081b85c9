package mutant

import "github.com/isr-sim/isr-sim/scenario/isr"

// guardMonotonicAlone publishes if the page in META was generated earlier, by the clocks of the two machines that made
// them. A writer that slept past its lease comes before its successor, and a writer whose clock is ahead shuts all
// others out.
func guardMonotonicAlone() isr.Protocol {
	return guardAlone("guard-monotonic-alone", "a publish asks whether META was generated earlier, and not for its lease", isr.GuardMonotonic)
}
