package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
)

//go:embed dashboard.html
var dashboardHTML string

// Dashboard sums up the campaigns of many nights, from corpora.
type Dashboard struct {
	Corpora []string // how the reader named them
	// These are numbers of files: all, with violations, no longer replaying, dropped for better ones.
	Entries, Failing, Stopped, Dropped int
	Nights                             []DashboardNight // the latest first
	Coverage                           []DashboardCoverage
	Findings                           []DashboardFinding // the most important first
	Canaries                           []DashboardCanary  // of the latest night
	Damaged                            []string           // files that could not be read, and why
	// These count what the page leaves out because there is too much of it.
	MoreNights, MoreCoverage, MoreFindings, MoreCanaries, MoreDamaged int
}

// DashboardNight is one night of one version or several, over all scenarios and shards.
type DashboardNight struct {
	Name, Versions          string
	Shards, Schedules       int
	CoreSeconds             float64
	NextIsNew               float64 // the mean chance of a new order, over the scenarios
	Found                   int     // kinds of violations
	New                     int     // files kept for the first time
	Canaries, CanariesFound int
}

// DashboardCoverage is how much one scenario has shown under one protocol, in the latest night that ran them.
type DashboardCoverage struct {
	Scenario, Protocol, Night, Verdict string
	Passed                             bool
	Schedules                          int
	Orders, States                     string // counts, or estimates of them
	NextIsNew                          float64
}

// DashboardFinding is a file with a violation.
type DashboardFinding struct {
	What, Scenario, Protocol string
	FirstNight, FirstVersion string
	LatestNight, LastVersion string // when it was last seen to fail
	StoppedAt                string // the version at which it stopped replaying; "" if it replays
	Choices                  int
	File                     string // of the corpus
	Link, Record, Page       string // addresses, from the page, of the file, its record and its report; "" if missing
	Command                  string // the command that replays it
}

// DashboardCanary is a known bug that a campaign should find.
type DashboardCanary struct {
	Scenario, Protocol, Breaks string
	Times, Found               int
	Earliest, Latest           int // the first schedule that showed it, of the fastest and of the slowest shard
}

// Write writes the page: HTML in one file, without a script.
func (d *Dashboard) Write(out io.Writer) error {
	style := css + campaignCSS
	v := dashboardView{
		CSS: template.CSS(style), //nolint:gosec // both are files of this package
		Policy: "default-src 'none'; style-src '" + hash(style) +
			"'; img-src data:; base-uri 'none'; form-action 'none'",
		Dashboard: d,
	}
	for _, f := range d.Findings {
		if f.StoppedAt == "" {
			v.Fail++
		}
	}
	for _, c := range d.Canaries {
		v.Missed += c.Times - c.Found
		v.Tried += c.Times
	}
	if len(d.Nights) > 1 {
		v.Charts = []*curve{
			d.trend("Chance that the next schedule has a new order, %", "orders",
				func(n *DashboardNight) float64 { return 100 * n.NextIsNew }),
			d.trend("Schedules a core-second", "states", (*DashboardNight).PerCoreSecond),
			d.trend("New files about violations and marks", "orders",
				func(n *DashboardNight) float64 { return float64(n.New) }),
		}
	}
	return campaignTemplates.ExecuteTemplate(out, "dashboard", v)
}

type dashboardView struct {
	CSS    template.CSS
	Policy string
	*Dashboard

	Fail          int // findings on the page that still replay
	Tried, Missed int // canaries
	Charts        []*curve
}

// trend draws a figure for each night, the oldest on the left.
func (d *Dashboard) trend(title, class string, of func(*DashboardNight) float64) *curve {
	var points []point
	for i := range d.Nights {
		points = append(points, point{float64(i + 1), finite(of(&d.Nights[len(d.Nights)-1-i]))})
	}
	c := &curve{axes: axesOf(points, chartHeight, false), Title: title, Class: class, XName: "nights"}
	// There is no half night.
	c.XTicks = slices.DeleteFunc(c.XTicks, func(t tick) bool { return strings.Contains(t.Text, ".") })
	var line []string
	for _, p := range points {
		at := [2]float64{c.x(p.x), c.y(p.y)}
		line = append(line, fmt.Sprintf("%g,%g", at[0], at[1]))
		c.Dots = append(c.Dots, at)
	}
	c.Line = strings.Join(line, " ")
	c.EndText = fmt.Sprintf("%.3g in the latest of %d nights", points[len(points)-1].y, len(points))
	return c
}

// PerCoreSecond is the throughput of a core.
func (n *DashboardNight) PerCoreSecond() float64 {
	if n.CoreSeconds <= 0 {
		return 0
	}
	return float64(n.Schedules) / n.CoreSeconds
}

// Hours are the core-hours.
func (n *DashboardNight) Hours() string { return fmt.Sprintf("%.3g", n.CoreSeconds/3600) }

// Percent prints a chance.
func (c *DashboardCoverage) Percent() string { return fmt.Sprintf("%.3g%%", 100*c.NextIsNew) }

// release is a version without toolchain and commit, which the table of nights has.
func release(version string) string {
	short, _, _ := strings.Cut(clean(version), " ")
	return short
}

// OneIn is the number of schedules that should give one new order; 0 if no order was seen only once.
func (c *DashboardCoverage) OneIn() int {
	if c.NextIsNew <= 0 {
		return 0
	}
	return int(1/c.NextIsNew + 0.5)
}
