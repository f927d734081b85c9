package scenario

import (
	"fmt"
	"slices"

	"github.com/isr-sim/isr-sim/internal/mutant"
	"github.com/isr-sim/isr-sim/internal/policyprotocol"
	"github.com/isr-sim/isr-sim/internal/suggest"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// Protocols returns the protocols that scenario files and commands know by name: the references first, then the
// mutants, then the policies of expiry.
func Protocols() []isr.Protocol {
	return slices.Concat(recipe.References(), mutant.All(), policyprotocol.All())
}

// ProtocolNamed finds one of Protocols by its name.
func ProtocolNamed(name string) (isr.Protocol, error) {
	all := Protocols()
	if i := slices.IndexFunc(all, func(p isr.Protocol) bool { return p.Name == name }); i >= 0 {
		return all[i], nil
	}
	names := protocolNames(all)
	err := fmt.Errorf("protocol: found %q, expected one of the %d that isr-sim list prints", name, len(names))
	if option, ok := suggest.Nearest(name, names); ok {
		err = fmt.Errorf("%w\nhint: did you mean %q?", err, option)
	}
	return isr.Protocol{}, err
}

func protocolNames(protocols []isr.Protocol) []string {
	names := make([]string, len(protocols))
	for i, p := range protocols {
		names[i] = p.Name
	}
	return names
}
