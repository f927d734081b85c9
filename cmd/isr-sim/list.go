package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/catalog"
	"github.com/isr-sim/isr-sim/internal/policyprotocol"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

func newList(out io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the embedded scenarios, the protocols and the invariants",
		Args:  noArguments,
		RunE:  func(*cobra.Command, []string) error { return list(out) },
	}
}

func list(out io.Writer) error {
	scenarios, _, err := loadScenarios(nil)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "scenarios")
	for _, s := range scenarios {
		fmt.Fprintf(out, "  %-24s %s\n", s.Name, catalog.Summary(s))
	}
	museum, _, err := loadScenarios(fixtures.Museum())
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "\nthe museum (isr-sim museum)")
	for _, s := range museum {
		fmt.Fprintf(out, "  %-30s %s\n", s.Name, catalog.Summary(s))
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
