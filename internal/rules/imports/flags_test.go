package imports_test

import (
	"flag"
	"strings"
	"testing"

	_ "github.com/isr-sim/isr-sim/ddbfake"
	_ "github.com/isr-sim/isr-sim/fixtures/ddblocal"
	_ "github.com/isr-sim/isr-sim/scenario"
)

// TestNoGlobalFlags checks that a program that imports the library has only its own flags. This test binary imports the
// library, so the test flags must be its only flags. Package property is the exception: it is for tests, and rapid has
// flags.
func TestNoGlobalFlags(t *testing.T) {
	flag.VisitAll(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") {
			t.Errorf("flag -%s (%s) is registered by something that the library imports", f.Name, f.Usage)
		}
	})
}
