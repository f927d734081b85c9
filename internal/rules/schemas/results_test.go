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

	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
)

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
