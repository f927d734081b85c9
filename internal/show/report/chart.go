package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// These are the sizes of a chart and of its margins, in pixels. The chart fits the screen of a phone unscaled.
const (
	chartWidth, chartHeight = 370.0, 220.0
	scatterHeight           = 320.0
	chartLeft, chartRight   = 52.0, 14.0
	chartTop, chartBottom   = 22.0, 36.0
)

type point struct{ x, y float64 }

// axes map figures to a chart. Both begin at 0.
type axes struct {
	Width, Height            float64
	Left, Right, Top, Bottom float64 // the edges of the field
	XTicks, YTicks           []tick
	xMost, yMost             float64
	// roots says that heights are proportional to the square roots of the figures. Otherwise the many low dots would
	// cover each other.
	roots bool
}

// tick is a labelled figure on an axis.
type tick struct {
	At   float64
	Text string
}

func axesOf(points []point, height float64, roots bool) axes {
	a := axes{Width: chartWidth, Height: height, Left: chartLeft, Right: chartWidth - chartRight, Top: chartTop,
		Bottom: height - chartBottom, roots: roots}
	xMost, yMost := 0.0, 0.0
	for _, p := range points {
		xMost, yMost = max(xMost, p.x), max(yMost, p.y)
	}
	xs, ys := ticks(xMost), ticks(yMost)
	a.xMost, a.yMost = max(xMost, xs[len(xs)-1]), max(yMost, ys[len(ys)-1])
	for _, x := range xs {
		a.XTicks = append(a.XTicks, tick{a.x(x), figure(x)})
	}
	if roots {
		ys = rootTicks(a.yMost)
	}
	for _, y := range ys {
		if at := a.y(y); len(a.YTicks) == 0 || math.Abs(at-a.YTicks[len(a.YTicks)-1].At) >= 18 {
			a.YTicks = append(a.YTicks, tick{at, figure(y)})
		}
	}
	return a
}

func (a *axes) x(v float64) float64 { return pixel(a.Left + (a.Right-a.Left)*v/a.xMost) }
func (a *axes) y(v float64) float64 {
	share := v / a.yMost
	if a.roots {
		share = math.Sqrt(share)
	}
	return pixel(a.Bottom - (a.Bottom-a.Top)*share)
}

// rootTicks are round figures for an axis of square roots: the largest, then 5, 2 and 1 times powers of ten, and 0.
func rootTicks(most float64) []float64 {
	list := []float64{most}
	for unit := math.Pow(10, math.Floor(math.Log10(most))); unit > most/2000; unit /= 10 {
		for _, k := range []float64{5, 2, 1} {
			if k*unit < most {
				list = append(list, k*unit)
			}
		}
	}
	return append(list, 0)
}

// pixel rounds to a tenth of a pixel.
func pixel(v float64) float64 { return math.Round(10*v) / 10 }

// ticks are four to six round figures from 0 to one that is at least most.
func ticks(most float64) []float64 {
	if !(most > 0) || math.IsInf(most, 0) {
		most = 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(most/4)))
	step := 10 * unit
	for _, k := range []float64{1, 2, 2.5, 5} {
		if k*unit*5 >= most {
			step = k * unit
			break
		}
	}
	n := int(math.Ceil(most/step - 1e-9))
	list := make([]float64, n+1)
	for i := range list {
		list[i] = float64(i) * step
	}
	return list
}

// figure prints a tick: 2500, 25k, 0.25.
func figure(v float64) string {
	text := func(v float64) string {
		return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64)
	}
	switch {
	case v >= 1e9:
		return fmt.Sprintf("%.3g", v)
	case v >= 1e6:
		return text(v/1e6) + "M"
	case v >= 1e4:
		return text(v/1e3) + "k"
	}
	return text(v)
}

// curve is a number that grows with the schedules.
type curve struct {
	axes
	Title, Class string
	XName        string
	Line         string // the points of a polyline
	Dots         [][2]float64
	Marks        []curveMark
	EndText      string
	xLast        float64
}

// curveMark marks the schedule in which something was first found.
type curveMark struct {
	X, Y float64
	Text string
}

func curveOf(title, class string, points []point) *curve {
	c := &curve{axes: axesOf(points, chartHeight, false), Title: title, Class: class, XName: "schedules"}
	parts := []string{fmt.Sprintf("%g,%g", c.x(0), c.y(0))}
	for i, p := range points {
		parts = append(parts, fmt.Sprintf("%g,%g", c.x(p.x), c.y(p.y)))
		if i%5 == 4 || i == len(points)-1 {
			c.Dots = append(c.Dots, [2]float64{c.x(p.x), c.y(p.y)})
		}
		c.xLast = p.x
	}
	c.Line = strings.Join(parts, " ")
	c.EndText = fmt.Sprintf("%g after %g schedules", points[len(points)-1].y, c.xLast)
	return c
}

// mark draws a mark at the schedule in which the n-th finding was first seen. Marks that would cover each other get
// different heights.
func (c *curve) mark(schedule, n int) {
	if schedule < 1 || float64(schedule) > c.xMost {
		return
	}
	m := curveMark{X: c.x(float64(schedule)), Y: c.Top - 6, Text: fmt.Sprintf("✕%d", n)}
	for slices.ContainsFunc(c.Marks, func(o curveMark) bool { return o.Y == m.Y && math.Abs(o.X-m.X) < 22 }) &&
		m.Y < c.Bottom-14 {
		m.Y += 13
	}
	c.Marks = append(c.Marks, m)
}

// strip is a bar that shows the share of each verdict.
type strip struct {
	Width, Height float64
	Parts         []stripPart
}

type stripPart struct {
	X, Width    float64
	Class, Sign string
}

func (v *campaignView) strip() strip {
	s := strip{Width: 720, Height: 22}
	total := 0
	for _, c := range v.Counts {
		total += c.N
	}
	at := 0.0
	for _, c := range v.Counts {
		wide := pixel(s.Width * float64(c.N) / float64(total))
		part := stripPart{X: at, Width: wide, Class: c.Class}
		if wide >= 16 {
			part.Sign = c.Sign
		}
		s.Parts = append(s.Parts, part)
		at = pixel(at + wide)
	}
	return s
}

// scatter is a Plot, laid out. The dots have numbers, because names would cover each other.
type scatter struct {
	axes
	Title, XName, YName string
	Dots                []scatterDot
}

type scatterDot struct {
	N                  int
	Name, XText, YText string
	X, Y               float64
	Shape              string
	Sign               string
	LabelX, LabelY     float64
	Anchor             string
	middle             float64 // the horizontal middle of the number
	Far                bool    // a line leads to the number
	LeadY              float64 // the end of that line
}

// shapes distinguish dots, in addition to their numbers.
var shapes = []struct{ name, sign string }{{"circle", "●"}, {"square", "■"}, {"up", "▲"},
	{"diamond", "◆"}, {"down", "▼"}}

func scatterOf(p Plot) *scatter {
	var points []point
	for _, d := range p.Dots {
		points = append(points, point{finite(d.X), finite(d.Y)})
	}
	s := &scatter{
		axes: axesOf(points, scatterHeight, true), Title: clean(p.Title), XName: clean(p.X), YName: clean(p.Y),
	}
	for i, d := range p.Dots {
		shape := shapes[i%len(shapes)]
		dot := scatterDot{
			N: i + 1, Name: clean(d.Name), XText: clean(d.XText), YText: clean(d.YText), X: s.x(points[i].x),
			Y: s.y(points[i].y), Shape: shape.name, Sign: shape.sign,
		}
		s.Dots = append(s.Dots, dot)
	}
	for i := range s.Dots {
		s.place(i)
	}
	return s
}

// finite returns the given figure if it can be drawn, and otherwise 0.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return 0
	}
	return v
}

// place puts the number of the i-th dot where it covers no earlier dot or number, if there is such a place nearby.
func (s *scatter) place(i int) {
	d := &s.Dots[i]
	for ring := 1.0; ring <= 6; ring++ {
		for _, to := range [][2]float64{{1, -0.4}, {1, 0.8}, {-1, -0.4}, {-1, 0.8}, {0, -1}, {0, 1.4}} {
			d.LabelX, d.LabelY, d.Anchor = pixel(d.X+to[0]*(4+5*ring)), pixel(d.Y+4+to[1]*9*ring), "start"
			switch {
			case to[0] < 0:
				d.Anchor = "end"
			case to[0] == 0:
				d.Anchor = "middle"
			}
			free := d.LabelX > s.Left && d.LabelX < s.Right-8 && d.LabelY > s.Top && d.LabelY < s.Bottom
			middle := d.LabelX + 7*to[0]
			for j, o := range s.Dots {
				free = free && (j >= i || math.Abs(o.middle-middle) > 14 || math.Abs(o.LabelY-d.LabelY) > 10) &&
					(math.Abs(o.X-middle) > 10 || math.Abs(o.Y+4-d.LabelY) > 8)
			}
			if free {
				d.middle = middle
				d.Far, d.LeadY = ring > 1, d.LabelY-4
				return
			}
		}
	}
	d.LabelX, d.LabelY, d.Anchor = d.X, pixel(d.Y-6), "middle" // over another number: the table has all numbers
}
