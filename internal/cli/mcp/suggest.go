package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/show/record"
	"github.com/isr-sim/isr-sim/internal/wire/hostname"
)

var suggestTool = Tool{Name: "suggest_rows",
	Short: "Suggest which attributes of a table's rows are pages and locks, from sample rows",
	Note: "Give rows of each kind, also one that is locked; five are enough. The mapping is the file of rows in " +
		"check; suggestion says what each attribute is taken for, and what to look at yourself.",
	schema: &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{
		"rows": {Type: "array", Items: &jsonschema.Schema{Type: "object"},
			Description: "sample rows, as plain JSON or DynamoDB's"},
		"keys": {Type: "array", Items: text(""), MaxItems: jsonschema.Ptr(2),
			Description: "the attributes of the partition key and of the sort key (default: a guess)"},
		"server": text("in place of rows: the address of an isr-sim serve on this machine"),
		"table":  text("the name of the table, which server needs"),
		"output": text("a file for the mapping"),
	}}}

var readTool = Tool{Name: "read", Short: "Read the rest of an answer", Note: "Its arguments are in rest.",
	schema: &jsonschema.Schema{Required: []string{"answer", "offset"}, Properties: map[string]*jsonschema.Schema{
		"answer": {Type: "integer"}, "offset": {Type: "integer"},
	}}}

// maxRows bounds the rows that a suggestion is made from.
const maxRows = 200

// suggest answers a call of suggest_rows.
func (s *Server) suggest(ctx context.Context, a *Answer, in map[string]any) error {
	table, _ := in["table"].(string)
	server, _ := in["server"].(string)
	rows, _ := in["rows"].([]any)
	sample := sample{table: table, keys: words(in["keys"])}
	if server != "" {
		var err error
		if rows, err = sample.dumped(ctx, server); err != nil {
			return &CallError{Kind: BadArguments, Message: err.Error()}
		}
	}
	for i, row := range rows[:min(len(rows), maxRows)] {
		item, err := itemOf(row)
		if err != nil {
			return &CallError{Kind: BadArguments, Message: fmt.Sprintf("rows: row %d: %v", i+1, err)}
		}
		sample.rows = append(sample.rows, item)
	}
	schema, suggestion, err := sample.suggest()
	if err != nil {
		return err
	}
	yaml, err := spec.RowsYAML(schema)
	if err != nil {
		return err
	}
	a.Suggestion, a.Text = suggestion, string(yaml)
	if output, _ := in["output"].(string); output != "" {
		if output, err = s.inside(output); err != nil {
			return err
		}
		return s.write(output, yaml)
	}
	return nil
}

// dumped are the rows of a table of isr-sim serve, which also tells the keys. Only servers on this machine are asked.
func (s *sample) dumped(ctx context.Context, server string) ([]any, error) {
	at, err := url.Parse(server)
	if err != nil || at.Scheme != "http" || !hostname.Loopback(at.Hostname()) || s.table == "" {
		return nil, errors.New("server: expected an address of this machine, http://127.0.0.1:8000, and a table")
	}
	at.Path, at.RawQuery = "/_isr-sim/dump", url.Values{"table": {s.table}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	answer, err := (&http.Transport{}).RoundTrip(req) // a redirect, which may lead to another machine, is not followed
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var dump struct {
		Tables []struct {
			Settings struct {
				Table struct {
					KeySchema []struct{ AttributeName string }
				}
			}
			Items []any
		}
	}
	err = json.NewDecoder(io.LimitReader(answer.Body, 64<<20)).Decode(&dump)
	if err != nil || answer.StatusCode != http.StatusOK || len(dump.Tables) == 0 {
		return nil, fmt.Errorf("server: found no table %s (%s)", s.table, answer.Status)
	}
	for _, k := range dump.Tables[0].Settings.Table.KeySchema {
		s.keys = append(s.keys, k.AttributeName)
	}
	return dump.Tables[0].Items, nil
}

// itemOf reads a row. In DynamoDB's JSON each attribute is an object with its type.
func itemOf(row any) (attr.Item, error) {
	members, _ := row.(map[string]any)
	if len(members) == 0 {
		return nil, errors.New("found no attributes")
	}
	typed := true
	for _, v := range members { //isrsim:unordered all must be of the form
		_, _, is := record.Typed(v)
		typed = typed && is
	}
	item := attr.Item{}
	for name, v := range members { //isrsim:unordered each is read by itself
		if item[name] = valueOf(v, typed); item[name] == nil {
			return nil, fmt.Errorf("%s: found %v, expected a value of DynamoDB", name, v)
		}
	}
	return item, nil
}

// valueOf is a value; nil if its kind is unknown. The elements of lists and sets are not read.
func valueOf(v any, typed bool) attr.Value {
	kind := ""
	if typed {
		kind, v, _ = record.Typed(v)
	}
	switch v := v.(type) {
	case nil:
		return attr.NULL{}
	case string:
		if kind == "N" {
			return numberOf(v)
		}
		return attr.S(v)
	case float64:
		return numberOf(words(v)[0])
	case bool:
		if kind == "NULL" {
			return attr.NULL{}
		}
		return attr.BOOL(v)
	case []any:
		return attr.L{}
	case map[string]any:
		m := attr.M{}
		for name, of := range v { //isrsim:unordered each is read by itself
			m[name] = cmp.Or[attr.Value](valueOf(of, typed), attr.NULL{})
		}
		return m
	}
	return nil
}

func numberOf(text string) attr.Value {
	n, err := attr.ParseNumber(text)
	if err != nil {
		return nil
	}
	return attr.N{Number: n}
}
