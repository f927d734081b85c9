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
	"github.com/isr-sim/isr-sim/internal/nodes"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Program has the flags that say what the nodes run: a protocol, or a program.
type Program struct {
	Exec string // the command of --exec; "" is none
	// Others are commands that the user has given in another flag, for Other.
	Others []string
	// Searches says that the command searches, and then --memory off needs no program.
	Searches bool

	cmd    *cobra.Command
	name   string
	limit  time.Duration
	memory string
	nodes  *nodes.Program
	others []*nodes.Program
	told   bool // the user knows what is real: see Real
}

// Register adds the flags. Its parameter, called which, is the help text of --protocol. The results will say what the
// program uses that is not simulated.
func (p *Program) Register(cmd *cobra.Command, r *Results, which string) {
	p.cmd, r.NotSimulated = cmd, p.notSimulated
	f := cmd.Flags()
	f.StringVar(&p.name, "protocol", "", which)
	f.StringVar(&p.Exec, "exec", "", "run each node as a process of this command, in any language: see docs/NODES.md")
	f.DurationVar(&p.limit, "exec-limit", nodes.DefaultLimit,
		"with --exec: how long a process may say nothing, in real time")
	f.StringVar(&p.memory, "memory", strconv.Itoa(nodes.DefaultMemory>>20),
		"with --exec: MiB for what nodes did, so that no code runs twice; off runs it all"+p.also())
}

// also is a part of the help text.
func (p *Program) also() string {
	if p.Searches {
		return ", also of protocols in Go"
	}
	return ""
}

// Forgets says that all code runs.
func (p *Program) Forgets() bool { return p.memory == "off" }

// protocol returns the program as a protocol or, without --exec, the protocol of the given name. Close ends its
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

// Other returns the program of another command as a protocol, and says which scenarios it can run. Close ends its
// processes.
func (p *Program) Other(command string) (isr.Protocol, func(s *scenario.Scenario) bool, error) {
	n, err := p.program(command)
	if err != nil {
		return isr.Protocol{}, nil, err
	}
	p.others = append(p.others, n)
	can, err := n.Can("alice")
	return n.Protocol(), func(s *scenario.Scenario) bool {
		_, lacks := lacking(s, can)
		return !lacks
	}, cli.Unknown(err, "")
}

// Load returns the protocol that the flags ask for, and the scenarios that are named, or all that are embedded, with
// their names. Close ends the processes of a program.
func (p *Program) Load(r *Results, names []string) (isr.Protocol, []*scenario.Scenario, []string, error) {
	protocol, err := p.protocol(p.name)
	if err != nil {
		return protocol, nil, nil, err
	}
	named := len(names) > 0
	scenarios, names, err := cli.Scenarios(names)
	if err != nil {
		return protocol, nil, nil, err
	}
	scenarios, names, err = p.able(r, scenarios, names, named)
	return protocol, scenarios, names, err
}

// Find returns the protocol that the flags ask for, and the commands that it can do besides get. A program's hello
// names these. Close ends the processes of a program.
func (p *Program) Find(protocol *isr.Protocol, verbs *[]scenario.Verb) (err error) {
	if *protocol, err = p.protocol(p.name); err != nil || p.nodes == nil {
		return err
	}
	can, err := p.nodes.Can("alice")
	if err != nil {
		return cli.Unknown(err, "")
	}
	if err := several(can); err != nil {
		return err
	}
	if !slices.Contains(can, "get") {
		hint := "it has pages if it can get"
		switch {
		case slices.Contains(can, "hold"):
			hint = "--lock checks a lock"
		case slices.Contains(can, "once"):
			hint = "--once checks calls that run once"
		}
		return cli.Unknown(fmt.Errorf("the program can %s, expected get among them", canDo(can)), hint)
	}
	for _, v := range worlds.Verbs {
		if slices.Contains(can, string(v)) {
			*verbs = append(*verbs, v)
		}
	}
	return nil
}

// FindLock returns the program as a protocol that has locks, and sets the worlds' terms to those of its hello. Close
// ends its processes.
func (p *Program) FindLock(protocol *isr.Protocol, locks *worlds.Locks) error {
	can, err := p.findOther(protocol, "lock", "hold", "property.LockCheck")
	if err != nil {
		return err
	}
	locks.Program = true
	locks.Extends = slices.Contains(can, "extend")
	terms := p.nodes.Locks()
	locks.Wait, locks.Takeover = terms.Wait, terms.Takeover
	return wrong(locks.Wrong(terms.Margin))
}

// FindCalls does what FindLock does for a program that makes calls run once.
func (p *Program) FindCalls(protocol *isr.Protocol, calls *worlds.Calls) error {
	if _, err := p.findOther(protocol, "once", "once", "property.OnceCheck"); err != nil {
		return err
	}
	terms := p.nodes.Calls()
	calls.Payload, calls.Wait, calls.Takeover = terms.Payload, terms.Wait, terms.Takeover
	return wrong(calls.Wrong())
}

// findOther returns the program, which must be able to do the verb, as a protocol, and all that it can do. goes names
// the check in Go.
func (p *Program) findOther(protocol *isr.Protocol, flag, verb, goes string) (can []string, err error) {
	if p.Exec == "" {
		return nil, cli.Usage(fmt.Errorf("--%s needs --exec: no protocol of isr-sim can %s", flag, verb),
			goes+" checks what can in Go")
	}
	if *protocol, err = p.protocol(p.name); err != nil {
		return nil, err
	}
	can, err = p.nodes.Can("alice")
	if err != nil {
		return nil, cli.Unknown(err, "")
	}
	if err := several(can); err != nil {
		return nil, err
	}
	if !slices.Contains(can, verb) {
		return nil, cli.Unknown(fmt.Errorf("the program can %s, expected %s among them", canDo(can), verb),
			"docs/NODES.md says what that is")
	}
	return can, nil
}

// canDo is what a program can do, for people.
func canDo(can []string) string { return cmp.Or(strings.Join(can, ", "), "do nothing") }

// several refuses a program that has more than a check judges, which is pages, a lock or calls.
func several(can []string) error {
	var kinds []string
	for _, kind := range []string{"get", "hold", "once"} {
		if slices.Contains(can, kind) {
			kinds = append(kinds, kind)
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

// wrong is the error for a field of worlds; "" is none.
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

// able leaves out the scenarios whose scripts need a command that the program's hello does not name, and says so, in
// the results, too. It returns an error if no scenario is left, because then nothing is judged. It refuses a scenario
// that the user has named: the user expects a verdict about it.
func (p *Program) able(
	r *Results, all []*scenario.Scenario, names []string, named bool,
) ([]*scenario.Scenario, []string, error) {
	if p.nodes == nil {
		for i, s := range all {
			if err := undoable(s, names[i]); err != nil {
				return nil, nil, err
			}
		}
		return all, names, nil
	}
	if len(all) == 0 || len(all[0].Actors) == 0 {
		return all, names, nil
	}
	can, err := p.nodes.Can(all[0].Actors[0].Name)
	if err != nil {
		return all, names, nil //nolint:nilerr // the first run meets it again, and says where
	}
	var left []*scenario.Scenario
	var called, refused []string
	for i, s := range all {
		if verb, lacks := lacking(s, can); lacks {
			why := fmt.Sprintf("its script has %s, and the program's hello does not say that it can", verb)
			if named {
				refused = append(refused, fmt.Sprintf("scenario %s: %s", s.Name, why))
				continue
			}
			fmt.Fprintf(p.cmd.ErrOrStderr(), "skipped: scenario %s: %s\n", s.Name, why)
			r.Add(names[i], verdicts.Result{
				Scenario: s.Name, Protocol: p.nodes.Protocol().Name, Verdict: verdicts.Skipped,
				Passed: true, Message: why,
			})
			continue
		}
		left, called = append(left, s), append(called, names[i])
	}
	if len(refused) > 0 {
		return nil, nil, cli.Usage(errors.New(strings.Join(refused, "\n")),
			fmt.Sprintf("the program can %s: have its hello name more in can, or leave the scenario out", canDo(can)))
	}
	if len(left) == 0 {
		return nil, nil, cli.Unknown(fmt.Errorf("nothing was judged: the program can %s", canDo(can)),
			"name a scenario that asks for no more, such as paused-writer (get), or have the program do more")
	}
	return left, called, nil
}

// undoable refuses a scenario with locks, or with calls that run once: protocols have neither.
func undoable(s *scenario.Scenario, name string) error {
	for _, actor := range s.Actors {
		for _, c := range actor.Script {
			if in, other := map[scenario.Verb]string{
				"hold": "property.LockCheck", "once": "property.OnceCheck",
			}[c.Verb]; other {
				return cli.Usage(fmt.Errorf("%s: found %q in the script of %s, and no protocol of isr-sim can %s",
					name, c, actor.Name, c.Verb),
					fmt.Sprintf("a Go test runs it with %s (Run, Prove, Replay), and --exec COMMAND with a program",
						in))
			}
		}
	}
	return nil
}

// lacking is the first verb of a scenario's scripts that a program cannot do.
func lacking(s *scenario.Scenario, can []string) (scenario.Verb, bool) {
	for _, actor := range s.Actors {
		for _, c := range actor.Script {
			if c.Verb != "change" && c.Verb != "sleep" && !slices.Contains(can, string(c.Verb)) {
				return c.Verb, true
			}
		}
	}
	return "", false
}

// notSimulated is what the nodes of a program, by its protocol's name, used that is not simulated.
func (p *Program) notSimulated(protocol string) []string {
	for _, n := range append([]*nodes.Program{p.nodes}, p.others...) {
		if n != nil && n.Protocol().Name == protocol {
			return n.Real()
		}
	}
	return nil
}

// Real says what the nodes used that is not simulated, and so was not judged; "" is nothing. It is a line for the user.
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
