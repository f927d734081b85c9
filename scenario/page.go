package scenario

import (
	"cmp"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// page is one that the scenario's clients ask for.
type page struct{ tenant, key string }

// String names the page in bodies, traces and operations: /home, or t1/home for that of a tenant.
func (p page) String() string {
	switch {
	case p.tenant == "":
		return p.key
	case strings.HasPrefix(p.key, "/"):
		return p.tenant + p.key
	default:
		return p.tenant + ":" + p.key
	}
}

// pages knows the pages of a script and their partition keys. Most runs are never printed, so it computes the keys when
// they are asked for.
type pages struct {
	script []Actor
	of     map[string]string // names by partition key; nil until they are asked for
}

// all returns the pages, sorted.
func (k *pages) all() (all []page) {
	for _, a := range k.script {
		for _, c := range a.Script {
			if c.Key != "" {
				all = append(all, page{a.Tenant, c.Key})
			}
		}
	}
	slices.SortFunc(all, func(a, b page) int { return cmp.Or(cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.key, b.key)) })
	return slices.Compact(all)
}

// names returns the pages' names by their partition keys. A cache that forgets about tenants keeps its rows where there
// are none.
func (k *pages) names() map[string]string {
	if k.of != nil {
		return k.of
	}
	k.of = map[string]string{}
	for _, p := range k.all() {
		k.of[isr.PartitionKey("", p.key)] = p.key
	}
	for _, p := range k.all() {
		k.of[isr.PartitionKey(p.tenant, p.key)] = p.String()
	}
	return k.of
}

// NameOf implements describe.Pages.
func (k *pages) NameOf(pk string) (string, bool) {
	name, ok := k.names()[pk]
	return name, ok
}
