package worlds

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

// TTL records what a check learns about TTL. If the check does not know the attribute of a table, TTL deletes nothing
// in that table, and a lock that a deletion breaks would pass.
type TTL struct {
	// Said is the attribute by which TTL deletes rows; hooks.NoTTL if there is none, and "" for the attribute ttl if
	// rows have it.
	Said string

	mu    sync.Mutex // a stuck run, for which nobody waits, may still write
	known bool       // some row had the attribute by which TTL deletes rows
	// an attribute that looks like TTL under another name, with its value; or ""
	like string
	name string // the name of that attribute
}

// Attribute returns the attribute by which TTL deletes rows.
func (o *TTL) Attribute() string {
	if o.Said == "" {
		return "ttl"
	}
	return o.Said
}

// Watch makes o look at the changes of runs.
func (o *TTL) Watch(ctx context.Context) context.Context {
	return hooks.With(ctx, &hooks.Probe{OnWrite: o.see})
}

// Add adds what a later world says.
func (o *TTL) Add(later *TTL) {
	o.known = o.known || later.known
	if o.like == "" {
		o.like, o.name = later.like, later.name
	}
}

func (o *TTL) see(key, row attr.Item) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known {
		return
	}
	if _, ok := row[o.Attribute()].(attr.N); ok {
		o.known = true
		return
	}
	if o.like != "" {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(row)) {
		if seconds, ok := row.Int(name); ok && ofRun(seconds) {
			o.name, o.like = name, fmt.Sprintf("%s has %s = %d", key, name, seconds)
			return
		}
	}
}

// ofRun reports whether a number is an instant of a run, or up to ten years after it, in epoch seconds, which is the
// only unit of TTL.
func ofRun(seconds int64) bool {
	begin := fakeclock.Epoch
	return seconds >= begin.Add(-time.Hour).Unix() && seconds <= begin.AddDate(10, 0, 0).Unix()
}

// Unmet says why TTL was not tested although the table may have it; otherwise "". If no attribute looks like TTL, the
// note says so. The map reached counts the worlds that reached each mark; usual says that the check has the marks of
// its subject. The texts setting and none are the user's ways to name the attribute, or to say that there is no TTL.
func (o *TTL) Unmet(reached map[spec.Mark]int, worlds int, usual bool, setting, none string) (why, note string) {
	deleted := reached[mark.TTLDeletion] > 0
	switch {
	case o.Said == hooks.NoTTL:
		return "", fmt.Sprintf("TTL: not tested: the table has none (%s)", setting)
	case o.Said != "" && !o.known:
		return fmt.Sprintf("TTL deleted no row: none has a number in the attribute %s (%s)", o.Said, setting), ""
	case o.Said == "" && !o.known && o.like != "":
		return fmt.Sprintf("TTL deleted no row, and the row %s, which is a time in seconds: if TTL deletes by it, "+
			"set %s to %q; if the table has no TTL, to %s", o.like, setting, o.name, none), ""
	case !o.known:
		return "", "TTL: not tested: no row has a number in the attribute ttl, and none looks like a time in seconds"
	case !deleted && usual && worlds >= EnoughWorlds:
		return fmt.Sprintf("TTL deleted no row in %d worlds, although rows have a number in %s: is it the time in "+
			"seconds from which on the row may go?",
			worlds, o.Attribute()), ""
	case !deleted:
		return "", "TTL: not tested: it deleted no row in these worlds"
	default:
		return "", ""
	}
}
