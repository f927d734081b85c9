package audit

import (
	"iter"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/audit/evidence"
)

// Who notes in the steps of findings who wrote them, as far as a trail tells: a write of the same row at most a second
// before the record. If several callers wrote it then, all are named.
func Who(findings []Finding, writes iter.Seq2[evidence.Write, error]) error {
	steps := map[string][]*Step{}
	for i := range findings {
		for k := range findings[i].Steps {
			s := &findings[i].Steps[k]
			steps[s.Row] = append(steps[s.Row], s)
		}
	}
	for w, err := range writes {
		if err != nil {
			return err
		}
		row := rowName(&evidence.Record{Table: w.Table, Key: w.Key})
		for _, s := range steps[row] {
			since := s.Time.Truncate(time.Second).Sub(w.Time)
			by := w.Operation + " of " + w.Actor
			if since < 0 || since > time.Second || strings.Contains(s.Who, by) {
				continue
			}
			if s.Who != "" {
				by = s.Who + " or " + by
			}
			s.Who = by
		}
	}
	return nil
}
