package flags

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/nodes"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
	"github.com/isr-sim/isr-sim/internal/subject/list/draw"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Program has the flags that choose the nodes' code: a protocol or a program.
type Program struct {
	Exec string // the command of --exec, or ""
	// Others are commands that the user gave in another flag, for Other.
	Others []string
	// Searches says that the command searches. Then --memory off needs no program.
	Searches bool

	cmd    *cobra.Command
	name   string
	limit  time.Duration
	memory string
	nodes  *nodes.Program
	others []*nodes.Program
	told   bool // the user knows what is not simulated: see Real
}

// Register adds the flags. The parameter which is the help text of --protocol. The results will name the things that
// the program uses and that are not simulated.
func (p *Program) Register(cmd *cobra.Command, r *Results, which string) {
	p.cmd, r.NotSimulated = cmd, p.notSimulated
	f := cmd.Flags()
	f.StringVar(&p.name, "protocol", "", which)
	f.StringVar(&p.Exec, "exec", "", "run each node as a process of this command, in any language: see docs/NODES.md")
	f.DurationVar(&p.limit, "exec-limit", nodes.DefaultLimit,
		"with --exec: how long a process may say nothing, in real time")
	f.StringVar(&p.memory, "memory", strconv.Itoa(nodes.DefaultMemory>>20),
		"with --exec: MiB to remember what nodes did, so that code need not run again; off always runs it"+p.also())
}

// also is a part of the help text.
func (p *Program) also() string {
	if p.Searches {
		return ", for protocols in Go, too"
	}
	return ""
}

// Forgets reports whether all code runs each time, without a memory.
func (p *Program) Forgets() bool { return p.memory == "off" }

// protocol returns the program as a protocol or, without --exec, the protocol with the given name. Close ends its
// processes.
func (p *Program) protocol(name string) (isr.Protocol, error) {
	given := p.cmd.Flags().Changed
	switch {
	case p.Exec == "" && given("exec"):
		return isr.Protocol{}, cli.Usage(errors.New("--exec: found no command, expected one such as 'node node.mjs'"),
			"")
	case p.Exec == "" && len(p.Others) == 0 && given("exec-limit"):
		return isr.Protocol{}, cli.Usage(errors.New("--exec-limit needs --exec"), "")
	case p.Exec == "" && len(p.Others) == 0 && given("memory") && !(p.Searches && p.Forgets()):
		return isr.Protocol{}, cli.Usage(errors.New("--memory needs --exec"),
			"only --memory off of isr-sim prove is for built-in protocols, too")
	case p.Exec == "":
		return cli.Protocol(name)
	case given("protocol"):
		return isr.Protocol{}, cli.Usage(errors.New("--exec does not go with --protocol"),
			"the program is the protocol")
	}
	var err error
	if p.nodes, err = p.program(p.Exec); err != nil {
		return isr.Protocol{}, err
	}
	return p.nodes.Protocol(), nil
}

// program is the program of a command, as the flags ask for it.
func (p *Program) program(command string) (*nodes.Program, error) {
	if p.limit <= 0 {
		return nil, cli.Usage(fmt.Errorf("--exec-limit: found %v, expected more than 0s", p.limit), "")
	}
	n := &nodes.Program{
		Command: command, Context: context.WithoutCancel(p.cmd.Context()), Limit: p.limit, Stderr: p.cmd.ErrOrStderr(),
		Forgetful: p.memory == "off",
	}
	if !n.Forgetful {
		mebibytes, err := strconv.ParseUint(p.memory, 10, 20)
		if err != nil || mebibytes == 0 {
			return nil, cli.Usage(
				fmt.Errorf("--memory: found %q, expected a number of MiB from 1 to 1048575, or off", p.memory), "",
			)
		}
		n.Memory = int(mebibytes) << 20
	}
	return n, nil
}

// Other returns the program of another command as a protocol, and a function that reports whether it can run a
// scenario. Close ends its processes.
func (p *Program) Other(command string) (isr.Protocol, func(s *spec.Scenario) bool, error) {
	n, err := p.program(command)
	if err != nil {
		return isr.Protocol{}, nil, err
	}
	p.others = append(p.others, n)
	can, err := n.Can("alice")
	return n.Protocol(), func(s *spec.Scenario) bool {
		_, lacks := lacking(s, can)
		return !lacks
	}, cli.Unknown(err, "")
}

// Load returns the protocol that the flags choose, and the named scenarios, or all embedded ones, with their names.
// Close ends the processes of a program.
func (p *Program) Load(r *Results, names []string) (isr.Protocol, []*spec.Scenario, []string, error) {
	protocol, err := p.protocol(p.name)
	if err != nil {
		return protocol, nil, nil, err
	}
	named := len(names) > 0
	scenarios, names, err := cli.Scenarios(names)
	if err != nil {
		return protocol, nil, nil, err
	}
	scenarios, names, err = p.able(r, protocol, scenarios, names, named)
	return protocol, scenarios, names, err
}

// Find returns the protocol that the flags choose, which must be of the subject, and what the program can do: nil for a
// protocol of isr-sim. It adds to the extras what a program's hello says. Close ends the processes of a program.
func (p *Program) Find(of *worlds.Subject, protocol *isr.Protocol, extra *worlds.Extras) (can []string, err error) {
	if of.Program.Flag != "" && p.Exec == "" {
		return nil, cli.Usage(fmt.Errorf("--%s needs --exec: no protocol of isr-sim can %s", of.Program.Flag, of.Verb),
			of.Program.InGo+" checks what can in Go")
	}
	if *protocol, err = p.protocol(p.name); err != nil || p.nodes == nil {
		return nil, err
	}
	if can, err = p.nodes.Can("alice"); err != nil {
		return nil, cli.Unknown(err, "")
	}
	if err := several(can); err != nil {
		return nil, err
	}
	if !slices.Contains(can, string(of.Verb)) {
		return nil, cli.Unknown(fmt.Errorf("the program can %s, expected %s among them", canDo(can), of.Verb),
			hint(of, can))
	}
	for _, v := range draw.Verbs {
		if slices.Contains(can, string(v)) {
			extra.Verbs = append(extra.Verbs, v)
		}
	}
	extra.Program = true
	if promised := p.nodes.Promises(of.About().Wire()); promised != nil {
		extra.Terms = promised.Terms()
	}
	if of.Wrong == nil {
		return can, nil
	}
	return can, wrong(of.Wrong(*extra))
}

// hint is for a program that is not of the subject, by what it can do.
func hint(of *worlds.Subject, can []string) string {
	if of.Program.Flag == "" {
		for _, s := range draw.Subjects() {
			if slices.Contains(can, string(s.Verb)) {
				return fmt.Sprintf("--%s checks %s", s.Program.Flag, s.Program.Named)
			}
		}
	}
	return of.Program.Hint
}

// canDo prints the abilities of a program.
func canDo(can []string) string { return cmp.Or(strings.Join(can, ", "), "do nothing") }

// several refuses a program that can do more than one check judges, which is pages, a lock or calls.
func several(can []string) error {
	var kinds []string
	for _, s := range draw.Subjects() {
		if verb := string(s.Verb); slices.Contains(can, verb) {
			kinds = append(kinds, verb)
		}
	}
	if len(kinds) < 2 {
		return nil
	}
	return cli.Unknown(fmt.Errorf("the program can %s, expected one of them: a check judges pages, a lock (--lock) "+
		"or calls (--once), and nothing would judge the rest",
		strings.Join(kinds, " and ")),
		"make a program, and a check, of each: its hello names in can only what that check is about")
}

// wrong is the error for a field of worlds, or nil.
func wrong(field, why string) error {
	flag := map[string]string{"Leases": "lease", "InProgress": "lease", "Retentions": "retention"}[field]
	switch {
	case field == "":
		return nil
	case flag != "":
		return cli.Usage(fmt.Errorf("--%s: %s", flag, why), "")
	default:
		return cli.Unknown(fmt.Errorf("the program promises a wrong %s: %s", strings.ToLower(field), why),
			"its hello says what it promises")
	}
}

// notSimulated lists the things that are not simulated and that the program with the protocol's name used.
func (p *Program) notSimulated(protocol string) []string {
	for _, n := range append([]*nodes.Program{p.nodes}, p.others...) {
		if n != nil && n.Protocol().Name == protocol {
			return n.Real()
		}
	}
	return nil
}

// Real is a line for the user that names the things that the nodes used and that are not simulated, and so not judged;
// or "".
func (p *Program) Real() string {
	if p.nodes == nil || len(p.nodes.Real()) == 0 {
		return ""
	}
	p.told = true
	return verdicts.Unjudged(p.nodes.Real()) + "\n"
}

// Close ends the processes, if there are any. If Real has not been printed yet, Close prints it.
func (p *Program) Close() {
	if !p.told {
		fmt.Fprint(p.cmd.ErrOrStderr(), p.Real())
	}
	if p.nodes != nil {
		p.nodes.Close()
	}
	for _, n := range p.others {
		if unjudged := verdicts.Unjudged(n.Real()); unjudged != "" {
			fmt.Fprintf(p.cmd.ErrOrStderr(), "%s: %s\n", n.Protocol().Name, unjudged)
		}
		n.Close()
	}
}
