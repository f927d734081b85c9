package kernel

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/schedule"
	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/base/yamlfile"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/subject/list"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Verb is the kind of a command of a script, by its word: get, change, sleep, invalidate, rollback, regenerate, hold,
// once. If a cache cannot do what a verb asks for, because its handler is no isr.Invalidator, isr.Rollbacker or
// isr.Regenerator, or is no lock or layer, the run breaks off.
type Verb string

// Command is one line of a script.
type Command struct {
	Verb Verb
	Key  string        // for all verbs except sleep
	For  time.Duration // for sleep and hold
	// Request is the idempotency key of regenerate, and Inputs is the hash of its inputs; "" if there are no inputs.
	// For once, Key is the idempotency key, and Inputs is the payload.
	Request, Inputs string
}

// String returns the command as scripts write it.
func (c Command) String() string {
	if v := list.Named(string(c.Verb)); v != nil {
		return v.Verb.String(c.plain())
	}
	return string(c.Verb) + " " + c.Key
}

// commandError says why a line is no command, and how to correct it.
type commandError struct{ problem, hint string }

// parseCommand reads a line of a script.
func parseCommand(text string) (Command, *commandError) {
	words := strings.Fields(text)
	name := ""
	if len(words) > 0 {
		name, words = words[0], words[1:]
	}
	c := Command{Verb: Verb(name)}
	v := list.Named(name)
	if v == nil {
		return c, unknownVerb(text, name)
	}
	var of subject.Command
	expected := ""
	switch {
	case v.Parse != nil:
		expected = v.Parse(words, &of)
	case len(words) != 1:
		expected = "one key after " + name
	default:
		of.Key = words[0]
	}
	if expected != "" {
		return c, &commandError{fmt.Sprintf("found %q, expected %s", text, expected), name + " " + v.Example}
	}
	c.Key, c.For, c.Request, c.Inputs = of.Key, of.For, of.Request, of.Inputs
	if v.Path && !strings.Contains(c.Key, "/") {
		return c, &commandError{
			fmt.Sprintf("found the key %q in %q, expected the path of a page, which has a slash", c.Key, text),
			strings.Replace(text, " "+c.Key, " /"+c.Key, 1),
		}
	}
	return c, nil
}

func unknownVerb(text, name string) *commandError {
	var names, all []string
	for _, v := range list.Verbs() {
		names, all = append(names, v.Verb.Name), append(all, v.Form)
	}
	return &commandError{fmt.Sprintf("found the command %q, expected %s", text, strings.Join(all, ", ")),
		suggest.Hint(name, names, "")}
}

// eventForms are the forms of events, by the first word of the event.
var eventForms = []struct{ word, example string }{
	{"crash", "crash at 12s"},
	{"restart", "restart at 20s"},
	{"pause", "pause at 5s for 15s"},
	{"clock", "clock +2s at 10s"},
}

// event reads an event of a machine at a time.
func (p *parse) event(n yamlNode) schedule.Planned {
	text := p.Text(n)
	var verbs, examples []string
	for _, f := range eventForms {
		verbs, examples = append(verbs, f.word), append(examples, f.example)
	}
	if p.Shape != nil {
		p.DescribeWords("", verbs, examples)
	}
	if p.Err != nil || p.Shape != nil {
		return schedule.Planned{}
	}
	words := strings.Fields(text)
	verb := ""
	if len(words) > 0 {
		verb = words[0]
	}
	i := slices.Index(verbs, verb)
	if i < 0 {
		p.Fail(n, suggest.Hint(verb, verbs, "such as: "+examples[0]),
			"found the event %q, expected one that begins with %s", text, strings.Join(verbs, ", "))
		return schedule.Planned{}
	}
	e, err := parseEvent(words)
	if err != nil {
		p.Fail(n, "such as: "+examples[i], "found the event %q, expected %v", text, err)
	}
	return e
}

// parseEvent reads the words of an event. Its first word is known. The error says what was expected.
func parseEvent(words []string) (e schedule.Planned, err error) {
	at := func(rest ...string) error {
		if len(rest) != 2 || rest[0] != "at" {
			return fmt.Errorf("at and a time behind %s", strings.Join(words[:len(words)-len(rest)], " "))
		}
		e.At, err = parseTime(rest[1])
		return err
	}
	switch words[0] {
	case "crash":
		e.Kind = sim.Crash
		return e, at(words[1:]...)
	case "restart":
		e.Kind = sim.Restart
		return e, at(words[1:]...)
	case "pause":
		e.Kind = sim.Pause
		if len(words) != 5 || words[3] != "for" {
			return e, errors.New("at and a time, for and a duration")
		}
		if err := at(words[1:3]...); err != nil {
			return e, err
		}
		e.For, err = parseTime(words[4])
		if err == nil && e.For == 0 {
			err = errors.New("a pause that lasts")
		}
		return e, err
	default:
		e.Kind = sim.ClockStep
		if len(words) < 2 {
			return e, errors.New("by how much, and at a time")
		}
		e.For, err = time.ParseDuration(words[1])
		if err != nil || e.For == 0 || e.For.Abs() > 24*time.Hour {
			return e, errors.New("a step of at most 24h behind clock, such as +2s or -2s")
		}
		return e, at(words[2:]...)
	}
}

// parseTime reads a duration that is not negative.
func parseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > yamlfile.MostDuration {
		return 0, fmt.Errorf("a time such as 12s in place of %q", text)
	}
	return d, nil
}

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

func (p *parse) command(n yamlNode) Command {
	text := p.Text(n)
	if p.Err != nil {
		return Command{}
	}
	if p.Shape != nil {
		var names, examples []string
		for _, f := range list.Verbs() {
			names, examples = append(names, f.Verb.Name), append(examples, f.Verb.Name+" "+f.Example)
		}
		p.DescribeWords("", names, examples)
	}
	c, wrong := parseCommand(text)
	if wrong != nil {
		p.Fail(n, wrong.hint, "%s", wrong.problem)
	}
	return c
}
