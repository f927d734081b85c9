package recipe

import (
	"cmp"
	"os"

	"github.com/isr-sim/isr-sim/internal/protocols/guard"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// tableVariable is the environment variable that names the table if a Config does not. FaceTheory's services, in Go,
// TypeScript and Python, read the table's name from it, and the rows here follow FaceTheory's schema of the ISR cache.
// So a program that uses both works with the same table.
//
// Source: https://github.com/theory-cloud/TableTheory/blob/main/docs/facetheory/isr-cache-schema.md
const tableVariable = "FACETHEORY_CACHE_TABLE_NAME"

// New returns a cache on recipe A, the reference protocol. If a Config has no Table, the environment variable
// FACETHEORY_CACHE_TABLE_NAME names it. The cache is also an isr.Invalidator, an isr.Regenerator and an isr.Rollbacker;
// a method returns isr.ErrUnsupported if the recipe or its guards do not have the operation.
func New(cfg isr.Config) (isr.Handler, error) {
	return pagecache.AsHandler(pagecache.New(withTable(cfg)))
}

func withTable(cfg isr.Config) isr.Config {
	if cfg.Table == "" {
		cfg.Table = os.Getenv(tableVariable)
	}
	return cfg
}

// Reference returns recipe A under its default guards.
func Reference() isr.Protocol { return References()[0] }

// homeRegion is the region that decides for all keys of recipe-a-home.
const homeRegion = "us-east-1"

// References returns the protocols that should break no invariant: recipes A and B, each under the guards on LOCK and
// under all guards, and recipe A with one region that decides for all. In several regions, only that last one is
// correct.
func References() []isr.Protocol {
	return []isr.Protocol{
		onRecipeA("recipe-a", "one META row a key; one transaction publishes it and releases the lease", 0),
		onRecipeA("recipe-a-guarded",
			"recipe A, whose publishes also ask for META's version and for older data in it; pages can be invalidated",
			pagecache.AllGuards),
		onRecipeB("recipe-b",
			"a row for each version of a page, and META as the pointer to the visible one; pages can be rolled back",
			0),
		onRecipeB("recipe-b-guarded",
			"recipe B, whose publishes also ask for META's version and for older data in it; pages can be "+
				"invalidated, too", pagecache.AllGuards),
		{
			Name: "recipe-a-home",
			Summary: "recipe A for several regions: leases and publishes of all nodes go to one region, and " +
				"fresh pages are served from the node's own",
			Memoryless: true,
			New: func(cfg isr.Config) (isr.Handler, error) {
				return pagecache.AsHandler(pagecache.NewAtHome(withTable(cfg), homeRegion))
			},
		},
	}
}

// onRecipeA is recipe A under the given guards; 0 means the recipe's default guards.
func onRecipeA(name, summary string, g guard.Set) isr.Protocol {
	return isr.Protocol{Name: name, Summary: summary, Memoryless: true, New: func(cfg isr.Config) (isr.Handler, error) {
		return pagecache.OnRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
			r.Guards = cmp.Or(g, r.Guards)
			return r
		})(withTable(cfg))
	}}
}

// onRecipeB is recipe B under the given guards; 0 means the recipe's default guards.
func onRecipeB(name, summary string, g guard.Set) isr.Protocol {
	return isr.Protocol{Name: name, Summary: summary, Memoryless: true, New: func(cfg isr.Config) (isr.Handler, error) {
		return pagecache.OnRecipeB(func(r *pagecache.RecipeB) pagecache.Store {
			r.Guards, r.PointerETag = cmp.Or(g, r.Guards), g != 0
			return r
		})(withTable(cfg))
	}}
}
