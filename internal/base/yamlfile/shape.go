package yamlfile

import (
	"strings"
	"time"
)

// Shape says, in the words of JSON Schema, which values a place of a scenario file may have. The parser itself makes
// it. When the parser is to describe a file instead of reading it, it notes each key, list and kind of value that it
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

// inner describes a value inside of the value that is being described.
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

// Required notes the keys that a mapping must have. It is called after the mapping has been described.
func (r *Reader) Required(keys ...string) {
	if r.Shape != nil {
		r.Shape.Required = keys
	}
}

// DescribeAlso notes that another kind of value is allowed, too. It is called after the first kind has been described.
func (r *Reader) DescribeAlso(read func(Node)) {
	first := *r.Shape
	*r.Shape = Shape{AnyOf: []*Shape{&first, r.inner(read)}}
}

// DescribeText describes a text of a certain shape.
func (r *Reader) DescribeText(s Shape) {
	s.Type = "string"
	*r.Shape = s
}

// DescribeWords describes a text that begins with one of these words, perhaps after another word.
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
