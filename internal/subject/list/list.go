// Package list is the list of all subjects. No other package names one of them.
package list

import (
	"iter"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/subject/calls"
	"github.com/isr-sim/isr-sim/internal/subject/locks"
	"github.com/isr-sim/isr-sim/internal/subject/pages"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// About is a subject with its invariants.
type About struct {
	subject.Subject
	All     []invariant.Invariant
	Harmful []invariant.Invariant // without the rules of the recipe: breaking one serves no wrong page
}

// Verb is a command of scripts, and the subject to which it belongs; nil if any script may have it.
type Verb struct {
	subject.Verb
	*About
}

type table struct {
	subjects []*About
	verbs    []*Verb
	named    map[string]*Verb
}

var known = func() *table {
	t := &table{named: map[string]*Verb{}}
	for _, s := range []subject.Subject{pages.Subject{}, locks.Subject{}, calls.Subject{}} {
		t.add(s)
	}
	any := &Verb{Verb: sleep}
	// third, where errors and the schema of scenario files list it
	t.verbs, t.named[sleep.Name] = slices.Insert(t.verbs, 2, any), any
	return t
}()

func (t *table) add(s subject.Subject) {
	a := &About{Subject: s, All: s.Invariants()}
	for _, inv := range a.All {
		if !inv.Rule {
			a.Harmful = append(a.Harmful, inv)
		}
	}
	t.subjects = append(t.subjects, a)
	for _, v := range s.Verbs() {
		verb := &Verb{v, a}
		t.verbs, t.named[v.Name] = append(t.verbs, verb), verb
	}
}

// Add adds the subject of a test, before the first scenario is read. Scenarios cannot name the marks of such a subject.
func Add(s subject.Subject) { known.add(s) }

// Subjects returns all subjects. The first one is the subject of scripts whose commands belong to none.
func Subjects() []*About { return known.subjects }

// Verbs returns all verbs, in the order in which errors list them.
func Verbs() []*Verb { return known.verbs }

// Named returns the verb of that name; nil if there is none.
func Named(verb string) *Verb { return known.named[verb] }

// Of returns the subject to which verbs belong.
func Of(verbs iter.Seq[string]) *About {
	for name := range verbs {
		if v := known.named[name]; v != nil && v.About != nil {
			return v.About
		}
	}
	return known.subjects[0]
}

// Called returns the subject of that name; the first one if there is none.
func Called(name string) *About {
	return known.subjects[max(0, slices.IndexFunc(known.subjects, func(a *About) bool { return a.Name() == name }))]
}

// JudgedBy returns the subject that an invariant judges; nil if there is no such invariant.
func JudgedBy(name string) *About {
	for _, a := range known.subjects {
		if slices.ContainsFunc(a.All, func(inv invariant.Invariant) bool { return inv.Name == name }) {
			return a
		}
	}
	return nil
}

// Basic reports whether the mark is basic for some subject: a campaign that has not reached it has judged nothing.
func Basic(mark string) bool {
	return slices.ContainsFunc(known.subjects, func(a *About) bool {
		return slices.ContainsFunc(a.Basic(), func(some []string) bool { return some[0] == mark })
	})
}

// sleep is the verb of the scripts of any subject: it waits by the node's clock.
var sleep = subject.Verb{
	Name: "sleep", Form: "sleep DURATION", Example: "61s", Regions: true,
	Parse: func(words []string, c *subject.Command) (expected string) {
		return subject.ParseFor(strings.Join(words, " "), c)
	},
	Words: func(c subject.Command) string { return c.For.String() },
	Do: func(n subject.Node, handler isr.Handler, c subject.Command) {
		_ = n.Idle(n.World().Context(), handler, c.For)
	},
}
