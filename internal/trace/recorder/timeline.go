package recorder

import (
	"slices"
	"time"
)

// Timeline is a list of lines of text, each of which belongs to an instant. The zero Timeline is empty and ready.
type Timeline struct{ all []line }

type line struct {
	at   time.Time
	text string
}

// Add adds a line.
func (t *Timeline) Add(at time.Time, text string) { t.all = append(t.all, line{at, text}) }

// Lines returns the lines in order of time. Lines of one instant keep the order in which they were added.
func (t *Timeline) Lines() []string {
	slices.SortStableFunc(t.all, func(a, b line) int { return a.at.Compare(b.at) })
	texts := make([]string, len(t.all))
	for i, l := range t.all {
		texts[i] = l.text
	}
	return texts
}
