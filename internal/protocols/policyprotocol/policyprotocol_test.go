package policyprotocol_test

import (
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/protocols/policyprotocol"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

func TestPoliciesAreNamedAndRefuseABadConfig(t *testing.T) {
	for _, p := range policyprotocol.All() {
		if !strings.HasPrefix(p.Name, "policy-") || strings.TrimSpace(p.Summary) == "" {
			t.Errorf("%q, %q: want a name with policy- in front, and a summary", p.Name, p.Summary)
		}
		if h, err := p.New(isr.Config{}); err == nil {
			t.Errorf("%s: got %v, want an error", p.Name, h)
		}
	}
}

// TestReadsEveryThreeSeconds: one node, a window of ten seconds, and a page that takes no time to make.
func TestReadsEveryThreeSeconds(t *testing.T) {
	for policy, want := range map[string][]int{
		"policy-absolute":      {0, 12, 24},
		"policy-sliding":       {0},
		"policy-hybrid":        {0, 12, 24},
		"policy-refresh-ahead": {0, 9, 18, 27},
		"policy-xfetch":        {0, 12, 24}, // a page that takes no time to make can wait until the end
		"policy-swr":           {0, 12, 24},
		"policy-unprotected":   {0, 12, 24},
	} {
		t.Run(policy, func(t *testing.T) {
			r := newRig(t)
			alice := r.node(policy, "alice")
			for second := 0; second <= 30; second += 3 {
				r.at(second)
				if served, err := alice.Get(t.Context(), key); err != nil || !served.Fresh {
					t.Errorf("second %d: served %+v, %v, want a fresh page", second, served, err)
				}
			}
			r.wantRendered(want...)
		})
	}
}

func TestASlidingPageThatIsNotReadEnds(t *testing.T) {
	r := newRig(t)
	sliding := r.node("policy-sliding", "alice")
	r.want(sliding, "of second 0", true)
	r.at(9)
	r.want(sliding, "of second 0", true)
	r.at(18)
	r.want(sliding, "of second 0", true)
	r.at(28)
	r.want(sliding, "of second 28", true)
}

// TestAHybridPageEndsByIdlenessAndByAge: half a window without a read is too long, and so is a whole one with reads.
func TestAHybridPageEndsByIdlenessAndByAge(t *testing.T) {
	r := newRig(t)
	alice, bob := r.node("policy-hybrid", "alice"), r.node("policy-hybrid", "bob")
	r.want(alice, "of second 0", true)
	r.at(4)
	r.want(bob, "of second 0", true) // until 9
	r.at(8)
	r.want(alice, "of second 0", true) // until 10, and not 13
	r.at(10)
	r.want(bob, "of second 10", true)
	r.at(15)
	r.want(alice, "of second 15", true)
	r.wantRendered(0, 10, 15)
}

// TestARefreshAheadIsOfPagesThatAreReadOften: Bob has not read the page lately, and leaves it as it is.
func TestARefreshAheadIsOfPagesThatAreReadOften(t *testing.T) {
	r := newRig(t)
	alice, bob := r.node("policy-refresh-ahead", "alice"), r.node("policy-refresh-ahead", "bob")
	r.want(alice, "of second 0", true)
	r.at(8)
	r.want(bob, "of second 0", true)
	r.want(alice, "of second 8", true)
	r.at(9)
	r.want(bob, "of second 8", true)
	r.wantRendered(0, 8)
}

// TestAnEarlyRefreshNeverCostsAFreshPage: while another node has the lease, or when the origin is broken, the old page
// is served as long as it is fresh, even if the configuration has requests wait, and fail.
func TestAnEarlyRefreshNeverCostsAFreshPage(t *testing.T) {
	strict := func(cfg *isr.Config) { cfg.Contention, cfg.Failure = isr.Wait, isr.Fail }
	r := newRig(t)
	alice := r.node("policy-refresh-ahead", "alice", strict)
	r.want(alice, "of second 0", true)
	r.locked(9)
	r.at(8)
	r.want(alice, "of second 0", true)
	r.broken = true
	r.at(9)
	r.want(alice, "of second 0", true)
	r.wantRendered(0)
	r.at(10)
	if served, err := alice.Get(t.Context(), key); err == nil {
		t.Errorf("served %+v, want the error of the origin", served)
	}
	r.broken = false
	r.want(alice, "of second 10", true)
}

// TestAnEarlyRefreshLooksAgain: the last holder of the lease may have made the page. Bob does so just before Alice asks
// for her lease.
func TestAnEarlyRefreshLooksAgain(t *testing.T) {
	r := newRig(t)
	bob := r.node("policy-refresh-ahead", "bob")
	inTheWay := &before{}
	alice := r.node("policy-refresh-ahead", "alice", func(cfg *isr.Config) {
		inTheWay.Client = cfg.Client
		cfg.Client = inTheWay
	})
	r.want(alice, "of second 0", true)
	r.want(bob, "of second 0", true)
	r.at(8)
	inTheWay.put = func() { r.want(bob, "of second 8", true) }
	r.want(alice, "of second 8", true)
	r.wantRendered(0, 8)
}

// TestStaleIsToleratedForThirtySeconds: after that the page is as good as none, and its reader waits.
func TestStaleIsToleratedForThirtySeconds(t *testing.T) {
	r := newRig(t)
	alice := r.node("policy-swr", "alice")
	r.want(alice, "of second 0", true)
	r.locked(44)
	r.at(39)
	r.want(alice, "of second 0", false)
	r.at(40)
	r.want(alice, "of second 44", true)
	r.wantRendered(0, 44)
}

// TestAnAbsolutePageIsWaitedFor: the old page is not served while another node makes the new one.
func TestAnAbsolutePageIsWaitedFor(t *testing.T) {
	r := newRig(t)
	alice := r.node("policy-absolute", "alice", func(cfg *isr.Config) { cfg.Contention = isr.ServeStale })
	r.want(alice, "of second 0", true)
	r.locked(13)
	r.at(10)
	r.want(alice, "of second 13", true)
}

// TestEveryNodeRendersWithoutALock: while Alice renders, Bob does so, too.
func TestEveryNodeRendersWithoutALock(t *testing.T) {
	r := newRig(t)
	bob := r.node("policy-unprotected", "bob")
	asked := false
	alice := r.node("policy-unprotected", "alice", func(cfg *isr.Config) {
		cfg.Bodies = asking{r.bodies, func() {
			if !asked {
				asked = true
				r.want(bob, "of second 2", true)
			}
		}}
	})
	r.takes = 2 * time.Second
	r.want(alice, "of second 0", true)
	r.want(bob, "of second 0", true) // the oldest data has won
	r.wantRendered(0, 2)
}
