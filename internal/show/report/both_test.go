package report_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/isr-sim/isr-sim/internal/rules/browser"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/show/record"
	"github.com/isr-sim/isr-sim/internal/show/report"
)

// both is the page of two runs.
func both(t *testing.T, left, right *record.Record) string {
	t.Helper()
	var text strings.Builder
	must.OK(t, report.Both(&text, report.Part{Name: "run.json", Record: left, Commands: commands},
		report.Part{Name: "shrunk.json", Record: right}))
	return text.String()
}

// The page contains the two reports, each of them whole.
func TestBothHasTheTwoReports(t *testing.T) {
	left, right := blindPublishWhole(t), blindPublish(t)
	var found []string
	for _, e := range elements(t, both(t, left, right)) {
		if e.Data == "iframe" {
			found = append(found, attribute(e, "srcdoc"))
		}
	}
	if len(found) != 2 || found[0] != page(t, left) {
		t.Fatalf("found %d frames, want two, the first of them the report of the first run", len(found))
	}
	for _, e := range elements(t, found[1]) {
		if e.Data == "tbody" && len(right.Steps) > 0 {
			return
		}
	}
	t.Error("the second frame has no table of steps")
}

// A step that is selected in one run is also selected in the other. Keys move in one run, and the other follows.
func TestBothMoveTogether(t *testing.T) {
	b := browser.Open(t, "file:")
	left, right := blindPublishWhole(t), blindPublish(t)
	file := filepath.Join(t.TempDir(), "both.html")
	must.OK(t, os.WriteFile(file, []byte(both(t, left, right)), 0o644))
	texts := func() (string, string) {
		const what = "document.querySelectorAll('iframe')[%d].contentDocument.getElementById('what').textContent"
		return browser.Value[string](b, fmt.Sprintf(what, 0)), browser.Value[string](b, fmt.Sprintf(what, 1))
	}
	// settled waits until messages under way have arrived.
	settled := func() {
		browser.Value[bool](b,
			"new Promise(done => setTimeout(() => setTimeout(() => setTimeout(() => done(true), 20), 20), 20))")
	}
	for _, size := range [][2]int64{{1280, 800}, {400, 800}} {
		b.Load("file://"+file, "html[data-ready]", size[0], size[1])
		if one, two := texts(); one != two || !strings.HasPrefix(one, "✕ violated here.") {
			t.Errorf("they begin at %q and %q, want the violation in both", one, two)
		}
		if browser.Value[bool](b, "document.documentElement.scrollWidth > innerWidth") {
			t.Errorf("at %v the page is wider than the window", size)
		}
		b.Keep(fmt.Sprintf("both-%d.png", size[0]))
		b.Axe(fmt.Sprintf("at %v", size))
	}
	// Keys work at once, without a click first.
	b.Load("file://"+file, "html[data-ready]", 1280, 800)
	begin, _ := texts()
	b.Do(chromedp.KeyEvent(kb.ArrowUp))
	settled()
	second, _ := texts()
	b.Do(chromedp.KeyEvent(kb.ArrowUp)) // this key goes to the first run itself
	settled()
	if third, _ := texts(); begin == second || second == third {
		t.Errorf("keys have gone from %q to %q and %q, want three steps", begin, second, third)
	}
	b.Load("file://"+file, "html[data-ready]", 1280, 800)
	const focus = "document.querySelectorAll('iframe')[%d].contentWindow.focus(); true"
	browser.Value[bool](b, fmt.Sprintf(focus, 1))
	moved := 0
	for range len(right.Steps) - 1 {
		b.Do(chromedp.KeyEvent(kb.ArrowUp))
		settled()
		one, two := texts()
		if one == two {
			moved++
		} else if got := browser.Value[string](b, "linkedto.textContent"); got != "This step is in one run alone." {
			t.Errorf("%q beside %q, and the page says %q", one, two, got)
		}
	}
	if moved < 3 {
		t.Errorf("%d of the steps of the smaller run are in the whole run, want some", moved)
	}
	_, last := texts()
	b.Do(chromedp.Click("#linked"))
	browser.Value[bool](b, fmt.Sprintf(focus, 0))
	b.Do(chromedp.KeyEvent("v"))
	settled()
	if one, two := texts(); !strings.HasPrefix(one, "✕ violated here.") || two != last {
		t.Errorf("unlinked, the first is at %q, and the second has gone from %q to %q", one, last, two)
	}
	b.Quiet()
}

func TestBothOfAHostileRecordRunNothing(t *testing.T) {
	b := browser.Open(t, "file:")
	file := filepath.Join(t.TempDir(), "both.html")
	must.OK(t, os.WriteFile(file, []byte(both(t, hostile(t), hostile(t))), 0o644))
	b.Load("file://"+file, "html[data-ready]", 1280, 800)
	if browser.Value[bool](b,
		"[window, ...[...document.querySelectorAll('iframe')].map(f => f.contentWindow)].some(w => 'hacked' in w || "+
			"w.document.images.length > 0)") {
		t.Error("the record has run a script")
	}
	b.Quiet()
}
