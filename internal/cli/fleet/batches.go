package fleet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/study/selftest"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Batches has the flags that divide a night: each scenario under each protocol is a batch.
type Batches struct {
	protocols []string
	weights   map[string]int
	canary    bool
	changed   func(flag string) bool
}

// Batch is one scenario under one protocol; the zero Protocol is the scenario's own.
type Batch struct {
	Scenario *spec.Scenario
	Name     string // how the user names the scenario
	Protocol isr.Protocol
	Canary   bool // it must find a known bug

	weight int
}

// Register adds the flags.
func (b *Batches) Register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&b.protocols, "protocols", nil,
		"run each scenario under each of these protocols that supports it, instead of --protocol; 'exec "+
			"COMMAND' is a program, as of --exec")
	f.StringToIntVar(&b.weights, "weight", nil,
		"with --for: the share of the time for a scenario or a protocol, such as paused-writer=3 (default: 1)")
	f.BoolVar(&b.canary, "canary", false,
		"have each scenario find a known bug, so that finding nothing says something (default: with --for)")
	b.changed = f.Changed
}

// Commands are the commands of the programs among the protocols.
func (b *Batches) Commands() (all []string) {
	for _, name := range b.protocols {
		if command, is := strings.CutPrefix(name, shell.ExecPrefix); is {
			all = append(all, command)
		}
	}
	return all
}

// runner is a protocol, with a function that reports which scenarios it can run.
type runner struct {
	isr.Protocol
	runs func(s *spec.Scenario) bool
}

// runners are the protocols of --protocols, or the given one.
func (b *Batches) runners(p isr.Protocol, programs *flags.Program) (all []runner, err error) {
	if len(b.protocols) == 0 {
		return []runner{{p, func(*spec.Scenario) bool { return true }}}, nil
	}
	if p.New != nil {
		return nil, cli.Usage(errors.New("--protocols goes with neither --protocol nor --exec"),
			"--protocols 'exec COMMAND' is a program")
	}
	for _, name := range b.protocols {
		var r runner
		if command, is := strings.CutPrefix(name, shell.ExecPrefix); is {
			r.Protocol, r.runs, err = programs.Other(command)
		} else {
			if r.Protocol, err = kernel.ProtocolNamed(name); err != nil {
				err = cli.Usage(fmt.Errorf("--protocols: %w", err), "isr-sim list names all")
			}
			r.runs = func(s *spec.Scenario) bool { return selftest.Understands(s, r.Protocol) }
		}
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// Of returns the batches of scenarios. timed says that the user gave --for.
func (b *Batches) Of(
	scenarios []*spec.Scenario, names []string, p isr.Protocol, programs *flags.Program, timed bool,
) ([]Batch, error) {
	runners, err := b.runners(p, programs)
	if err != nil {
		return nil, err
	}
	var all []Batch
	known := map[string]bool{}
	for i, s := range scenarios {
		for _, p := range runners {
			if !p.runs(s) {
				continue
			}
			name := p.Name
			if p.New == nil {
				name = s.Protocol
			}
			batch := Batch{Scenario: s, Name: names[i], Protocol: p.Protocol, weight: 1, Canary: b.canary ||
				timed && !b.changed("canary")}
			for _, n := range []string{s.Name, name} {
				known[n] = true
				if w, given := b.weights[n]; given {
					batch.weight *= w
				}
			}
			// A program has its own protocol, and one canary is enough for all protocols of a scenario.
			batch.Canary = batch.Canary && !slices.ContainsFunc(all,
				func(o Batch) bool { return o.Canary && o.Scenario == s })
			all = append(all, batch)
		}
	}
	//isrsim:unordered any mistake will do
	for name, w := range b.weights {
		if !known[name] || w < 1 {
			return nil, cli.Usage(
				fmt.Errorf("--weight: found %s=%d, expected a scenario or a protocol of this campaign, and at least 1",
					name, w), "such as: --weight paused-writer=3",
			)
		}
	}
	for _, p := range runners {
		if !slices.ContainsFunc(all, func(b Batch) bool { return b.Protocol.Name == p.Name }) {
			return nil, cli.Usage(
				fmt.Errorf("--protocols: found no scenario that %s understands, expected some", p.Name), "",
			)
		}
	}
	return all, nil
}

// Share is the part of the remaining time for one remaining batch, if lasts is the whole time. 0 means no bound.
func Share(lasts, spent time.Duration, b Batch, left []Batch) time.Duration {
	if lasts <= 0 {
		return 0
	}
	sum := 0
	for _, other := range left {
		sum += other.weight
	}
	return max(time.Duration(float64(lasts-spent)*float64(b.weight)/float64(sum)), 1)
}
