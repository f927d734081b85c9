package mutant

import "github.com/isr-sim/isr-sim/scenario/isr"

// guardExpiryAlone publishes as long as the lease in LOCK is not over, with any token. A writer that slept past its
// lease publishes under that of its successor, and takes it away with the same request.
func guardExpiryAlone() isr.Protocol {
	return guardAlone("guard-expiry-alone", "a publish asks whether the lease in LOCK is over, and not whose it is", isr.GuardExpiry)
}
