package report_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/isr-sim/isr-sim/internal/race"
	"github.com/isr-sim/isr-sim/internal/record"
)

// browser is a headless Chromium that notes what it complains of and what it asks for.
type browser struct {
	t    *testing.T
	ctx  context.Context
	seen chan string
}

// open starts a browser, or skips.
func open(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	switch {
	case path == "" && os.Getenv("ISRSIM_REQUIRE_BROWSER") != "":
		t.Fatal("found no chromium in PATH, and ISRSIM_REQUIRE_BROWSER is set")
	case path == "":
		t.Skip("found no chromium in PATH; ISRSIM_REQUIRE_BROWSER=1 makes this a failure")
	case testing.Short() || race.Enabled:
		t.Skip("a browser takes seconds, and is not what the race detector looks at")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox) // root has no sandbox
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(stop)
	b := &browser{t, ctx, make(chan string, 100)}
	note := func(format string, args ...any) {
		select {
		case b.seen <- fmt.Sprintf(format, args...):
		default: // a hundred will do
		}
	}
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, "file:") && !strings.HasPrefix(e.Request.URL, "data:") {
				note("asks for %s", e.Request.URL)
			}
		case *runtime.EventExceptionThrown:
			note("throws %s at %d:%d", e.ExceptionDetails.Text, e.ExceptionDetails.LineNumber, e.ExceptionDetails.ColumnNumber)
		case *runtime.EventConsoleAPICalled:
			note("prints %s", e.Type)
		case *log.EventEntryAdded:
			note("logs %s: %s", e.Entry.Level, e.Entry.Text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	enabled := []error{
		ok(chromedp.Call(ctx, network.Enable, network.EnableParams{})), ok(chromedp.Call(ctx, log.Enable, cdp.Empty{})),
		ok(chromedp.Call(ctx, runtime.Enable, cdp.Empty{})),
	}
	if err := errors.Join(enabled...); err != nil {
		t.Fatal(err)
	}
	return b
}

func ok[T any](_ T, err error) error { return err }

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// load opens the report of a record in a window of that size.
func (b *browser) load(r *record.Record, width, height int64) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(page(b.t, r)), 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(width, height), chromedp.Navigate("file://"+file), chromedp.WaitReady("html[data-ready]"))
}

// of is the value of an expression of JavaScript.
func of[T any](b *browser, js string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](js))
	if err != nil {
		b.t.Fatalf("%s: %v", js, err)
	}
	return v
}

// quiet fails if the page has complained, or asked for anything.
func (b *browser) quiet() {
	b.t.Helper()
	for len(b.seen) > 0 {
		b.t.Errorf("the page %s", <-b.seen)
	}
}

// inView says whether an element's middle is in the window, and not behind another element.
const inView = `(at => {
	const step = document.querySelectorAll('.step')[at], e = step.querySelector('.n'), box = e.getBoundingClientRect();
	const x = box.left + box.width / 2, y = box.top + box.height / 2;
	const there = document.elementFromPoint(x, y);
	return y > 0 && y < innerHeight && x > 0 && x < innerWidth && !!there && step.contains(there);
})`

func TestTheViolationIsInViewAtOnce(t *testing.T) {
	b := open(t)
	records := map[string]*record.Record{"shrunk": blindPublish(t), "whole": blindPublishWhole(t)}
	for _, name := range []string{"shrunk", "whole"} {
		r := records[name]
		for _, size := range [][2]int64{{1280, 800}, {400, 800}} {
			b.load(r, size[0], size[1])
			seen := of[bool](b, fmt.Sprintf("%s(%d)", inView, r.Violation.Step-1))
			wide := of[bool](b, "document.documentElement.scrollWidth > innerWidth")
			if !seen || wide {
				t.Errorf("%s at %v: the violation is in view: %v; the page is wider than the window: %v", name, size, seen, wide)
			}
			if folder := os.Getenv("ISRSIM_SCREENSHOTS"); folder != "" {
				for _, scheme := range []string{"light", "dark"} {
					b.emulate(scheme)
					shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
					if err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, size[0], scheme)), shot, 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	b.quiet()
}

const lockHead = "document.querySelector('.heads .head.row text').getBoundingClientRect()"

func TestKeysStepAndTheFilterSifts(t *testing.T) {
	b := open(t)
	r := blindPublish(t)
	b.load(r, 1280, 800)
	var where, state, before string
	show := func() {
		where = of[string](b, "document.getElementById('where').textContent")
		state = of[string](b, "document.getElementById('state').tBodies[0].textContent")
	}
	show()
	at := r.Violation.Step
	if !strings.HasPrefix(where, fmt.Sprintf("Step %d of %d,", at, len(r.Steps))) || !strings.Contains(state, "● s3_key") {
		t.Fatalf("it begins at %q with the state %q", where, state)
	}
	before = state
	b.do(chromedp.KeyEvent(kb.ArrowUp))
	if show(); !strings.HasPrefix(where, fmt.Sprintf("Step %d of", at-1)) || state == before || strings.Contains(state, "s3_key") {
		t.Errorf("one step back it shows %q and %q", where, state)
	}
	b.do(chromedp.KeyEvent(kb.Home))
	if show(); !strings.HasPrefix(where, "Step 1 of") || state != "no row was written yet" {
		t.Errorf("at the beginning it shows %q and %q", where, state)
	}
	b.do(chromedp.KeyEvent("v"))
	if show(); state != before {
		t.Errorf("at the violation again it shows %q and %q", where, state)
	}
	of[bool](b, "document.querySelector('.go').click(), true")
	if show(); !strings.HasPrefix(where, "Step 10 of") {
		t.Errorf("the button of what was needed leads to %q, want step 10", where)
	}
	b.do(chromedp.KeyEvent("v"))
	b.do(chromedp.Focus("#filter"), chromedp.KeyEvent("LOCK"))
	off := of[int](b, "document.querySelectorAll('.step.off').length")
	hidden := of[int](b, "[...document.querySelectorAll('.steps tbody tr')].filter(e => e.offsetParent === null).length")
	if off == 0 || off == len(r.Steps) || hidden != off {
		t.Errorf("the filter LOCK leaves out %d steps of the picture and %d of the table, of %d", off, hidden, len(r.Steps))
	}
	of[bool](b, "document.getElementById('filter').value = '', document.getElementById('filter').dispatchEvent(new Event('input'))")
	x, y := of[float64](b, lockHead+".x"), of[float64](b, lockHead+".y")
	b.do(chromedp.MouseClickXY(x+5, y+5))
	off = of[int](b, "document.querySelectorAll('.step:not(.off)').length")
	if off == 0 || off > 4 {
		t.Errorf("a click on LOCK leaves %d steps, want those that changed it", off)
	}
	b.quiet()
}

func TestAHostileRecordRunsNothing(t *testing.T) {
	b := open(t)
	b.load(hostile(t), 1280, 800)
	for range 30 {
		b.do(chromedp.KeyEvent(kb.ArrowUp))
	}
	if of[bool](b, "'hacked' in window || document.images.length > 0") {
		t.Error("the record has run a script")
	}
	b.quiet()
}

func TestALongRunIsSoonInteractive(t *testing.T) {
	b := open(t)
	b.load(long(t, 10_000), 1280, 800)
	ready := of[float64](b, "performance.timing.loadEventEnd - performance.timing.navigationStart")
	step := of[float64](b, "(() => { const t = performance.now(); document.getElementById('back').click(); document.body.offsetHeight; return performance.now() - t; })()")
	t.Logf("10,000 steps: loaded in %.0f ms, a step takes %.0f ms", ready, step)
	if ready > 5000 || step > 500 { // on a machine that does other things, too
		t.Errorf("loaded in %.0f ms, a step takes %.0f ms", ready, step)
	}
	b.quiet()
}

// TestAxe asks axe-core, of which ISRSIM_AXE names the file, for what keeps people out.
func TestAxe(t *testing.T) {
	file := os.Getenv("ISRSIM_AXE")
	if file == "" {
		t.Skip("ISRSIM_AXE names no file of axe-core")
	}
	axe, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b := open(t)
	for _, scheme := range []string{"light", "dark"} {
		b.emulate(scheme)
		for _, width := range []int64{1280, 400} {
			b.load(blindPublishWhole(t), width, 800)
			of[bool](b, string(axe)+"; true")
			b.do(chromedp.Click("details summary"))
			run := chromedp.Evaluate[string]("axe.run().then(r => r.violations.map(v => v.impact + ': ' + v.id + ': ' + v.help + ': ' + v.nodes.map(n => n.html).join(' | ')).join('; '))", chromedp.EvalAwaitPromise)
			found, err := chromedp.Run(b.ctx, run)
			if err != nil {
				t.Fatal(err)
			}
			if found != "" {
				t.Errorf("%s, %d pixels wide: axe-core finds:\n%s", scheme, width, found)
			}
		}
	}
	b.quiet()
}

// emulate has the browser prefer light or dark pages.
func (b *browser) emulate(scheme string) {
	b.t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
		b.t.Fatal(err)
	}
}
