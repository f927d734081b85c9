package schemas

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	generator "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/isr-sim/isr-sim/internal/cli/mcp"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/record"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
)

func TestThePublishedSchemaOfRecordsIsThatOfTheTypes(t *testing.T) {
	s := reflected(t, "record", &record.Record{})
	s.ID = "https://github.com/isr-sim/isr-sim/blob/main/docs/record.schema.json"
	s.Title = "The record of a run of isr-sim"
	row := s.Definitions["Row"]
	row.OneOf, row.Type = []*generator.Schema{{Type: "object"}, {Type: "null"}}, "" // no row is null
	isPublished(t, "record.schema.json", s)
}

func valid(t *testing.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	value := must.Of(jsonschema.UnmarshalJSON(bytes.NewReader(text)))(t)
	return s.Validate(value)
}

func TestRecordsFitTheSchema(t *testing.T) {
	s := compiled(t, "record.schema.json")
	old, err := filepath.Glob("../../show/record/testdata/format-*.json")
	if err != nil || len(old) == 0 {
		t.Fatalf("found no old records: %v", err)
	}
	for _, file := range old {
		text := must.Of(os.ReadFile(file))(t)
		if err := valid(t, s, text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for name, protocol := range map[string]string{
		"paused-writer": "blind-publish", "two-contenders": "recipe-b", "body-faults": "recipe-a",
	} {
		run := kernel.Run{
			Scenario: scenariotest.Embedded(t, name), Protocol: scenariotest.Protocol(t, protocol), Seed: 3,
		}
		report := scenariotest.Ran(t,
			campaign.Campaign{Scenario: run.Scenario, Protocol: run.Protocol, Seed: 1, Schedules: 20})
		if report.Failure != nil {
			replay := report.Failure.Replay()
			run.Seed, run.Strategy = replay.Seed, strategy.Replay(replay.Choices)
		}
		r := must.Of(record.Of(t.Context(), run, "test"))(t)
		var text bytes.Buffer
		must.OK(t, r.Write(&text))
		if err := valid(t, s, text.Bytes()); err != nil {
			t.Errorf("%s under %s: %v", name, protocol, err)
		}
	}
}

func TestTheSchemaRefusesWhatIsNoRecord(t *testing.T) {
	s := compiled(t, "record.schema.json")
	whole := must.Of(os.ReadFile("../../show/record/testdata/format-1.json"))(t)
	for name, change := range map[string]func(map[string]any){
		"no steps":                func(r map[string]any) { delete(r, "steps") },
		"a seed that is a number": func(r map[string]any) { r["seed"] = 7 },
		"a start that is no time": func(r map[string]any) { r["start"] = "yesterday" },
		"an unknown verdict":      func(r map[string]any) { r["verdict"] = "perhaps" },
		"a step without a kind":   func(r map[string]any) { delete(r["steps"].([]any)[0].(map[string]any), "kind") },
	} {
		var r map[string]any
		must.OK(t, json.Unmarshal(whole, &r))
		change(r)
		text := must.Of(json.Marshal(r))(t)
		if valid(t, s, text) == nil {
			t.Errorf("%s: the schema allows it", name)
		}
	}
}

var update = flag.Bool("schemas.update", false, "write the schemas of records and results anew")

// reflected makes the schema of a type of a package of internal/show, with the types' comments as descriptions.
func reflected(t *testing.T, name string, value any) *generator.Schema {
	t.Helper()
	r := generator.Reflector{AllowAdditionalProperties: true} // readers skip the fields that they do not know
	must.OK(t, r.AddGoComments("github.com/isr-sim/isr-sim/internal/rules/schemas", "../../show/"+name))
	//isrsim:unordered each is changed by itself
	for name, text := range r.CommentMap {
		r.CommentMap[name] = strings.Join(strings.Fields(text), " ")
	}
	s := r.Reflect(value)
	if s.Definitions[reflect.TypeOf(value).Elem().Name()].Description == "" {
		t.Fatalf("the types have lost their comments: %v", r.CommentMap)
	}
	return s
}

// isPublished checks that the schema is the one that readers find.
func isPublished(t *testing.T, name string, s *generator.Schema) {
	t.Helper()
	want, err := json.MarshalIndent(s, "", "  ")
	must.OK(t, err)
	want = append(want, '\n')
	file := filepath.Join("..", "..", "..", "docs", name)
	if *update {
		must.OK(t, os.WriteFile(file, want, 0o644))
	}
	got, err := os.ReadFile(file)
	must.OK(t, err)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/%s (-of the types +published); go test ./internal/rules/schemas -schemas.update:\n%s", name,
			diff)
	}
}

func TestThePublishedSchemaOfResultsIsThatOfTheTypes(t *testing.T) {
	s := reflected(t, "verdicts", &verdicts.Document{})
	s.ID = "https://raw.githubusercontent.com/isr-sim/isr-sim/main/docs/results.schema.json"
	s.Title = "The results of a command of isr-sim"
	isPublished(t, "results.schema.json", s)
}

// Agents read the schema of answers before each session, so it has no descriptions.
func TestTheSchemaOfAnswersIsThatOfTheTypes(t *testing.T) {
	r := generator.Reflector{AllowAdditionalProperties: true, ExpandedStruct: true}
	s := r.Reflect(&mcp.Answer{})
	s.ID = ""
	isPublished(t, filepath.Join("..", "internal", "cli", "mcp", "answer.schema.json"), s)
}

func TestResultsFitTheirSchema(t *testing.T) {
	s := compiled(t, "results.schema.json")
	fits := func(d verdicts.Document) error {
		var text bytes.Buffer
		must.OK(t, verdicts.JSON.Write(&text, d))
		return valid(t, s, text.Bytes())
	}
	if err := fits(verdicts.Document{Version: "v1", Command: "run"}); err != nil {
		t.Errorf("no results: %v", err)
	}
	result := verdicts.Result{
		Scenario: "checkout", Protocol: "blind-publish", File: "checkout.yaml", Line: 2, Verdict: verdicts.Violated,
		Invariant: "stale-writer", Statement: "s", Message: "m", Details: "d", Seed: "18446744073709551615",
		Schedules: 3, Steps: 40, Reached: []string{"pause"},
	}
	d := verdicts.Document{Version: "v1", Command: "run", ExitCode: 1, Results: []verdicts.Result{result}}
	if err := fits(d); err != nil {
		t.Error(err)
	}
	d.Results[0].Verdict = "awful"
	if fits(d) == nil {
		t.Error("a verdict that there is not fits")
	}
}
