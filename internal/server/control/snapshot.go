package control

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/server/hold"
)

// MaxSnapshots is the number of states that are kept at a time. Each of them keeps rows that have changed since.
const MaxSnapshots = 1000

// maxNameBytes is the length of the longest name of a snapshot.
const maxNameBytes = 255

// kept is a state under a name.
type kept struct {
	state *ddbfake.Snapshot
	at    time.Time // its time, if there is a clock
}

// snapshotState is the answer of /snapshot.
type snapshotState struct {
	Snapshots []string `json:"snapshots"`
}

func (a *api) names() snapshotState {
	return snapshotState{append([]string{}, slices.Sorted(maps.Keys(a.snapshots))...)}
}

func (a *api) listSnapshots() (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.names(), nil
}

func nameOf(w http.ResponseWriter, r *http.Request) (string, error) {
	found, err := members(w, r, "name")
	if err != nil {
		return "", err
	}
	name, err := str(found, "name", "empty")
	if err == nil && (name == "" || len(name) > maxNameBytes) {
		return "", badRequest("a snapshot has a name", fmt.Sprintf("%d bytes", len(name)),
			fmt.Sprintf("1 to %d bytes", maxNameBytes), "")
	}
	return name, err
}

// takeSnapshot keeps the state under a name, in place of an older one of that name.
func (a *api) takeSnapshot(w http.ResponseWriter, r *http.Request) (any, error) {
	name, err := nameOf(w, r)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.snapshots[name]; !ok && len(a.snapshots) >= MaxSnapshots {
		return nil, conflict("too many snapshots are kept", fmt.Sprint(len(a.snapshots)),
			fmt.Sprintf("at most %d", MaxSnapshots),
			"DELETE "+Prefix+"/snapshot drops them")
	}
	of := kept{state: a.db.Snapshot()}
	if a.clock != nil {
		of.at = a.clock.Now()
	}
	a.snapshots[name] = of
	a.keepBodies(name)
	return a.names(), nil
}

func (a *api) dropSnapshots() (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.snapshots)
	clear(a.bodies)
	return a.names(), nil
}

func (a *api) restore(w http.ResponseWriter, r *http.Request) (any, error) {
	name, err := nameOf(w, r)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	of, ok := a.snapshots[name]
	if !ok {
		names := a.names().Snapshots
		hint := suggest.Hint(name, names, "POST "+Prefix+"/snapshot takes one")
		expected := "a name under which a snapshot was taken: there is none"
		if len(names) > 0 {
			expected = "one of " + strings.Join(names, ", ")
		}
		return nil, missing("there is no snapshot of that name", name, expected, hint)
	}
	if a.holds != nil {
		a.holds.DecideAll(hold.LoseRequest, "") // they belong to the state that ends
	}
	a.restoring(func() {
		// The clock is set first: at a later time, TTL would delete rows of the restored state.
		if clock, ok := a.clock.(Resetter); ok {
			clock.Reset(of.at)
		}
		a.db.Restore(of.state)
	})
	a.restoreBodies(name)
	return map[string]any{"restored": name}, nil
}
