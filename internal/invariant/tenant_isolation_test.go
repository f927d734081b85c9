package invariant_test

import (
	"testing"

	"github.com/isr-sim/isr-sim/internal/invariant"
)

func TestTenantIsolation(t *testing.T) {
	for _, test := range []struct {
		name   string
		run    *run
		want   invariant.Verdict
		events []int
	}{
		{name: "without tenants", run: newRun().renders("alice", "1").gets("bob", "1")},
		{name: "to each its own", run: newRun().of("t1").renders("alice", "1").gets("alice", "1").of("t2").
			renders("bob", "2").getsStale("bob", "2")},
		{name: "another's, fresh", run: newRun().of("t1").renders("alice", "1").of("t2").gets("bob", "1"),
			want: invariant.Violated, events: []int{1, 2}},
		{name: "another's, stale", run: newRun().of("t1").renders("alice", "1").of("t2").getsStale("bob", "1"),
			want: invariant.Violated, events: []int{1, 2}},
		{name: "to one who is no tenant", run: newRun().of("t1").renders("alice", "1").of("").gets("bob", "1"),
			want: invariant.Violated, events: []int{1, 2}},
		{name: "made alike for both",
			run: newRun().of("t1").renders("alice", "1").of("t2").renders("bob", "1").of("t1").gets("alice", "1")},
		{name: "from nowhere", run: newRun().of("t1").gets("alice", "x"), want: invariant.Unknown},
		{name: "from nowhere, and then its own", run: newRun().of("t1").gets("alice", "x").renders("alice", "1").
			gets("alice", "1"), want: invariant.Unknown},
		{name: "from nowhere, without tenants", run: newRun().gets("alice", "x")},
		{name: "from nowhere, and then another's",
			run:  newRun().of("t1").gets("alice", "x").renders("alice", "1").of("t2").gets("bob", "1"),
			want: invariant.Violated, events: []int{2, 3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			checkFinding(t, invariant.Named("tenant-isolation").Check(test.run.evidence()),
				max(test.want, invariant.OK), nil, test.events)
		})
	}
}

// A follower says ok for pages that were served to a tenant. Without tenants, it gives no verdict.
func TestTenantIsolationFollowsTenants(t *testing.T) {
	for tenant, want := range map[string]invariant.Verdict{"t1": invariant.OK, "": 0} {
		isolation := invariant.Named("tenant-isolation")
		f := isolation.Follow(invariant.Promise{})
		events := newRun().of(tenant).renders("alice", "1").gets("alice", "1").told.Events()
		if f.Event(&events[0]).Verdict != 0 || f.Event(&events[1]).Verdict != want {
			t.Errorf("tenant %q: got %v, want nothing for a rendering, and then %v", tenant, f.Event(&events[1]), want)
		}
	}
}
