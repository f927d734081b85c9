package invariant

import (
	"fmt"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// tenantIsolation holds that a tenant sees only its own pages, as fresh or as stale. If renderings for two tenants made
// the same body, it belongs to both.
var tenantIsolation = Invariant{
	Name:      "tenant-isolation",
	Statement: "a tenant is served only what was rendered for it",
	Check:     checkTenants,
	Follow:    func(Promise) teller { return &tenants{} },
	Memory:    rememberRenderings,
}

func checkTenants(ev Evidence) Finding {
	var all tenants
	finding := ok()
	for i := range ev.History {
		if f := all.Event(&ev.History[i]); f.Verdict != 0 {
			finding = finding.and(f)
		}
	}
	return finding
}

// tenants follows a history.
type tenants struct {
	made   map[tenantBody]bool
	latest map[string]*history.Event // renderings by their bodies
}

type tenantBody struct{ tenant, body string }

func (*tenants) Request([]ddbfake.Change) {}

func (all *tenants) Event(e *history.Event) Finding {
	own := tenantBody{e.Tenant, e.Body}
	switch {
	case e.Kind == history.Rendered:
		if all.made == nil {
			all.made, all.latest = map[tenantBody]bool{}, map[string]*history.Event{}
		}
		all.made[own], all.latest[e.Body] = true, e
	case e.Kind != history.Served:
	case all.made[own]:
		if e.Tenant != "" {
			return ok()
		}
	case all.latest[e.Body] != nil:
		source := all.latest[e.Body]
		return Finding{
			Verdict: Violated,
			Why: fmt.Sprintf("%s served to tenant %q what %s had made for tenant %q", e.Actor, e.Tenant,
				source.Actor, source.Tenant),
			Events: []int{source.Seq, e.Seq},
		}
	case e.Tenant != "":
		return unknown("event %d serves body %q to tenant %q; the tenant that it was made for is not known", e.Seq,
			e.Body, e.Tenant).event(e.Seq)
	}
	return Finding{}
}
