package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/server/hold"
)

// The default time for which POST /held waits, and the longest time that a request may give.
const (
	defaultWithin = 10 * time.Second
	maxWithin     = 10 * time.Minute
)

type heldState struct {
	Held          []heldRequest `json:"held"`
	Never         []heldRequest `json:"neverReleased"`
	NeverReleased int           `json:"neverReleasedCount"`
}

type heldRequest struct {
	ID        int       `json:"id"`
	Actor     string    `json:"actor"`
	Operation string    `json:"operation"`
	Region    string    `json:"region"`
	Rows      []heldRow `json:"rows"`
	Fault     string    `json:"fault"`
	Since     string    `json:"since"`
	Limit     string    `json:"limit"`
	Then      string    `json:"then"`
	Gone      bool      `json:"gone"`
}

type heldRow struct {
	Table string         `json:"table"`
	Key   map[string]any `json:"key"`
}

func heldRequests(list []hold.Request) []heldRequest {
	out := make([]heldRequest, len(list))
	for i, r := range list {
		then := "fail"
		if r.Goes {
			then = "go"
		}
		out[i] = heldRequest{
			ID: r.ID, Actor: r.Actor, Operation: r.Operation, Region: r.Region, Rows: []heldRow{}, Fault: r.Rule,
			Since: r.Since.UTC().Format(time.RFC3339Nano), Limit: r.Limit.String(), Then: then, Gone: r.Gone,
		}
		for _, row := range r.Rows {
			key, err := attr.ItemFromSDK(row.Key)
			if err != nil {
				key = nil // the operation will refuse this key
			}
			out[i].Rows = append(out[i].Rows, heldRow{row.Table, itemJSON(key)})
		}
	}
	return out
}

func (a *api) heldState() heldState {
	never, n := a.holds.Never()
	return heldState{heldRequests(a.holds.Held()), heldRequests(never), n}
}

// noHolds returns the error of a server that cannot hold requests.
func noHolds() error {
	return conflict("this server cannot hold requests", "", "", "isr-sim serve can")
}

func (a *api) listHeld() (any, error) {
	if a.holds == nil {
		return nil, noHolds()
	}
	return a.heldState(), nil
}

// awaitHeld waits until at least the number of requests in the body are held.
func (a *api) awaitHeld(w http.ResponseWriter, r *http.Request) (any, error) {
	found, err := members(w, r, "count", "actor", "within")
	if err != nil {
		return nil, err
	}
	const example = `for example {"count":2,"within":"10s"}`
	count, err := strconv.Atoi(string(found["count"]))
	if err != nil || count < 1 || count > hold.MaxHeld {
		return nil, badRequest("count is no number of requests", excerpt(found["count"]),
			fmt.Sprintf("a whole number from 1 to %d", hold.MaxHeld), example)
	}
	actor, err := nonEmpty(found, "actor", "alice")
	if err != nil {
		return nil, err
	}
	text, err := nonEmpty(found, "within", "10s")
	if err != nil {
		return nil, err
	}
	within := defaultWithin
	if text != "" {
		within, err = time.ParseDuration(text)
		if err != nil || within <= 0 || within > maxWithin {
			return nil, badRequest("within is no time to wait", text,
				fmt.Sprintf("a duration above 0s and up to %v", maxWithin), example)
		}
	}
	if a.holds == nil {
		return nil, noHolds()
	}
	ctx, cancel := context.WithTimeout(r.Context(), within)
	defer cancel()
	if err := a.holds.Await(ctx, count, actor); errors.Is(err, hold.ErrClosed) {
		return nil, conflict(err.Error(), "", "", "")
	} else if err != nil {
		return nil, conflict(fmt.Sprintf("too few requests were held within %v", within),
			fmt.Sprintf("%d held in all", len(a.holds.Held())),
			fmt.Sprintf("%d%s", count, ofActor(actor)),
			"GET "+Prefix+"/held lists them, GET "+Prefix+"/faults the holds that have met no request")
	}
	return a.heldState(), nil
}

func ofActor(actor string) string {
	if actor == "" {
		return ""
	}
	return " of " + strconv.Quote(actor)
}

// nonEmpty reads a member that is a non-empty string, or is absent ("").
func nonEmpty(found body, name, example string) (string, error) {
	if _, ok := found[name]; !ok {
		return "", nil
	}
	text, err := str(found, name, example)
	if err == nil && text == "" {
		return "", badRequest(name+" is empty", `""`, "a text, or no "+name,
			fmt.Sprintf("for example {%q:%q}", name, example))
	}
	return text, err
}

func (a *api) release(w http.ResponseWriter, r *http.Request) (any, error) {
	found, err := members(w, r, "ids", "actor", "all")
	if err != nil {
		return nil, err
	}
	ids, err := a.decide(found, hold.Release)
	return struct {
		Released []int `json:"released"`
	}{ids}, err
}

func (a *api) drop(w http.ResponseWriter, r *http.Request) (any, error) {
	found, err := members(w, r, "ids", "actor", "all", "lose")
	if err != nil {
		return nil, err
	}
	lose, err := str(found, "lose", "request")
	if err != nil {
		return nil, err
	}
	outcome := hold.LoseRequest
	switch lose {
	case "request":
	case "response":
		outcome = hold.LoseResponse
	default:
		return nil, badRequest("lose names neither of the two that can be lost", lose,
			"request (no effect), or response (it takes effect, and its answer is lost)", "")
	}
	ids, err := a.decide(found, outcome)
	return struct {
		Dropped []int  `json:"dropped"`
		Lost    string `json:"lost"`
	}{ids, lose}, err
}

// decide releases or drops the requests that a body selects, by exactly one of ids, actor and all.
func (a *api) decide(found body, outcome hold.Outcome) ([]int, error) {
	const example = `for example {"ids":[1]}, {"actor":"alice"} or {"all":true}`
	ways := 0
	for _, name := range []string{"ids", "actor", "all"} {
		if _, ok := found[name]; ok {
			ways++
		}
	}
	if ways != 1 {
		return nil, badRequest("the body does not choose requests in one way",
			fmt.Sprintf("%d of ids, actor, all", ways), "one of ids, actor, all", example)
	}
	var ids []int
	actor, err := nonEmpty(found, "actor", "alice")
	if err != nil {
		return nil, err
	}
	if raw, ok := found["all"]; ok && string(raw) != "true" {
		return nil, badRequest("all is not true", excerpt(raw), "true", example)
	}
	raw, byID := found["ids"]
	if byID && (raw.Kind() != '[' || json.Unmarshal(raw, &ids) != nil || len(ids) == 0) {
		return nil, badRequest("ids is no list of numbers", excerpt(raw), "a list of one id or more", example)
	}
	if a.holds == nil {
		return nil, noHolds()
	}
	if !byID {
		ids = a.holds.DecideAll(outcome, actor)
		if actor != "" && len(ids) == 0 {
			return nil, missing("no request of this actor is held", actor, "an actor of GET "+Prefix+"/held",
				"POST "+Prefix+"/held waits for requests")
		}
		return append([]int{}, ids...), nil
	}
	err = a.holds.Decide(outcome, ids...)
	if unknown, ok := errors.AsType[*hold.UnknownError](err); ok {
		return nil, missing(err.Error(), strconv.Itoa(unknown.ID), "an id of GET "+Prefix+"/held, once",
			"a request that was released, dropped or held for too long is no longer held")
	}
	return ids, err
}
