package scenario

import (
	"strings"
	"time"

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
