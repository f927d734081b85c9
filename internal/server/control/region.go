package control

import (
	"net/http"

	"github.com/isr-sim/isr-sim/internal/base/inside"
)

// regionLagState is the answer of /region-lag.
type regionLagState struct {
	Lag string `json:"regionLag"`
}

func (a *api) readRegionLag(w http.ResponseWriter, r *http.Request) (any, error) {
	if err := nothing(w, r); err != nil {
		return nil, err
	}
	return regionLagState{inside.In(a.db).RegionLag().String()}, nil
}

func (a *api) setRegionLag(w http.ResponseWriter, r *http.Request) (any, error) {
	lag, err := lagIn(w, r, "regionLag", "fixed 1s")
	if err != nil {
		return nil, err
	}
	a.db.SetRegionLag(lag)
	return regionLagState{lag.String()}, nil
}

// replicate makes the changes that are under way to other regions arrive now.
func (a *api) replicate(w http.ResponseWriter, r *http.Request) (any, error) {
	if err := nothing(w, r); err != nil {
		return nil, err
	}
	return struct {
		Changed int `json:"changed"`
	}{a.db.Replicate()}, nil
}
