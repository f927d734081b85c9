package draw

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
)

func TestSettle(t *testing.T) {
	without := func(s *spec.Scenario) time.Duration { return settle(s, worlds.Extras{}) }
	scenariotest.Settles(t, "hold", without, 3*time.Second, 20*time.Second)
}
