package property

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/isr-sim/isr-sim/internal/mutant"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// Strangers are the stores that TestEffort measures beside the mutants; they have
// no summary, and need a client of the SDK.
var Strangers func() []isr.Protocol

var effortSeeds = flag.Int("effort", 0, "measure with how many seeds the default effort finds each mutant: go test ./property -run '^TestEffort$' -effort 20 -timeout 0")

// TestEffort prints, for each mutant and for several ways to spend schedules, how
// many worlds it takes to find it: what DefaultSchedules and worldsPerCheck were
// chosen by.
func TestEffort(t *testing.T) {
	if *effortSeeds == 0 {
		t.Skip("a measurement: see the flag -effort")
	}
	spends := []int{5, 10, 20, 50} // schedules a world
	const most = 600               // worlds
	type line struct {
		name string
		text string
		hard int
	}
	var lines []line
	var mu sync.Mutex
	t.Run("mutants", func(t *testing.T) {
		for _, p := range append(mutant.All(), Strangers()...) {
			t.Run(p.Name, func(t *testing.T) {
				t.Parallel()
				took := make([][]int, len(spends)) // worlds, of each seed
				for seed := range *effortSeeds {
					first := firstWorlds(t, p, seed, most, spends)
					for i, n := range first {
						took[i] = append(took[i], n)
					}
					if seed == 1 && slices.Max(took[len(spends)-1]) > most {
						break // it needs something that no world has
					}
				}
				text := fmt.Sprintf("%-32s", p.Name)
				for i, k := range spends {
					slices.Sort(took[i])
					found := 0
					for _, n := range took[i] {
						if n <= most {
							found++
						}
					}
					last := took[i][len(took[i])-1]
					text += fmt.Sprintf(" | %d: %d/%d max %d (%d)", k, found, len(took[i]), last, last*k)
				}
				mu.Lock()
				lines = append(lines, line{p.Name, text, took[2][len(took[2])-1]})
				mu.Unlock()
			})
		}
	})
	slices.SortFunc(lines, func(a, b line) int { return a.hard - b.hard })
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintln(&b, l.text)
	}
	t.Logf("\n%s", b.String())
}

// firstWorlds returns which world was the first that showed the bug under as many
// schedules each, for each way to spend them.
func firstWorlds(t *testing.T, p isr.Protocol, seed, most int, spends []int) []int {
	first := slices.Repeat([]int{most + 1}, len(spends))
	generator := worlds("Effort", "recipe-a", 50, extras{})
	for w := 1; w <= most && first[0] > most; w++ {
		s := generator.Example(seed*1_000_003 + w).Scenario
		limit := 0
		for i, k := range spends {
			if first[i] > most {
				limit = k
			}
		}
		r, err := campaign.Campaign{Scenario: s, Protocol: p, Seed: sim.Derive(uint64(seed), w), Schedules: limit, Workers: 1, Options: scenario.Options{SDK: p.Summary == ""}}.Run(context.Background())
		at := 0
		switch {
		case err != nil:
			at = 1
		case r.Verdict == invariant.Violated:
			at = r.FailedAt
		default:
			continue
		}
		for i, k := range spends {
			if at <= k {
				first[i] = min(first[i], w)
			}
		}
	}
	return first
}
