package policycommand

import (
	"io"
	"slices"

	"github.com/isr-sim/isr-sim/internal/lab"
	"github.com/isr-sim/isr-sim/internal/lab/policy"
	"github.com/isr-sim/isr-sim/internal/show/report"
)

// Plots reads the output of the command with --format json. Each workload has a plot: outdated reads, the harm of a
// policy, against renders, its cost.
func Plots(in io.Reader) ([]report.Plot, error) {
	measured, err := lab.ReadJSON(in)
	var plots []report.Plot
	for _, m := range measured {
		i := slices.IndexFunc(plots, func(p report.Plot) bool { return p.Title == m.Workload })
		if i < 0 {
			i = len(plots)
			plots = append(plots, report.Plot{Title: m.Workload, X: "renders a second", Y: "reads of outdated data, %"})
		}
		x, y := m.Measures[policy.Renders.String()], m.Measures[policy.Outdated.String()]
		plots[i].Dots = append(plots[i].Dots, report.Dot{
			Name: m.Policy, X: x.Mean, Y: 100 * y.Mean, XText: x.Text(policy.Renders), YText: y.Text(policy.Outdated),
		})
	}
	return plots, err
}
