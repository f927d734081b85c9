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
	"github.com/isr-sim/isr-sim/internal/show/record"
)

func TestMain(m *testing.M) {
	defer browser.End()
	m.Run()
}

// load opens the report of a record in a window of the given size.
func load(t *testing.T, b *browser.Browser, r *record.Record, width, height int64) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(page(t, r)), 0o644); err != nil {
		t.Fatal(err)
	}
	b.Load("file://"+file, "html[data-ready]", width, height)
}

// inView reports whether the middle of an element is in the window, and not behind another element.
const inView = `(at => {
	const step = document.querySelectorAll('.step')[at], e = step.querySelector('.n'), box = e.getBoundingClientRect();
	const x = box.left + box.width / 2, y = box.top + box.height / 2;
	const there = document.elementFromPoint(x, y);
	return y > 0 && y < innerHeight && x > 0 && x < innerWidth && !!there && step.contains(there);
})`

// If ISRSIM_AXE names axe-core, it looks for barriers to people.
func TestTheViolationIsInViewAtOnce(t *testing.T) {
	b := browser.Open(t, "file:")
	r := blindPublishWhole(t)
	for _, window := range []struct {
		width   int64
		schemes []string // axe-core sees the last one with each width
	}{{1280, []string{"dark", "light"}}, {400, []string{"light", "dark"}}} {
		load(t, b, r, window.width, 800)
		seen := browser.Value[bool](b, fmt.Sprintf("%s(%d)", inView, r.Violation.Step-1))
		wide := browser.Value[bool](b, "document.documentElement.scrollWidth > innerWidth")
		if !seen || wide {
			t.Errorf("at %d pixels: the violation is in view: %v; the page is wider than the window: %v",
				window.width, seen, wide)
		}
		for _, scheme := range window.schemes {
			b.Prefer(scheme)
			// A field has the browser's own colours, which must be those of the scheme.
			field := browser.Value[string](b,
				"getComputedStyle(Object.assign(document.body.appendChild(document.createElement('div')), "+
					"{style: 'background: Field'})).backgroundColor")
			if dark := field != "rgb(255, 255, 255)"; dark != (scheme == "dark") {
				t.Errorf("at %d pixels: the fields are %s in the scheme %s", window.width, field, scheme)
			}
			b.Keep(fmt.Sprintf("%d-%s.png", window.width, scheme))
		}
		b.Do(chromedp.Click("details summary"))
		b.Axe(fmt.Sprintf("%v, %d pixels wide", window.schemes, window.width))
	}
	b.Quiet()
}

const lockHead = "document.querySelector('.heads .head.row text').getBoundingClientRect()"

func TestKeysStepAndTheFilterSifts(t *testing.T) {
	b := browser.Open(t, "file:")
	r := blindPublish(t)
	load(t, b, r, 1280, 800)
	var where, state, before string
	show := func() {
		where = browser.Value[string](b, "document.getElementById('where').textContent")
		state = browser.Value[string](b, "document.getElementById('state').tBodies[0].textContent")
	}
	show()
	at := r.Violation.Step
	if !strings.HasPrefix(where, fmt.Sprintf("Step %d of %d,", at, len(r.Steps))) ||
		!strings.Contains(state, "● s3_key") {
		t.Fatalf("it begins at %q with the state %q", where, state)
	}
	if call := browser.Value[string](b, "document.getElementById('call').innerText"); !strings.HasPrefix(call,
		"PutItem") || !strings.Contains(call, "Item s3_key") {
		t.Errorf("it begins with the request %q", call)
	}
	before = state
	b.Do(chromedp.KeyEvent(kb.ArrowUp))
	if show(); !strings.HasPrefix(where, fmt.Sprintf("Step %d of", at-1)) || state == before ||
		strings.Contains(state, "● s3_key") {
		t.Errorf("one step back it shows %q and %q", where, state)
	}
	b.Do(chromedp.KeyEvent(kb.Home))
	if show(); !strings.HasPrefix(where, "Step 1 of") || state != "no row was written yet" {
		t.Errorf("at the beginning it shows %q and %q", where, state)
	}
	b.Do(chromedp.KeyEvent("v"))
	if show(); state != before {
		t.Errorf("at the violation again it shows %q and %q", where, state)
	}
	browser.Value[bool](b, "document.querySelector('.go').click(), true")
	if show(); !strings.HasPrefix(where, "Step 10 of") {
		t.Errorf("the button of what was needed leads to %q, want step 10", where)
	}
	b.Do(chromedp.KeyEvent("v"))
	b.Do(chromedp.Focus("#filter"), chromedp.KeyEvent("LOCK"))
	off := browser.Value[int](b, "document.querySelectorAll('.step.off').length")
	hidden := browser.Value[int](b,
		"[...document.querySelectorAll('.steps tbody tr')].filter(e => e.offsetParent === null).length")
	if off == 0 || off == len(r.Steps) || hidden != off {
		t.Errorf("the filter LOCK leaves out %d steps of the picture and %d of the table, of %d", off, hidden,
			len(r.Steps))
	}
	browser.Value[bool](b,
		"document.getElementById('filter').value = '', document.getElementById('filter').dispatchEvent(new "+
			"Event('input'))")
	x, y := browser.Value[float64](b, lockHead+".x"), browser.Value[float64](b, lockHead+".y")
	b.Do(chromedp.MouseClickXY(x+5, y+5))
	off = browser.Value[int](b, "document.querySelectorAll('.step:not(.off)').length")
	if off == 0 || off > 4 {
		t.Errorf("a click on LOCK leaves %d steps, want those that changed it", off)
	}
	b.Quiet()
}

// Steps can be selected by node and by operation, using only the keyboard.
func TestTheFiltersByNodeAndByOperation(t *testing.T) {
	b := browser.Open(t, "file:")
	r := blindPublishWhole(t)
	load(t, b, r, 1280, 800)
	left := func() (nodes, kinds string) {
		const shown = "[...new Set([...document.querySelectorAll('.steps tbody tr:not(.off)')].map(e => " +
			"e.cells[%d].textContent))].sort().join(' ')"
		return browser.Value[string](b, fmt.Sprintf(shown, 2)), browser.Value[string](b, fmt.Sprintf(shown, 3))
	}
	b.Do(chromedp.Focus("#actor"), chromedp.KeyEvent(kb.ArrowDown))
	b.Do(chromedp.KeyEvent(kb.ArrowDown))
	if nodes, _ := left(); nodes != "bob" {
		t.Errorf("the list of nodes leaves the steps of %q, want bob's", nodes)
	}
	b.Do(chromedp.Focus("#operation"), chromedp.KeyEvent("TransactW"))
	nodes, kinds := left()
	if chosen := browser.Value[string](
		b, "document.getElementById('operation').value",
	); chosen != "TransactWriteItems" || nodes != "bob" || kinds != "effect response" {
		t.Errorf("%s of bob leaves %q of %q, want his request and its answer", chosen, kinds, nodes)
	}
	said, want := browser.Value[string](b, "document.getElementById('sifted').textContent"), browser.Value[int](b,
		"document.querySelectorAll('.step:not(.off)').length")
	if said != fmt.Sprintf("%d of %d steps", want, len(r.Steps)) || want == 0 || want > 6 {
		t.Errorf("the page says %q, with %d steps left", said, want)
	}
	before := browser.Value[string](b, "document.getElementById('where').textContent")
	b.Do(chromedp.KeyEvent(kb.Home)) // in the list, not in the page
	if after := browser.Value[string](b, "document.getElementById('where').textContent"); after != before {
		t.Errorf("a key for the list leads to %q", after)
	}
	if nodes, _ := left(); nodes != "bob" {
		t.Errorf("all operations of bob are those of %q", nodes)
	}
	b.Do(chromedp.Focus("#actor"), chromedp.KeyEvent(kb.Home))
	if off := browser.Value[int](b, "document.querySelectorAll('.step.off').length"); off != 0 {
		t.Errorf("all nodes and all operations leave out %d steps", off)
	}
	b.Keep("filters.png")
	b.Quiet()
}

func TestAHostileRecordRunsNothing(t *testing.T) {
	b := browser.Open(t, "file:")
	load(t, b, hostile(t), 1280, 800)
	for range 30 {
		b.Do(chromedp.KeyEvent(kb.ArrowUp))
	}
	if browser.Value[bool](b, "'hacked' in window || document.images.length > 0") {
		t.Error("the record has run a script")
	}
	b.Quiet()
}

// TestALongRunIsSoonInteractive does not measure time. It counts the browser's work: the elements that a step adds to
// the page, and the elements that change when the reader moves to another step.
func TestALongRunIsSoonInteractive(t *testing.T) {
	b := browser.Open(t, "file:")
	load(t, b, long(t, 2_000), 1280, 800)
	elements := browser.Value[int](b, "document.getElementsByTagName('*').length")
	touched := browser.Value[int](b, `(() => {
		const o = new MutationObserver(() => {});
		o.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
		document.getElementById('back').click();
		return o.takeRecords().length;
	})()`)
	if elements > 15*2_000 || touched == 0 || touched > 100 {
		t.Errorf("2,000 steps: %d elements, of which a step back touches %d, expected at most 15 a step and 1 to 100",
			elements, touched)
	}
	b.Quiet()
}

// Time can run down the page or across it. After one turn the violation is still in view and keys still step. After a
// second turn the picture is as at first.
func TestTimeAcross(t *testing.T) {
	b := browser.Open(t, "file:")
	r := blindPublishWhole(t)
	for _, width := range []int64{1280, 400} {
		load(t, b, r, width, 800)
		before := browser.Value[string](b,
			"document.getElementById('body').innerHTML.replace(/ data-[xy]=\"[^\"]*\"| data-was=\"[^\"]*\"| "+
				"data-(width|height)=\"[^\"]*\"/g, '')")
		b.Do(chromedp.Click("#turn"))
		if !browser.Value[bool](b, fmt.Sprintf("%s(%d)", inViewAcross, r.Violation.Step-1)) {
			t.Errorf("at %d pixels: across, the violation is not in view", width)
		}
		if browser.Value[bool](b, "document.documentElement.scrollWidth > innerWidth") {
			t.Errorf("at %d pixels: across, the page is wider than the window", width)
		}
		b.Keep(fmt.Sprintf("across-%d.png", width))
		if width == 400 {
			b.Axe("across")
		}
		b.Do(chromedp.KeyEvent(kb.Home))
		if !browser.Value[bool](b, inViewAcross+"(0)") {
			t.Errorf("at %d pixels: across, the first step is not in view", width)
		}
		b.Do(chromedp.Click("#turn"))
		after := browser.Value[string](b,
			"document.getElementById('violation').click(), document.getElementById('body').innerHTML.replace(/ "+
				"data-[xy]=\"[^\"]*\"| data-was=\"[^\"]*\"| data-(width|height)=\"[^\"]*\"/g, '')")
		if before != after {
			t.Errorf("at %d pixels: turned twice, the picture is another one", width)
		}
	}
	b.Quiet()
}

// inViewAcross reports whether a step's column is in the window, right of the heads.
const inViewAcross = `(at => {
	const cursor = document.getElementById('cursor').getBoundingClientRect(), pane = document.getElementById('pane').getBoundingClientRect();
	const n = document.querySelectorAll('.step')[at].querySelector('.n').getBoundingClientRect();
	return n.left + n.width / 2 >= cursor.left - 1 && n.left + n.width / 2 <= cursor.right + 1 && cursor.left >= pane.left + 90 && cursor.right <= pane.right;
})`
