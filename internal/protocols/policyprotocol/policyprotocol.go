// Package policyprotocol has the policies of expiry as protocols, so that the simulator judges each of them by the
// invariants, on META and LOCK rows.
//
//	for _, p := range policyprotocol.All() {
//		fmt.Println(p.Name, "-", p.Summary)
//	}
//
// Each policy is recipe A with other options, or with a few methods replaced. A policy that breaks an invariant names
// it. It is no mutant: the fault is in the policy, as textbooks describe it, not in its code.
//
// # Rows
//
// Freshness is judged against Config.Revalidate, the promised window. META's revalidate_seconds may be shorter: a
// sliding policy moves it, and an early refresh ends it at the second from which the page may be made again. Under a
// policy that breaks nothing, a reader that knows only the schema may take a page for stale too early, but never too
// late.
//
// # Determinism
//
// A protocol has no random source. The draws of policy-xfetch are hashes of a token of Config.Tokens, of the page and
// of the time. In a run, the schedule decides all three. In production, tokens cannot be guessed.
//
// # Limits
//
// All nodes of a cache must have the same policy and the same Config.Revalidate. A Handler does nothing in the
// background: the request that makes a page again early waits for it. Meanwhile all other requests are served the old
// page.
package policyprotocol

import (
	"github.com/isr-sim/isr-sim/internal/protocols"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

func init() { protocols.Policies = All }

// All returns the policies, plain ones first.
func All() []isr.Protocol {
	return []isr.Protocol{
		absolute, jitter, sliding, hybrid, refreshAhead, xfetch, staleWhileRevalidate, unprotected,
	}
}

// window is the promised window, as rows hold it.
func window(r *pagecache.RecipeA) pagecache.EpochSeconds {
	return pagecache.EpochSeconds(r.Config().Revalidate.Seconds())
}
