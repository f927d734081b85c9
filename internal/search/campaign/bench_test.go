package campaign_test

import (
	"context"
	"runtime/debug"
	"testing"

	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// writer answers each request for a page by writing it: it takes the lease, stores a body and publishes, with recipe
// A's methods. It reads no row before or after.
type writer struct {
	store  *pagecache.RecipeA
	bodies isr.BodyStore
}

func newWriter(cfg isr.Config) (isr.Handler, error) {
	store, err := pagecache.NewRecipeA(cfg)
	return writer{store, cfg.Bodies}, err
}

func (w writer) Get(ctx context.Context, key string) (isr.Served, error) {
	lease, err := w.store.Acquire(ctx, key)
	if err != nil {
		return isr.Served{}, err
	}
	body := "pages/" + lease.Token
	if err := w.bodies.PutBody(ctx, body, []byte("a page")); err != nil {
		return isr.Served{}, err
	}
	if err := w.store.Publish(ctx, lease, pagecache.Meta{
		PK: w.store.PK(key), S3Key: body, GeneratedAt: w.store.Now(), RevalidateSeconds: 60,
	}); err != nil {
		return isr.Served{}, err
	}
	return isr.Served{}, pagecache.ErrUnavailable // it writes, and serves nothing
}

// BenchmarkWriters measures the schedules per second of two recipe-A writers in Go, on one core: run it with -cpu 1.
//
// A schedule is a run of a scenario from an empty table to a verdict: two nodes take the lease of the one page (a
// conditional put). A node that gets it stores a body and publishes (a transaction that puts META and deletes LOCK).
// All this happens under a random walk; each schedule has its own seed. Then every invariant judges the run, except
// linearizability, because no operation is observed (hooks.Setup.Blind). One operation is a campaign of a thousand of
// them, by one worker. The garbage collector is set as isr-sim sets it for campaigns.
func BenchmarkWriters(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	s := kernel.Defaults()
	s.Name = "two-writers"
	for _, name := range []string{"alice", "bob"} {
		s.Actors = append(s.Actors, kernel.Actor{Name: name, Script: []kernel.Command{{Verb: "get", Key: "/home"}}})
	}
	c := campaign.Campaign{
		Scenario: s, Protocol: isr.Protocol{Name: "writer", New: newWriter},
		Plan: strategy.Only(sim.RandomWalk), Schedules: 1000, Workers: 1,
	}
	ctx := hooks.WithSetup(b.Context(), hooks.Setup{Blind: true})
	b.ReportAllocs()
	schedules, steps := 0, 0
	for b.Loop() {
		c.Seed++
		r, err := c.Run(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if r.Verdict != invariant.OK {
			b.Fatal(r.Why)
		}
		schedules += r.Schedules
		steps += r.Steps
	}
	b.ReportMetric(float64(schedules)/b.Elapsed().Seconds(), "schedules/s")
	b.ReportMetric(float64(steps)/float64(schedules), "steps/schedule")
}
