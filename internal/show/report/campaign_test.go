package report_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/isr-sim/isr-sim/internal/rules/browser"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/show/report"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
)

// campaigns is a page with every kind of result. The function name is applied to each text from outside.
func campaigns(t *testing.T, name func(string) string) string {
	t.Helper()
	var growth []verdicts.Growth
	for i := range 50 {
		growth = append(growth, verdicts.Growth{Schedule: 100 * (i + 1), Orders: 60 * (i + 1), States: 5000 + 900*i})
	}
	explored := verdicts.Result{
		Scenario: name("two-contenders"), Protocol: name("blind-publish"), Verdict: verdicts.Violated,
		Invariant: name("stale-writer"), Message: name("alice published late"),
		Details: name("line one") + "\n" + name("line two"), Schedules: 5000, Steps: 184537,
		Replay: name("isr-sim replay x"), Record: "run.json",
		Found: []verdicts.Found{{Invariant: name("stale-writer"), Schedule: 5, Schedules: 861}},
		Strategies: []verdicts.Strategy{
			{Strategy: "pct3", Schedules: 2500, Found: []verdicts.Found{
				{Invariant: name("stale-writer"), Schedules: 820}, {Invariant: name("lock-theft"), Schedules: 7},
			}},
			{Strategy: name("pos"), Schedules: 2500,
				Found: []verdicts.Found{{Invariant: name("stale-writer"), Schedules: 41}}},
		},
		Coverage: &verdicts.Coverage{Orders: 3000, States: 49100, NextIsNew: 0.475, Growth: growth},
	}
	second := explored
	second.Invariant, second.Strategies, second.Coverage = name("lock-theft"), nil, nil
	second.Found = []verdicts.Found{{Invariant: name("lock-theft"), Schedule: 130, Schedules: 7}}
	documents := []*verdicts.Document{
		{Command: "explore", Version: name("v1"), ExitCode: 1, Results: []verdicts.Result{explored, second}},
		{Command: "mutants", Version: "v1", ExitCode: 1, Results: []verdicts.Result{
			{
				Scenario: "paused-writer", Protocol: "blind-publish", Verdict: verdicts.Violated, Passed: true,
				Breaks: "stale-writer", Schedules: 4, Found: []verdicts.Found{
					{Invariant: "stale-writer", Scenario: name("paused-writer"), Schedule: 4},
					{Invariant: "lock-theft", Scenario: "x", Schedule: 812},
				},
			},
			{Scenario: "mutants", Protocol: name("quiet"), Verdict: verdicts.OK, Breaks: "lock-theft",
				Message: name("not caught by lock-theft: it ran in 10000 schedules of x")},
			{Scenario: "body-faults", Protocol: "recipe-a", Verdict: verdicts.OK, Passed: true, Schedules: 10,
				Steps: 900, Reached: []string{name("pause")}},
			{Scenario: "idle", Protocol: "recipe-a", Verdict: verdicts.Vacuous,
				Message: name("no schedule reached pause")},
			{Scenario: name("odd"), Verdict: verdicts.Verdict(name("odd")), Passed: true},
		}},
	}
	var all []report.Results
	for _, d := range documents {
		all = append(all, report.Results{Name: name(d.Command + ".json"), Document: d,
			Link: func(r *verdicts.Result) (string, string) {
				if r.Record == "" {
					return "", ""
				}
				return "./a%20b.html", name("report of the run")
			}})
	}
	plot := report.Plot{Title: name("steady"), X: "renders a second", Y: "reads of outdated data, %"}
	for i := range 12 {
		plot.Dots = append(plot.Dots, report.Dot{
			Name: name(fmt.Sprintf("policy-%d", i)), X: 3 + float64(i%4)/40, Y: float64(i) / 9,
			XText: fmt.Sprintf("%.3f", 3+float64(i%4)/40), YText: fmt.Sprintf("%.2f%%", float64(i)/9),
		})
	}
	var b bytes.Buffer
	must.OK(t, report.Campaigns(&b, all, []report.Plot{plot}))
	return b.String()
}

func itself(text string) string { return text }

// evil returns a text that would run a script if it were on the page without being escaped, wherever it stood.
func evil(text string) string {
	return text + `"'><script>hacked=1</script><img src=x onerror=hacked=1></style></title></svg>` +
		"\u202e\x00javascript:hacked=1"
}

// texts returns the texts of the matching elements of a page.
func texts(t *testing.T, page string, is func(*html.Node) bool) []string {
	t.Helper()
	doc := must.Of(html.Parse(strings.NewReader(page)))(t)
	var found []string
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || !is(n) {
			continue
		}
		text := ""
		for c := range n.Descendants() {
			if c.Type == html.TextNode {
				text += c.Data
			}
		}
		found = append(found, strings.Join(strings.Fields(text), " "))
	}
	return found
}

func rowsOf(class string) func(*html.Node) bool {
	return func(n *html.Node) bool {
		return n.Data == "tr" && n.Parent.Data == "tbody" && attribute(n.Parent.Parent, "class") == class
	}
}

func TestACampaignsPageSaysWhatWasFound(t *testing.T) {
	page := campaigns(t, itself)
	if got := texts(t, page, func(n *html.Node) bool { return n.Data == "h1" }); len(got) != 1 ||
		got[0] != "4 of 7 results not as expected" {
		t.Errorf("its head is %q", got)
	}
	for class, want := range map[string][]string{
		"matrix": { // the missed mutant comes first; invariants are ordered by name
			"✕ missed: quietnot caught by lock-theft: it ran in 10000 schedules of x none✕",
			"✓ blind-publish 4812● 4",
		},
		"strategies": {"pct32500 7 (0.28%) 820 (32.8%)", "pos2500 0 (0%) 41 (1.64%)"},
		"finds": {"✕1 stale-writeralice published latereport of the run5861",
			"✕2 lock-theftalice published latereport of the run1307"},
	} {
		got := texts(t, page, rowsOf(class))
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant:\n%s", class, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if links := texts(t, page, func(n *html.Node) bool {
		return n.Data == "a" &&
			attribute(n, "href") == "./a%20b.html"
	}); len(links) != 4 {
		t.Errorf("found %d links to the report of the run, want one for each find in two places", len(links))
	}
	if curves := texts(t, page, func(n *html.Node) bool {
		return n.Data == "svg" && strings.HasPrefix(attribute(n, "aria-label"), "states: 49100 after 5000 schedules")
	}); len(curves) != 1 || !strings.Contains(curves[0], "✕1✕2") {
		t.Errorf("the curve of states: %q, want one that marks both finds", curves)
	}
}

func TestAHostileCampaignRunsNothing(t *testing.T) {
	page := campaigns(t, evil)
	if found := texts(t, page, func(n *html.Node) bool {
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || strings.HasPrefix(a.Val, "javascript:") {
				return true
			}
		}
		return n.Data == "script" || n.Data == "img"
	}); len(found) > 0 || strings.ContainsAny(page, "\x00\u202e") {
		t.Errorf("found %d elements that could run a script, or a character that no page may have: %q", len(found),
			found)
	}
}

func TestTheCampaignsPageInABrowser(t *testing.T) {
	inABrowser(t, "campaign", campaigns, 400, "mutants", "explored0", "policies")
}

// inABrowser checks a page without scripts, wide and narrow, light and dark, each of its parts, and its handling of
// hostile names.
func inABrowser(
	t *testing.T, kind string, page func(t *testing.T, name func(string) string) string, narrow int64, parts ...string,
) {
	t.Helper()
	b := browser.Open(t, "file:")
	for i, v := range []struct {
		what   string
		name   func(string) string
		width  int64
		scheme string
	}{{"plain", itself, 1280, "light"}, {"hostile", evil, narrow, "dark"}, {"plain", itself, narrow, "dark"}} {
		file := filepath.Join(t.TempDir(), "page.html")
		must.OK(t, os.WriteFile(file, []byte(page(t, v.name)), 0o644))
		b.Prefer(v.scheme)
		b.Load("file://"+file, "body."+kind, v.width, 800)
		if browser.Value[bool](b, "'hacked' in window || document.images.length + document.scripts.length > 0") {
			t.Errorf("%s: the page has a script, or a picture from outside", v.what)
		}
		if wide := browser.Value[int](b, "document.documentElement.scrollWidth"); wide > int(v.width) {
			t.Errorf("%s: the page is %d wide, and the window %d", v.what, wide, v.width)
		}
		if i < 2 { // each width, scheme and kind of names once, because axe-core is slow
			b.Axe(fmt.Sprintf("%s, %s, %d pixels wide", v.what, v.scheme, v.width))
		}
		b.Keep(fmt.Sprintf("%s-%s-%d-0.png", kind, v.what, v.width))
		for i, part := range parts {
			browser.Value[bool](b, "window.scrollTo(0, document.getElementById('"+part+"').offsetTop), true")
			b.Keep(fmt.Sprintf("%s-%s-%d-%d.png", kind, v.what, v.width, i+1))
		}
	}
	b.Quiet()
}
