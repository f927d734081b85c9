package conformance

import (
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/fixtures/ddblocal"
)

// A deviation that is listed for a step that does not exist would never be looked at.
func TestDeviationsHaveTheirStep(t *testing.T) {
	steps := map[place]bool{}
	for _, c := range Cases() {
		for i := range c.steps {
			steps[place{c.Topic + "/" + c.Name, i + 1}] = true
		}
	}
	for store, list := range deviations {
		for at := range list {
			if !steps[at] {
				t.Errorf("%s: there is no step %d of a case %s", store, at.step, at.name)
			}
		}
	}
}

// The deviations of DynamoDB Local are for the pinned version.
func TestLocalOnlyNamesThePinnedVersion(t *testing.T) {
	_, version, _ := strings.Cut(ddblocal.Image, ":")
	if want := "DynamoDB Local " + version; LocalOnly != want {
		t.Errorf("LocalOnly is %q, want %q", LocalOnly, want)
	}
}
