// Package browser drives a headless Chromium, for tests of the pages that this module makes.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/isr-sim/isr-sim/internal/base/race"
)

// Browser is a headless Chromium. It records the page's complaints and its requests.
type Browser struct {
	t    *testing.T
	ctx  context.Context
	seen chan string
}

// The tests of a program share one process of Chromium, whose start takes a second of processor time.
var (
	shared  sync.Once
	process context.Context
	started error
	end     = func() {}
)

// End ends the process, if there is one. Call it after all tests.
func End() { end() }

// Open opens a window with its own storage. It may request addresses that begin with one of the allowed texts, such as
// "file:" or "http://127.0.0.1:80/". It skips the test if there is no Chromium, under -short and under the race
// detector. ISRSIM_REQUIRE_BROWSER=1 makes a missing Chromium a failure.
func Open(t *testing.T, allowed ...string) *Browser {
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
	shared.Do(func() {
		// root cannot use the sandbox
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox)
		ctx := context.Background() //nolint:forbidigo // the browser outlives the test
		of, remove := chromedp.NewExecAllocator(ctx, options...)
		own, cancel := chromedp.NewContext(of)
		process, end = own, func() { cancel(); remove() }
		started = chromedp.Do(process)
	})
	if started != nil {
		t.Fatal(started)
	}
	ctx, stop := chromedp.NewContext(process, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, 8*time.Minute)
	t.Cleanup(stop)
	b := &Browser{t, ctx, make(chan string, 100)}
	note := func(format string, args ...any) {
		select {
		case b.seen <- fmt.Sprintf(format, args...):
		default: // a hundred are enough
		}
	}
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			for _, prefix := range append(allowed, "data:") {
				if strings.HasPrefix(e.Request.URL, prefix) {
					return
				}
			}
			note("asks for %s", e.Request.URL)
		case *runtime.EventExceptionThrown:
			note("throws %s at %d:%d", e.ExceptionDetails.Text, e.ExceptionDetails.LineNumber,
				e.ExceptionDetails.ColumnNumber)
		case *runtime.EventConsoleAPICalled:
			note("prints %s", e.Type)
		case *log.EventEntryAdded:
			if strings.HasSuffix(e.Entry.Text, "net::ERR_NETWORK_CHANGED") {
				return // a container started or stopped on this machine, and Chromium dropped its connections
			}
			note("logs %s: %s", e.Entry.Level, e.Entry.Text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	enabled := []error{
		second(chromedp.Call(ctx, network.Enable, network.EnableParams{})),
		second(chromedp.Call(ctx, log.Enable, cdp.Empty{})),
		second(chromedp.Call(ctx, runtime.Enable, cdp.Empty{})),
	}
	if err := errors.Join(enabled...); err != nil {
		t.Fatal(err)
	}
	return b
}

func second[T any](_ T, err error) error { return err }

// Do performs actions, and fails the test if one fails.
func (b *Browser) Do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// Load opens an address in a window of the given size, and waits for an element.
func (b *Browser) Load(url, element string, width, height int64) {
	b.t.Helper()
	b.Do(chromedp.EmulateViewport(width, height), chromedp.Navigate(url), chromedp.WaitReady(element))
}

// Value returns the value of an expression of JavaScript. A promise counts as the value that it resolves to.
func Value[T any](b *Browser, js string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", js, err)
	}
	return v
}

// Until waits until an expression of JavaScript is true, for at most ten seconds.
func (b *Browser) Until(js string) {
	b.t.Helper()
	const often = `new Promise(done => { const end = performance.now() + 10000, look = () => %[1]s ? done(true) : performance.now() > end ? done(false) : setTimeout(look, 20); look(); })`
	if !Value[bool](b, fmt.Sprintf(often, "("+js+")")) {
		b.t.Fatalf("not true within 10 s: %s", js)
	}
}

// Quiet fails the test if the page logged an error, or made a request that is not allowed.
func (b *Browser) Quiet() {
	b.t.Helper()
	for len(b.seen) > 0 {
		b.t.Errorf("the page %s", <-b.seen)
	}
}

// Expect removes the oldest complaint, which must contain the text.
func (b *Browser) Expect(text string) {
	b.t.Helper()
	select {
	case found := <-b.seen:
		if !strings.Contains(found, text) {
			b.t.Errorf("the page %s, want %s", found, text)
		}
	case <-b.ctx.Done():
		b.t.Fatalf("the page did not complain of %s", text)
	}
}

// Prefer makes the browser prefer "light" or "dark" pages.
func (b *Browser) Prefer(scheme string) {
	b.t.Helper()
	media := emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
		b.t.Fatal(err)
	}
}

// Keep writes a screenshot of the window to the folder that ISRSIM_SCREENSHOTS names, for people to look at. Without
// that variable it does nothing.
func (b *Browser) Keep(name string) {
	b.t.Helper()
	folder := os.Getenv("ISRSIM_SCREENSHOTS")
	if folder == "" {
		return
	}
	shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name), shot, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// Axe fails the test for each barrier that axe-core finds in the page. ISRSIM_AXE names axe-core's file; without it Axe
// does nothing. It skips frames.
func (b *Browser) Axe(what string) {
	b.t.Helper()
	file := os.Getenv("ISRSIM_AXE")
	if file == "" {
		return
	}
	axe, err := os.ReadFile(file)
	if err != nil {
		b.t.Fatal(err)
	}
	Value[bool](b, string(axe)+"; true")
	const run = "axe.run({iframes: false}).then(r => r.violations.map(v => v.impact + ': ' + v.id + ': ' + v.help + " +
		"': ' + v.nodes.map(n => n.html).join(' | ')).join('; '))"
	if found := Value[string](b, run); found != "" {
		b.t.Errorf("%s: axe-core finds:\n%s", what, found)
	}
}
