package scenario_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// What a run finds on the memory of another one, of another scenario and protocol, changes nothing of it.
func TestARunInAPoolIsTheSameRun(t *testing.T) {
	var pool scenario.Pool
	defer pool.Close()
	protocols := scenario.Protocols()
	for i, name := range fixtures.Names() {
		run := scenario.Run{
			Scenario: embedded(t, name), Protocol: protocols[i%len(protocols)], Seed: uint64(i), Strategy: sim.POS, ExpectedSteps: 40, Record: true,
		}
		want, alone := trace(t, run)
		var got bytes.Buffer
		run.Trace = &got
		o, err := pool.Do(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != want {
			t.Errorf("%s (-alone +in a pool):\n%s", name, cmp.Diff(want, got.String()))
		}
		if o.Verdict != alone.Verdict || len(o.Exchanges) != len(alone.Exchanges) || len(o.Rows) != len(alone.Rows) {
			t.Errorf("%s: in a pool %v, %d exchanges, %d rows; alone %v, %d, %d", name, o.Verdict, len(o.Exchanges), len(o.Rows),
				alone.Verdict, len(alone.Exchanges), len(alone.Rows))
		}
	}
}
