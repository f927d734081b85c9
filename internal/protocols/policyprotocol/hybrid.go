package policyprotocol

import (
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// hybrid is sliding under a cap. A page that is not read for half of the promised window is stale, and so is one whose
// data is as old as the whole window, however often it is read. The age is counted from generated_at, which no read
// moves.
func hybrid() isr.Protocol {
	return isr.Protocol{
		Name:    "policy-hybrid",
		Summary: "each read of a fresh page keeps it fresh for half a window more, up to a whole window after its rendering",
		New: pagecache.OnRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
			return &slider{RecipeA: r, slide: (window(r) + 1) / 2, cap: window(r)}
		}),
		Memoryless: true,
	}
}
