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

// TestARefreshAheadIsOfPagesThatAreReadOften: Bob has not read the page lately, and so does not refresh it.
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
// is served as long as it is fresh, even if the configuration makes requests wait and fail.
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

// TestStaleIsToleratedForThirtySeconds: after that the page counts as missing, and its reader waits.
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

// TestEveryNodeRendersWithoutALock: while Alice renders, Bob renders, too.
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

// TestJitteredWindowsDiffer: the page is read every second. It lasts for eight to ten seconds, not always the same.
func TestJitteredWindowsDiffer(t *testing.T) {
	r := newRig(t)
	alice, bob := r.node("policy-jitter", "alice"), r.node("policy-jitter", "bob")
	for second := range 300 {
		r.at(second)
		for _, node := range []isr.Handler{alice, bob} {
			if served, err := node.Get(t.Context(), key); err != nil || !served.Fresh {
				t.Fatalf("second %d: served %+v, %v, want a fresh page", second, served, err)
			}
		}
	}
	lasted := map[int]int{}
	for i, at := range r.rendered[1:] {
		lasted[at-r.rendered[i]]++
	}
	if len(lasted) != 3 || lasted[8] == 0 || lasted[9] == 0 || lasted[10] == 0 {
		t.Errorf("windows by their length: %v, want some of 8, 9 and 10 s, and no others", lasted)
	}
}
