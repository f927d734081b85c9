// Package draw lists what draws the worlds of each subject. It imports the kernel, which runs the worlds; the kernel
// imports the list of subjects.
package draw

import (
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	calls "github.com/isr-sim/isr-sim/internal/subject/calls/draw"
	locks "github.com/isr-sim/isr-sim/internal/subject/locks/draw"
	pages "github.com/isr-sim/isr-sim/internal/subject/pages/draw"
)

// The subjects of the checks in Go, and those of isr-sim check --next.
var (
	Pages = pages.Pages
	Locks = locks.Locks
	Calls = calls.Calls

	Entries = pages.Entries
)

// Verbs are the verbs that a cache may have besides get.
var Verbs = pages.Verbs

var subjects = []*worlds.Subject{Pages, Locks, Calls}

// Subjects returns all subjects of checks. The first one is the default.
func Subjects() []*worlds.Subject { return subjects }

// Add adds the subject of a test.
func Add(s *worlds.Subject) { subjects = append(subjects, s) }
