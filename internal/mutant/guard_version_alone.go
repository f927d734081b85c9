package mutant

import "github.com/isr-sim/isr-sim/scenario/isr"

// guardVersionAlone publishes if no other machine has published since it looked. A writer that slept past its lease can
// then publish before its successor: the page is older than it could be, and the work of the lease's holder is in vain.
func guardVersionAlone() isr.Protocol {
	return guardAlone("guard-version-alone", "a publish asks for the version of META that was seen, and not for its lease", isr.GuardVersion)
}
