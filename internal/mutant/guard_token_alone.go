package mutant

import "github.com/isr-sim/isr-sim/scenario/isr"

// guardTokenAlone publishes as long as LOCK carries its token. A lease that is over
// and that nobody has taken still does: the page is late, and whether it is
// published at all is up to TTL.
func guardTokenAlone() isr.Protocol {
	return guardAlone("guard-token-alone", "a publish asks for its token in LOCK, and not whether the lease is over", isr.GuardToken)
}
