package schemas

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	generator "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/isr-sim/isr-sim/internal/show/verdicts"
)

var update = flag.Bool("schemas.update", false, "write docs/results.schema.json anew")

func TestThePublishedSchemaOfResultsIsThatOfTheTypes(t *testing.T) {
	r := generator.Reflector{AllowAdditionalProperties: true} // readers skip the fields that they do not know
	if err := r.AddGoComments("github.com/isr-sim/isr-sim/internal/rules/schemas", "../../show/verdicts"); err != nil {
		t.Fatal(err)
	}
	//isrsim:unordered each is changed by itself
	for name, text := range r.CommentMap {
		delete(r.CommentMap, name)
		r.CommentMap[strings.Replace(name, "internal/rules/schemas/../verdicts", "internal/show/verdicts", 1)] = strings.Join(strings.Fields(text), " ")
	}
	s := r.Reflect(&verdicts.Document{})
	s.ID = "https://raw.githubusercontent.com/isr-sim/isr-sim/main/docs/results.schema.json"
	s.Title = "The results of a command of isr-sim"
	if s.Definitions["Result"].Description == "" {
		t.Fatalf("the types have lost their comments: %v", r.CommentMap)
	}
	want, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	const published = "../../../docs/results.schema.json"
	if *update {
		if err := os.WriteFile(published, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/results.schema.json (-of the types +published); go test ./internal/rules/schemas -schemas.update:\n%s", diff)
	}
}

func TestResultsFitTheirSchema(t *testing.T) {
	s := compiled(t, "results.schema.json")
	fits := func(d verdicts.Document) error {
		var text bytes.Buffer
		if err := verdicts.JSON.Write(&text, d); err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(&text)
		if err != nil {
			t.Fatal(err)
		}
		return s.Validate(value)
	}
	if err := fits(verdicts.Document{Version: "v1", Command: "run"}); err != nil {
		t.Errorf("no results: %v", err)
	}
	result := verdicts.Result{
		Scenario: "checkout", Protocol: "blind-publish", File: "checkout.yaml", Line: 2, Verdict: verdicts.Violated, Invariant: "stale-writer",
		Statement: "s", Message: "m", Details: "d", Seed: "18446744073709551615", Schedules: 3, Steps: 40, Reached: []string{"pause"},
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
