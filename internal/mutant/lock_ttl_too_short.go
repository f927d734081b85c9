package mutant

import (
	"time"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// lockTTLTooShort has TTL collect the lock from the moment it is taken. Mostly TTL is days late, and the bug does not
// show; when it is not, the holder has lost its lock.
//
// Seen in: delta-io/delta issue 1410, where a row went while its writer still relied on it.
func lockTTLTooShort() isr.Protocol {
	return isr.Protocol{
		Name:    "lock-ttl-too-short",
		Summary: "TTL may delete LOCK while its lease is held",
		Breaks:  "ttl-well-formed",
		New: onRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
			return ttlMangler{r, func(l pagecache.Lock) pagecache.EpochSeconds {
				return l.LeaseExpiresAt - pagecache.EpochSeconds(r.Config().Lease/time.Second)
			}}
		}),
	}
}
