package spec

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/base/yamlfile"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// LoadRows reads a file with the single key rows, in the form of scenario files. A mistake in its contents is a
// *SyntaxError.
func LoadRows(file string) (isr.Schema, error) {
	f, err := os.Open(file)
	if err != nil {
		return isr.Schema{}, fmt.Errorf("rows: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, yamlfile.MaxBytes+1))
	if err != nil {
		return isr.Schema{}, fmt.Errorf("rows: %w", err)
	}
	r := newReader(file, ofRows)
	var s isr.Schema
	var found yamlNode
	if root := r.Open(data); root != nil && !r.ForeignKeys(root) {
		r.mapping(root, field{"rows", func(n yamlNode) { found, s = n, r.schema(n) }})
		if found == nil && r.Err == nil && !r.Cut {
			r.Fail(root, "rows: dynamolock", "found no rows, expected some")
		}
	}
	if err := r.Failed(syntaxError); err != nil {
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
	{"index", func(r *isr.Row) *string { return &r.Index }},
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

// schema reads rows: the name of a ready-made schema, or a list of entries.
func (r *reader) schema(n yamlNode) isr.Schema {
	if r.Shape != nil {
		r.ready(n)
		r.DescribeAlso(func(n yamlNode) { r.List(n, func(n yamlNode) { r.row(n) }) })
		return isr.Schema{}
	}
	if _, isName := yamlfile.OneLine(n); isName {
		return r.ready(n)
	}
	var s isr.Schema
	var places []rowPlace
	r.List(n, func(n yamlNode) {
		row, place, ready := r.row(n)
		if ready == nil {
			s.Rows, places = append(s.Rows, row), append(places, place)
			return
		}
		for i := range ready {
			if ready[i].Table = row.Table; r.Err == nil {
				s.Rows, places = append(s.Rows, ready[i]), append(places, place)
			}
		}
	})
	if r.Err != nil {
		return s
	}
	if len(s.Rows) == 0 {
		r.Fail(n, "leave rows out for META and LOCK", "found no rows, expected at least one")
		return s
	}
	_, err := rowmap.New(s)
	if wrong, ok := errors.AsType[*rowmap.Error](err); ok {
		at, is := places[wrong.Row].fields[wrong.Field]
		if !is {
			at = places[wrong.Row].row
		}
		r.Fail(at, wrong.Hint, "%s", wrong.Problem)
	}
	return s
}

// ready reads the name of a ready-made schema.
func (r *reader) ready(n yamlNode) isr.Schema {
	var names []string
	for _, s := range isr.Schemas() {
		names = append(names, s.Name)
	}
	name := r.Word(n, "rows", names)
	if r.Err != nil {
		return isr.Schema{}
	}
	s, _ := isr.SchemaNamed(name) // no error: the name is one of them
	return s
}

// rowPlace is the place of an entry and of its fields in the file.
type rowPlace struct {
	row    yamlNode
	fields map[string]yamlNode
}

// row reads an entry: a row, or the rows of a ready-made schema in a table.
func (r *reader) row(n yamlNode) (row isr.Row, place rowPlace, ready []isr.Row) {
	place = rowPlace{n, map[string]yamlNode{}}
	fields := []field{{"ready", func(n yamlNode) {
		s := r.ready(n)
		place.fields["ready"] = n
		if ready = s.Rows; len(ready) == 0 && r.Err == nil {
			r.Fail(n, "leave rows out for META and LOCK",
				"found %s, whose rows are not translated, among others", s.Name)
		}
	}}}
	for _, f := range rowFields {
		fields = append(fields, field{f.name, func(n yamlNode) {
			place.fields[f.name] = n
			if *f.of(&row) = r.Text(n); r.Err == nil && *f.of(&row) == "" {
				r.Fail(n, "leave the key out", "found an empty text for %s", f.name)
			}
		}})
	}
	r.mapping(n, fields...)
	if ready != nil && r.Err == nil {
		for _, f := range rowFields {
			if at := place.fields[f.name]; at != nil && f.name != "table" {
				r.Fail(at, "write the rows out to change them", "found %s beside ready, expected table at most", f.name)
			}
		}
	}
	return row, place, ready
}

// rowsDocument is the form of a schema in a file; nil if no file can hold it.
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
	entries := make([]document, len(s.Rows))
	for i := range s.Rows {
		for _, f := range rowFields {
			text := *f.of(&s.Rows[i])
			entries[i].Add(f.name, text, text != "")
		}
	}
	return entries
}

// RowsYAML returns a mapping as a file that LoadRows reads back.
func RowsYAML(rows isr.Schema) ([]byte, error) {
	var doc document
	doc.Add("rows", rowsDocument(rows), true)
	return doc.Text()
}

var ofRows = yamlfile.Kind{
	What: "a mapping of rows", Hint: "rows: dynamolock", Keys: func() []string { return []string{"rows"} },
}

// TableNames are the tables of a scenario's rows.
func TableNames(s isr.Schema) []string {
	var names []string
	for i := range s.Rows {
		if name := s.Rows[i].Table; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if names == nil || slices.ContainsFunc(s.Rows, func(r isr.Row) bool { return r.Table == "" }) {
		names = append(names, hooks.TableName)
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
