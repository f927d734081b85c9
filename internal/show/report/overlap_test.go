package report_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/isr-sim/isr-sim/internal/rules/browser"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/show/record"
)

// longNames is the record of a stale writer with long names, numbers and times.
func longNames(t *testing.T) *record.Record {
	t.Helper()
	text := must.Of(json.Marshal(blindPublishWhole(t)))(t)
	text = []byte(strings.NewReplacer(
		"alice", "writer-of-eu-central-1-No7", "bob", "WRITER_OF_AP_SOUTHEAST_2", "/home",
		"/products/november/a-page-with-a-rather-long-name?of=it",
	).Replace(string(text)))
	r := &record.Record{}
	must.OK(t, json.Unmarshal(text, r))
	for i := range r.Steps {
		r.Steps[i].N += 10_000
		if i > 20 {
			r.Steps[i].Time = r.Steps[i].Time.Add(2345*time.Hour + 678*time.Millisecond)
		}
	}
	r.Violation.Step += 10_000
	for i := range r.Actors {
		r.Actors[i].Offset, r.Actors[i].PPM = "-1h30m12.5s", 50
	}
	return r
}

// overlaps names the texts of the picture that overlap each other, or that a line strikes through.
const overlaps = `(() => {
	const found = [], box = e => e.getBoundingClientRect();
	const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2;
	const compare = (all, what) => all.forEach((a, i) => all.slice(i + 1).forEach(b => {
		if (meet(box(a), box(b))) found.push(what + ': ' + a.textContent + ' | ' + b.textContent);
	}));
	const heads = document.querySelector('.heads');
	compare([...heads.querySelectorAll('text')], 'heads');
	for (const e of heads.querySelectorAll('text')) {
		const b = box(e), all = box(heads);
		if (b.left < all.left || b.right > all.right || b.top < all.top || b.bottom > all.bottom) found.push('cut: ' + e.textContent);
	}
	for (const step of document.querySelectorAll('.step')) {
		compare([...step.querySelectorAll('.n, .t, .g, .w')].filter(e => box(e).width), 'step');
		for (const line of step.querySelectorAll('.time, .write, .chance')) {
			for (const e of step.querySelectorAll('.n, .t, .w')) {
				const a = box(line), b = box(e);
				if (b.width && a.left <= b.right && b.left <= a.right && a.top <= b.bottom && b.top <= a.bottom) found.push('struck: ' + e.textContent + ' by ' + line.getAttribute('class'));
			}
		}
	}
	compare([...document.querySelectorAll('.label')], 'labels');
	return [...new Set(found)].join('\n');
})()`

func TestNothingOverlaps(t *testing.T) {
	b := browser.Open(t, "file:")
	for name, r := range map[string]*record.Record{"shrunk": blindPublish(t), "long": longNames(t)} {
		for _, size := range [][2]int64{{1280, 800}, {400, 800}} {
			load(t, b, r, size[0], size[1])
			browser.Value[bool](b,
				"document.head.append(Object.assign(document.createElement('style'), {textContent: '.chunk { "+
					"content-visibility: visible }'})), true")
			for _, way := range []string{"down", "across"} {
				if found := browser.Value[string](b, overlaps); found != "" {
					t.Errorf("%s at %v, time %s:\n%s", name, size, way, found)
				}
				b.Keep(fmt.Sprintf("overlap-%s-%d-%s.png", name, size[0], way))
				b.Do(chromedp.Click("#turn"))
			}
		}
	}
}

func TestNamesStandInWhole(t *testing.T) {
	r := longNames(t)
	var heads, labels []string
	for _, n := range elements(t, page(t, r)) {
		switch class := attribute(n, "class"); {
		case n.Data == "g" && strings.HasPrefix(class, "head "):
			heads = append(heads, textOf(n))
		case n.Data == "text" && strings.HasPrefix(class, "label"):
			labels = append(labels, textOf(n))
		}
	}
	got := strings.Join(heads, "\n")
	for _, want := range []string{r.Actors[0].Name, r.Actors[1].Name,
		"LOCK/products/november/a-page-with-a-rather-long-name?of=it"} {
		if !strings.Contains(got, want) {
			t.Errorf("the heads are\n%s\nwant %s in whole", got, want)
		}
	}
	tokens := 0
	for _, l := range labels {
		if strings.Contains(l, "…") {
			t.Errorf("a band has the name %q, want it in whole", l)
		}
		if strings.HasPrefix(l, r.Actors[0].Name+"-") || strings.HasPrefix(l, r.Actors[1].Name+"-") {
			tokens++
		}
	}
	if tokens == 0 {
		t.Errorf("no band has the token of its lease: %q", labels)
	}
}
