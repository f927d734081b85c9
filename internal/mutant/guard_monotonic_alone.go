package mutant

import "github.com/isr-sim/isr-sim/scenario/isr"

// guardMonotonicAlone publishes if the page in META was generated earlier, by the
// clocks of those who made the two. A writer that slept past its lease comes before
// its successor; and one whose clock is ahead shuts everybody else out.
func guardMonotonicAlone() isr.Protocol {
	return guardAlone("guard-monotonic-alone", "a publish asks whether META was generated earlier, and not for its lease", isr.GuardMonotonic)
}
