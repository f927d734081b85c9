package lab

import (
	"fmt"
	"image/color"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/isr-sim/isr-sim/scenario/policy"
)

// Plot writes a picture for each workload to a folder: the share of outdated reads over the renders a second, a point
// for each policy with the intervals of both. What lies further down and further left is better in both. It returns the
// names of the files.
func Plot(folder string, rows []Row) (files []string, err error) {
	byWorkload := map[string][]Row{}
	var order []string
	for _, r := range rows {
		if byWorkload[r.Workload] == nil {
			order = append(order, r.Workload)
		}
		byWorkload[r.Workload] = append(byWorkload[r.Workload], r)
	}
	for _, w := range order {
		name := filepath.Join(folder, filepath.Base(w)+".svg")
		if err := plotWorkload(name, w, byWorkload[w]); err != nil {
			return files, fmt.Errorf("plot %s: %w", name, err)
		}
		files = append(files, name)
	}
	return files, nil
}

// points are policies, with their names and intervals.
type points struct {
	plotter.XYs
	plotter.XErrors
	plotter.YErrors
	names []string
}

// Label implements plotter.Labeller.
func (p points) Label(i int) string { return " " + p.names[i] }

func plotWorkload(file, workload string, rows []Row) error {
	var p points
	for _, r := range rows {
		x, y := r.Of(policy.Renders), r.Of(policy.Outdated)
		p.XYs = append(p.XYs, plotter.XY{X: x.Mean, Y: 100 * y.Mean})
		p.XErrors = append(p.XErrors, struct{ Low, High float64 }{x.Mean - x.Low, x.High - x.Mean})
		p.YErrors = append(p.YErrors, struct{ Low, High float64 }{100 * (y.Mean - y.Low), 100 * (y.High - y.Mean)})
		p.names = append(p.names, r.Policy)
	}
	pic := plot.New()
	pic.Title.Text = workload
	pic.X.Label.Text, pic.Y.Label.Text = "renders a second", "reads of outdated data, %"
	pic.Add(plotter.NewGrid())
	dots, err := plotter.NewScatter(p)
	if err != nil {
		return err
	}
	dots.Shape, dots.Color = draw.CircleGlyph{}, color.RGBA{R: 0x1f, G: 0x77, B: 0xb4, A: 0xff}
	labels, err := plotter.NewLabels(p)
	if err != nil {
		return err
	}
	pic.Add(dots, labels)
	if len(rows[0].Results) > 1 {
		across, err := plotter.NewXErrorBars(p)
		if err != nil {
			return err
		}
		up, err := plotter.NewYErrorBars(p)
		if err != nil {
			return err
		}
		pic.Add(across, up)
	}
	return pic.Save(20*vg.Centimeter, 14*vg.Centimeter, file)
}
