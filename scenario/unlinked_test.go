package scenario_test

import (
	"slices"
	"testing"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols"
)

// TestUnlinked: a program without the mutants, like this one, can read each file that names them, but runs none.
func TestUnlinked(t *testing.T) {
	for _, name := range slices.Concat(fixtures.Names(), fixtures.Museum()) {
		data, err := fixtures.Read(name)
		if err == nil {
			_, err = spec.Parse(name, data)
		}
		if err != nil {
			t.Error(err)
		}
	}
	if linked := append(protocols.Mutants(), protocols.Policies()...); linked != nil {
		t.Errorf("%d protocols are linked, want none", len(linked))
	}
	const want = "protocol: the command isr-sim has the code of blind-publish, and this program does not"
	if _, err := kernel.ProtocolNamed("blind-publish"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
