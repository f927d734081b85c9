package scenario_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/probe"
	"github.com/isr-sim/isr-sim/internal/scenariotest"
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
			Scenario: scenariotest.Embedded(t, name), Protocol: protocols[i%len(protocols)], Seed: uint64(i), Strategy: sim.POS, ExpectedSteps: 40,
		}
		var wantWire, gotWire probe.Probe
		wantWire.Record, gotWire.Record = true, true
		var want bytes.Buffer
		run.Trace = &want
		alone, err := run.Do(probe.With(t.Context(), &wantWire))
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		run.Trace = &got
		o, err := pool.Do(probe.With(t.Context(), &gotWire), run)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("%s (-alone +in a pool):\n%s", name, cmp.Diff(want.String(), got.String()))
		}
		if o.Verdict != alone.Verdict || len(gotWire.Exchanges) != len(wantWire.Exchanges) || len(gotWire.Rows) != len(wantWire.Rows) {
			t.Errorf("%s: in a pool %v, %d exchanges, %d rows; alone %v, %d, %d", name, o.Verdict, len(gotWire.Exchanges), len(gotWire.Rows),
				alone.Verdict, len(wantWire.Exchanges), len(wantWire.Rows))
		}
	}
}
