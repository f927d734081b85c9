package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/record"
	"github.com/isr-sim/isr-sim/internal/show/report"
)

// blindPublish is the shrunk record of a stale writer.
func blindPublish(t *testing.T) *record.Record {
	t.Helper()
	shrunk.Do(func() {
		small := scenariotest.Ran(t, campaign.Shrink{Failed: blindPublishFailed(t)})
		shrunkText = must.Of(json.Marshal(recorded(t, must.Of(kernel.Recorded(small.Scenario))(t))))(t)
	})
	r := &record.Record{}
	must.OK(t, json.Unmarshal(shrunkText, r))
	return explained(r)
}

// The run is shrunk once, and each test gets a copy of its record.
var (
	shrunk     sync.Once
	shrunkText []byte
)

func blindPublishFailed(t *testing.T) kernel.Run {
	t.Helper()
	s, p := scenariotest.Embedded(t, "paused-writer"), scenariotest.Protocol(t, "blind-publish")
	found := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: p, Seed: 1})
	if found.Failure == nil {
		t.Fatal("blind-publish passes paused-writer")
	}
	return kernel.Replay(found.Failure.Replay(), s, p)
}

// explained gives a record an explanation, in which the chance grows from step to step.
func explained(r *record.Record) *record.Record {
	x := &record.Explanation{Tails: 2 * len(r.Steps), Before: 1, Causes: []record.Cause{
		{Step: 10, What: "alice pause", Effect: "needed", To: 0.0188, With: 30},
		{Step: 4, What: "time tick", Effect: "helped", Without: 10, From: 0.2, To: 0.4, With: 28},
	}}
	for i := range r.Steps {
		x.After = append(x.After, 2*(i+1))
	}
	r.Explanation = x
	return r
}

// blindPublishWhole is the record of that run before shrinking.
func blindPublishWhole(t *testing.T) *record.Record {
	t.Helper()
	return explained(recorded(t, blindPublishFailed(t)))
}

func recorded(t *testing.T, run kernel.Run) *record.Record {
	t.Helper()
	return must.Of(record.Of(t.Context(), run, "test"))(t)
}

// long is the record of a run with at least the given number of steps.
func long(t *testing.T, steps int) *record.Record {
	t.Helper()
	script := strings.TrimSuffix(strings.Repeat("get /home, sleep 45s, get /about, sleep 45s, ", steps/30), ", ")
	s := scenariotest.Parsed(t, fmt.Sprintf(`
name: long
actors:
  - {name: alice, script: [%[1]s]}
  - {name: bob, script: [%[1]s]}
  - {name: carol, script: [%[1]s]}
bounds: {ticks: 0, steps: %[2]d}
`, script, 3*steps))
	r := recorded(t, kernel.Run{Scenario: s, Protocol: scenariotest.Protocol(t, "recipe-a"), Seed: 1})
	if len(r.Steps) < steps {
		t.Fatalf("the run has %d steps, want %d", len(r.Steps), steps)
	}
	r.Steps = r.Steps[:steps]
	return r
}

var commands = []report.Command{{Name: "replay", Text: "isr-sim replay run.json"}}

func page(t *testing.T, r *record.Record) string {
	t.Helper()
	var text strings.Builder
	must.OK(t, report.Page(&text, r, commands))
	return text.String()
}

// elements returns the elements of a page, each with its text.
func elements(t *testing.T, text string) []*html.Node {
	t.Helper()
	root := must.Of(html.Parse(strings.NewReader(text)))(t)
	var all []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			all = append(all, n)
		}
	}
	return all
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func TestThePageHasEachStepInPictureAndTable(t *testing.T) {
	r := blindPublish(t)
	text := page(t, r)
	if text != page(t, r) {
		t.Error("a second page of the record is another one")
	}
	ids := map[string]*html.Node{}
	var lines, drawings []*html.Node
	for _, n := range elements(t, text) {
		if id := attribute(n, "id"); id != "" {
			if ids[id] != nil {
				t.Errorf("two elements have the id %s", id)
			}
			ids[id] = n
		}
		if n.Data == "tr" && n.Parent.Data == "tbody" && attribute(n.Parent.Parent, "class") == "steps" {
			lines = append(lines, n)
		}
		if class := attribute(n, "class"); n.Data == "g" && strings.HasPrefix(class, "step") {
			drawings = append(drawings, n)
		}
	}
	if len(lines) != len(r.Steps) || len(drawings) != len(r.Steps) {
		t.Fatalf("the table has %d lines and the picture %d, for %d steps", len(lines), len(drawings), len(r.Steps))
	}
	for i, step := range r.Steps {
		drawn, told := drawings[i], lines[i]
		decisive := step.N == r.Violation.Step
		if is := strings.Contains(attribute(drawn, "class"), "decisive"); is != decisive {
			t.Errorf("step %d is drawn as the violation: %v", step.N, is)
		}
		cells := textOf(told)
		for _, want := range []string{step.Text, step.Kind, step.Lane} {
			if !strings.Contains(cells, want) {
				t.Errorf("the table says of step %d %q, want %q in it", step.N, cells, want)
			}
		}
		for _, c := range step.Changes {
			if !strings.Contains(cells, c.Text) {
				t.Errorf("the table leaves out of step %d the change %q", step.N, c.Text)
			}
		}
	}
	side := textOf(ids["side"])
	for _, want := range []string{r.Violation.Statement, "isr-sim replay run.json", r.Violation.Lines[0], r.Seed} {
		if !strings.Contains(side, want) {
			t.Errorf("beside the picture %q is missing", want)
		}
	}
	for _, class := range []string{"band lock", "band page", "stop paused", "g pause", "ask", "r", "g refused"} {
		if !strings.Contains(text, `class="`+class+`"`) {
			t.Errorf("nothing is drawn as %q", class)
		}
	}
}

func TestThePageSaysWhatHadToHappen(t *testing.T) {
	r := blindPublish(t)
	var bars, buttons []string
	whole, side := "", ""
	for _, n := range elements(t, page(t, r)) {
		switch {
		case n.Data == "rect" && attribute(n, "class") == "chance":
			bars = append(bars, attribute(n, "width"))
		case n.Data == "button" && attribute(n, "class") == "go":
			buttons = append(buttons, attribute(n, "data-n"))
		case n.Data == "header":
			whole = textOf(n)
		case n.Data == "aside":
			side = textOf(n)
		}
	}
	if len(bars) != len(r.Steps) || bars[0] == bars[len(bars)-1] || bars[len(bars)-1] != "48" {
		t.Errorf("the bars of %d steps are %v wide, want them to grow to 48", len(r.Steps), bars)
	}
	if !strings.Contains(whole, "Needed for it: alice pause (step 10)") || strings.Contains(whole, "tick") {
		t.Errorf("the head says %q, want what was needed in it, and nothing else", whole)
	}
	if fmt.Sprint(buttons) != "[10 4]" || !strings.Contains(side, "helped: time tick") ||
		!strings.Contains(side, "without it 0 of 62 runs violate it (0.0% to 1.9%), with it 30") {
		t.Errorf("beside the picture stand %v and %q", buttons, side)
	}
	r.Explanation = nil
	if text := page(t, r); strings.Contains(text, "Needed for it") || strings.Contains(text, `class="chance"`) {
		t.Error("a record without an explanation has one on its page")
	}
}

func TestThePageAsksForNothing(t *testing.T) {
	var scripts, styles int
	policy := ""
	for _, n := range elements(t, page(t, blindPublish(t))) {
		for _, a := range n.Attr {
			if a.Key == "src" || a.Key == "srcset" || strings.HasPrefix(a.Key, "on") || a.Key == "style" ||
				(a.Key == "href" && a.Val != "data:,") || strings.Contains(a.Val, "://") && a.Key != "xmlns" {
				t.Errorf("<%s> has %s=%q", n.Data, a.Key, a.Val)
			}
		}
		if attribute(n, "http-equiv") == "Content-Security-Policy" {
			policy = attribute(n, "content")
		}
		sum := sha256.Sum256([]byte(textOf(n)))
		allowed := strings.Contains(policy, base64.StdEncoding.EncodeToString(sum[:]))
		switch {
		case n.Data == "script" && attribute(n, "type") == "":
			scripts++
			if !allowed {
				t.Error("the policy forbids the page's own script")
			}
		case n.Data == "style":
			styles++
			if !allowed {
				t.Error("the policy forbids the page's own style")
			}
		}
	}
	if scripts != 1 || styles != 1 || !strings.HasPrefix(policy, "default-src 'none';") {
		t.Errorf("%d scripts, %d styles, policy %q", scripts, styles, policy)
	}
}

const attack = "</script></title></style>'\"><script>window.hacked = 1</script><img src=x " +
	"onerror=hacked=1>\x00\x1b{{.}}\u202e"

// hostile is a record with an attack in every text that comes from a cache, a scenario or a client.
func hostile(t *testing.T) *record.Record {
	t.Helper()
	r := blindPublish(t)
	var whole map[string]any
	var text bytes.Buffer
	must.OK(t, r.Write(&text))
	must.OK(t, json.Unmarshal(text.Bytes(), &whole))
	keep := map[string]bool{"time": true, "sent": true, "start": true, "until": true, "kind": true, "verdict": true,
		"role": true, "cause": true}
	var spoil func(name string, v any) any
	spoil = func(name string, v any) any {
		switch v := v.(type) {
		case string:
			if keep[name] {
				return v
			}
			return v + attack
		case []any:
			for i := range v {
				v[i] = spoil(name, v[i])
			}
			return v
		case map[string]any:
			spoilt := map[string]any{}
			//isrsim:unordered each by itself
			for field, value := range v {
				to := field
				if name == "key" || name == "before" || name == "after" {
					to += attack
				}
				spoilt[to] = spoil(field, value)
			}
			return spoilt
		default:
			return v
		}
	}
	made, err := json.Marshal(spoil("", whole))
	must.OK(t, err)
	spoilt, err := record.Read(bytes.NewReader(made))
	must.OK(t, err)
	return spoilt
}

func TestAHostileRecordIsText(t *testing.T) {
	r := hostile(t)
	var picture, index, trace strings.Builder
	must.OK(t, errors.Join(report.SVG(&picture, r),
		report.Index(&index, []report.Entry{{Link: "a.html", Record: r}}, ""), report.Trace(&trace, r)))
	var spoilt strings.Builder
	must.OK(t, report.Page(&spoilt, r, []report.Command{{Name: attack, Text: attack}}))
	for name, of := range map[string]struct {
		text    string
		scripts int
	}{"page": {spoilt.String(), 2}, "index": {index.String(), 0}, "picture": {picture.String(), 0}} {
		scripts := 0
		for _, n := range elements(t, of.text) {
			if n.Data == "script" {
				scripts++
			}
			if n.Data == "img" || attribute(n, "onerror") != "" {
				t.Errorf("%s: the attack has become an element <%s>", name, n.Data)
			}
		}
		if scripts != of.scripts || !strings.Contains(of.text, "window.hacked = 1") {
			t.Errorf("%s: %d scripts, want %d, and the attack as text", name, scripts, of.scripts)
		}
		if strings.ContainsAny(of.text, "\x00\x1b\u202e") {
			t.Errorf("%s: control characters are left", name)
		}
	}
	if !json.Valid([]byte(trace.String())) {
		t.Error("the trace is no JSON")
	}
	wellFormed(t, picture.String())
}

func wellFormed(t *testing.T, picture string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
	}
}

func TestThePictureStandsAlone(t *testing.T) {
	var picture strings.Builder
	must.OK(t, report.SVG(&picture, blindPublish(t)))
	wellFormed(t, picture.String())
	if text := picture.String(); !strings.HasPrefix(text, `<svg xmlns="http://www.w3.org/2000/svg"`) ||
		!strings.Contains(text, "decisive") {
		t.Errorf("the picture is %.200s", text)
	}
}

func TestALongRunIsSmall(t *testing.T) {
	if size := len(page(t, long(t, 2_000))); size > 1_100_000 {
		t.Errorf("the report of 2,000 steps has %d bytes, want at most 1.1 MB", size)
	}
}

func TestTraceIsOfTheKnownForm(t *testing.T) {
	r := blindPublish(t)
	var text bytes.Buffer
	must.OK(t, report.Trace(&text, r))
	var trace struct {
		TraceEvents []struct {
			Name     string `json:"name"`
			Ph       string `json:"ph"`
			Ts, Dur  int64
			Pid, Tid int
			ID       int
		} `json:"traceEvents"`
	}
	must.OK(t, json.Unmarshal(text.Bytes(), &trace))
	phases, open, names := map[string]int{}, map[int]int64{}, map[string]bool{}
	for _, e := range trace.TraceEvents {
		phases[e.Ph]++
		names[e.Name] = true
		switch e.Ph {
		case "X":
			if e.Dur < 0 || e.Ts < 0 {
				t.Errorf("%+v lasts less than nothing", e)
			}
		case "s":
			open[e.ID] = e.Ts
		case "f":
			if sent, is := open[e.ID]; !is || e.Ts < sent {
				t.Errorf("%+v arrives before it is sent", e)
			}
		}
	}
	if phases["s"] == 0 || phases["s"] != phases["f"] || !names["violated: stale-writer"] || !names["paused"] ||
		!names["alice-1 until +1s"] {
		t.Errorf("phases %v, names %v", phases, names)
	}
}

// TestOperationsHaveTheirMoments draws two writers and a reader with a wrong answer. The writers' bars have marks at
// the moments of their effects, in the order that explains them, and the reader's bar has a thick edge.
func TestOperationsHaveTheirMoments(t *testing.T) {
	start := time.Unix(0, 0).UTC()
	step := func(n int, actor, kind string, operation int) record.Step {
		return record.Step{N: n, Time: start, Actor: actor, Lane: actor, Kind: kind, Text: "publish of /a",
			Operation: operation, Options: 1}
	}
	r := &record.Record{
		Format: record.Format, Scenario: "concurrent", Protocol: "p", Seed: "1", Watched: true, Start: start,
		Verdict: "violated", Actors: []record.Actor{{Name: "alice"}, {Name: "bob"}}, Orders: [][]int{{2, 1}},
		Steps: []record.Step{
			step(1, "alice", "call", 1), step(2, "bob", "call", 2), step(3, "bob", "answer", 2),
			step(4, "bob", "call", 3), step(5, "bob", "answer", 3),
			step(6, "alice", "answer", 1), step(7, "bob", "call", 4), step(8, "bob", "answer", 4),
		},
		Violation: &record.Violation{
			Invariant: "linearizable", Statement: "s", Why: "w", Step: 5, Operations: []int{3}, Lines: []string{},
		},
	}
	text := page(t, r)
	var moments []string
	for _, m := range regexp.MustCompile(`class="moment" x="\d+" y="(\d+)"[^>]*><title>([^<]*)<`).FindAllStringSubmatch(
		text, -1,
	) {
		moments = append(moments, m[1]+" "+strings.TrimSuffix(m[2], " in an order that explains the answers"))
	}
	slices.Sort(moments)
	// Bob's operation takes effect first, at his call in step 2. Alice's was called earlier, but takes effect later.
	want := []string{"31 publish of /a: the moment of its effect, place 1 of 2",
		"36 publish of /a: the moment of its effect, place 2 of 2"}
	if diff := cmp.Diff(want, moments); diff != "" {
		t.Errorf("moments (-want +got):\n%s", diff)
	}
	if n := strings.Count(text, `class="call unexplained"`); n != 1 {
		t.Errorf("%d operations are unexplained, want the one that was answered in step 5", n)
	}
}

func TestTheIndexLeadsToViolationsFirst(t *testing.T) {
	good := recorded(t, kernel.Run{
		Scenario: scenariotest.Embedded(t, "paused-writer"), Protocol: scenariotest.Protocol(t, "recipe-a"), Seed: 5,
	})
	var text strings.Builder
	must.OK(t, report.Index(&text,
		[]report.Entry{{Link: "good.html", Record: good}, {Link: "a b.html", Record: blindPublish(t)}}, ""))
	var links []string
	for _, n := range elements(t, text.String()) {
		if n.Data == "a" {
			links = append(links, attribute(n, "href"))
		}
	}
	if fmt.Sprint(links) != "[a%20b.html good.html]" {
		t.Errorf("links %q", links)
	}
}
