package lab

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/aclements/go-moremath/scale"
	svg "github.com/ajstarks/svgo"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
)

// Plot writes a picture per workload to a folder, which it makes if it is missing. A picture has a line per policy,
// with its share of outdated reads, its renders per second, and the intervals of both. The freshest policy is on top.
// It returns the names of the files.
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

// Pixels of a picture.
const (
	lineHeight  = 28  // of a policy
	namesWidth  = 250 // left of the first panel; a browser without the font uses another one, a third wider
	panelWidth  = 330
	figureWidth = 70 // right of a panel's longest bar
	above       = 40 // the title
	below       = 60 // the axis, and what it shows
)

func plotWorkload(file, workload string, rows []Row) (err error) {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b Row) int { // the freshest on top
		return cmp.Or(cmp.Compare(a.Of(policy.Outdated).Mean, b.Of(policy.Outdated).Mean),
			cmp.Compare(a.Policy, b.Policy))
	})
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, out.Close()) }()
	kept := bufio.NewWriter(out)
	picture := svg.New(kept)
	width, height := namesWidth+2*(panelWidth+figureWidth), above+len(rows)*lineHeight+below
	picture.Start(width, height, `font-family="sans-serif" font-size="13"`)
	picture.Rect(0, 0, width, height, `fill="white"`)
	for i, r := range rows {
		picture.Text(namesWidth-10, middle(i)+5, r.Policy, `text-anchor="end"`)
	}
	panel(picture, namesWidth, rows, policy.Outdated, 100, workload+": reads of outdated data, %", "#d55e00")
	panel(picture, namesWidth+panelWidth+figureWidth, rows, policy.Renders, 1, "renders a second", "#0072b2")
	picture.End()
	return kept.Flush()
}

// middle returns the height of a line's middle.
func middle(line int) int { return above + line*lineHeight + lineHeight/2 }

// panel draws one measure, starting at left: for each policy a bar, its interval, and the figure. A share ends at 100
// %.
func panel(picture *svg.SVG, left int, rows []Row, m policy.Measure, factor float64, title, fill string) {
	type bar struct{ end, low, high float64 }
	bars := make([]bar, len(rows))
	most, seeds := 0.0, 1
	for i, r := range rows {
		of := r.Of(m)
		low, high := max(0, of.Low), of.High
		if m == policy.Outdated {
			high = min(1, high)
		}
		if math.IsNaN(low) || math.IsNaN(high) { // one seed has no interval
			low, high = of.Mean, of.Mean
		}
		bars[i] = bar{factor * of.Mean, factor * low, factor * high}
		most, seeds = max(most, bars[i].high), max(seeds, len(r.Results))
	}
	axis := scale.Linear{Max: cmp.Or(most, 1)}
	ticks, _ := axis.Ticks(scale.TickOptions{Max: 6})
	x := func(v float64) int { return left + int(math.Round(axis.Map(v)*panelWidth)) }
	picture.Text(left, above-15, title, `font-weight="bold"`)
	for i, b := range bars {
		y := middle(i)
		picture.Rect(left, y-lineHeight/3, x(b.end)-left, 2*lineHeight/3, "fill:"+fill)
		if seeds > 1 {
			picture.Line(x(b.low), y, x(b.high), y, "stroke:black")
			picture.Line(x(b.low), y-4, x(b.low), y+4, "stroke:black")
			picture.Line(x(b.high), y-4, x(b.high), y+4, "stroke:black")
		}
		picture.Text(x(b.high)+6, y+5, m.Format(round(rows[i].Of(m).Mean)))
	}
	bottom := above + len(rows)*lineHeight
	picture.Line(left, bottom, left+panelWidth, bottom, "stroke:black")
	for _, t := range ticks {
		picture.Line(x(t), bottom, x(t), bottom+5, "stroke:black")
		picture.Text(x(t), bottom+20, strconv.FormatFloat(t, 'g', 4, 64), `text-anchor="middle"`)
	}
	shows := "the mean of seeds, and its 99 % interval"
	if seeds == 1 {
		shows = "one seed, which has no interval"
	}
	picture.Text(left, bottom+45, shows)
}
