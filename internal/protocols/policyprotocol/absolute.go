package policyprotocol

import (
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// absolute lets a page live for its window, however often it is read. At the end of the window one node makes the page
// again, and the other requests wait for it.
//
// The policy is recipe A under isr.Wait: lock, second look and publish are the reference's.
func absolute() isr.Protocol {
	return isr.Protocol{
		Name:    "policy-absolute",
		Summary: "a page is fresh for its window, and then made again while others wait",
		New: func(cfg isr.Config) (isr.Handler, error) {
			cfg.Contention = isr.Wait
			return pagecache.AsHandler(pagecache.New(cfg))
		},
		Memoryless: true,
	}
}
