package control

import (
	"net/http"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// clockState is the answer of /clock.
type clockState struct {
	Now time.Time `json:"now"`
	// EpochSeconds is Now as rows hold it, rounded down.
	EpochSeconds int64  `json:"epochSeconds"`
	Mode         string `json:"mode"`
}

func (a *api) time() (any, error) {
	if a.clock == nil {
		return nil, conflict("this server's clock cannot be reached", "", "", "")
	}
	now := a.clock.Now().UTC()
	return clockState{now, now.Unix(), a.mode}, nil
}

// latest is the last instant to which a clock can be set. Each form in which the server prints an instant, such as RFC
// 3339, can represent it.
var latest = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)

// moveClock serves {"advance":"90s"} and {"set":"2040-01-01T00:00:00Z"}.
func (a *api) moveClock(w http.ResponseWriter, r *http.Request) (any, error) {
	found, err := members(w, r, "advance", "set")
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := a.time(); err != nil {
		return nil, err
	}
	_, advance := found["advance"]
	_, set := found["set"]
	if advance == set {
		return nil, badRequest("the clock is either advanced or set", quantity(advance), "one of advance, set",
			`for example {"advance":"90s"}`)
	}
	if advance {
		err = a.advance(found)
	} else {
		err = a.set(found)
	}
	if err != nil {
		return nil, err
	}
	return a.time()
}

func quantity(both bool) string {
	if both {
		return "both"
	}
	return "neither"
}

func (a *api) advance(found body) error {
	text, err := str(found, "advance", "90s")
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return badRequest("advance is no duration", text, "a number with a unit: 500ms, 90s, 10m, 1h30m", "")
	case d < 0:
		return badRequest("time does not go back", text, "a duration that is not negative", "")
	case a.clock.Now().Add(d).After(latest):
		return badRequest("the clock ends with the year 9999", text, "a shorter duration", "")
	}
	a.clock.Advance(d)
	return nil
}

func (a *api) set(found body) error {
	text, err := str(found, "set", "2040-01-01T00:00:00Z")
	if err != nil {
		return err
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.After(latest) {
		return badRequest("set is no instant", text, "RFC 3339, up to the year 9999: 2040-01-01T00:00:00Z", "")
	}
	if now := a.clock.Now(); t.Before(now) {
		return conflict("time does not go back", text, "an instant from "+now.UTC().Format(time.RFC3339Nano), "")
	}
	a.clock.AdvanceTo(t)
	return nil
}

// lagOf returns the resource of a lag. Bodies have one member called name: the text of the lag, which set reads.
func lagOf(name, example string, now func() string, set func(text string) (string, error)) resource {
	return resource{
		http.MethodGet: bare(func() (any, error) { return map[string]any{name: now()}, nil }),
		http.MethodPost: func(w http.ResponseWriter, r *http.Request) (any, error) {
			found, err := members(w, r, name)
			if err != nil {
				return nil, err
			}
			text, err := str(found, name, example)
			if err != nil {
				return nil, err
			}
			lag, err := set(text)
			return map[string]any{name: lag}, err
		},
	}
}

func (a *api) ttlLag() resource {
	return lagOf("ttlLag", "fixed 10m", func() string { return a.db.Lag().String() }, setsLag(a.db.SetLag))
}

func (a *api) regionLag() resource {
	return lagOf("regionLag", "fixed 1s", func() string { return a.db.RegionLag().String() },
		setsLag(a.db.SetRegionLag))
}

func (a *api) replicaLag() resource {
	return lagOf("replicaLag", "2s", func() string { return a.db.ReplicaLag().String() },
		func(text string) (string, error) {
			lag, err := time.ParseDuration(text)
			switch {
			case err != nil:
				return "", badRequest("replicaLag is no duration", text, "a number with a unit: 500ms, 2s, 1m30s", "")
			case lag < 0:
				return "", badRequest("replicas do not know the future", text, "a duration that is not negative", "")
			}
			a.db.SetReplicaLag(lag)
			return lag.String(), nil
		})
}

// lagForms lists the forms that ddbfake.ParseLag accepts: a test compares the two.
const lagForms = "manual, never, at-once, fixed 10m, uniform 1m 48h, exponential 10m, or per-item with the name of " +
	"an attribute"

// setsLag returns a function that reads the text of a lag and sets it.
func setsLag(set func(ddbfake.Lag)) func(text string) (string, error) {
	return func(text string) (string, error) {
		lag, err := ddbfake.ParseLag(text)
		if err != nil {
			return "", badRequest(err.Error(), text, lagForms, "")
		}
		set(lag)
		return lag.String(), nil
	}
}

// replicate makes the changes that are on the way to other regions arrive now.
func (a *api) replicate() (any, error) { return map[string]any{"changed": a.db.Replicate()}, nil }
