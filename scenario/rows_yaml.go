package scenario

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	yaml "github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/isr-sim/isr-sim/internal/rowmap"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// LoadRows reads a file whose one key is rows, as a scenario file has it. A mistake in its contents is a *SyntaxError.
func LoadRows(file string) (isr.Schema, error) {
	f, err := os.Open(file)
	if err != nil {
		return isr.Schema{}, fmt.Errorf("rows: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return isr.Schema{}, fmt.Errorf("rows: %w", err)
	}
	r := reader{file: file}
	var s isr.Schema
	var found ast.Node
	if root := r.open(data); root != nil {
		r.mapping(root, field{"rows", func(n ast.Node) { found, s = n, r.schema(n) }})
		if found == nil && r.err == nil && !r.cut {
			r.fail(root, "rows: dynamolock", "found no rows, expected some")
		}
	}
	if err := r.failed(); err != nil {
		return isr.Schema{}, err
	}
	return s, nil
}

// rowField is a field of isr.Row, and the key that it has in files.
type rowField struct {
	name string
	of   func(*isr.Row) *string
}

var rowFields = []rowField{
	{"table", func(r *isr.Row) *string { return &r.Table }},
	{"partition", func(r *isr.Row) *string { return &r.Partition }},
	{"sort", func(r *isr.Row) *string { return &r.Sort }},
	{"when", func(r *isr.Row) *string { return &r.When }},
	{"body", func(r *isr.Row) *string { return &r.Body }},
	{"body-key", func(r *isr.Row) *string { return &r.BodyKey }},
	{"generated", func(r *isr.Row) *string { return &r.Generated }},
	{"window", func(r *isr.Row) *string { return &r.Window }},
	{"fresh-until", func(r *isr.Row) *string { return &r.FreshUntil }},
	{"current", func(r *isr.Row) *string { return &r.Current }},
	{"invalidated", func(r *isr.Row) *string { return &r.Invalidated }},
	{"etag", func(r *isr.Row) *string { return &r.ETag }},
	{"version", func(r *isr.Row) *string { return &r.Version }},
	{"token", func(r *isr.Row) *string { return &r.Token }},
	{"expires", func(r *isr.Row) *string { return &r.Expires }},
	{"lasts", func(r *isr.Row) *string { return &r.Lasts }},
	{"renews", func(r *isr.Row) *string { return &r.Renews }},
	{"request-hash", func(r *isr.Row) *string { return &r.RequestHash }},
	{"request-status", func(r *isr.Row) *string { return &r.RequestStatus }},
	{"request-body", func(r *isr.Row) *string { return &r.RequestBody }},
	{"ttl", func(r *isr.Row) *string { return &r.TTL }},
}

// schema reads rows: the name of a ready schema, or a list of entries.
func (r *reader) schema(n ast.Node) isr.Schema {
	if r.shape != nil {
		r.ready(n)
		r.describeAlso(func(n ast.Node) { r.list(n, func(n ast.Node) { r.row(n) }) })
		return isr.Schema{}
	}
	if _, isName := n.(*ast.StringNode); isName {
		return r.ready(n)
	}
	var s isr.Schema
	var places []rowPlace
	r.list(n, func(n ast.Node) {
		row, place, ready := r.row(n)
		if ready == nil {
			s.Rows, places = append(s.Rows, row), append(places, place)
			return
		}
		for i := range ready {
			if ready[i].Table = row.Table; r.err == nil {
				s.Rows, places = append(s.Rows, ready[i]), append(places, place)
			}
		}
	})
	if r.err != nil {
		return s
	}
	if len(s.Rows) == 0 {
		r.fail(n, "leave rows out for META and LOCK", "found no rows, expected at least one")
		return s
	}
	_, err := rowmap.New(s)
	if wrong, ok := errors.AsType[*rowmap.Error](err); ok {
		at, is := places[wrong.Row].fields[wrong.Field]
		if !is {
			at = places[wrong.Row].row
		}
		r.fail(at, wrong.Hint, "%s", wrong.Problem)
	}
	return s
}

// ready reads the name of a ready schema.
func (r *reader) ready(n ast.Node) isr.Schema {
	var names []string
	for _, s := range isr.Schemas() {
		names = append(names, s.Name)
	}
	name := r.word(n, "rows", names)
	if r.err != nil {
		return isr.Schema{}
	}
	s, _ := isr.SchemaNamed(name) // it is one of them
	return s
}

// rowPlace is where an entry stands, and its fields.
type rowPlace struct {
	row    ast.Node
	fields map[string]ast.Node
}

// row reads an entry: a row, or the rows of a ready schema in a table.
func (r *reader) row(n ast.Node) (row isr.Row, place rowPlace, ready []isr.Row) {
	place = rowPlace{n, map[string]ast.Node{}}
	fields := []field{{"ready", func(n ast.Node) {
		s := r.ready(n)
		place.fields["ready"] = n
		if ready = s.Rows; len(ready) == 0 && r.err == nil {
			r.fail(n, "leave rows out for META and LOCK", "found %s, whose rows are not translated, among others", s.Name)
		}
	}}}
	for _, f := range rowFields {
		fields = append(fields, field{f.name, func(n ast.Node) {
			place.fields[f.name] = n
			if *f.of(&row) = r.text(n); r.err == nil && *f.of(&row) == "" {
				r.fail(n, "leave the key out", "found an empty text for %s", f.name)
			}
		}})
	}
	r.mapping(n, fields...)
	if ready != nil && r.err == nil {
		for _, f := range rowFields {
			if at := place.fields[f.name]; at != nil && f.name != "table" {
				r.fail(at, "write the rows out to change them", "found %s beside ready, expected table at most", f.name)
			}
		}
	}
	return row, place, ready
}

// rowsDocument is a schema as a file has it; nil for one that no file can hold.
func rowsDocument(s isr.Schema) any {
	if s.Translate != nil {
		return nil
	}
	if ready, err := isr.SchemaNamed(s.Name); err == nil && reflect.DeepEqual(ready.Rows, s.Rows) {
		return s.Name
	}
	if len(s.Rows) == 0 {
		return nil
	}
	entries := make([]yaml.MapSlice, len(s.Rows))
	for i := range s.Rows {
		var doc document
		for _, f := range rowFields {
			text := *f.of(&s.Rows[i])
			doc.add(f.name, text, text != "")
		}
		entries[i] = yaml.MapSlice(doc)
	}
	return entries
}

// tableNames are the tables of a scenario's rows.
func tableNames(s isr.Schema) []string {
	var names []string
	for i := range s.Rows {
		if name := s.Rows[i].Table; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if names == nil || slices.ContainsFunc(s.Rows, func(r isr.Row) bool { return r.Table == "" }) {
		names = append(names, TableName)
	}
	return names
}

// oneOf lists alternatives.
func oneOf(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return "one of " + strings.Join(names, ", ")
}
