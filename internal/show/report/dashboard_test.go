package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/show/report"
)

// dashboard is a page with everything on it, and tables with the given number of rows. The function name is applied to
// each text from outside.
func dashboard(t *testing.T, rows int, name func(string) string) string {
	t.Helper()
	d := report.Dashboard{
		Corpora: []string{name("s3://nights/isr")}, Entries: 1_000_000, Failing: 999_000, Stopped: 12, Dropped: 34,
		MoreFindings: 998_700, Damaged: []string{name("a.yaml") + ": found no replay entry"},
	}
	for i := range rows {
		f := report.DashboardFinding{
			What: name("stale-writer"), Scenario: name(fmt.Sprintf("skewed-clocks-%d", i)),
			Protocol: name("blind-publish"), FirstNight: name("2026-11-01"), FirstVersion: name("v0.1.0 go1.26.8"),
			LatestNight: name("2026-11-26"),
			LastVersion: name("v0.2.0 go1.26.8, commit 0123456789abcdef0123456789abcdef01234567, modified"), Choices: i,
			File: "x.yaml", Link: "./x.yaml", Record: "./x.json", Page: "./x.html",
			Command: name("isr-sim replay x.yaml"),
		}
		if i%7 == 6 {
			f.StoppedAt = name("v0.2.0")
		}
		d.Findings = append(d.Findings, f)
		d.Coverage = append(d.Coverage, report.DashboardCoverage{
			Scenario: f.Scenario, Protocol: f.Protocol, Night: f.LatestNight, Verdict: name("ok"), Passed: i%5 > 0,
			Schedules: 1000 * i, Orders: "about 4000", States: "70000", NextIsNew: float64(i) / 700,
		})
		d.Canaries = append(d.Canaries, report.DashboardCanary{Scenario: f.Scenario, Protocol: f.Protocol,
			Breaks: f.What, Times: 4, Found: 4 - i%50/49, Earliest: 3, Latest: 900})
	}
	for i := range 60 {
		d.Nights = append(d.Nights, report.DashboardNight{
			Name: name(fmt.Sprintf("2026-11-%02d", 60-i)), Versions: name("v0.2.0"), Shards: 8, Schedules: 9_000_000,
			CoreSeconds: 28800 + float64(i), NextIsNew: 0.2 + float64(i)/100, Found: 3, New: i,
			Canaries: 40, CanariesFound: 40,
		})
	}
	var b bytes.Buffer
	must.OK(t, d.Write(&b))
	return b.String()
}

func TestADashboardSaysWhatToLookAt(t *testing.T) {
	page := dashboard(t, 300, itself)
	if got := texts(t, page, func(n *html.Node) bool { return n.Data == "h1" }); len(got) != 1 ||
		got[0] != "999000 files about violations, 60 nights" {
		t.Errorf("its head is %q", got)
	}
	if len(page) > 5_000_000 {
		t.Errorf("the page has %d bytes, want 5 MB at most", len(page))
	}
	rows := texts(t, page, rowsOf("board"))
	for _, want := range []string{
		"✕ stale-writer skewed-clocks-0 under blind-publish",
		"? stale-writer skewed-clocks-6 under blind-publish",
		"2026-11-60v0.2.00 new files, 3 kinds of violations40 of 40 canaries found90000008 shards, 8 core-hours312 " +
			"a core-second",
	} {
		plain := strings.ReplaceAll(want, " ", "")
		found := false
		for _, row := range rows {
			found = found || strings.Contains(strings.ReplaceAll(row, " ", ""), plain)
		}
		if !found {
			t.Errorf("no row has %q; the first is %q", want, rows[0])
		}
	}
	var empty bytes.Buffer
	if err := (&report.Dashboard{Corpora: []string{"corpus"}}).Write(&empty); err != nil ||
		!strings.Contains(empty.String(), "No canary was run") ||
		!strings.Contains(empty.String(), "No night has been kept yet") {
		t.Errorf("an empty corpus (%v):\n%s", err, empty.String())
	}
}

func TestADashboardInABrowser(t *testing.T) {
	few := func(t *testing.T, name func(string) string) string { return dashboard(t, 50, name) } // axe-core is slow
	inABrowser(t, "dashboard", few, 360, "trends", "coverage", "nights")
}
