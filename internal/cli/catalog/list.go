package catalog

import (
	"fmt"
	"io"
	"slices"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/protocols/policyprotocol"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// List prints the names of scenarios, protocols and invariants, each with a sentence about it.
func List(out io.Writer) error {
	scenarios, err := LoadAll(fixtures.Names())
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "scenarios")
	for _, s := range scenarios {
		fmt.Fprintf(out, "  %-24s %s\n", s.Name, Summary(s))
	}
	museum, err := LoadAll(fixtures.Museum())
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "\nthe museum (isr-sim museum)")
	for _, s := range museum {
		fmt.Fprintf(out, "  %-30s %s\n", s.Name, Summary(s))
	}
	policies := policyprotocol.All()
	fmt.Fprintln(out, "\nprotocols")
	listProtocols(out, slices.DeleteFunc(scenario.Protocols(), func(p isr.Protocol) bool {
		return slices.ContainsFunc(policies, func(policy isr.Protocol) bool { return policy.Name == p.Name })
	}))
	fmt.Fprintln(out, "\npolicies of expiry, as protocols")
	listProtocols(out, policies)
	fmt.Fprintln(out, "\ninvariants")
	for _, inv := range invariant.All() {
		fmt.Fprintf(out, "  %-24s %s\n", inv.Name, inv.Statement)
	}
	return nil
}

func listProtocols(out io.Writer, protocols []isr.Protocol) {
	for _, p := range protocols {
		breaks := ""
		if p.Breaks != "" {
			breaks = " (breaks " + p.Breaks + ")"
		}
		fmt.Fprintf(out, "  %-24s %s%s\n", p.Name, p.Summary, breaks)
	}
}
