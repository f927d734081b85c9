package conformance_test

import (
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/fixtures/ddblocal"
	"github.com/isr-sim/isr-sim/internal/rules/conformance"
)

func TestDeviationsHaveTheirStep(t *testing.T) {
	for _, step := range conformance.Astray() {
		t.Errorf("a deviation is listed for %s: there is no such step", step)
	}
}

// The deviations of DynamoDB Local are for the pinned version.
func TestLocalOnlyNamesThePinnedVersion(t *testing.T) {
	_, version, _ := strings.Cut(ddblocal.Image, ":")
	if want := "DynamoDB Local " + version; conformance.LocalOnly != want {
		t.Errorf("LocalOnly is %q, want %q", conformance.LocalOnly, want)
	}
}
