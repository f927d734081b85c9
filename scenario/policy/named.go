package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// All returns the policies that the command compares, for one lifetime of values.
func All(lifetime time.Duration) []Policy {
	var (
		wait      = Locked{}
		absolute  = Absolute(lifetime)
		early     = lifetime * 8 / 10
		tolerance = 30 * time.Second // of the seed's lock with stale-while-revalidate
	)
	return []Policy{
		{"unprotected", absolute, Unprotected{}},
		{"absolute", absolute, wait},
		{"jitter", Jitter{absolute, 0.2}, wait},
		{"sliding", Sliding(lifetime), wait},
		{"hybrid", Hybrid{lifetime, 4 * lifetime}, wait},
		{"sliding-refresh", Sliding(lifetime), RefreshAhead{early, wait}},
		{"tiered", Tiered{Absolute(lifetime / 4), Sliding(4 * lifetime)}, wait},
		{"refresh-ahead", absolute, RefreshAhead{early, wait}},
		{"xfetch", absolute, XFetch{1}},
		{"swr", absolute, Locked{Stale: tolerance}},
		{"recipe-a-stale", absolute, Locked{Stale: never / 4, Background: true}},
		{"periodic", absolute, Periodic{}},
		{"age-based", Netflix(), wait},
		{"age-linear", AgeBased{5 * time.Second, time.Hour, Linear}, wait},
		{"age-logarithmic", AgeBased{5 * time.Second, time.Hour, Logarithmic}, wait},
		{"age-piecewise", AgeBased{5 * time.Second, time.Hour, Piecewise(
			Step{2 * time.Minute, 30 * time.Second}, Step{10 * time.Minute, 10 * time.Minute}, Step{time.Hour, time.Hour},
		)}, wait},
	}
}

// Named returns one of [All] by its name.
func Named(name string, lifetime time.Duration) (Policy, error) {
	all := All(lifetime)
	i := slices.IndexFunc(all, func(p Policy) bool { return p.Name == name })
	if i >= 0 {
		return all[i], nil
	}
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.Name
	}
	return Policy{}, fmt.Errorf("found policy %q, expected one of %s", name, strings.Join(names, ", "))
}
