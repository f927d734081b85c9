package yamlfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/isr-sim/isr-sim/internal/base/suggest"
)

// Limits of a file. A scenario is a page or two. A file that is far longer is a mistake, and is not parsed.
const (
	// MaxBytes is bounded because the parser takes quadratic time for many keys.
	MaxBytes     = 128 << 10
	maxLineBytes = 64 << 10
	maxDepth     = 16
)

// Node is a place in a file.
type Node = ast.Node

// Mistake is a mistake in a file, with its position.
type Mistake struct {
	File         string
	Line, Column int    // from 1; columns count characters
	Problem      string // what was found and what was expected
	Hint         string // how to fix it; may be empty
	Source       string // the line
}

// Reader reads values from a YAML tree, and collects the mistakes, each with its position. A library parses the YAML;
// the reader interprets it.
type Reader struct {
	File     string
	Kind     Kind
	lines    []string
	Err      *Mistake   // the first mistake in the entry that is being read; later mistakes may follow from it
	mistakes []*Mistake // the mistakes of all entries
	// the shape that is being described, if any: then nothing is read, and there are no mistakes
	Shape *Shape
	// Hint, if set, returns the hint about an unknown word; for "", the hint names the nearest known word.
	Hint func(word string) string
	Cut  bool // parts of the file were skipped because they are not YAML, so keys may be missing
}

// Open checks the bytes, and then parses them.
func (r *Reader) Open(data []byte) Node {
	data = bytes.TrimPrefix(data, []byte("\uFEFF")) // some editors begin a file with a byte order mark
	r.lines = strings.Split(string(data), "\n")
	for i, line := range r.lines {
		if len(line) > maxLineBytes {
			r.FailAt(i+1, maxLineBytes+1, "scenario lines are short; is this a scenario file?",
				"found a line of %d bytes, expected at most %d", len(line), maxLineBytes)
			return nil
		}
		if !utf8.ValidString(line) {
			column := utf8.RuneCountInString(line[:validPrefix(line)]) + 1
			r.FailAt(i+1, column, "save the file as UTF-8", "found a byte that is not UTF-8")
			return nil
		}
	}
	if len(data) > MaxBytes {
		r.FailAt(1+bytes.Count(data[:MaxBytes], []byte("\n")), 1, "",
			"found a file of %d bytes, expected at most %d", len(data), MaxBytes)
		return nil
	}
	if depth, line, column := flowDepth(r.lines); depth > maxDepth {
		r.FailAt(line, column, "", "found brackets %d deep, expected at most %d", depth, maxDepth)
		return nil
	}
	file := r.parsed(data)
	if file == nil {
		return nil
	}
	docs := slices.DeleteFunc(file.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	switch {
	case len(docs) == 0 && r.Cut:
		return nil
	case len(docs) == 0:
		r.FailAt(1, 1, "a scenario begins with its name, such as name: paused-writer",
			"found an empty file, expected a scenario")
		return nil
	case len(docs) > 1:
		r.Fail(docs[1].Body, "one scenario a file", "found a second YAML document")
		return nil
	}
	return docs[0].Body
}

// validPrefix returns the length of the valid UTF-8 at the beginning of s.
func validPrefix(s string) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(s)
}

// flowDepth finds the first place where brackets are nested too deeply. It does not recognise quotes and comments,
// because brackets in them are not nested that deeply.
func flowDepth(lines []string) (depth, line, column int) {
	for i, text := range lines {
		for j := range len(text) {
			switch text[j] {
			case '[', '{':
				if depth++; depth > maxDepth {
					return depth, i + 1, j + 1
				}
			case ']', '}':
				depth = max(depth-1, 0)
			}
		}
	}
	return 0, 0, 0
}

// Fail records a mistake at a node, unless the entry that is being read already has one.
func (r *Reader) Fail(n Node, hint, problem string, args ...any) {
	if r.Shape != nil {
		return
	}
	p := position(n)
	r.FailAt(p.Line, p.Column, hint, problem, args...)
}

// FailAt is Fail at a line and a column.
func (r *Reader) FailAt(line, column int, hint, problem string, args ...any) {
	if r.Err != nil {
		return
	}
	e := &Mistake{File: r.File, Line: line, Column: column, Hint: hint, Problem: fmt.Sprintf(problem, args...)}
	if line >= 1 && line <= len(r.lines) {
		e.Source = strings.TrimSuffix(r.lines[line-1], "\r")
	}
	r.Err = e
	r.mistakes = append(r.mistakes, e)
}

// Apart reads one of several entries. A mistake in it is reported even if other entries have mistakes.
func (r *Reader) Apart(read func()) {
	before := r.Err
	r.Err = nil
	read()
	r.Err = cmp.Or(before, r.Err)
}

// maxMistakes bounds the length of an error, because a file that is not a scenario has a mistake in each line.
const maxMistakes = 50

// Failed returns the mistakes, as errors, in the order of the file, joined by errors.Join; nil if there are none.
func (r *Reader) Failed(as func(*Mistake) error) error {
	slices.SortStableFunc(r.mistakes, func(a, b *Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if len(r.mistakes) == 1 {
		return as(r.mistakes[0])
	}
	var errs []error
	for _, e := range r.mistakes[:min(len(r.mistakes), maxMistakes)] {
		errs = append(errs, as(e))
	}
	if more := len(r.mistakes) - len(errs); more > 0 {
		errs = append(errs, fmt.Errorf("and %d more mistakes in %s", more, r.File))
	}
	return errors.Join(errs...)
}

// position returns where a node begins. For a mapping, that is the position of the first key.
func position(n Node) token.Position {
	switch m := n.(type) {
	case *ast.MappingNode:
		if len(m.Values) > 0 && !m.IsFlowStyle {
			return position(m.Values[0])
		}
	case *ast.MappingValueNode:
		return position(m.Key)
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return *t.Position
	}
	return token.Position{Line: 1, Column: 1}
}

// Entries returns the keys of a mapping with their values.
func Entries(n Node) (all []*ast.MappingValueNode, is bool) {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}, true
	}
	return nil, false
}

// HasKey reports whether a mapping has a key.
func HasKey(n Node, key string) bool {
	all, _ := Entries(n)
	return slices.ContainsFunc(all, func(e *ast.MappingValueNode) bool { return e.Key.GetToken().Value == key })
}

// OneLine returns the text of a node that is written on one line.
func OneLine(n Node) (string, bool) {
	s, is := n.(*ast.StringNode)
	if !is {
		return "", false
	}
	return s.Value, true
}

// Field is a key of a mapping, and the function that reads its value.
type Field struct {
	Name string
	Read func(Node)
}

// Mapping reads a mapping that may have these keys, each at most once. complete is false if there is an unknown key,
// because that may be a misspelling of a missing key.
func (r *Reader) Mapping(n Node, fields ...Field) (complete bool) {
	if r.Shape != nil {
		r.describeMapping(fields)
		return false
	}
	all, ok := Entries(n)
	if !ok {
		r.Fail(n, "such as {"+fields[0].Name+": ...}, or a line for each key",
			"found %s, expected keys and values (%s)", DescribeNode(n), fieldNames(fields))
		return false
	}
	complete = true
	seen := map[string]bool{}
	for _, entry := range all {
		r.Apart(func() {
			known := r.entry(entry, fields, seen)
			complete = complete && known
		})
	}
	return complete
}

// entry reads a key and its value, and reports whether the key is known.
func (r *Reader) entry(entry *ast.MappingValueNode, fields []Field, seen map[string]bool) bool {
	name := r.Text(entry.Key)
	if r.Err != nil {
		return false
	}
	i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		r.Fail(entry.Key, suggest.Hint(name, fieldNameList(fields), ""), "found key %q, expected one of %s",
			name, fieldNames(fields))
		return false
	}
	if seen[name] {
		r.Fail(entry.Key, "keep one of the two", "found key %q a second time", name)
		return true
	}
	seen[name] = true
	fields[i].Read(entry.Value)
	return true
}

func fieldNameList(fields []Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

func fieldNames(fields []Field) string { return strings.Join(fieldNameList(fields), ", ") }

// List reads a sequence.
func (r *Reader) List(n Node, read func(Node)) {
	if r.Shape != nil {
		items := r.inner(read)
		*r.Shape = Shape{Type: "array", Items: items}
		return
	}
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		r.Fail(n, "write it as a list: [...], or lines that begin with -", "found %s, expected a list", DescribeNode(n))
		return
	}
	for _, item := range s.Values {
		r.Apart(func() { read(item) })
	}
}

// Text reads a string. Values that look like numbers and so on must be quoted to be strings.
func (r *Reader) Text(n Node) string {
	if r.Shape != nil {
		r.DescribeText(Shape{})
		return ""
	}
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value
	case *ast.LiteralNode:
		return s.Value.Value
	}
	hint := "quote it if it is meant as text"
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode, *ast.TagNode:
		hint = "write the value out"
	}
	r.Fail(n, hint, "found %s, expected text", DescribeNode(n))
	return ""
}

// longList is the maximum number of words that an error lists, so that its line can be read.
const longList = 50

// Word reads one of the given words.
func (r *Reader) Word(n Node, what string, options []string) string {
	if r.Shape != nil {
		r.DescribeText(Shape{Enum: options})
		return options[0]
	}
	s := r.Text(n)
	if r.Err == nil && !slices.Contains(options, s) {
		expected := "one of " + strings.Join(options, ", ")
		if len(options) > longList {
			expected = fmt.Sprintf("one of the %d that isr-sim list prints", len(options))
		}
		hint := suggest.Hint(s, options, "such as: "+options[0])
		if r.Hint != nil {
			hint = cmp.Or(r.Hint(s), hint)
		}
		r.Fail(n, hint, "found %s %q, expected %s", what, s, expected)
	}
	return s
}

// Count reads a whole number between least and most.
func (r *Reader) Count(n Node, least, most int) int {
	if r.Shape != nil {
		r.describeNumber(least, uint64(most)) //nolint:gosec // G115: no upper bound is negative
		return least
	}
	i, ok := n.(*ast.IntegerNode)
	if ok {
		v, err := strconv.Atoi(i.GetToken().Value)
		if err == nil && v >= least && v <= most {
			return v
		}
	}
	r.Fail(n, "leave the key out for its default", "found %s, expected a whole number from %d to %d",
		DescribeNode(n), least, most)
	return least
}

// Boolean reads true or false.
func (r *Reader) Boolean(n Node) bool {
	if r.Shape != nil {
		*r.Shape = Shape{Type: "boolean"}
		return false
	}
	b, ok := n.(*ast.BoolNode)
	if !ok {
		r.Fail(n, "without quotes: true", "found %s, expected true or false", DescribeNode(n))
		return false
	}
	return b.Value
}

// MostDuration is the maximum duration in a file. It keeps epoch seconds and sums of durations far from overflow.
const MostDuration = 10 * 365 * 24 * time.Hour

// Duration reads a duration such as 90s or 1h30m; least is the minimum.
func (r *Reader) Duration(n Node, least time.Duration) time.Duration {
	const most = MostDuration
	if r.Shape != nil {
		r.describeDuration(least)
		return least
	}
	found, hint := DescribeNode(n), "durations have a unit: 90s, 1h30m, 500ms"
	if s, ok := n.(*ast.StringNode); ok {
		d, err := time.ParseDuration(s.Value)
		switch {
		case err == nil && d >= least && d <= most:
			return d
		case err == nil && d < least && least == 0:
			r.Fail(n, "leave out the minus", "found the negative duration %v, expected 0s or more", d)
			return least
		case err == nil:
			r.Fail(n, "such as 10s", "found %v, expected a duration between %v and %v", d, least, most)
			return least
		}
		found = strconv.Quote(s.Value)
	}
	r.Fail(n, hint, "found %s, expected a duration", found)
	return least
}

// DescribeNode returns the name of a node's kind, for errors.
func DescribeNode(n Node) string {
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.StringNode:
		const most = 60
		if text := []rune(n.Value); len(text) > most {
			return fmt.Sprintf("the text %q...", string(text[:most]))
		}
		return fmt.Sprintf("the text %q", n.Value)
	case *ast.IntegerNode, *ast.FloatNode:
		return "the number " + n.GetToken().Value
	case *ast.BoolNode:
		return "the boolean " + n.GetToken().Value
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "keys and values"
	case *ast.LiteralNode:
		return "a block of text"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "a YAML anchor or alias, which scenarios do not use"
	case *ast.TagNode:
		return "a YAML tag, which scenarios do not use"
	default:
		return "a YAML " + strings.ToLower(n.Type().String())
	}
}

// Seed reads a seed: any unsigned 64-bit number.
func (r *Reader) Seed(n Node) uint64 {
	if r.Shape != nil {
		r.describeNumber(0, math.MaxUint64)
		return 0
	}
	if i, ok := n.(*ast.IntegerNode); ok {
		if v, err := strconv.ParseUint(i.GetToken().Value, 10, 64); err == nil {
			return v
		}
	}
	r.Fail(n, "the first line of a report has the seed",
		"found %s, expected a seed: a whole number from 0 to 18446744073709551615", DescribeNode(n))
	return 0
}
