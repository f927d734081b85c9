package lab

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

// Row is one policy on one workload.
type Row struct {
	Policy, Workload string
	*policy.Summary
	trace bool // all seeds have the same reads
	cold  bool // a cold start: it has no monthly cost
}

// Compare runs policies on workloads. If each is not nil, Compare reports to it how many runs are done.
func Compare(
	ctx context.Context, s Settings, policies []policy.Policy, on []Workload, each func(done, of int),
) ([]Row, error) {
	total := 0
	for _, w := range on {
		total += len(suitable(w, policies)) * s.Seeds
	}
	var rows []Row
	for _, w := range on {
		for _, p := range suitable(w, policies) {
			before := len(rows) * s.Seeds
			summary, err := s.experiment(p, w).Repeat(ctx, s.Seed, s.Seeds, s.Workers, func(done int) {
				if each != nil {
					each(before+done, total)
				}
			})
			if err != nil {
				return nil, err
			}
			rows = append(rows, Row{Policy: p.Name, Workload: w.Name, Summary: summary, trace: w.lasts > 0})
		}
	}
	return rows, nil
}
