package lab

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

// Plot writes a picture for each workload to a folder, which it makes where there is none: a line for each policy, with
// its share of outdated reads and its renders a second, and the intervals of both. The freshest policy is on top. It
// returns the names of the files.
func Plot(folder string, rows []Row) (files []string, err error) {
	byWorkload := map[string][]Row{}
	var order []string
	for _, r := range rows {
		if byWorkload[r.Workload] == nil {
			order = append(order, r.Workload)
		}
		byWorkload[r.Workload] = append(byWorkload[r.Workload], r)
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
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

// bars are one measure of several policies, from the bottom up: the ends of the bars, their intervals and their labels.
type bars struct {
	plotter.XYs
	plotter.XErrors
	texts []string
}

func (b bars) Label(i int) string { return b.texts[i] }

const (
	lineHeight  = 0.75 * vg.Centimeter // the height of a policy's line
	aroundLines = 3 * vg.Centimeter    // title and axis
	// nameGap is the space between a name and its bar. A browser without the font takes another one, which may be a
	// third wider.
	nameGap   = vg.Centimeter
	plotWidth = 26 * vg.Centimeter
)

func plotWorkload(file, workload string, rows []Row) error {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b Row) int { // the first line is at the bottom
		return cmp.Or(cmp.Compare(b.Of(policy.Outdated).Mean, a.Of(policy.Outdated).Mean),
			cmp.Compare(b.Policy, a.Policy))
	})
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.Policy
	}
	outdated, err := panel(rows, policy.Outdated, 100, workload+": reads of outdated data, %",
		color.RGBA{R: 0xd5, G: 0x5e, A: 0xff})
	if err != nil {
		return err
	}
	renders, err := panel(rows, policy.Renders, 1, "renders a second", color.RGBA{G: 0x72, B: 0xb2, A: 0xff})
	if err != nil {
		return err
	}
	outdated.NominalY(names...)
	renders.NominalY(make([]string, len(rows))...) // the same lines
	for _, p := range []*plot.Plot{outdated, renders} {
		p.Y.Padding = nameGap
	}
	picture := vgsvg.New(plotWidth, vg.Length(len(rows))*lineHeight+aroundLines)
	whole := draw.New(picture)
	whole.FillPolygon(color.White,
		[]vg.Point{whole.Min, {X: whole.Max.X, Y: whole.Min.Y}, whole.Max, {X: whole.Min.X, Y: whole.Max.Y}})
	tiles := draw.Tiles{Rows: 1, Cols: 2, PadX: vg.Centimeter, PadTop: vg.Millimeter, PadBottom: vg.Millimeter,
		PadLeft: vg.Millimeter, PadRight: vg.Millimeter}
	plots := [][]*plot.Plot{{outdated, renders}}
	for i, canvas := range plot.Align(plots, tiles, whole)[0] {
		plots[0][i].Draw(canvas)
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = picture.WriteTo(out)
	return cmp.Or(err, out.Close())
}

// panel draws one measure: a bar for each policy from 0 on, with the figure at its end. A share ends at 100 %.
func panel(rows []Row, m policy.Measure, factor float64, title string, fill color.Color) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = title
	p.Title.Padding = 2 * vg.Millimeter
	p.X.Label.Text = "the mean of seeds, and its 99 % interval"
	for _, style := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		style.Font.Variant = "Sans"
	}
	var b bars
	var ends plotter.Values
	most := 0.0
	for i, r := range rows {
		of := r.Of(m)
		low, high := max(0, of.Low), of.High
		if m == policy.Outdated {
			high = min(1, high)
		}
		if math.IsNaN(low) || math.IsNaN(high) { // one seed has no interval
			low, high = of.Mean, of.Mean
		}
		end := factor * of.Mean
		ends = append(ends, end)
		b.XYs = append(b.XYs, plotter.XY{X: end, Y: float64(i)})
		b.XErrors = append(b.XErrors, struct{ Low, High float64 }{end - factor*low, factor*high - end})
		b.texts = append(b.texts, m.Format(round(of.Mean)))
		most = max(most, factor*high)
	}
	chart, err := plotter.NewBarChart(ends, lineHeight*0.6)
	if err != nil {
		return nil, err
	}
	chart.Horizontal, chart.Color, chart.LineStyle.Width = true, fill, 0
	intervals, err := plotter.NewXErrorBars(b)
	if err != nil {
		return nil, err
	}
	for i := range b.XYs { // behind the interval
		b.XYs[i].X += b.XErrors[i].High
	}
	labels, err := plotter.NewLabels(b)
	if err != nil {
		return nil, err
	}
	for i := range labels.TextStyle {
		labels.TextStyle[i].YAlign, labels.TextStyle[i].Font.Variant = text.YCenter, "Sans"
	}
	labels.Offset.X = 2 * vg.Millimeter
	p.Add(chart, intervals, labels)
	p.X.Min, p.X.Max = 0, 1.2*most // room for the figures
	if most == 0 {
		p.X.Max = 1
	}
	p.Y.Min, p.Y.Max = -0.6, float64(len(rows))-0.4
	return p, nil
}
