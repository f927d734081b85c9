package property

import (
	"context"
	"errors"
	"io"
	"slices"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// extras are what worlds have for some stores only, and how stores keep their rows.
type extras struct {
	rows    isr.Schema
	verbs   []scenario.Verb // besides get, that the store can do
	tenants bool            // the store takes Node.Tenant
	promise scenario.Promise
}

// storeVerbs are those that a store may have besides get, by its methods.
var storeVerbs = []scenario.Verb{scenario.Invalidate, scenario.Regenerate, scenario.Rollback}

// abilities asks a store which verbs it can do: those whose method it has, unless the method says ErrUnsupported. One
// store is made for that, in a run of its own. A store that breaks there breaks in the worlds, too, and is reported then.
func (r runner) abilities(rows isr.Schema) []scenario.Verb {
	p := prober{can: map[scenario.Verb]bool{}}
	s := scenario.Defaults()
	s.Name, s.Rows = "abilities", rows
	s.Bounds = scenario.Bounds{Schedules: 1, Steps: maxSteps}
	s.Actors = []scenario.Actor{{Name: actorNames[0], Script: []scenario.Command{{Verb: scenario.Get, Key: probedKey}}}}
	protocol := r.guard(&answers{}, s).protocol(r.name, r.newStore)
	newStore := protocol.New
	protocol.New = func(cfg isr.Config) (isr.Handler, error) {
		store, err := newStore(cfg)
		if err != nil {
			return nil, err
		}
		return p.of(store), nil
	}
	options := r.options()
	options.Invariants = nil
	_, _ = inside(r, scenario.Run{Scenario: s, Protocol: protocol, Seed: 1, ExpectedSteps: 1, Options: options}.Do)
	var verbs []scenario.Verb
	for _, v := range storeVerbs {
		if p.can[v] {
			verbs = append(verbs, v)
		}
	}
	return verbs
}

// probedKey is a page that no world has.
const probedKey = "/isr-sim"

// prober tries the methods of a store, in place of Get.
type prober struct {
	store isr.Handler
	can   map[scenario.Verb]bool
}

func (p prober) of(store isr.Handler) isr.Handler {
	p.store = store
	if closer, ok := store.(io.Closer); ok {
		return struct {
			prober
			io.Closer
		}{p, closer}
	}
	return p
}

// Get implements isr.Handler.
func (p prober) Get(ctx context.Context, key string) (isr.Served, error) {
	under := p.store
	if c, ok := under.(interface{ under() isr.Handler }); ok {
		under = c.under()
	}
	try := func(v scenario.Verb, call func() error) {
		p.can[v] = true // also if it panics
		var err error
		inStore(func() { err = call() })
		p.can[v] = !errors.Is(err, isr.ErrUnsupported)
	}
	if s, ok := under.(isr.Invalidator); ok {
		try(scenario.Invalidate, func() error { return s.Invalidate(ctx, key) })
	}
	if s, ok := under.(isr.Rollbacker); ok {
		try(scenario.Rollback, func() error { return s.Rollback(ctx, key) })
	}
	if s, ok := under.(isr.Regenerator); ok {
		try(scenario.Regenerate, func() error {
			_, err := s.Regenerate(ctx, key, isr.Request{ID: "isr-sim", Hash: "isr-sim"})
			return err
		})
	}
	return isr.Served{}, nil
}

// drawVerbs draws which of the store's verbs clients ask for. Where a page is rolled back, some invariants do not judge
// it, so rollbacks are in fewer worlds.
func (e extras) drawVerbs(t *rapid.T) []scenario.Verb {
	if len(e.verbs) == 0 {
		return nil
	}
	forward := slices.DeleteFunc(slices.Clone(e.verbs), func(v scenario.Verb) bool { return v == scenario.Rollback })
	return pick(t, "asks for more than pages", nil, nil, forward, e.verbs, e.verbs[:1])
}

// drawVerb draws a command with one of the verbs, for half of the commands.
func drawVerb(t *rapid.T, verbs []scenario.Verb, key string) (c scenario.Command, drawn bool) {
	if len(verbs) == 0 || pick(t, "asks for a page", true, false) {
		return c, false
	}
	c = scenario.Command{Verb: pick(t, "verb", verbs...), Key: key}
	if c.Verb == scenario.Regenerate {
		c.Request = pick(t, "request", "r1", "r2")
		c.Inputs = pick(t, "inputs", "", "", "v2")
	}
	return c, true
}

// drawTenants draws the tenants of a world's nodes, and the keys of its pages.
func (e extras) drawTenants(t *rapid.T, keys []string) ([]string, []string) {
	if !e.tenants {
		return nil, keys
	}
	tenants := pick(t, "tenants", nil, []string{"t1", "t2"}, []string{"t1", "t11"})
	if len(tenants) > 0 && tenants[1] == "t11" {
		keys = []string{"/home", "1/home"} // tenant and key, one behind the other, are the same for two pages
	}
	return tenants, keys
}
