package scenario_test

import (
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/prose"
	"github.com/isr-sim/isr-sim/internal/scenariotest"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// Lags that scenario files name parse back, and TTL goes by them.
func TestLagsOfScenarios(t *testing.T) {
	for _, lag := range []string{"never", "at-once", "scheduler", "fixed 10m0s", "uniform 1m0s 48h0m0s", "exponential 10m0s", "per-item lag_seconds"} {
		s, err := scenario.Parse("f.yaml", []byte(strings.Replace(valid, "fixed 10m", lag, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if s.Lag.String() != lag {
			t.Errorf("%s prints as %s", lag, s.Lag)
		}
		sameAfterPrinting(t, s)
	}
	const lingering = "name: lingering\ncache: {revalidate: 1s, retention: 1s, ttl-buffer: 1s}\nttl-lag: LAG\nbounds: {ticks: 0}\n" +
		"actors: [{name: alice, script: [get /home, sleep 1000h, get /home]}]\nreach: [ttl-deletion]\n"
	for _, lag := range []string{"at-once", "uniform 1m 48h", "exponential 10m"} {
		s, err := scenario.Parse("f.yaml", []byte(strings.Replace(lingering, "LAG", lag, 1)))
		if err != nil {
			t.Fatal(err)
		}
		first := ""
		for _, seed := range []uint64{1, 1, 2} {
			text, _ := scenariotest.Trace(t, scenario.Run{Scenario: s, Protocol: scenariotest.Protocol(t, "recipe-a"), Seed: seed})
			if !strings.Contains(text, "(by TTL)") {
				t.Errorf("%s: TTL deleted nothing:\n%s", lag, text)
			}
			if first == "" {
				first = text
			} else if seed == 1 && text != first {
				t.Errorf("%s: one seed, two traces:\n%s\n%s", lag, first, text)
			}
		}
		if r := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Seed: 1, Schedules: 5}); !r.Passed() {
			t.Errorf("%s: %s", lag, prose.Report(r, "isr-sim", "f.yaml"))
		}
	}
}

// Time stops where a lag ends: what races with the deletion must be explored.
func TestTimeStopsAtDeletions(t *testing.T) {
	s := scenariotest.Parsed(t, `
name: lingering
cache: {revalidate: 1s, retention: 1s, ttl-buffer: 1s}
ttl-lag: fixed 10m
actors: [{name: alice, script: [get /home, sleep 1h]}]
`)
	text, _ := scenariotest.Trace(t, scenario.Run{Scenario: s, Protocol: scenariotest.Protocol(t, "recipe-a"), Strategy: sim.Replay(nil)})
	// The page is generated at 0 s, stale from 1 s and gone for all readers from 2 s; its ttl is 3 s, it expires in the
	// second after, and lingers.
	if !strings.Contains(text, " +10m4s      time ") {
		t.Errorf("time does not stop at +10m4s:\n%s", text)
	}
}

// Where the schedule decides over TTL's lag, the scenario says how often it may delete.
func TestSweepsAreBounded(t *testing.T) {
	deletions := func(bounds string) (most int) {
		s := scenariotest.Parsed(t, "name: two-pages\ncache: {revalidate: 1s, retention: 1s, ttl-buffer: 1s}\nttl-lag: scheduler\nbounds: "+bounds+
			"\nactors: [{name: alice, script: [get /one, get /two, sleep 1h, get /one]}]\n")
		for seed := range uint64(100) {
			text, _ := scenariotest.Trace(t, scenario.Run{Scenario: s, Protocol: scenariotest.Protocol(t, "recipe-a"), Seed: seed})
			most = max(most, strings.Count(text, "(by TTL)"))
		}
		return most
	}
	if bounded, free := deletions("{sweeps: 1}"), deletions("{}"); bounded != 1 || free < 2 {
		t.Errorf("at most %d deletions with a bound of 1 sweep, %d without one; want 1 and more", bounded, free)
	}
}
