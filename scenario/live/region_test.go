package live_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/live"
)

const ireland = "eu-west-1"

// replicate makes the table a global one. A write takes a second to arrive in the other region.
func (s *traffic) replicate() {
	s.Helper()
	must.Done(s)(s.db.Client().UpdateTable(s.Context(),
		&dynamodb.UpdateTableInput{TableName: aws.String(table), ReplicaUpdates: []types.ReplicationGroupUpdate{
			{Create: &types.CreateReplicationGroupMemberAction{RegionName: aws.String(ireland)}},
		}}))
	s.db.SetRegionLag(ddbfake.LagFixed(time.Second))
}

// storeIn is a correct writer in a region.
func (s *traffic) storeIn(actor, region string) *pagecache.RecipeA {
	s.Helper()
	return s.storeOf(actor, s.db.As(actor).In(region), s.clock)
}

// Each region judges conditions by its own rows, so both regions grant the lease of the same page. Then the later write
// wins in both regions, and takes the lease from its holder.
func TestWatchFindsALeaseTakenInTwoRegions(t *testing.T) {
	s, test := watched(t, live.Options{})
	s.replicate()
	for _, store := range []*pagecache.RecipeA{s.storeIn("alice", ddbfake.DefaultRegion), s.storeIn("bob", ireland)} {
		must.Done(t)(store.Acquire(t.Context(), "/home"))
	}
	s.clock.Advance(time.Second)
	test.end()
	wantTest(t, test, "bob replaced the lock of alice")
}

// A page has rows in each region. A rendering is judged in the region in which its actor took the lease. Once a write
// has shown that the regions are replicas, it is judged over all of them.
func TestRenderingsInTwoRegions(t *testing.T) {
	for _, test := range []struct {
		name    string
		do      func(s *traffic, alice, bob *pagecache.RecipeA)
		want    []string
		verdict invariant.Verdict
	}{
		{"one home", func(s *traffic, alice, _ *pagecache.RecipeA) {
			for _, body := range []string{"two", "three"} {
				s.clock.Advance(time.Minute)
				s.regenerate(alice, "alice", "/home", body)
			}
		}, nil, invariant.OK},
		{"the page is fresh", func(s *traffic, alice, _ *pagecache.RecipeA) {
			s.regenerate(alice, "alice", "/home", "two")
		}, []string{"violated single-flight by alice"}, invariant.Violated},
		{"without a lease", func(s *traffic, alice, bob *pagecache.RecipeA) {
			s.publish(bob, "/other")
			s.clock.Advance(time.Minute)
			s.tell(rendered("bob", "/home", "two"))
		}, []string{"violated single-flight by bob"}, invariant.Violated},
		{"in both at once", func(s *traffic, alice, bob *pagecache.RecipeA) {
			s.clock.Advance(time.Minute)
			s.both("/home", alice, bob)
		}, []string{"violated single-flight by bob"}, invariant.Violated},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := hear(t, recipe(live.Options{}))
			s.replicate()
			alice, bob := s.storeIn("alice", ddbfake.DefaultRegion), s.storeIn("bob", ireland)
			s.regenerate(alice, "alice", "/home", "one")
			s.clock.Advance(time.Second)
			test.do(s, alice, bob)
			s.wantReported(test.want...)
			if got := s.checker.Found().Verdict(); got != test.verdict {
				t.Errorf("%v, want %v", got, test.verdict)
			}
		})
	}
	s := hear(t, live.Options{})
	s.replicate()
	s.both("/home", s.storeIn("alice", ddbfake.DefaultRegion), s.storeIn("bob", ireland))
	s.wantReported("unknown single-flight by bob")
}

// both makes two nodes take the lease and render.
func (s *traffic) both(key string, alice, bob *pagecache.RecipeA) {
	s.Helper()
	for _, store := range []*pagecache.RecipeA{alice, bob} {
		must.Done(s)(store.Acquire(s.Context(), key))
	}
	s.tell(rendered("alice", key, "by alice"), rendered("bob", key, "by bob"))
}
