// Package pages is the subject of pages: scripts ask a cache for pages, change their data, and have them regenerated.
package pages

import (
	"cmp"
	"context"
	"fmt"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Subject is the subject of pages.
type Subject struct{}

// Name implements subject.Subject.
func (Subject) Name() string { return "pages" }

// verbRegenerate is the verb of commands with idempotency keys.
const verbRegenerate = "regenerate"

// Verbs implements subject.Subject.
func (Subject) Verbs() []subject.Verb {
	return []subject.Verb{
		{
			Name: "get", Form: "get KEY", Example: "/home", Path: true, Regions: true,
			Do: func(n subject.Node, handler isr.Handler, c subject.Command) { get(n, handler, c.Key) },
		},
		{
			Name: "change", Form: "change KEY", Example: "/home", Path: true, Regions: true,
			Do: func(n subject.Node, _ isr.Handler, c subject.Command) {
				_ = n.Do(n.World().Context(), &originChange{node: n, page: pageOf(n, c.Key)})
			},
		},
		{
			Name: "invalidate", Form: "invalidate KEY", Example: "/home", Path: true, Regions: true,
			Do: func(n subject.Node, handler isr.Handler, c subject.Command) {
				invalidate(n, subject.Able[isr.Invalidator](n, handler, c.Verb), c.Key)
			},
		},
		{
			Name: "rollback", Form: "rollback KEY", Example: "/home", Path: true,
			Do: func(n subject.Node, handler isr.Handler, c subject.Command) {
				rollback(n, subject.Able[isr.Rollbacker](n, handler, c.Verb), c.Key)
			},
		},
		{
			Name: verbRegenerate, Example: "/home as order-7", Path: true,
			Form: regenerateForm,
			Parse: func(words []string, c *subject.Command) (expected string) {
				if len(words) != 3 && len(words) != 5 || words[1] != "as" || len(words) == 5 && words[3] != "with" {
					return regenerateForm
				}
				if c.Key, c.Request = words[0], words[2]; len(words) == 5 {
					c.Inputs = words[4]
				}
				return ""
			},
			Words: func(c subject.Command) string {
				if c.Inputs != "" {
					return c.Key + " as " + c.Request + " with " + c.Inputs
				}
				return c.Key + " as " + c.Request
			},
			Do: func(n subject.Node, handler isr.Handler, c subject.Command) {
				regenerate(n, subject.Able[isr.Regenerator](n, handler, c.Verb), c.Key,
					isr.Request{ID: c.Request, Hash: cmp.Or(c.Inputs, noInputs)})
			},
		},
	}
}

const regenerateForm = "regenerate KEY as REQUEST, or regenerate KEY as REQUEST with INPUTS"

// noInputs is the hash for a request without inputs.
const noInputs = "none"

// Marks implements subject.Subject.
func (Subject) Marks() []string {
	return []string{
		mark.Published, mark.ServedFresh, mark.LockTakenOver, mark.LockRefused, mark.PublishRefused, mark.OwnCommitMet,
		mark.ServedStale, mark.ExpiredRowRead, mark.TTLDeletion, mark.LeaseRefreshed, mark.RolledBack,
		mark.PageInvalidated, mark.RequestRepeated,
	}
}

// Basic implements subject.Subject.
func (Subject) Basic() [][]string {
	return [][]string{{mark.Published, mark.PublishRefused}, {mark.ServedFresh, mark.ServedStale}}
}

// Invariants implements subject.Subject.
func (Subject) Invariants() []invariant.Invariant { return invariant.All() }

// Asks implements subject.Subject.
func (Subject) Asks(k history.Kind) bool { return k == history.Asked || k == history.Invalidating }

// Judged implements subject.Subject.
func (Subject) Judged() subject.Judged { return subject.Judged{Rows: true} }

// Memories implements subject.Subject.
func (Subject) Memories(p subject.Past) []recorder.Memory {
	return invariant.Memories(p.Promise, p.Asks(verbRegenerate), p.Text, p.Body)
}

// New implements subject.Subject.
func (Subject) New(w subject.World) subject.State { return &state{world: w} }

// state is what a world keeps for pages: the versions of the origin's data.
type state struct {
	subject.Stateless
	world    subject.World
	versions map[subject.Key]int // copied on write: moments that are kept share it
}

// String prints all versions.
func (s *state) String() string { return fmt.Sprint(s.versions) }

// of returns the state of a node's world. Remembered code may have begun in an earlier run, with another state.
func of(n subject.Node) *state {
	s, _ := n.World().State().(*state)
	return s
}

// pageOf returns the page of the node's tenant with this key.
func pageOf(n subject.Node, key string) subject.Key {
	return subject.Key{Tenant: n.Tenant(), Name: key}
}

// Configure implements subject.State.
func (*state) Configure(n subject.Node, c *isr.Config) {
	c.Render = func(ctx context.Context, key string, keepAlive func(context.Context) error) ([]byte, error) {
		return render(ctx, n, key, keepAlive)
	}
}

// Keep implements subject.State.
func (s *state) Keep() (back func()) {
	was := s.versions
	return func() { s.versions = was }
}
