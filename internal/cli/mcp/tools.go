package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Tool is a tool that runs a command: the command's flags are its arguments.
type Tool struct {
	Name string
	// Short is the sentence of the command's help, and Note adds what agents must know.
	Short, Note string

	command   string
	scenarios int // 1 for one, -1 for several; each is a file or a name
	flags     string
	defaults  map[string]any
	cmd       *cobra.Command
	schema    *jsonschema.Schema
	resolved  *jsonschema.Resolved
}

// recorded are the flags that identify one run.
const recorded = "protocol exec exec-limit memory seed choices swarm all-stops steps trace"

// tools are the tools that run commands, in the order in which an agent needs them.
var tools = []Tool{
	{Name: "check", command: "check", flags: "exec protocol rows lock once without reach worlds schedules seed for " +
		"shrink-time max-age monotonic-across-nodes recipe tenants lease retention exec-limit memory keep",
		defaults: map[string]any{"for": "50s", "shrink-time": "30s", "keep": "isr-sim-check"},
		Note: "Begin here. A failed check leaves failed.yaml in the folder keep: give it to replay and explain as " +
			"scenario, with the same exec."},
	{Name: "run", command: "run", scenarios: -1,
		flags: "protocol exec exec-limit memory schedules seed strategy swarm",
		Note: "A run that fails is kept: give the result's record to replay, explain and shrink as scenario, with " +
			"the same exec."},
	{Name: "replay", command: "replay", scenarios: 1, flags: recorded,
		Note: "Answers the trace, and in state the rows, clocks and nodes after a step."},
	{Name: "explain", command: "explain", scenarios: 1, flags: recorded + " tails all",
		Note: "Answers in explanation which events were needed."},
	{Name: "shrink", command: "shrink", scenarios: 1, flags: recorded + " output runs time schedule-only",
		defaults: map[string]any{"time": "50s"}, Note: "Give output, and then that file to replay."},
	{Name: "prove", command: "prove", scenarios: -1,
		flags:    "protocol exec exec-limit memory seed schedules states time",
		defaults: map[string]any{"time": "50s", "states": 200_000},
		Note:     "Only small scenarios end: prove-two-writers takes seconds."},
	{Name: "list", command: "list"},
	{Name: "scenario_check", command: "scenario check", scenarios: -1},
}

// Tools returns the tools, with the sentences of the commands below root.
func Tools(root *cobra.Command) []Tool {
	all := slices.Clone(tools)
	for i := range all {
		t := &all[i]
		t.cmd, _, _ = root.Find(strings.Fields(t.command)) // a test checks that each is found
		t.Short = t.cmd.Short
	}
	return append(all, suggestTool, readTool)
}

// describe makes the schema of the arguments, from the flags.
func (t *Tool) describe() error {
	if t.schema == nil {
		t.schema = &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{}}
		switch t.scenarios {
		case 1:
			t.schema.Properties["scenario"] = text("a scenario file, a record, or the name of an embedded scenario")
			t.schema.Required = []string{"scenario"}
		case -1:
			t.schema.Properties["scenarios"] = &jsonschema.Schema{Type: "array", Items: text(""),
				MinItems: jsonschema.Ptr(1), Description: "scenario files, or names of embedded scenarios"}
			t.schema.Required = []string{"scenarios"}
		}
		for _, name := range strings.Fields(t.flags) {
			t.schema.Properties[name] = ofFlag(t.cmd.Flags().Lookup(name))
			if v, is := t.defaults[name]; is {
				t.schema.Properties[name].Default, _ = json.Marshal(v) // a text or a number
			}
		}
		if t.Name == "replay" {
			t.schema.Properties["step"] = &jsonschema.Schema{Type: "integer",
				Description: "the step after which state is (default: the step of the violation, or the last)"}
		}
	}
	t.schema.Type, t.schema.AdditionalProperties = "object", &jsonschema.Schema{Not: &jsonschema.Schema{}}
	var err error
	t.resolved, err = t.schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	return err
}

func text(about string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Description: about}
}

func ofFlag(f *pflag.Flag) *jsonschema.Schema {
	s := text(f.Usage)
	switch f.Value.Type() {
	case "int":
		s.Type = "integer"
	case "bool":
		s.Type = "boolean"
	case "stringSlice", "durationSlice":
		s.Type, s.Items = "array", text("")
	}
	return s
}

// read reads and checks the arguments of a call.
func (t *Tool) read(given json.RawMessage) (map[string]any, error) {
	in := map[string]any{}
	if len(given) > 0 {
		if err := json.Unmarshal(given, &in); err != nil {
			return nil, &CallError{Kind: BadArguments, Message: err.Error()}
		}
	}
	if err := t.resolved.ApplyDefaults(&in); err != nil {
		return nil, err
	}
	if err := t.resolved.Validate(in); err != nil {
		return nil, &CallError{Kind: BadArguments, Message: err.Error()}
	}
	return in, nil
}

// words are the values of an argument as a command line has them. Numbers are whole.
func words(v any) (all []string) {
	switch v := v.(type) {
	case nil:
	case []any:
		for _, e := range v {
			all = append(all, words(e)...)
		}
	case float64:
		all = append(all, strconv.FormatFloat(v, 'f', -1, 64))
	default:
		all = append(all, fmt.Sprint(v))
	}
	return all
}
