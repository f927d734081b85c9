package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/show/verdicts"
)

var (
	//go:embed campaign.html
	campaignHTML string
	//go:embed campaign.css
	campaignCSS string

	campaignTemplates = template.Must(template.New("campaign").
				Funcs(template.FuncMap{"clean": clean, "release": release}).Parse(campaignHTML + dashboardHTML))
)

// Results are the results that commands wrote with --format json.
type Results struct {
	// Name is the reader's name for the file.
	Name string
	*verdicts.Document
	// Link returns the address, relative to the page, of a file that a result names, and the text of the link; "" if
	// there is no file.
	Link func(of *verdicts.Result) (address, text string)
}

// Plot has the results of one experiment: two figures for each thing that it compares.
type Plot struct {
	Title string
	X, Y  string // the names of the figures, with their units
	Dots  []Dot
}

// Dot is one thing in a Plot. XText and YText are for the table, and include the intervals.
type Dot struct {
	Name         string
	X, Y         float64
	XText, YText string
}

// Campaigns writes a page with the results of commands and of experiments: HTML in one file, without a script.
func Campaigns(out io.Writer, all []Results, plots []Plot) error {
	style := css + campaignCSS
	view := campaignView{
		CSS: template.CSS(style), //nolint:gosec // both are files of this package
		Policy: "default-src 'none'; style-src '" + hash(style) +
			"'; img-src data:; base-uri 'none'; form-action 'none'",
	}
	for _, results := range all {
		view.add(results)
	}
	view.Strip = view.strip()
	for _, p := range plots {
		view.Plots = append(view.Plots, scatterOf(p))
	}
	return campaignTemplates.ExecuteTemplate(out, "campaign", view)
}

type campaignView struct {
	CSS         template.CSS
	Policy      string
	Files       []fileView
	Wrong, Good []verdictView
	Counts      []countView
	Strip       strip
	Mutants     *matrix
	Explored    []exploredView
	Plots       []*scatter
}

// Total is how many results there are.
func (v campaignView) Total() int { return len(v.Wrong) + len(v.Good) }

// fileView is a command and its version.
type fileView struct {
	Name, Command, Version string
	ExitCode               int
}

// countView is the number of results with one verdict.
type countView struct {
	Sign, Class, What string
	N                 int
}

type verdictView struct {
	Sign, Class, Verdict, Subject, Message, Details string
	Schedules, Steps, Reached                       string
	Link, LinkText                                  string
	Commands                                        []Command
}

func (v *campaignView) add(results Results) {
	v.Files = append(v.Files,
		fileView{clean(results.Name), clean(results.Command), clean(results.Version), results.ExitCode})
	var mutants []*verdicts.Result
	for i := range results.Results {
		r := &results.Results[i]
		one := verdictOf(r)
		one.Link, one.LinkText = results.Link(r)
		one.LinkText = clean(one.LinkText)
		v.count(one, r.Passed)
		if r.Passed {
			v.Good = append(v.Good, one)
		} else {
			v.Wrong = append(v.Wrong, one)
		}
		if r.Breaks != "" {
			mutants = append(mutants, r)
		}
		if r.Coverage != nil || len(r.Strategies) > 0 {
			v.Explored = append(v.Explored, exploredOf(r))
		}
		if n := len(v.Explored); n > 0 && len(r.Found) > 0 && v.Explored[n-1].of(r) {
			v.Explored[n-1].find(r, one)
		}
	}
	if len(mutants) > 0 {
		v.Mutants = v.Mutants.with(mutants)
	}
}

// verdictSigns are signs for the verdicts, so that they differ not only by colour.
var verdictSigns = map[verdicts.Verdict]string{verdicts.OK: "✓", verdicts.Violated: "✕", verdicts.Unknown: "?",
	verdicts.Vacuous: "○", verdicts.Skipped: "–", verdicts.Mistake: "!"}

func verdictOf(r *verdicts.Result) verdictView {
	v := verdictView{
		Sign: cmp.Or(verdictSigns[r.Verdict], "?"), Verdict: clean(string(r.Verdict)), Subject: clean(r.Scenario),
		Message: cleanLines(r.Message), Details: cleanLines(r.Details),
	}
	if _, known := verdictSigns[r.Verdict]; known {
		v.Class = string(r.Verdict)
	}
	if r.Protocol != "" {
		v.Subject += " under " + clean(r.Protocol)
	}
	if r.Invariant != "" {
		v.Verdict += ": " + clean(r.Invariant)
	}
	if r.Schedules > 0 {
		v.Schedules = fmt.Sprint(r.Schedules)
	}
	if r.Steps > 0 {
		v.Steps = fmt.Sprint(r.Steps)
	}
	for i, mark := range r.Reached {
		if i > 0 {
			v.Reached += " "
		}
		v.Reached += clean(mark)
	}
	for _, c := range []Command{{"replay", r.Replay}, {"shrink", r.Shrink}} {
		if c.Text != "" {
			v.Commands = append(v.Commands, Command{c.Name, clean(c.Text)})
		}
	}
	return v
}

// count counts a result that passed as "as expected", and any other result by its verdict.
func (v *campaignView) count(one verdictView, passed bool) {
	c := countView{Sign: "✓", Class: "ok", What: "as expected", N: 1}
	if !passed {
		word := one.Class
		if word == "ok" {
			word = "without the expected violation"
		}
		c = countView{Sign: one.Sign, Class: "not-" + one.Class, What: cmp.Or(word, "of another verdict"), N: 1}
	}
	if i := slices.IndexFunc(v.Counts, func(o countView) bool { return o.What == c.What }); i >= 0 {
		v.Counts[i].N++
		return
	}
	v.Counts = append(v.Counts, c)
	slices.SortStableFunc(v.Counts, func(a, b countView) int { return cmp.Compare(a.What, b.What) })
}

// matrix is a table with a row for each mutant and a column for each invariant.
type matrix struct {
	Invariants []string
	Rows       []mutantRow
	Missed     int
	all        []*verdicts.Result
}

type mutantRow struct {
	Name, Breaks, Why string
	Caught            bool
	Cells             []mutantCell
	Bar               float64 // the width of its bar, out of barWidth, on a scale of powers of ten
	First             string
}

type mutantCell struct {
	Text  string // the first schedule that violates the invariant; "" if there is none
	Title string
	Named bool
	Miss  bool
}

const (
	barWidth = 120
	barMost  = 10_000 // the number of schedules whose bar has the full width
)

// with returns the matrix with more mutants added. A mutant that is given twice has two rows.
func (m *matrix) with(mutants []*verdicts.Result) *matrix {
	next := &matrix{}
	if m != nil {
		next.all = m.all
	}
	next.all = append(next.all, mutants...)
	names := map[string]bool{}
	for _, r := range next.all {
		names[r.Breaks] = true
		for _, f := range r.Found {
			names[f.Invariant] = true
		}
	}
	invariants := slices.Sorted(maps.Keys(names))
	for _, name := range invariants {
		next.Invariants = append(next.Invariants, clean(name))
	}
	for _, r := range next.all {
		row := mutantRow{Name: clean(r.Protocol), Breaks: clean(r.Breaks), Caught: r.Passed}
		if !r.Passed {
			next.Missed++
			row.Why = clean(r.Message)
		}
		for _, name := range invariants {
			cell := mutantCell{Named: name == r.Breaks}
			for _, f := range r.Found {
				if f.Invariant != name || f.Schedule < 1 {
					continue
				}
				cell.Text = fmt.Sprint(f.Schedule)
				cell.Title = clean(fmt.Sprintf("%s: first in schedule %d of %s", name, f.Schedule,
					cmp.Or(f.Scenario, r.Scenario)))
				if cell.Named {
					row.First = cell.Text
					row.Bar = barWidth * min(1, (1+math.Log10(float64(f.Schedule)))/(1+math.Log10(barMost)))
				}
			}
			cell.Miss = cell.Named && cell.Text == ""
			row.Cells = append(row.Cells, cell)
		}
		next.Rows = append(next.Rows, row)
	}
	slices.SortStableFunc(next.Rows, func(a, b mutantRow) int {
		if a.Caught == b.Caught {
			return cmp.Compare(a.Name, b.Name)
		}
		if b.Caught {
			return -1
		}
		return 1
	})
	return next
}

// exploredView has the findings of explore in one scenario under one protocol.
type exploredView struct {
	scenario, protocol string
	Subject            string
	Schedules          string
	Orders, States     string
	Next               string
	Names              []string // the names of the findings
	Strategies         []strategyRow
	Finds              []findView
	Curves             []*curve
	Points             []pointView
}

type strategyRow struct {
	Name      string
	Schedules int
	Cells     []shareCell
}

// shareCell is the number of a strategy's schedules that show a finding.
type shareCell struct {
	N     int
	Share string
	Bar   float64 // out of shareWidth
}

const shareWidth = 80

type findView struct {
	N                       int
	Name, Message           string
	First, Count            int
	Link, LinkText, Command string
}

type pointView struct{ Schedule, Orders, States int }

func cleanLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(clean(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (e *exploredView) of(r *verdicts.Result) bool {
	return e.scenario == r.Scenario && e.protocol == r.Protocol
}

func exploredOf(r *verdicts.Result) exploredView {
	e := exploredView{scenario: r.Scenario, protocol: r.Protocol,
		Subject: clean(r.Scenario) + " under " + clean(r.Protocol), Schedules: fmt.Sprint(r.Schedules)}
	names := map[string]bool{}
	for _, s := range r.Strategies {
		for _, f := range s.Found {
			names[f.Invariant] = true
		}
	}
	found := slices.Sorted(maps.Keys(names))
	for _, name := range found {
		e.Names = append(e.Names, clean(name))
	}
	for _, s := range r.Strategies {
		row := strategyRow{Name: clean(s.Strategy), Schedules: s.Schedules}
		for _, name := range found {
			cell := shareCell{Share: "0%"}
			for _, f := range s.Found {
				if f.Invariant == name && s.Schedules > 0 {
					share := min(1, max(0, float64(f.Schedules)/float64(s.Schedules)))
					cell = shareCell{f.Schedules, fmt.Sprintf("%.3g%%", 100*share), shareWidth * share}
				}
			}
			row.Cells = append(row.Cells, cell)
		}
		e.Strategies = append(e.Strategies, row)
	}
	c := r.Coverage
	if c == nil {
		return e
	}
	about := ""
	if c.About {
		about = "about "
	}
	e.Orders, e.States, e.Next = fmt.Sprint(about, c.Orders), fmt.Sprint(about, c.States),
		fmt.Sprintf("%.3g%%", 100*c.NextIsNew)
	var orders, states []point
	for _, g := range c.Growth {
		orders, states = append(orders, point{float64(g.Schedule), float64(g.Orders)}), append(states,
			point{float64(g.Schedule), float64(g.States)})
		e.Points = append(e.Points, pointView(g))
	}
	if len(c.Growth) > 1 {
		e.Curves = []*curve{curveOf("partial orders", "orders", orders), curveOf("states", "states", states)}
	}
	return e
}

// find notes a finding, in the table and on the curves.
func (e *exploredView) find(r *verdicts.Result, v verdictView) {
	for _, f := range r.Found {
		made := findView{N: len(e.Finds) + 1, Name: clean(f.Invariant), Message: v.Message, First: f.Schedule,
			Count: f.Schedules, Link: v.Link, LinkText: v.LinkText}
		if len(v.Commands) > 0 {
			made.Command = v.Commands[0].Text
		}
		e.Finds = append(e.Finds, made)
		for _, c := range e.Curves {
			c.mark(f.Schedule, made.N)
		}
	}
}
