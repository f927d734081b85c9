package campaign

import (
	"slices"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

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
