package control

import (
	"net/http"
	"time"
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

// latest is the last instant to which a clock can be set. Each form in which the server passes an instant on, such as
// RFC 3339, can hold it.
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
