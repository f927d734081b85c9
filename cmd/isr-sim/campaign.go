package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/isr-sim/isr-sim/internal/suggest"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// campaignFlags are the flags of all commands that run campaigns.
type campaignFlags struct {
	set       *pflag.FlagSet
	protocol  string
	strategy  string
	seed      uint64
	schedules int
	workers   int
	swarm     bool
}

func (c *campaignFlags) register(f *pflag.FlagSet) {
	c.set = f
	f.StringVar(&c.protocol, "protocol", "", "the protocol to run instead of the scenario's own (see isr-sim list)")
	f.StringVar(&c.strategy, "strategy", sim.Portfolio().Name, "the strategy that picks the schedules: "+strings.Join(planNames(), ", "))
	f.Uint64Var(&c.seed, "seed", 1, "the seed of everything random")
	f.IntVar(&c.schedules, "schedules", 0, "the number of schedules of each scenario (default: as the scenario says)")
	f.IntVar(&c.workers, "workers", 0, "the number of schedules that run at the same time; it changes no result (default: one for each core)")
	f.BoolVar(&c.swarm, "swarm", false, "draw for each schedule which possible faults (maybe) are on")
}

// campaign is the campaign that the flags ask for, still without its scenario.
func (c *campaignFlags) campaign() (campaign.Campaign, error) {
	for _, flag := range []struct {
		name  string
		value int
	}{{"schedules", c.schedules}, {"workers", c.workers}} {
		if c.set.Changed(flag.name) && flag.value < 1 {
			return campaign.Campaign{}, usage(fmt.Errorf("--%s: found %d, expected at least 1", flag.name, flag.value), "leave --"+flag.name+" out for the default")
		}
	}
	plan, err := sim.PlanNamed(c.strategy)
	if err != nil {
		hint := ""
		if option, ok := suggest.Nearest(c.strategy, planNames()); ok {
			hint = fmt.Sprintf("did you mean %q?", option)
		}
		return campaign.Campaign{}, usage(err, hint)
	}
	p, err := protocol(c.protocol)
	if err != nil {
		return campaign.Campaign{}, err
	}
	return campaign.Campaign{
		Protocol: p, Seed: c.seed, Plan: plan, Schedules: c.schedules, Workers: c.workers, Options: scenario.Options{Swarm: c.swarm},
	}, nil
}

func planNames() []string {
	var names []string
	for _, p := range sim.Plans() {
		names = append(names, p.Name)
	}
	return names
}
