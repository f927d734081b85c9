package invariant

import (
	"fmt"

	"github.com/isr-sim/isr-sim/scenario/history"
)

// TenantIsolation holds that a tenant sees its own pages only, fresh or stale. A body that two tenants' renderings made
// alike belongs to both.
func TenantIsolation() Invariant {
	return Invariant{
		Name:      "tenant-isolation",
		Statement: "whatever is served to a tenant was made for that tenant",
		Check:     checkTenants,
		Memory:    rememberRenderings,
	}
}

func checkTenants(ev Evidence) Finding {
	type page struct{ tenant, body string }
	var made map[page]bool
	var latest map[string]*history.Event // renderings by their bodies
	finding := ok()
	for i := range ev.History {
		e := &ev.History[i]
		switch {
		case e.Kind == history.Rendered:
			if made == nil {
				made, latest = map[page]bool{}, map[string]*history.Event{}
			}
			made[page{e.Tenant, e.Body}], latest[e.Body] = true, e
		case e.Kind != history.Served, made[page{e.Tenant, e.Body}]:
		case latest[e.Body] != nil:
			source := latest[e.Body]
			return Finding{
				Verdict: Violated,
				Why:     fmt.Sprintf("%s served to tenant %q what %s had made for tenant %q", e.Actor, e.Tenant, source.Actor, source.Tenant),
				Events:  []int{source.Seq, e.Seq},
			}
		case e.Tenant != "":
			finding = finding.or(unknown("event %d serves body %q to tenant %q; the tenant that it was made for is not known", e.Seq, e.Body, e.Tenant))
		}
	}
	return finding
}
