package control

import (
	"net/http"
	"time"
)

// replicaLagState is the answer of /replica-lag.
type replicaLagState struct {
	Lag string `json:"replicaLag"`
}

func (a *api) readReplicaLag(w http.ResponseWriter, r *http.Request) (any, error) {
	if err := nothing(w, r); err != nil {
		return nil, err
	}
	return replicaLagState{a.db.ReplicaLag().String()}, nil
}

func (a *api) setReplicaLag(w http.ResponseWriter, r *http.Request) (any, error) {
	found, err := members(w, r, "replicaLag")
	if err != nil {
		return nil, err
	}
	text, err := str(found, "replicaLag", "2s")
	if err != nil {
		return nil, err
	}
	lag, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return nil, badRequest("replicaLag is no duration", text, "a number with a unit: 500ms, 2s, 1m30s", "")
	case lag < 0:
		return nil, badRequest("replicas do not know the future", text, "a duration that is not negative", "")
	}
	a.db.SetReplicaLag(lag)
	return replicaLagState{lag.String()}, nil
}
