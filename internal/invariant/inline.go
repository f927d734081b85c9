package invariant

import (
	"maps"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// renderedBodies are the texts of the renderings.
type renderedBodies []string

func rendered(events []history.Event) renderedBodies {
	var all renderedBodies
	for i := range events {
		if e := &events[i]; e.Kind == history.Rendered {
			all = append(all, e.Body)
		}
	}
	return all
}

// in returns the body that a row holds: a text or binary attribute that is a rendered body or a document that contains
// one. It returns "" if it finds none; the row may hold a compressed or encoded body.
func (all renderedBodies) in(row attr.Item) string {
	found := ""
	for _, name := range slices.Sorted(maps.Keys(row)) {
		if isBookkeeping(name) {
			continue
		}
		text := ""
		switch v := row[name].(type) {
		case attr.S:
			text = string(v)
		case attr.B:
			text = string(v)
		default:
			continue
		}
		for _, body := range all {
			if text == body {
				return body
			}
			// If one body is the beginning of another, the longest one that fits is the one in the row.
			if len(body) > len(found) && strings.Contains(text, body) {
				found = body
			}
		}
	}
	return found
}

// shownBodies tells which body a row shows.
type shownBodies struct {
	texts  renderedBodies
	stored map[string][]*recorder.Body // by their names, in order
}

func bodiesOf(ev Evidence) shownBodies {
	all := shownBodies{texts: rendered(ev.History), stored: map[string][]*recorder.Body{}}
	for i := range ev.Bodies {
		if b := &ev.Bodies[i]; !b.Gone {
			all.stored[b.Name] = append(all.stored[b.Name], b)
		}
	}
	return all
}

// by returns the body that a row names or else holds; "" if unknown. A name may stand for several bodies in turn: by
// takes the body at the time of a change, or else the next one.
func (all shownBodies) by(row attr.Item, change int) (body string) {
	if row != nil && !leads(row) {
		return all.texts.in(row)
	}
	for i, b := range all.stored[named(row)] {
		if i == 0 || b.Change < change {
			body = b.Body
		}
	}
	return body
}
