package draw

import (
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
)

func TestSettle(t *testing.T) {
	// half a lease; two leases, two windows and two polls
	scenariotest.Settles(t, "get", settle, 5*time.Second, 144*time.Second)
}
