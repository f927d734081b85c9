package policyprotocol

import (
	"time"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// staleTolerance is for how long after its window a page may be served as stale.
const staleTolerance = 30 * time.Second

// staleWhileRevalidate has one node make a stale page again. The other requests are served the old page for as long as
// it is tolerated, and wait after that.
//
// The published pattern keeps a second copy of the value under a longer TTL, and a lock that its holder deletes
// unconditionally. Here the tolerance is Config.Retention, after which a META row counts as gone whether TTL has come
// or not, and the lock is recipe A's: no holder deletes the lock of another, and no page is put without it.
func staleWhileRevalidate() isr.Protocol {
	return isr.Protocol{
		Name:    "policy-swr",
		Summary: "one node makes a stale page again, and others are served the old one for 30 s after its window",
		New: func(cfg isr.Config) (isr.Handler, error) {
			cfg.Contention, cfg.Retention = isr.ServeStale, staleTolerance
			return pagecache.AsHandler(pagecache.New(cfg))
		},
		Memoryless: true,
	}
}
