package mutant

import (
	"context"
	"strings"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// tenantAndKeyConcatenated keeps the page /x of tenant t11 under the keys of the page 1/x of tenant t1.
//
// Seen in: awslabs/amazon-dynamodb-lock-client pull request 114, where a lock's name was its partition key followed by
// its sort key.
var tenantAndKeyConcatenated = isr.Protocol{
	Name:    "tenant-and-key-concatenated",
	Summary: "tenant and key are put together without anything between them",
	Breaks:  "tenant-isolation",
	New: func(cfg isr.Config) (isr.Handler, error) {
		tenant, render := cfg.Tenant, cfg.Render
		cfg.Tenant = ""
		if render != nil {
			cfg.Render = func(ctx context.Context, key string, keepAlive func(context.Context) error) ([]byte, error) {
				return render(ctx, strings.TrimPrefix(key, tenant), keepAlive)
			}
		}
		inner, err := pagecache.New(cfg)
		if err != nil {
			return nil, err
		}
		return concatenating{inner, tenant}, nil
	},
}

type concatenating struct {
	*pagecache.Cache
	tenant string
}

func (h concatenating) Get(ctx context.Context, key string) (isr.Served, error) {
	return h.Cache.Get(ctx, h.tenant+key)
}

// tenantMissing keeps the pages of all tenants under the same keys: a client may be served another tenant's page.
var tenantMissing = isr.Protocol{
	Name:    "tenant-missing",
	Summary: "the tenant is left out of the partition key",
	Breaks:  "tenant-isolation",
	New: func(cfg isr.Config) (isr.Handler, error) {
		cfg.Tenant = ""
		return onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return r })(cfg)
	},
}
