package report_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/rules/browser"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/record"
)

// shown has what the page's script shows about steps.
type shown struct {
	Changes map[string][]struct{ Attr map[string]string }
	Calls   map[string][3][]int
	Words   []string
}

func shownOf(t *testing.T, r *record.Record) (s shown) {
	t.Helper()
	for _, n := range elements(t, page(t, r)) {
		if attribute(n, "id") == "data" {
			if err := json.Unmarshal([]byte(textOf(n)), &s); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

// Attributes that are times by the row mapping are shown as times of the run, in every unit. Others are not.
func TestTimesInValues(t *testing.T) {
	r := blindPublish(t)
	r.Times = map[string]string{"expires": "ms", "made": "iso8601", "ttl": "s", "soon": "us"}
	at := r.Start.Add(90 * time.Second)
	number := func(n int64) map[string]any { return map[string]any{"N": strconv.FormatInt(n, 10)} }
	text := func(s string) map[string]any { return map[string]any{"S": s} }
	row := record.Row{
		"expires": number(at.UnixMilli()), "made": text(at.Format(time.RFC3339)), "ttl": number(at.Unix()),
		"soon": number(at.UnixMicro()), "count": number(at.Unix()), "text": text(at.Format(time.RFC3339)),
		"millis": number(at.UnixMilli()),
	}
	far := record.Row{"ttl": number(at.UnixMilli()), "expires": text("never")}
	var steps []int
	for i := range r.Steps {
		if len(r.Steps[i].Changes) > 0 {
			steps = append(steps, i)
		}
	}
	first, second := &r.Steps[steps[0]], &r.Steps[steps[1]]
	first.Changes[0].After, first.Changes[0].Means = row, []record.Meaning{{Role: "page"}}
	second.Changes[0].After, second.Changes[0].Means = far, []record.Meaning{{Role: "page"}}
	first.Call = &record.Call{Operation: "UpdateItem", Request: map[string]any{
		"Key": map[string]any{"id": text("1")}, "ExpressionAttributeNames": map[string]any{"#e": "expires"},
		"UpdateExpression":    "SET #e = :until, made = :base + :more, count = :count",
		"ConditionExpression": ":now < #e AND count < :both AND ttl > :both",
		"ExpressionAttributeValues": map[string]any{
			":until": number(at.UnixMilli()), ":now": number(r.Start.UnixMilli()), ":count": number(at.Unix()),
			":both": number(at.Unix()), ":base": text(at.Format(time.RFC3339)), ":more": number(at.Unix()),
		},
	}}
	s := shownOf(t, r)
	digits := func(n int64) string { return strconv.FormatInt(n, 10) }
	got := []map[string]string{s.Changes[strconv.Itoa(steps[0])][0].Attr, s.Changes[strconv.Itoa(steps[1])][0].Attr, {}}
	call := s.Calls[strconv.Itoa(steps[0])]
	for i := 0; i < len(call[1]); i += 2 {
		got[2][s.Words[call[1][i]]] = s.Words[call[1][i+1]]
	}
	maps.DeleteFunc(got[2],
		func(name, _ string) bool { return name[0] != 'E' || name == "ExpressionAttributeNames #e" })
	want := []map[string]string{
		{
			"expires": digits(at.UnixMilli()) + " (+1m30s)", "made": at.Format(time.RFC3339) + " (+1m30s)",
			"ttl": digits(at.Unix()) + " (+1m30s)", "soon": digits(at.UnixMicro()) + " (+1m30s)",
			"count": digits(at.Unix()), "text": at.Format(time.RFC3339), "millis": digits(at.UnixMilli()),
		},
		{"ttl": digits(at.UnixMilli()), "expires": "never"},
		{
			"ExpressionAttributeValues :until": digits(at.UnixMilli()) + " (+1m30s)",
			"ExpressionAttributeValues :now":   digits(r.Start.UnixMilli()) + " (+0s)",
			"ExpressionAttributeValues :count": digits(at.Unix()), "ExpressionAttributeValues :both": digits(at.Unix()),
			"ExpressionAttributeValues :base": at.Format(time.RFC3339),
			"ExpressionAttributeValues :more": digits(at.Unix()),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}

	// In a row that the mapping does not know, an attribute of this name may mean anything.
	first.Changes[0].Means = nil
	if got := shownOf(t, r).Changes[strconv.Itoa(steps[0])][0].Attr["ttl"]; got != digits(at.Unix()) {
		t.Errorf("a row outside of the mapping shows %q", got)
	}
}

// The report of a page that was served too late opens at the step where the page became too old, not minutes later.
func TestBoundedStalenessOpensWhereItBegan(t *testing.T) {
	s, p := scenariotest.Embedded(t, "long-outage"), scenariotest.Protocol(t, "last-page-for-ever")
	found := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: p, Seed: 1})
	if found.Failure == nil {
		t.Fatal("last-page-for-ever passes long-outage")
	}
	r := recorded(t, kernel.Replay(found.Failure.Replay(), s, p))
	read, end := -1, -1
	var key string
	for i, step := range r.Steps {
		for _, e := range step.Events {
			if e.Seq == r.Violation.Events[0] {
				read, key = i, e.Key
			}
		}
		if step.N == r.Violation.Step {
			end = i
		}
	}
	begins := func(what string, want int) {
		t.Helper()
		for _, n := range elements(t, page(t, r)) {
			if attribute(n, "id") != "data" {
				continue
			}
			var data struct{ Begins, At int }
			if err := json.Unmarshal([]byte(textOf(n)), &data); err != nil {
				t.Fatal(err)
			}
			if data.Begins != want || data.At != end {
				t.Errorf("%s: it opens at step %d and ends at %d, want %d and %d", what, data.Begins, data.At, want,
					end)
			}
		}
	}
	if read < 0 || end < read+5 {
		t.Fatalf("the page is read at %d, and served too old at %d", read, end)
	}
	begins("nothing has changed", read)
	change := record.Event{Seq: 1 << 30, Kind: "changed", Key: key}
	for _, at := range []int{read + 3, read + 1} {
		r.Steps[at].Events = append(r.Steps[at].Events, change)
	}
	r.Steps[read+2].Events = append(r.Steps[read+2].Events,
		record.Event{Seq: 1<<30 + 1, Kind: "invalidating", Key: key})
	begins("its data changes twice", read+1)
	r.Steps[read+1].Events[len(r.Steps[read+1].Events)-1].Key = "/another"
	begins("it is invalidated, and then its data changes", read+2)

	b := browser.Open(t, "file:")
	load(t, b, r, 1280, 800)
	where := browser.Value[string](b, "document.getElementById('where').textContent")
	what := browser.Value[string](b, "document.getElementById('what').textContent")
	if !strings.HasPrefix(where, fmt.Sprintf("Step %d of", r.Steps[read+2].N)) ||
		!strings.HasPrefix(what, "It began here. ") {
		t.Errorf("it opens with %q, %q", where, what)
	}
	if !browser.Value[bool](b, fmt.Sprintf("%s(%d)", inView, read+2)) {
		t.Error("the step where it began is not in view")
	}
	browser.Value[bool](b, "document.getElementById('violation').click(), true")
	if what := browser.Value[string](b, "document.getElementById('what').textContent"); !strings.HasPrefix(what,
		"✕ violated here. ") {
		t.Errorf("the button of the violation leads to %q", what)
	}
	b.Keep("begins.png")
	b.Quiet()
}

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
