package flags

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
)

// Campaign has the flags of the commands that run campaigns.
type Campaign struct {
	Program

	strategy  string
	seed      uint64
	schedules int
	workers   int
	swarm     bool
}

// Register adds the flags.
func (c *Campaign) Register(cmd *cobra.Command, r *Results) {
	c.Program.Register(cmd, r, "the protocol to run instead of the scenario's own (see isr-sim list)")
	f := cmd.Flags()
	f.StringVar(&c.strategy, "strategy", strategy.Portfolio().Name,
		"the strategy that picks the schedules: "+strings.Join(strategies(), ", "))
	Seed(cmd, &c.seed)
	f.IntVar(&c.schedules, "schedules", 0, "the number of schedules of each scenario (default: as the scenario says)")
	Workers(cmd, &c.workers)
	f.BoolVar(&c.swarm, "swarm", false, "draw for each schedule which possible faults (maybe) are on")
}

// Seed adds --seed, to a command whose results depend on it.
func Seed(cmd *cobra.Command, seed *uint64) {
	cmd.Flags().Uint64Var(seed, "seed", 1, "the seed of everything random")
}

// Workers adds --workers.
func Workers(cmd *cobra.Command, workers *int) {
	cmd.Flags().IntVar(workers, "workers", 0,
		"the number of schedules that run at the same time; it changes no result (default: one for each core)")
}

// Campaign is the campaign that the flags describe, without its scenario and its protocol.
func (c *Campaign) Campaign() (campaign.Campaign, error) {
	for _, flag := range []struct {
		name  string
		value int
	}{{"schedules", c.schedules}, {"workers", c.workers}} {
		if c.cmd.Flags().Changed(flag.name) && flag.value < 1 {
			return campaign.Campaign{}, cli.Usage(fmt.Errorf("--%s: found %d, expected at least 1", flag.name,
				flag.value), "leave --"+flag.name+" out for the default")
		}
	}
	plan, err := strategy.PlanNamed(c.strategy)
	return campaign.Campaign{
		Seed: c.seed, Plan: plan, Schedules: c.schedules, Workers: c.workers, Options: kernel.Options{Swarm: c.swarm},
	}, cli.Usage(err, suggest.Hint(c.strategy, strategies(), ""))
}

func strategies() []string {
	var names []string
	for _, p := range strategy.Plans() {
		names = append(names, p.Name)
	}
	return names
}
