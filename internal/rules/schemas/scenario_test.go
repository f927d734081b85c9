package schemas

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	yaml "github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

func compiled(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	return must.Of(c.Compile(filepath.Join("..", "..", "..", "docs", name)))(t)
}

// published returns the file in which readers find a schema.
func published(t *testing.T, name string) string {
	t.Helper()
	text := must.Of(os.ReadFile(filepath.Join("..", "..", "..", "docs", name)))(t)
	var schema struct {
		ID string `json:"$id"`
	}
	if err := json.Unmarshal(text, &schema); err != nil || schema.ID == "" {
		t.Fatalf("%s has no $id: %v", name, err)
	}
	return schema.ID
}

// validate checks a YAML file against a schema.
func validate(t *testing.T, s *jsonschema.Schema, file []byte) error {
	t.Helper()
	text := must.Of(yaml.YAMLToJSON(file))(t)
	return valid(t, s, text)
}

// Every embedded scenario fits the schema, and its first line points editors to it.
func TestEmbeddedScenariosFitTheSchema(t *testing.T) {
	s := compiled(t, "scenario.schema.json")
	comment := "# yaml-language-server: $schema=" + published(t, "scenario.schema.json") + "\n"
	names := slices.Concat(fixtures.Names(), fixtures.Museum())
	if len(names) < 20 {
		t.Errorf("found %d files", len(names))
	}
	for _, name := range names {
		text := must.Of(fixtures.Read(name))(t)
		if !strings.HasPrefix(string(text), comment) {
			t.Errorf("%s: the first line is not %q", name, comment)
		}
		if err := validate(t, s, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The schema finds the mistakes that editors should underline.
func TestTheSchemaRefusesMistakes(t *testing.T) {
	s := compiled(t, "scenario.schema.json")
	const valid = `name: example
protocol: recipe-a
rows: [{partition: "id = {key}", body: html}]
cache: {lease: 10s}
ttl-lag: fixed 10m
actors:
  - name: alice
    script: [get /home, sleep 5s]
    pauses: 1
    clock: {steps: [-2s]}
faults: [maybe response-lost op=PutItem]
reach: [pause]
replay: {protocol: exec node node.mjs, seed: 18446744073709551615, choices: "00", swarm: true, all-stops: true}
`
	if err := validate(t, s, []byte(valid)); err != nil {
		t.Fatalf("the valid one: %v", err)
	}
	for name, change := range map[string][2]string{
		"a misspelt key":           {"lease:", "leas:"},
		"an unknown protocol":      {"recipe-a", "recipe-z"},
		"no unit":                  {"10s", "10"},
		"a negative duration":      {"lease: 10s", "lease: -10s"},
		"an unknown lag":           {"fixed 10m", "sometimes"},
		"no name":                  {"name: example\n", ""},
		"an actor without a name":  {"  - name: alice\n    script", "  - script"},
		"an actor without script":  {"    script: [get /home, sleep 5s]\n", ""},
		"an unknown command":       {"get /home", "git /home"},
		"a number too large":       {"pauses: 1", "pauses: 1000"},
		"an unknown fault":         {"response-lost", "answer-lost"},
		"an unknown mark":          {"[pause]", "[paus]"},
		"text for a list":          {"reach: [pause]", "reach: pause"},
		"a list for keys":          {"cache: {lease: 10s}", "cache: [10s]"},
		"an unknown key of a row":  {"body: html", "boddy: html"},
		"an unknown ready mapping": {`[{partition: "id = {key}", body: html}]`, "dynamo"},
		"no seed":                  {"18446744073709551615", "-1"},
		"no boolean":               {"swarm: true", "swarm: yes!"},
	} {
		wrong := strings.Replace(valid, change[0], change[1], 1)
		if wrong == valid {
			t.Fatalf("%s: nothing to change", name)
		}
		if validate(t, s, []byte(wrong)) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The schema may accept more than the parser, but it must find at least fifteen of the mistakes in one file.
func TestTheSchemaFindsMostMistakesOfTheParser(t *testing.T) {
	text, err := os.ReadFile("../../../internal/kernel/spec/testdata/mistakes.yaml")
	must.OK(t, err)
	// Two of the mistakes are not YAML.
	text = bytes.Replace(text, []byte("\n    liveness: 3s"), nil, 1)
	text = bytes.Replace(text, []byte("sweeps: 1\n"), []byte("sweeps: 1}\n"), 1)
	err = validate(t, compiled(t, "scenario.schema.json"), text)
	if err == nil || strings.Count(err.Error(), "\n") < 15 {
		t.Errorf("got %v", err)
	}
}
