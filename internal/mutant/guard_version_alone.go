package mutant

import "github.com/isr-sim/isr-sim/scenario/isr"

// guardVersionAlone publishes if nobody else has published since it looked. Until
// its successor has, a writer that slept past its lease comes first: the page is
// older than it could be, and the work of whoever holds the lease is in vain.
func guardVersionAlone() isr.Protocol {
	return guardAlone("guard-version-alone", "a publish asks for the version of META that was seen, and not for its lease", isr.GuardVersion)
}
