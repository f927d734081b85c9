package scenario

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/protocols"
)

// shape says, in the words of JSON Schema, which values a place of a scenario file may have. The parser itself makes
// it. When the parser is to describe a file instead of reading it, it notes each key, list and kind of value that it
// would accept. So there is no second list of keys that could differ from the first.
type shape struct {
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
	AnyOf       []*shape          `json:"anyOf,omitempty"`
	Items       *shape            `json:"items,omitempty"`
	Required    []string          `json:"required,omitempty"`
	Closed      *bool             `json:"additionalProperties,omitempty"` // false: no other keys
	Properties  map[string]*shape `json:"properties,omitempty"`
}

// fileShape is the shape of scenario files.
func fileShape() *shape {
	s := defaults()
	root := &shape{}
	p := parse{reader: reader{shape: root}, s: &s, protocols: protocols.Names()}
	p.scenario(nil)
	return root
}

// inner describes a value inside of the value that is being described.
func (r *reader) inner(read func(yamlNode)) *shape {
	outer := r.shape
	r.shape = &shape{}
	read(nil)
	in := r.shape
	r.shape = outer
	return in
}

func (r *reader) describeMapping(fields []field) {
	closed := false
	s := r.shape
	s.Type, s.Closed, s.Properties = "object", &closed, map[string]*shape{}
	for _, f := range fields {
		s.Properties[f.name] = r.inner(f.read)
	}
}

// required notes the keys that a mapping must have. It is called after the mapping has been described.
func (r *reader) required(keys ...string) {
	if r.shape != nil {
		r.shape.Required = keys
	}
}

// describeAlso notes that another kind of value is allowed, too. It is called after the first kind has been described.
func (r *reader) describeAlso(read func(yamlNode)) {
	first := *r.shape
	*r.shape = shape{AnyOf: []*shape{&first, r.inner(read)}}
}

func (r *reader) describeText(s shape) {
	s.Type = "string"
	*r.shape = s
}

// describeWords describes a text that begins with one of these words, perhaps after another word.
func (r *reader) describeWords(before string, words, examples []string) {
	r.describeText(shape{Pattern: `^\s*` + before + `(` + strings.Join(words, "|") + `)(\s|$)`, Examples: examples})
}

func (r *reader) describeNumber(least int, most uint64) {
	*r.shape = shape{Type: "integer", Minimum: &least, Maximum: &most}
}

func (r *reader) describeDuration(least time.Duration) {
	const of = `(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+`
	s := shape{Pattern: `^\+?(0|` + of + `)$`, Examples: []string{"500ms", "10s", "1h30m"}}
	if least < 0 {
		s.Pattern = `^[-+]?(0|` + of + `)$`
	}
	r.describeText(s)
}

// kind says what a file should be.
type kind struct {
	what string          // "a scenario"
	hint string          // how it begins
	keys func() []string // of its outermost mapping, the most important first
}

var ofScenario = kind{"a scenario", "a scenario begins with its name, such as name: paused-writer", func() []string {
	root := fileShape()
	keys := slices.Clone(root.Required)
	for _, key := range slices.Sorted(maps.Keys(root.Properties)) {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}}

var ofRows = kind{"a mapping of rows", "rows: dynamolock", func() []string { return []string{"rows"} }}

// foreign says that a file is something else: it has none of the keys, and none that looks like one. Then each of its
// lines is a mistake, and one message about all of them helps more. names are the keys that it has.
func (r *reader) foreign(names []string, fail func(expected string)) bool {
	keys := r.kind.keys()
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
	fail(fmt.Sprintf("expected %s: YAML with %s", r.kind.what, with))
	return true
}

// foreignText is foreign for a file that is no YAML.
func (r *reader) foreignText() bool {
	found, names, hint := "text that is no YAML", keysOfLines(r.lines), r.kind.hint
	if language := languages[strings.ToLower(filepath.Ext(r.file))]; language != "" {
		found, names = "a file in "+language, nil // whatever its lines look like
		hint = "a Go test checks a cache in Go (docs/CHECK.md), and --exec 'COMMAND' runs nodes in another language"
	}
	return r.foreign(names, func(expected string) { r.failAt(1, 1, hint, "found %s, %s", found, expected) })
}

var languages = map[string]string{
	".go": "Go", ".ts": "TypeScript", ".mts": "TypeScript", ".js": "JavaScript", ".mjs": "JavaScript",
	".cjs": "JavaScript", ".py": "Python", ".java": "Java", ".rb": "Ruby", ".rs": "Rust", ".cs": "C#", ".kt": "Kotlin",
	".sh": "shell", ".md": "Markdown",
}

// keyOfLine is a line of YAML that begins with a key.
var keyOfLine = regexp.MustCompile(`^[{ ]*["']?([A-Za-z][A-Za-z-]*)["']?\s*:`)

// keysOfLines are the keys that lines seem to begin with, in a file that is no YAML.
func keysOfLines(lines []string) (names []string) {
	for _, line := range lines {
		if m := keyOfLine.FindStringSubmatch(line); m != nil {
			names = append(names, m[1])
		}
	}
	return names
}

// foreignKeys is foreign for a file that is YAML. One wrong key may just be wrong.
func (r *reader) foreignKeys(n yamlNode) bool {
	all, _ := entries(n)
	if n == nil || len(all) < 2 {
		return false
	}
	var names []string
	for _, e := range all {
		names = append(names, e.Key.GetToken().Value)
	}
	return r.foreign(names, func(expected string) { r.fail(n, r.kind.hint, "found other keys, %s", expected) })
}
