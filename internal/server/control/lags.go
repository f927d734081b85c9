package control

import (
	"net/http"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// lagOf is the resource of a lag. Bodies have one member of that name: the text of the lag, which set reads.
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

// setsLag sets the lag of a text.
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

// replicate makes the changes that are under way to other regions arrive now.
func (a *api) replicate() (any, error) { return map[string]any{"changed": a.db.Replicate()}, nil }
