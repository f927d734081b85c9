package scenario

import (
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// sweeper is a sim.Source: where the schedule decides over TTL's lag, each row that has expired may be deleted as a
// step of its own. Under a lag of the fake's own it offers nothing, for the fake deletes by itself, but has time stop
// where the lag ends.
type sweeper struct {
	w *world
	// rows are those that may be deleted now, and steps are their numbers: what a write of each accesses.
	rows  []ddbfake.Row
	steps []uint64
	// They are those after so many changes, at this time.
	seen int
	at   time.Time
}

// Name implements sim.Source.
func (*sweeper) Name() string { return "ttl" }

// Steps implements sim.Source.
func (s *sweeper) Steps() []uint64 {
	bound := s.w.scenario.Bounds.Sweeps
	if !s.w.scenario.Lag.Scheduler || bound > 0 && s.w.swept >= bound {
		return nil
	}
	now := s.w.clock.Now()
	if s.seen == s.w.seen && s.at.Equal(now) {
		return s.steps
	}
	s.seen, s.at, s.steps = s.w.seen, now, s.steps[:0]
	s.rows = s.w.db.Expired()
	for _, row := range s.rows {
		pk, _ := row.Key.Str("pk")
		sk, _ := row.Key.Str("sk")
		step := sim.ObjectNamed(rowObject, pk, sk)
		if s.w.rows != nil {
			step = sim.ObjectNamed(rowObject, row.Table+row.Key.String())
		}
		s.steps = append(s.steps, step)
	}
	return s.steps
}

// Accesses implements sim.Source.
func (*sweeper) Accesses(step uint64) []sim.Access { return []sim.Access{{Object: step, Write: true}} }

// Take implements sim.Source.
func (s *sweeper) Take(step uint64) string {
	for i, row := range s.rows {
		if s.steps[i] != step {
			continue
		}
		s.w.db.Sweep(row)
		s.w.swept++
		s.w.noteChanges()
		if s.w.rows != nil {
			return "deletes the expired " + s.w.rows.Key(row.Table, row.Key)
		}
		sk, _ := row.Key.Str("sk")
		return "deletes the expired " + sk
	}
	return ""
}

// Next implements sim.Source.
func (s *sweeper) Next(time.Time) (time.Time, bool) {
	if len(s.w.scenario.CompareLags) > 0 {
		return time.Time{}, false // see Run.underOtherLags
	}
	return s.w.db.NextDeletion()
}
