package campaign

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// forgetful is a cache that claims, at each point of a call, to depend on nothing but that point.
type forgetful struct{ *pagecache.Cache }

func (forgetful) forgetting(ctx context.Context) context.Context {
	h := storeop.HooksOf(ctx)
	forget := h.Forget
	if forget == nil {
		return ctx
	}
	h.Forget = func(state string) {
		where, _, _ := strings.Cut(state, " ")
		forget(where)
	}
	return h.In(ctx)
}

func (f forgetful) Get(ctx context.Context, key string) (isr.Served, error) {
	return f.Cache.Get(f.forgetting(ctx), key)
}

func (f forgetful) Regenerate(ctx context.Context, key string, r isr.Request) (isr.Served, error) {
	return f.Cache.Regenerate(f.forgetting(ctx), key, r)
}

// If a search uses what a reference protocol says to forget, no state of rows, bodies and invariants is lost. If a
// protocol claims to forget more, states are lost, or it sends different requests in what it calls the same state.
func TestWhatCodeForgetsLeavesOutNoWorld(t *testing.T) {
	effort.Long(t)
	const (
		cache = "name: small\ncache: {lease: 2s, revalidate: 2s, retention: 1s, ttl-buffer: 1s, render: 0s, poll: " +
			"2s, patience: 1, attempts: 1}\nsettle: 5s\n"
		lost = "faults: [maybe response-lost]\nbounds: {ticks: 0}\nactors:\n" +
			"  - {name: alice, script: [get /home], crashes: 1}\n  - {name: bob, script: [get /home]}\n"
		ticking = "bounds: {ticks: 1}\nactors:\n  - {name: alice, script: [get /home, get /home]}\n" +
			"  - {name: bob, script: [sleep 2s, get /home]}\n"
		changed = "bounds: {ticks: 0}\nactors:\n  - {name: alice, script: [get /home, sleep 2s, get /home]}\n" +
			"  - {name: bob, script: [get /home, change /home, invalidate /home]}\n"
		asking = "faults: [maybe request-lost]\nbounds: {ticks: 0}\nactors:\n" +
			"  - {name: alice, script: [regenerate /home as order with a]}\n" +
			"  - {name: bob, script: [regenerate /home as order with a]}\n"
		back = "bounds: {ticks: 1}\nactors:\n  - {name: alice, script: [get /home, rollback /home]}\n" +
			"  - {name: bob, script: [get /home]}\n"
	)
	worlds := func(s *spec.Scenario, p isr.Protocol) (reached []uint64, err error) {
		seen := map[uint64]bool{}
		proof, err := Prove{
			Scenario: s, Protocol: p, Seed: 1, off: sim.InterchangeableActors | sim.PersistentSets,
			onWorld: func(w uint64) { seen[w] = true },
		}.Run(context.Background())
		if err == nil && !proof.Explored.Complete {
			t.Errorf("%s under %s: %v", s.Name, p.Name, proof.Explored)
		}
		return slices.Sorted(maps.Keys(seen)), err
	}
	type small struct{ protocol, text string }
	all := []small{
		{"recipe-a", lost}, {"recipe-a", ticking}, {"recipe-a-guarded", asking}, {"recipe-b", back},
		{"recipe-b-guarded", changed},
		{"recipe-a-guarded", changed}, {"recipe-b", ticking}, {"recipe-b-guarded", asking},
	}
	for _, c := range effort.Fewer(all, all[:5]) { // each world once
		s := scenariotest.Parsed(t, cache+c.text)
		p := scenariotest.Protocol(t, c.protocol)
		remembers := p
		remembers.Memoryless = false
		want, err := worlds(s, remembers)
		must.OK(t, err)
		got, err := worlds(s, p)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s%s: %d worlds, and %d if nothing is forgotten; error %v", c.text, c.protocol,
				len(got), len(want), err)
		}
		if c.text == lost {
			continue // whatever it forgets, it can send only one request next
		}
		forgets := p
		forgets.New = func(cfg isr.Config) (isr.Handler, error) {
			h, err := p.New(cfg)
			return forgetful{h.(*pagecache.Cache)}, err
		}
		if got, err := worlds(s, forgets); err == nil && slices.Equal(got, want) {
			t.Errorf("%s%s: a protocol that forgets all but its place reaches all worlds, too", c.text, c.protocol)
		}
	}
}

// A certificate is checked by a search that shares no reduction with the proof, and takes the steps in another order.
// It notices a missing state and a made-up one.
func TestCertificates(t *testing.T) {
	effort.OneAtATime(t)
	s := scenariotest.Parsed(t, "name: small\ncache: {lease: 1s, attempts: 1, patience: 1}\nbounds: {ticks: 1}\n"+
		"actors: [{name: alice, script: [get /home]}, {name: bob, script: [change /home]}]\n")
	proof := scenariotest.Ran(t, Prove{Scenario: s, Seed: 1, Certify: true})
	whole, err := proof.Certificate()
	must.OK(t, err)
	verify := func(change func(states []uint64) []uint64) *Proof {
		t.Helper()
		changed := *whole
		changed.States = change(slices.Clone(whole.States))
		changed.Sum = sum(changed.numbers())
		file, err := changed.Bytes()
		must.OK(t, err)
		read, err := ReadCertificate(file)
		must.OK(t, err)
		p := scenariotest.Ran(t, Prove{Scenario: s, Seed: 1, Against: read})
		return p
	}
	if p := verify(func(all []uint64) []uint64 { return all }); !p.Explored.Complete || p.Verdict != invariant.OK ||
		p.Explored.Schedules <= proof.Explored.Schedules {
		t.Errorf("got %v (%s) after %d schedules, expected ok after more than the proof's %d", p.Verdict, p.Why,
			p.Explored.Schedules, proof.Explored.Schedules)
	}
	for i := 0; i < len(whole.States); i += 1 + len(whole.States)/effort.Fewer(20, 5) {
		p := verify(func(all []uint64) []uint64 { return slices.Delete(all, i, i+1) })
		if p.Verdict != invariant.Unknown || p.Explored.Complete ||
			!strings.Contains(p.Why, "the certificate lacks state ") ||
			!strings.Contains(p.Why, " --seed 1 --choices ") {
			t.Errorf("without state %d: got %v (%s), expected unknown, for it lacks one", i, p.Verdict, p.Why)
		}
	}
	p := verify(func(all []uint64) []uint64 { return slices.Sorted(slices.Values(append(all, 12345))) })
	if p.Verdict != invariant.Unknown || !strings.Contains(p.Why, "states, of which ") {
		t.Errorf("with a state too many: got %v (%s), expected unknown", p.Verdict, p.Why)
	}

	// A proof that wrongly leaves out a state is not certified.
	proof = scenariotest.Ran(t, Prove{Scenario: s, Seed: 1})
	if _, err := proof.Certificate(); err == nil {
		t.Error("got a certificate of a proof that did not list its states, expected an error")
	}
	blind := scenariotest.Protocol(t, "blind-publish")
	if _, err := (Prove{Scenario: s, Protocol: blind, Seed: 1, Against: whole}).Run(t.Context()); err == nil {
		t.Error("got a proof of another protocol by this certificate, expected an error")
	}
	file, err := whole.Bytes()
	must.OK(t, err)
	for _, broken := range [][]byte{
		nil, file[:len(file)-1], file[:len(file)-8], append(slices.Clone(file), 0), []byte("{}\n"),
	} {
		if _, err := ReadCertificate(broken); err == nil {
			t.Errorf("read %d bytes of %d, expected an error", len(broken), len(file))
		}
	}
}
