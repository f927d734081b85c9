package mutant

import (
	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// tenantMissing keeps the pages of all tenants under the same keys: a client is served the page of any tenant.
func tenantMissing() isr.Protocol {
	return isr.Protocol{
		Name:    "tenant-missing",
		Summary: "the tenant is left out of the partition key",
		Breaks:  "tenant-isolation",
		New: func(cfg isr.Config) (isr.Handler, error) {
			cfg.Tenant = ""
			return onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return r })(cfg)
		},
	}
}
