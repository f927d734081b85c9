package scenario

import "time"

// sweeper is a sim.Source: where the schedule decides over TTL's lag, each row
// that has expired may be deleted as a step of its own. Under a lag of the fake's
// own it offers nothing, for the fake deletes by itself, but has time stop where
// the lag ends.
type sweeper struct{ w *world }

// Name implements sim.Source.
func (*sweeper) Name() string { return "ttl" }

// Steps implements sim.Source.
func (s *sweeper) Steps() int {
	if !s.w.scenario.Lag.Scheduler {
		return 0
	}
	return len(s.w.db.Expired())
}

// Take implements sim.Source.
func (s *sweeper) Take(i int) string {
	w, row := s.w, s.w.db.Expired()[i]
	w.db.Sweep(row)
	w.noteChanges()
	sk, _ := row.Key.Str("sk")
	return "deletes the expired " + sk
}

// Next implements sim.Source.
func (s *sweeper) Next(time.Time) (time.Time, bool) { return s.w.db.NextDeletion() }
