package show_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/joshdk/go-junit"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
)

const nasty = "a <b> & \"c\" 100% ]]> ```` | \\ ,:\x00\x1b[31m\r\n::error::forged\n<script>alert(1)</script> \xff"

func document() verdicts.Document {
	return verdicts.Document{
		Version: "v1.2.3", Command: "run", ExitCode: 1,
		Results: []verdicts.Result{
			{Scenario: "fine", Protocol: "recipe-a", Verdict: verdicts.OK, Passed: true, Seed: "1", Schedules: 10,
				Steps: 100, Reached: []string{"pause"}},
			{
				Scenario: "checkout", Protocol: "blind-publish", File: "./a folder/checkout,1.yaml", Line: 2,
				Verdict: verdicts.Violated, Invariant: "stale-writer",
				Statement: "a publish takes effect only while | LOCK | is held", Message: "alice published late",
				Details: "checkout under blind-publish\n" + nasty, Seed: "1", Schedules: 3, Steps: 40,
				Replay: "isr-sim replay --seed 7 checkout.yaml",
			},
			{Scenario: "cut", Protocol: "recipe-b", Verdict: verdicts.Unknown, Message: nasty, Seed: "1", Schedules: 3},
			{Scenario: "idle", Protocol: "recipe-a", Verdict: verdicts.Vacuous, Message: "no schedule reached pause"},
			{Scenario: "harmless", Protocol: "recipe-a", Verdict: verdicts.OK, Message: "expected a violation"},
			{Scenario: "wrong.yaml", File: "wrong.yaml", Line: 3, Column: 9, Verdict: verdicts.Mistake, Message: nasty},
		},
	}
}

func written(t *testing.T, f verdicts.Format, d verdicts.Document) []byte {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, f.Write(&b, d))
	return b.Bytes()
}

func TestJUnitIsReadByAnotherLibrary(t *testing.T) {
	suites := must.Of(junit.Ingest(written(t, verdicts.JUnit, document())))(t)
	if len(suites) != 1 || suites[0].Name != "isr-sim run" {
		t.Fatalf("got %+v, want one suite", suites)
	}
	if got := suites[0].Totals; got.Tests != 6 || got.Passed != 1 || got.Failed != 3 || got.Error != 2 {
		t.Errorf("got %+v, want 6 tests: 1 passed, 3 failed, 2 errors", got)
	}
	if c := suites[0].Tests[1]; c.Name != "checkout under blind-publish" ||
		c.Classname != "isr-sim.run.blind-publish" ||
		c.Message != "alice published late" || !strings.Contains(c.Error.Error(), "<script>alert(1)</script>") {
		t.Errorf("got %+v", c)
	}
}

// sarifSchema is the schema that OASIS publishes, in the form that the validator of another project needs.
//
// Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json
func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	return must.Of(jsonschema.NewCompiler().Compile("verdicts/testdata/sarif-schema-2.1.0.json"))(t)
}

func validate(t *testing.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	value := must.Of(jsonschema.UnmarshalJSON(bytes.NewReader(text)))(t)
	return s.Validate(value)
}

func TestSARIFFitsItsSchema(t *testing.T) {
	s := sarifSchema(t)
	if err := validate(t, s, written(t, verdicts.SARIF, verdicts.Document{Version: "v1", Command: "run"})); err != nil {
		t.Errorf("no results: %v", err)
	}
	text := written(t, verdicts.SARIF, document())
	if err := validate(t, s, text); err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		`"uri": "a%20folder/checkout,1.yaml"`, `"startLine": 2`, `"ruleId": "stale-writer"`, `"ruleId": "vacuous"`,
		`"ruleId": "not-violated"`, `"level": "warning"`, `"startColumn": 9`,
	} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("found no %s in %s", want, text)
		}
	}
	for _, wrong := range [][2]string{{`"level": "error"`, `"level": "awful"`}, {`"ruleIndex": 0`, `"ruleIndex": -2`},
		{`"version": "2.1.0"`, `"version": "3"`}} {
		if validate(t, s, bytes.Replace(text, []byte(wrong[0]), []byte(wrong[1]), 1)) == nil {
			t.Errorf("the validator accepts %s", wrong[1])
		}
	}
}

// Each annotation is one line, and no text of a result can begin another annotation.
func TestGitHubAnnotations(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(string(written(t, verdicts.GitHub, document())), "\n"), "\n")
	if len(lines) != 5 {
		t.Fatalf("got %d lines, want 5: %q", len(lines), lines)
	}
	command := regexp.MustCompile(`^::error ([a-z]+=[^,:\r\n]+)(,[a-z]+=[^,:\r\n]+)*::[^\r\n]+$`)
	for _, line := range lines {
		if !command.MatchString(line) {
			t.Errorf("no workflow command: %q", line)
		}
	}
	want := "::error file=a folder/checkout%2C1.yaml,line=2,title=isr-sim%3A stale-writer is violated%3A checkout " +
		"under blind-publish::a publish takes effect only while | LOCK | is held%0Aalice published late%0Areplay: " +
		"isr-sim replay --seed 7 checkout.yaml"
	if lines[0] != want {
		t.Errorf("got  %s\nwant %s", lines[0], want)
	}
	if !strings.HasPrefix(lines[4], "::error file=wrong.yaml,line=3,col=9,title=") {
		t.Errorf("got %s", lines[4])
	}
}

func TestMarkdownIsATable(t *testing.T) {
	var html bytes.Buffer
	must.OK(t, goldmark.New(goldmark.WithExtensions(extension.Table)).Convert(written(t, verdicts.Markdown, document()),
		&html))
	page := html.String()
	for what, want := range map[string]int{"<tr>": 7, "<td": 36, "<h3": 5, "<script>": 0, "<blockquote>": 1} {
		if got := strings.Count(page, what); got != want {
			t.Errorf("found %d of %s, want %d:\n%s", got, what, want, page)
		}
	}
	if !strings.Contains(page, "5 of 6 not as expected") || !strings.Contains(page, "while | LOCK | is held") {
		t.Errorf("got %s", page)
	}
}

func TestJSON(t *testing.T) {
	var d verdicts.Document
	must.OK(t, json.Unmarshal(written(t, verdicts.JSON, document()), &d))
	if d.Format != 1 || d.ExitCode != 1 || len(d.Results) != 6 || d.Results[1].Invariant != "stale-writer" {
		t.Errorf("got %+v", d)
	}
	lines := strings.Split(strings.TrimSpace(string(written(t, verdicts.JSONL, document()))), "\n")
	if len(lines) != 6 {
		t.Fatalf("got %d lines, want 6", len(lines))
	}
	for _, line := range lines {
		var r verdicts.Result
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Scenario == "" {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestAnUnknownFormat(t *testing.T) {
	err := verdicts.Format("xml").Write(&bytes.Buffer{}, document())
	if err == nil ||
		err.Error() != `found the format "xml", expected one of text, json, jsonl, junit, github, sarif, markdown` {
		t.Errorf("got %v", err)
	}
}

func TestResultsAreReadAsTheyWereWritten(t *testing.T) {
	want := verdicts.Document{Version: "v1", Command: "explore", ExitCode: 1, Results: []verdicts.Result{{
		Scenario: "shop", Protocol: "blind-publish", Verdict: verdicts.Violated, Breaks: "stale-writer",
		Found: []verdicts.Found{{Invariant: "stale-writer", Schedule: 4, Schedules: 169}},
		Strategies: []verdicts.Strategy{{Strategy: "pos", Schedules: 249,
			Found: []verdicts.Found{{Invariant: "stale-writer", Schedules: 8}}}},
		Coverage: &verdicts.Coverage{
			Orders: 12, States: 460, NextIsNew: 0.5, Growth: []verdicts.Growth{{Schedule: 20, Orders: 6, States: 249}},
		},
	}}}
	got, err := verdicts.Read(bytes.NewReader(written(t, verdicts.JSON, want)))
	if err != nil {
		t.Fatal(err)
	}
	want.Format = 1
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOtherFilesAreNoResults(t *testing.T) {
	for _, text := range []string{"", "[]", "{}", `{"format":1,"results":null}`,
		`{"format":1,"scenario":"a record","steps":[{}]}`, `{"format":"isr-sim explorations"}`} {
		if _, err := verdicts.Read(strings.NewReader(text)); !errors.Is(err, verdicts.ErrNoResults) {
			t.Errorf("%q: got %v, want ErrNoResults", text, err)
		}
	}
	_, err := verdicts.Read(strings.NewReader(`{"format":2,"command":"run","results":[]}`))
	if err == nil || !strings.Contains(err.Error(), "found results of format 2, expected 1") {
		t.Errorf("a later version: got %v", err)
	}
}
