package mutant

import "github.com/isr-sim/isr-sim/scenario/isr"

// guardTokenAlone publishes as long as LOCK carries its token. LOCK still does when the lease is over and has not been
// taken. The page is late, and TTL decides whether it is published at all.
func guardTokenAlone() isr.Protocol {
	return guardAlone("guard-token-alone", "a publish asks for its token in LOCK, and not whether the lease is over", isr.GuardToken)
}
