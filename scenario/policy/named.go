package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// All returns the policies that the command compares, for one lifetime of values.
func All(lifetime time.Duration) []Policy {
	const tolerance = 30 * time.Second // of the seed's lock with stale-while-revalidate
	absolute, early := Absolute(lifetime), lifetime*8/10
	return []Policy{
		{"unprotected", absolute, Unprotected()},
		{"absolute", absolute, Locked()},
		{"jitter", Jitter(absolute, 0.2), Locked()},
		{"sliding", Sliding(lifetime), Locked()},
		{"hybrid", Hybrid(lifetime, 4*lifetime), Locked()},
		{"sliding-refresh", Sliding(lifetime), RefreshAhead(early)},
		{"tiered", Tiered(Absolute(lifetime/4), Sliding(4*lifetime)), Locked()},
		{"refresh-ahead", absolute, RefreshAhead(early)},
		{"xfetch", absolute, XFetch(1)},
		{"swr", absolute, LockedStale(tolerance)},
		{"recipe-a-stale", absolute, StaleWhileRevalidate()},
		{"periodic", absolute, Periodic()},
		{"age-based", Netflix(), Locked()},
		{"age-linear", AgeBased(5*time.Second, time.Hour, Linear), Locked()},
		{"age-logarithmic", AgeBased(5*time.Second, time.Hour, Logarithmic), Locked()},
		{"age-piecewise", AgeBased(5*time.Second, time.Hour, Piecewise(
			Step{2 * time.Minute, 30 * time.Second}, Step{10 * time.Minute, 10 * time.Minute}, Step{time.Hour, time.Hour},
		)), Locked()},
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
