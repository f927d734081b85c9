package property

import (
	"context"
	"errors"
	"io"

	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// abilities returns the verbs that a store can do. For each such verb, the store has the method, and the method does
// not return ErrUnsupported. To find out, abilities makes one store in a run of its own. If the store breaks in this
// run, it also breaks in the worlds, and is reported then.
func (r runner) abilities(rows isr.Schema) []scenario.Verb {
	p := prober{can: map[scenario.Verb]bool{}}
	s := scenario.Defaults()
	s.Name, s.Rows = "abilities", rows
	s.Bounds = scenario.Bounds{Schedules: 1, Steps: worlds.MaxSteps}
	s.Actors = []scenario.Actor{{Name: worlds.ActorNames[0], Script: []scenario.Command{{Verb: "get", Key: probedKey}}}}
	protocol := r.guard(&answers{}).protocol(r.name, r.newStore)
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
	for _, v := range worlds.Verbs {
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
		try("invalidate", func() error { return s.Invalidate(ctx, key) })
	}
	if s, ok := under.(isr.Rollbacker); ok {
		try("rollback", func() error { return s.Rollback(ctx, key) })
	}
	if s, ok := under.(isr.Regenerator); ok {
		try("regenerate", func() error {
			_, err := s.Regenerate(ctx, key, isr.Request{ID: "isr-sim", Hash: "isr-sim"})
			return err
		})
	}
	return isr.Served{}, nil
}
