package scenario_test

import (
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/internal/prose"
	"github.com/isr-sim/isr-sim/internal/scenariotest"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

const twoTenants = `
name: two-tenants
actors:
  - {name: alice, tenant: t1, script: [get /home]}
  - {name: bob, tenant: t2, script: [sleep 10s, get /home]}
settle: 30s
`

// tenantless forgets whose page it is.
var tenantless = isr.Protocol{Name: "recipe-a", New: func(cfg isr.Config) (isr.Handler, error) {
	cfg.Tenant = ""
	return pagecache.AsHandler(pagecache.New(cfg))
}}

func TestTenantsHavePagesAndOriginsOfTheirOwn(t *testing.T) {
	s := scenariotest.Parsed(t, twoTenants)
	text, _ := scenariotest.Trace(t, scenario.Run{Scenario: s, Protocol: recipe.Reference(), Strategy: sim.DelayBound(0)})
	for _, want := range []string{
		"META of t1/home: absent", "META of t2/home: absent",
		"bob served /home as fresh body t2/home@0#bob-render-1",
		"visitor served /home as fresh body t1/home@0#alice-render-1", "visitor served /home as fresh body t2/home@0#bob-render-1",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the trace does not say %q:\n%s", want, text)
		}
	}
	text, _ = scenariotest.Trace(t, scenario.Run{Scenario: s, Protocol: tenantless, Strategy: sim.DelayBound(0)})
	for _, want := range []string{"META of /home: absent", "bob served /home as fresh body t1/home@0#alice-render-1"} {
		if !strings.Contains(text, want) {
			t.Errorf("without tenants in keys, the trace does not say %q:\n%s", want, text)
		}
	}
}

func TestTenantsDoNotStandInEachOthersWay(t *testing.T) {
	r := scenariotest.Ran(t, campaign.Campaign{Scenario: scenariotest.Parsed(t, `
name: neighbours
actors:
  - {name: alice, tenant: t1, script: [get /home, sleep 61s, get /home]}
  - {name: bob, tenant: t2, script: [change /home, get /home, sleep 61s, get /home]}
  - {name: carol, script: [get /home]}
settle: 30s
bounds: {schedules: 200}
`), Seed: 1})
	if !r.Passed() {
		t.Error(prose.Report(r, "isr-sim", "neighbours.yaml"))
	}
	for _, m := range r.Reached() {
		if m == scenario.LockRefused {
			t.Error("a lease was refused, although each tenant has one writer")
		}
	}
	sameAfterPrinting(t, r.Scenario)
}
