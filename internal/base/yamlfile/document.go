// Package yamlfile reads values from YAML files, with the position of each mistake. The same code can describe what it
// would accept. A library parses the YAML; this package interprets it. No other package of scenarios imports the
// library.
package yamlfile

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	yaml "github.com/goccy/go-yaml"

	"github.com/isr-sim/isr-sim/internal/base/suggest"
)

// Document is a mapping under construction, in order.
type Document yaml.MapSlice

// Add adds a key with its value, if it is wanted.
func (d *Document) Add(key string, value any, wanted bool) {
	if !wanted {
		return
	}
	switch nested := value.(type) { // the library knows only its own type
	case Document:
		value = yaml.MapSlice(nested)
	case []Document:
		items := make([]yaml.MapSlice, len(nested))
		for i, d := range nested {
			items[i] = yaml.MapSlice(d)
		}
		value = items
	}
	*d = append(*d, yaml.MapItem{Key: key, Value: value})
}

// Text returns the Document as a file.
func (d Document) Text() ([]byte, error) {
	return yaml.MarshalWithOptions(yaml.MapSlice(d), yaml.UseLiteralStyleIfMultiline(true), yaml.IndentSequence(true))
}

// AddDuration adds a duration, unless it is the key's default.
func (d *Document) AddDuration(key string, value, byItself time.Duration) {
	d.Add(key, value.String(), value != byItself)
}

// Kind describes what a file should be.
type Kind struct {
	What string          // "a scenario"
	Hint string          // how it should begin
	Keys func() []string // of its outermost mapping, most important first
}

// foreign reports whether a file is something else: it has none of the keys, and none that looks like one. Then each
// line would be a mistake, and one message about all of them helps more. names are the keys of the file.
func (r *Reader) foreign(names []string, fail func(expected string)) bool {
	keys := r.Kind.Keys()
	if slices.ContainsFunc(names, func(name string) bool {
		_, near := suggest.Nearest(name, keys)
		return near
	}) {
		return false
	}
	const shown = 3
	with := "the key " + keys[0]
	if len(keys) > 1 {
		with = "keys such as " + strings.Join(keys[:min(shown, len(keys))], ", ")
	}
	fail(fmt.Sprintf("expected %s: YAML with %s", r.Kind.What, with))
	return true
}

// foreignText is foreign for a file that is not YAML.
func (r *Reader) foreignText() bool {
	found, names, hint := "text that is no YAML", keysOfLines(r.lines), r.Kind.Hint
	if language := languages[strings.ToLower(filepath.Ext(r.File))]; language != "" {
		found, names = "a file in "+language, nil // whatever its lines look like
		hint = "a Go test checks a cache in Go (docs/CHECK.md), and --exec 'COMMAND' runs nodes in another language"
	}
	return r.foreign(names, func(expected string) { r.FailAt(1, 1, hint, "found %s, %s", found, expected) })
}

var languages = map[string]string{
	".go": "Go", ".ts": "TypeScript", ".mts": "TypeScript", ".js": "JavaScript", ".mjs": "JavaScript",
	".cjs": "JavaScript", ".py": "Python", ".java": "Java", ".rb": "Ruby", ".rs": "Rust", ".cs": "C#", ".kt": "Kotlin",
	".sh": "shell", ".md": "Markdown",
}

// keyOfLine matches a line of YAML that begins with a key.
var keyOfLine = regexp.MustCompile(`^[{ ]*["']?([A-Za-z][A-Za-z-]*)["']?\s*:`)

// keysOfLines returns the keys that lines seem to begin with, in a file that is not YAML.
func keysOfLines(lines []string) (names []string) {
	for _, line := range lines {
		if m := keyOfLine.FindStringSubmatch(line); m != nil {
			names = append(names, m[1])
		}
	}
	return names
}

// ForeignKeys is foreign for a file that is YAML. A single wrong key may just be a mistake.
func (r *Reader) ForeignKeys(n Node) bool {
	all, _ := Entries(n)
	if n == nil || len(all) < 2 {
		return false
	}
	var names []string
	for _, e := range all {
		names = append(names, e.Key.GetToken().Value)
	}
	return r.foreign(names, func(expected string) { r.Fail(n, r.Kind.Hint, "found other keys, %s", expected) })
}

// Shape describes, in the words of JSON Schema, which values a place in a scenario file may have. The parser itself
// makes it: when it has to describe a file instead of reading one, it records each key, list and kind of value that it
// would accept. So there is no second list of keys that could differ from the first.
type Shape struct {
	Schema      string            `json:"$schema,omitempty"`
	ID          string            `json:"$id,omitempty"`
	Title       string            `json:"title,omitempty"`
	Description string            `json:"description,omitempty"`
	Type        string            `json:"type,omitempty"`
	Minimum     *int              `json:"minimum,omitempty"`
	Maximum     *uint64           `json:"maximum,omitempty"`
	Pattern     string            `json:"pattern,omitempty"`
	Examples    []string          `json:"examples,omitempty"`
	Enum        []string          `json:"enum,omitempty"`
	AnyOf       []*Shape          `json:"anyOf,omitempty"`
	Items       *Shape            `json:"items,omitempty"`
	Required    []string          `json:"required,omitempty"`
	Closed      *bool             `json:"additionalProperties,omitempty"` // false: no other keys
	Properties  map[string]*Shape `json:"properties,omitempty"`
}

// inner describes a value inside the one that is being described.
func (r *Reader) inner(read func(Node)) *Shape {
	outer := r.Shape
	r.Shape = &Shape{}
	read(nil)
	in := r.Shape
	r.Shape = outer
	return in
}

func (r *Reader) describeMapping(fields []Field) {
	closed := false
	s := r.Shape
	s.Type, s.Closed, s.Properties = "object", &closed, map[string]*Shape{}
	for _, f := range fields {
		s.Properties[f.Name] = r.inner(f.Read)
	}
}

// Required records the keys that a mapping must have. It is called after the mapping has been described.
func (r *Reader) Required(keys ...string) {
	if r.Shape != nil {
		r.Shape.Required = keys
	}
}

// DescribeAlso records that another kind of value is allowed, too. It is called after the first kind has been
// described.
func (r *Reader) DescribeAlso(read func(Node)) {
	first := *r.Shape
	*r.Shape = Shape{AnyOf: []*Shape{&first, r.inner(read)}}
}

// DescribeText describes a string of a certain shape.
func (r *Reader) DescribeText(s Shape) {
	s.Type = "string"
	*r.Shape = s
}

// DescribeWords describes a string that begins with one of these words, perhaps after another word.
func (r *Reader) DescribeWords(before string, words, examples []string) {
	r.DescribeText(Shape{Pattern: `^\s*` + before + `(` + strings.Join(words, "|") + `)(\s|$)`, Examples: examples})
}

func (r *Reader) describeNumber(least int, most uint64) {
	*r.Shape = Shape{Type: "integer", Minimum: &least, Maximum: &most}
}

func (r *Reader) describeDuration(least time.Duration) {
	const of = `(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+`
	s := Shape{Pattern: `^\+?(0|` + of + `)$`, Examples: []string{"500ms", "10s", "1h30m"}}
	if least < 0 {
		s.Pattern = `^[-+]?(0|` + of + `)$`
	}
	r.DescribeText(s)
}
