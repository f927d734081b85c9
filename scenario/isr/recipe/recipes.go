package recipe

import (
	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// New returns a cache on recipe A, the reference protocol. It is also an isr.Invalidator, an isr.Regenerator and an
// isr.Rollbacker; each of those returns isr.ErrUnsupported if the recipe or its guards have no such operation.
func New(cfg isr.Config) (isr.Handler, error) { return pagecache.AsHandler(pagecache.New(cfg)) }

// Reference returns recipe A under its default guards.
func Reference() isr.Protocol { return References()[0] }

// References returns the protocols that should break no invariant: recipes A and B, each under the guards on LOCK, and
// under all guards.
func References() []isr.Protocol {
	return []isr.Protocol{
		onRecipeA("recipe-a", "one META row a key; one transaction publishes it and releases the lease", 0),
		onRecipeA("recipe-a-guarded", "recipe A, whose publishes also ask for META's version and for older data in it; pages can be invalidated", pagecache.AllGuards),
		onRecipeB("recipe-b", "a row for each version of a page, and META as the pointer to the visible one; pages can be rolled back", 0),
		onRecipeB("recipe-b-guarded", "recipe B, whose publishes also ask for META's version and for older data in it; pages can be invalidated, too", pagecache.AllGuards),
	}
}

// onRecipeA is recipe A under the given guards; 0 leaves those of Config.
func onRecipeA(name, summary string, g isr.Guards) isr.Protocol {
	return isr.Protocol{Name: name, Summary: summary, Memoryless: true, New: func(cfg isr.Config) (isr.Handler, error) {
		if g != 0 {
			cfg.Guards = g
		}
		return New(cfg)
	}}
}

// onRecipeB is recipe B under the given guards; 0 leaves those of Config.
func onRecipeB(name, summary string, g isr.Guards) isr.Protocol {
	return isr.Protocol{Name: name, Summary: summary, Memoryless: true, New: func(cfg isr.Config) (isr.Handler, error) {
		if g != 0 {
			cfg.Guards, cfg.PointerETag = g, true
		}
		store, err := pagecache.NewRecipeB(cfg)
		if err != nil {
			return nil, err
		}
		return pagecache.AsHandler(pagecache.NewOn(store, cfg))
	}}
}
