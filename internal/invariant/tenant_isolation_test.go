package invariant_test

import (
	"testing"

	"github.com/isr-sim/isr-sim/internal/invariant"
)

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
