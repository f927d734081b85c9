package kernel

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/deadline"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// asking returns the function that says whether scripts have a command with a verb.
func asking(s *spec.Scenario) func(verb string) bool {
	return func(verb string) bool {
		return slices.ContainsFunc(s.Actors, func(a spec.Actor) bool {
			return slices.ContainsFunc(a.Script, func(c spec.Command) bool { return string(c.Verb) == verb })
		})
	}
}

func timesOf(s *spec.Scenario) subject.Times {
	c := &s.Cache
	return subject.Times{
		Lease: c.Lease, Revalidate: c.Revalidate, Retention: c.Retention, Render: c.Render, KeepAlive: c.KeepAlive,
		Poll: c.Poll, Patience: c.Patience, Settle: s.Settle, SameBytes: c.SameBytes,
	}
}

// Times implements subject.World.
func (w *world) Times() *subject.Times { return &w.times }

// State implements subject.World.
func (w *world) State() subject.State { return w.state }

// Protocol implements subject.World.
func (w *world) Protocol() string { return w.protocol.Name }

// Now implements subject.World.
func (w *world) Now() time.Time { return w.clock.Now() }

// Context implements subject.World.
func (w *world) Context() context.Context { return w.ctx }

// Changed implements subject.World.
func (w *world) Changed(before, now fingerprint.Hash) {
	if w.fingerprinter != nil {
		w.fingerprinter.thing(before, now)
		w.told = w.changed()
	}
}

// UpToNames implements subject.World.
func (w *world) UpToNames(text string) string { return w.fingerprinter.symmetric.Text(text) }

// History implements subject.World.
func (w *world) History() []history.Event { return w.history.Events() }

// LastChange implements subject.World.
func (w *world) LastChange() int { return w.seen }

// Commands implements subject.World.
func (w *world) Commands() (all []subject.Command) {
	for _, a := range w.scenario.Actors {
		for _, c := range a.Script {
			all = append(all, c.Plain())
		}
	}
	return all
}

// Keys implements subject.World.
func (w *world) Keys() []subject.Key { return w.keys.all() }

// Visitor implements subject.World.
func (w *world) Visitor(p *sim.Proc, tenant string, nth int, ids map[string]int) (subject.Node, isr.Handler) {
	return w.boot(p, tenant, "", w.visitorsClient(nth), ids)
}

// StopAt implements subject.World.
func (w *world) StopAt(promised time.Duration) {
	if !w.allStops { // see StopAround
		w.deadlines.Add(w.clock.Now().Add(promised).Unix())
	}
}

// StopAround implements subject.World. It makes time stop a second before, at, and a second after the end of the
// promise. It also stops a millisecond before the end of the invariant's guarantee, which is earlier by twice the error
// of clocks and by the rounding of rows.
func (w *world) StopAround(actor string, promised, rounded time.Duration) {
	if !w.allStops {
		return
	}
	end := w.clock.Now().Add(promised)
	held := end.Add(-2*w.scenario.Skew - rounded)
	w.deadlines.AddStops(end.Add(-time.Second), held.Add(-time.Millisecond), end, end.Add(time.Second))
	if rounded < time.Second && end.Nanosecond() != 0 {
		w.deadlines.Parts = append(w.deadlines.Parts, deadline.Part{Actor: actor, End: end})
	}
}

// World implements subject.Node.
func (n *node) World() subject.World { return n.world }

// Proc implements subject.Node.
func (n *node) Proc() *sim.Proc { return n.proc }

// Tenant implements subject.Node.
func (n *node) Tenant() string { return n.tenant }

// Given implements subject.Node.
func (n *node) Given(of string) int {
	if n.proc.Remembers() {
		return n.ids[of]
	}
	return n.world.countIDs(of)
}

// Got implements subject.Node.
func (n *node) Got(of string) {
	if n.proc.Remembers() {
		n.ids[of]++
	}
}

// Own implements subject.Node.
func (n *node) Own() *subject.OwnTime { return n.own }

// Origin implements subject.Node.
func (n *node) Origin() subject.Faults { return &dependencyCall{node: n, of: ofOrigin} }

// judgesSomething reports whether some invariant had anything to judge in the run. Invariants of the history alone, and
// the caller's own, cannot tell; they count as having judged.
func (w *world) judgesSomething(judges judges, ev invariant.Evidence) bool {
	if !w.by.Rows || len(judges.own) > 0 || !judges.chosen {
		return true
	}
	has := w.hasSubject(ev)
	return slices.ContainsFunc(judges.by, func(inv invariant.Invariant) bool { return has(&inv) })
}

// hasSubject returns the function that says whether an invariant has something to judge in the run.
func (w *world) hasSubject(ev invariant.Evidence) func(*invariant.Invariant) bool {
	ev.Changes, ev.Schema = w.Changes(), isr.Schema{}
	return func(inv *invariant.Invariant) bool { return inv.HasSubject(ev) }
}

// noteSubjects adds to judged the invariants that have something to judge in the run.
func (w *world) noteSubjects(judged map[string]bool, ev invariant.Evidence) {
	if judged == nil {
		return
	}
	has := w.hasSubject(ev)
	for i := range w.subject.All {
		if inv := &w.subject.All[i]; !judged[inv.Name] && has(inv) {
			judged[inv.Name] = true
		}
	}
}

// keys knows the keys of a script and the partitions that they have in rows of the default form. Most runs are never
// printed, so it computes the partitions only when they are needed.
type keys struct {
	script []spec.Actor
	of     map[string]string // names by partition key; nil until they are needed
}

// all returns the keys, sorted.
func (k *keys) all() (all []subject.Key) {
	for _, a := range k.script {
		for _, c := range a.Script {
			if c.Key != "" {
				all = append(all, subject.Key{Tenant: a.Tenant, Name: c.Key})
			}
		}
	}
	slices.SortFunc(all,
		func(a, b subject.Key) int {
			return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Name, b.Name))
		})
	return slices.Compact(all)
}

// names returns the keys' names by partition. If a cache ignores tenants, its rows are in the partitions of keys
// without a tenant, so these are there, too.
func (k *keys) names() map[string]string {
	if k.of != nil {
		return k.of
	}
	k.of = map[string]string{}
	for _, p := range k.all() {
		k.of[isr.PartitionKey("", p.Name)] = p.Name
	}
	for _, p := range k.all() {
		k.of[isr.PartitionKey(p.Tenant, p.Name)] = p.String()
	}
	return k.of
}

func (k *keys) NameOf(pk string) (string, bool) {
	name, ok := k.names()[pk]
	return name, ok
}

// pageOf names the page of a partition. If there is only one page, the row belongs to it, whatever key the cache gives
// it.
func (w *world) pageOf(pk string) string {
	if name, known := w.keys.NameOf(pk); known {
		return name
	}
	if all := w.keys.all(); len(all) == 1 {
		return all[0].String()
	}
	return pk
}

// actorOf is the actor of a client, without the number of the incarnation: alice for alice.2.
func (w *world) actorOf(client string) string {
	for i := range w.scenario.Actors {
		if name := w.scenario.Actors[i].Name; client == name || strings.HasPrefix(client, name+".") {
			return name
		}
	}
	return client
}
