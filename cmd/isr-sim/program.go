package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/isr-sim/isr-sim/internal/nodes"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// programFlags are the flags of commands whose nodes may be programs.
type programFlags struct {
	set     *pflag.FlagSet
	command string
	limit   time.Duration
	running *nodes.Program
}

func (p *programFlags) register(f *pflag.FlagSet) {
	p.set = f
	f.StringVar(&p.command, "exec", "", "run each node as a process of this command, in any language: see docs/NODES.md")
	f.DurationVar(&p.limit, "exec-limit", nodes.DefaultLimit, "with --exec: how long a process may say nothing, in real time")
}

// protocol returns the program as a protocol, or without --exec the one of the given name. Close ends its processes.
func (p *programFlags) protocol(ctx context.Context, stderr io.Writer, name string) (isr.Protocol, error) {
	switch {
	case p.command == "" && p.set.Changed("exec"):
		return isr.Protocol{}, usage(fmt.Errorf("--exec: found no command, expected one such as 'node node.mjs'"), "")
	case p.command == "" && p.set.Changed("exec-limit"):
		return isr.Protocol{}, usage(fmt.Errorf("--exec-limit: found it without --exec"), "")
	case p.command == "":
		return protocol(name)
	case p.set.Changed("protocol"):
		return isr.Protocol{}, usage(fmt.Errorf("found both --exec and --protocol, expected one of them"), "the program is the protocol")
	case p.limit <= 0:
		return isr.Protocol{}, usage(fmt.Errorf("--exec-limit: found %v, expected more than 0s", p.limit), "")
	}
	p.running = &nodes.Program{Command: p.command, Context: context.WithoutCancel(ctx), Limit: p.limit, Stderr: stderr}
	return p.running.Protocol(), nil
}

// close ends the processes, if there are any.
func (p *programFlags) close() {
	if p.running != nil {
		p.running.Close()
	}
}
