package flags

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
	"github.com/isr-sim/isr-sim/internal/subject/list/draw"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// able leaves out scenarios with a command that the program's hello does not name or the protocol cannot do, and
// reports them, in the results, too. It refuses such a scenario if the user named it, or if the scenario itself names
// the protocol: then the user expects its verdict. If no scenario is left, nothing would be judged, so it returns an
// error.
func (p *Program) able(
	r *Results, protocol isr.Protocol, all []*spec.Scenario, names []string, named bool,
) ([]*spec.Scenario, []string, error) {
	if len(all) == 0 || len(all[0].Actors) == 0 {
		return all, names, nil
	}
	lacks := func(s *spec.Scenario) (why, hint string) { return Lacking(p.cmd.Context(), s, protocol) }
	if p.nodes != nil {
		can, err := p.nodes.Can(all[0].Actors[0].Name)
		if err != nil {
			return all, names, nil //nolint:nilerr // the first run fails in the same way, and says where
		}
		lacks = func(s *spec.Scenario) (why, hint string) {
			if verb, lacks := lacking(s, can); lacks {
				why = fmt.Sprintf("its script has %s, and the program's hello does not say that it can", verb)
			}
			return why, fmt.Sprintf("the program can %s: have its hello name more in can, or leave the scenario out",
				canDo(can))
		}
	}
	var left []*spec.Scenario
	var called, refused []string
	hint := ""
	for i, s := range all {
		if p.nodes == nil {
			if err := undoable(s, names[i]); err != nil {
				return nil, nil, err
			}
		}
		var why string
		switch why, hint = lacks(s); {
		case why == "":
			left, called = append(left, s), append(called, names[i])
		case named || protocol.New == nil:
			refused = append(refused, fmt.Sprintf("scenario %s: %s", s.Name, why))
		default:
			fmt.Fprintf(p.cmd.ErrOrStderr(), "skipped: scenario %s: %s\n", s.Name, why)
			r.Add(names[i], verdicts.Result{
				Scenario: s.Name, Protocol: protocol.Name, Verdict: verdicts.Skipped, Passed: true, Message: why,
			})
		}
	}
	if len(refused) > 0 {
		return nil, nil, cli.Usage(errors.New(strings.Join(refused, "\n")), hint)
	}
	if len(left) == 0 {
		return nil, nil, cli.Unknown(errors.New("nothing was judged: each scenario asks for more"), hint)
	}
	return left, called, nil
}

// Lacking names a command in a scenario's scripts that its protocol cannot do, and a protocol that can; otherwise it
// returns "". Such a command would fail in every schedule and never be judged. The zero Protocol means the scenario's
// own. Commands of locks and idempotent calls are not checked, because no protocol has them.
func Lacking(ctx context.Context, s *spec.Scenario, p isr.Protocol) (why, hint string) {
	p, err := schedules.ProtocolOf(s, p)
	if err != nil {
		return "", "" // the run reports the error
	}
	for _, verb := range draw.Verbs {
		asks := func(a spec.Actor) bool {
			return slices.ContainsFunc(a.Script, func(c spec.Command) bool { return c.Verb == verb })
		}
		if !slices.ContainsFunc(s.Actors, asks) || can(ctx, p, verb) {
			continue
		}
		for _, name := range []string{"recipe-b-guarded", "recipe-a-guarded"} {
			if other, err := kernel.ProtocolNamed(name); err == nil && can(ctx, other, verb) {
				hint = name + " can"
			}
		}
		return fmt.Sprintf("its script has %s, and %s cannot do that: it would fail in every schedule", verb, p.Name),
			hint
	}
	return "", ""
}

// undoable refuses a scenario whose subject no protocol has.
func undoable(s *spec.Scenario, name string) error {
	for _, actor := range s.Actors {
		for _, c := range actor.Script {
			for _, of := range draw.Subjects() {
				if in := of.Program.InGo; c.Verb == of.Verb && in != "" {
					return cli.Usage(fmt.Errorf("%s: found %q in the script of %s, and no protocol of isr-sim can %s",
						name, c, actor.Name, c.Verb),
						fmt.Sprintf("a Go test runs it with %s (Run, Prove, Replay), and --exec COMMAND with a program",
							in))
				}
			}
		}
	}
	return nil
}

// lacking is the first verb of a scenario's scripts that is not in can. Every cache can change and sleep.
func lacking(s *spec.Scenario, can []string) (spec.Verb, bool) {
	for _, actor := range s.Actors {
		for _, c := range actor.Script {
			if c.Verb != "change" && c.Verb != "sleep" && !slices.Contains(can, string(c.Verb)) {
				return c.Verb, true
			}
		}
	}
	return "", false
}

// can reports whether a protocol of isr-sim can do a verb. It asks the protocol in a separate run, after the protocol
// has made the page.
func can(ctx context.Context, p isr.Protocol, verb spec.Verb) (does bool) {
	s := spec.Defaults()
	s.Name = "can"
	s.Actors = []spec.Actor{{Name: "alice", Script: []spec.Command{{Verb: "get", Key: "/page"}}}}
	newCache := p.New
	p.New = func(cfg isr.Config) (isr.Handler, error) {
		cache, err := newCache(cfg)
		return trial{cache, verb, &does}, err
	}
	_, _ = kernel.Run{Scenario: s, Protocol: p, Seed: 1}.Do(ctx) // only the trial counts
	return does
}

// trial is a cache that is asked for a page, and then for a verb. It notes whether it can do the verb.
type trial struct {
	isr.Handler
	verb spec.Verb
	does *bool
}

// Get implements isr.Handler.
func (t trial) Get(ctx context.Context, key string) (isr.Served, error) {
	served, err := t.Handler.Get(ctx, key)
	failed := isr.ErrUnsupported // for a store without the method
	switch t.verb {
	case "invalidate":
		if c, is := t.Handler.(isr.Invalidator); is {
			failed = c.Invalidate(ctx, key)
		}
	case "rollback":
		if c, is := t.Handler.(isr.Rollbacker); is {
			failed = c.Rollback(ctx, key)
		}
	case "regenerate":
		if c, is := t.Handler.(isr.Regenerator); is {
			_, failed = c.Regenerate(ctx, key, isr.Request{ID: "trial", Hash: "trial"})
		}
	}
	*t.does = !errors.Is(failed, isr.ErrUnsupported)
	return served, err
}
