package scenario

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	yaml "github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/protocols"
)

// Limits of a scenario file. A scenario is prose of a page or two. A file that is far longer is a mistake, and is not
// given to a parser.
const (
	maxFileBytes = 128 << 10 // bounded because the parser takes quadratic time for many keys
	maxLineBytes = 64 << 10
	maxDepth     = 16
)

// yamlNode is a place in a scenario file. Only this source file uses the library's types.
type yamlNode = ast.Node

// reader reads values from a YAML tree, and collects the mistakes, each with its position. A library parses the YAML;
// the reader finds its meaning.
type reader struct {
	file     string
	kind     kind
	lines    []string
	err      *SyntaxError   // the first mistake in the entry that is being read; later mistakes may follow from it
	mistakes []*SyntaxError // the mistakes of all entries
	// the shape that is being described, if any: then nothing is read, and there are no mistakes
	shape *shape
	cut   bool // parts of the file were left out because they are no YAML, so keys may be missing
}

// open checks the bytes, and then parses them.
func (r *reader) open(data []byte) yamlNode {
	data = bytes.TrimPrefix(data, []byte("\uFEFF")) // some editors begin a file with a byte order mark
	r.lines = strings.Split(string(data), "\n")
	for i, line := range r.lines {
		if len(line) > maxLineBytes {
			r.failAt(i+1, maxLineBytes+1, "scenario lines are short; is this a scenario file?",
				"found a line of %d bytes, expected at most %d", len(line), maxLineBytes)
			return nil
		}
		if !utf8.ValidString(line) {
			column := utf8.RuneCountInString(line[:validPrefix(line)]) + 1
			r.failAt(i+1, column, "save the file as UTF-8", "found a byte that is not UTF-8")
			return nil
		}
	}
	if len(data) > maxFileBytes {
		r.failAt(1+bytes.Count(data[:maxFileBytes], []byte("\n")), 1, "",
			"found a file of %d bytes, expected at most %d", len(data), maxFileBytes)
		return nil
	}
	if depth, line, column := flowDepth(r.lines); depth > maxDepth {
		r.failAt(line, column, "", "found brackets %d deep, expected at most %d", depth, maxDepth)
		return nil
	}
	file := r.parsed(data)
	if file == nil {
		return nil
	}
	docs := slices.DeleteFunc(file.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	switch {
	case len(docs) == 0 && r.cut:
		return nil
	case len(docs) == 0:
		r.failAt(1, 1, "a scenario begins with its name, such as name: paused-writer",
			"found an empty file, expected a scenario")
		return nil
	case len(docs) > 1:
		r.fail(docs[1].Body, "one scenario a file", "found a second YAML document")
		return nil
	}
	return docs[0].Body
}

// parseYAML calls the library. If a file makes the library panic, that is also a mistake in the file.
func parseYAML(data []byte) (file *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the YAML library fails on it: %v", p)
		}
	}()
	return parser.ParseBytes(data, 0)
}

// validPrefix is the length of the beginning of s that is valid UTF-8.
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

// flowDepth finds the first place where brackets are deeper than allowed. It ignores quotes and comments, because
// brackets in them are not nested that deep.
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

// failParse makes a mistake with a position from the parser's error.
func (r *reader) failParse(err error) {
	line, column, problem := 1, 1, err.Error()
	if ye, ok := errors.AsType[yaml.Error](err); ok {
		problem = ye.GetMessage()
		if t := ye.GetToken(); t != nil && t.Position != nil {
			line, column = t.Position.Line, t.Position.Column
		}
	}
	hint := "the keys of one mapping begin in one column, and a bracket or a quote that is open is closed"
	switch {
	case line >= 1 && line <= len(r.lines) && strings.Contains(r.lines[line-1], "\t"):
		hint = "indent with spaces: YAML takes no tabs"
	case strings.Contains(problem, "already defined"):
		hint = "keep one of the two"
	}
	r.failAt(line, column, hint, "%s", "not YAML: "+problem)
}

func (r *reader) fail(n yamlNode, hint, problem string, args ...any) {
	if r.shape != nil {
		return
	}
	p := position(n)
	r.failAt(p.Line, p.Column, hint, problem, args...)
}

func (r *reader) failAt(line, column int, hint, problem string, args ...any) {
	if r.err != nil {
		return
	}
	e := &SyntaxError{File: r.file, Line: line, Column: column, Hint: hint, Problem: fmt.Sprintf(problem, args...)}
	if line >= 1 && line <= len(r.lines) {
		e.source = strings.TrimSuffix(r.lines[line-1], "\r")
	}
	r.err = e
	r.mistakes = append(r.mistakes, e)
}

// apart reads one of several entries. A mistake in it is reported even if other entries have mistakes.
func (r *reader) apart(read func()) {
	before := r.err
	r.err = nil
	read()
	r.err = cmp.Or(before, r.err)
}

// maxMistakes bounds the length of an error, because a file that is no scenario at all has a mistake in each line.
const maxMistakes = 50

// failed returns the mistakes in the order of the file, joined by errors.Join; nil if there are none.
func (r *reader) failed() error {
	slices.SortStableFunc(r.mistakes, func(a, b *SyntaxError) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if len(r.mistakes) == 1 {
		return r.mistakes[0]
	}
	var errs []error
	for _, e := range r.mistakes[:min(len(r.mistakes), maxMistakes)] {
		errs = append(errs, e)
	}
	if more := len(r.mistakes) - len(errs); more > 0 {
		errs = append(errs, fmt.Errorf("and %d more mistakes in %s", more, r.file))
	}
	return errors.Join(errs...)
}

// position is the place where a node begins. For a mapping, it is the place of the first key.
func position(n yamlNode) token.Position {
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

// entries returns the keys of a mapping with their values.
func entries(n yamlNode) (all []*ast.MappingValueNode, is bool) {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}, true
	}
	return nil, false
}

func hasKey(n yamlNode, key string) bool {
	all, _ := entries(n)
	return slices.ContainsFunc(all, func(e *ast.MappingValueNode) bool { return e.Key.GetToken().Value == key })
}

// oneLine returns the text of a node that is written on one line.
func oneLine(n yamlNode) (string, bool) {
	s, is := n.(*ast.StringNode)
	if !is {
		return "", false
	}
	return s.Value, true
}

// field is a key of a mapping, and the function that reads its value.
type field struct {
	name string
	read func(yamlNode)
}

// mapping reads a mapping that may have these keys, each at most once. If there is an unknown key, complete is false,
// because the unknown key may be the misspelt form of a key that is missing.
func (r *reader) mapping(n yamlNode, fields ...field) (complete bool) {
	if r.shape != nil {
		r.describeMapping(fields)
		return false
	}
	all, ok := entries(n)
	if !ok {
		r.fail(n, "such as {"+fields[0].name+": ...}, or a line for each key",
			"found %s, expected keys and values (%s)", describeNode(n), fieldNames(fields))
		return false
	}
	complete = true
	seen := map[string]bool{}
	for _, entry := range all {
		r.apart(func() {
			known := r.entry(entry, fields, seen)
			complete = complete && known
		})
	}
	return complete
}

// entry reads a key and its value, and says whether the key is known.
func (r *reader) entry(entry *ast.MappingValueNode, fields []field, seen map[string]bool) bool {
	name := r.text(entry.Key)
	if r.err != nil {
		return false
	}
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	if i < 0 {
		r.fail(entry.Key, suggest.Hint(name, fieldNameList(fields), ""), "found key %q, expected one of %s",
			name, fieldNames(fields))
		return false
	}
	if seen[name] {
		r.fail(entry.Key, "keep one of the two", "found key %q a second time", name)
		return true
	}
	seen[name] = true
	fields[i].read(entry.Value)
	return true
}

func fieldNameList(fields []field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

func fieldNames(fields []field) string { return strings.Join(fieldNameList(fields), ", ") }

// list reads a sequence.
func (r *reader) list(n yamlNode, read func(yamlNode)) {
	if r.shape != nil {
		items := r.inner(read)
		*r.shape = shape{Type: "array", Items: items}
		return
	}
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		r.fail(n, "write it as a list: [...], or lines that begin with -", "found %s, expected a list", describeNode(n))
		return
	}
	for _, item := range s.Values {
		r.apart(func() { read(item) })
	}
}

// text reads a string. Values such as numbers must be quoted if they are meant as text.
func (r *reader) text(n yamlNode) string {
	if r.shape != nil {
		r.describeText(shape{})
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
	r.fail(n, hint, "found %s, expected text", describeNode(n))
	return ""
}

// longList is a number of words. If there are more, an error does not list them, because nobody would read such a long
// line.
const longList = 50

// word reads one of the given words.
func (r *reader) word(n yamlNode, what string, options []string) string {
	if r.shape != nil {
		r.describeText(shape{Enum: options})
		return options[0]
	}
	s := r.text(n)
	if r.err == nil && !slices.Contains(options, s) {
		expected := "one of " + strings.Join(options, ", ")
		if len(options) > longList {
			expected = fmt.Sprintf("one of the %d that isr-sim list prints", len(options))
		}
		hint := suggest.Hint(s, options, "such as: "+options[0])
		if protocols.UnderTest(s) {
			hint = "this run is of code in a Go test: go test -v -run '^" +
				strings.TrimSuffix(filepath.Base(r.file), filepath.Ext(r.file)) + "$'"
		}
		r.fail(n, hint, "found %s %q, expected %s", what, s, expected)
	}
	return s
}

// count reads a whole number between least and most.
func (r *reader) count(n yamlNode, least, most int) int {
	if r.shape != nil {
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
	r.fail(n, "leave the key out for its default", "found %s, expected a whole number from %d to %d",
		describeNode(n), least, most)
	return least
}

// boolean reads true or false.
func (r *reader) boolean(n yamlNode) bool {
	if r.shape != nil {
		*r.shape = shape{Type: "boolean"}
		return false
	}
	b, ok := n.(*ast.BoolNode)
	if !ok {
		r.fail(n, "without quotes: true", "found %s, expected true or false", describeNode(n))
		return false
	}
	return b.Value
}

// mostDuration is the longest duration in a file. It keeps epoch seconds and sums of durations far from overflow.
const mostDuration = 10 * 365 * 24 * time.Hour

// duration reads a duration such as 90s or 1h30m, of at least the given length.
func (r *reader) duration(n yamlNode, least time.Duration) time.Duration {
	const most = mostDuration
	if r.shape != nil {
		r.describeDuration(least)
		return least
	}
	found, hint := describeNode(n), "durations have a unit: 90s, 1h30m, 500ms"
	if s, ok := n.(*ast.StringNode); ok {
		d, err := time.ParseDuration(s.Value)
		switch {
		case err == nil && d >= least && d <= most:
			return d
		case err == nil && d < least && least == 0:
			r.fail(n, "leave out the minus", "found the negative duration %v, expected 0s or more", d)
			return least
		case err == nil:
			r.fail(n, "such as 10s", "found %v, expected a duration between %v and %v", d, least, most)
			return least
		}
		found = strconv.Quote(s.Value)
	}
	r.fail(n, hint, "found %s, expected a duration", found)
	return least
}

// describeNode names the kind of a node, for errors.
func describeNode(n yamlNode) string {
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

// seed reads a seed: any unsigned 64-bit number.
func (r *reader) seed(n yamlNode) uint64 {
	if r.shape != nil {
		r.describeNumber(0, math.MaxUint64)
		return 0
	}
	if i, ok := n.(*ast.IntegerNode); ok {
		if v, err := strconv.ParseUint(i.GetToken().Value, 10, 64); err == nil {
			return v
		}
	}
	r.fail(n, "the first line of a report has the seed",
		"found %s, expected a seed: a whole number from 0 to 18446744073709551615", describeNode(n))
	return 0
}

// document is a mapping under construction, in order.
type document yaml.MapSlice

func (d *document) add(key string, value any, wanted bool) {
	if !wanted {
		return
	}
	switch nested := value.(type) { // the library knows only its own type
	case document:
		value = yaml.MapSlice(nested)
	case []document:
		items := make([]yaml.MapSlice, len(nested))
		for i, d := range nested {
			items[i] = yaml.MapSlice(d)
		}
		value = items
	}
	*d = append(*d, yaml.MapItem{Key: key, Value: value})
}

// text is the document as a file.
func (d document) text() ([]byte, error) {
	return yaml.MarshalWithOptions(yaml.MapSlice(d), yaml.UseLiteralStyleIfMultiline(true), yaml.IndentSequence(true))
}

func (d *document) addDuration(key string, value, byItself time.Duration) {
	d.add(key, value.String(), value != byItself)
}

// maxRepairs bounds how often a file is parsed, because each time takes longer the larger the file is.
const maxRepairs = 8

// parsed parses a file. If a part of the file is no YAML, that is a mistake. The file is then parsed again without the
// top-level key to which the part belongs, so that mistakes in the rest are found, too. It returns nil if nothing can
// be read.
func (r *reader) parsed(data []byte) *ast.File {
	file, err := parseYAML(data)
	if err != nil && r.foreignText() {
		r.cut = true
		return nil
	}
	for repairs := 0; err != nil; repairs++ {
		r.apart(func() { r.failParse(err) })
		r.cut = true
		if repairs == maxRepairs {
			return nil
		}
		file, data, err = r.withoutKey(data, r.mistakes[len(r.mistakes)-1].Line, err)
		if data == nil {
			return nil
		}
	}
	return file
}

// withoutKey parses the file without the top-level key around a line, and without the key before it, because an open
// bracket is noticed only at the next key. It uses the form in which the parser gets further. If the parser fails at
// the same place in both forms, it returns no data.
func (r *reader) withoutKey(data []byte, line int, was error) (*ast.File, []byte, error) {
	lines := strings.SplitAfter(string(data), "\n")
	var rest []byte
	furthest := line
	for _, at := range []int{line, keyLine(lines, line) - 1} {
		without, ok := withoutLines(lines, at)
		if !ok {
			continue
		}
		file, err := parseYAML(without)
		if err == nil {
			return file, without, nil
		}
		probe := reader{file: r.file, lines: r.lines}
		probe.failParse(err)
		if probe.err.Line > furthest {
			furthest, rest, was = probe.err.Line, without, err
		}
	}
	return nil, rest, was
}

// withoutLines empties the lines of the top-level key around a line. The numbers of all other lines stay the same.
func withoutLines(lines []string, line int) ([]byte, bool) {
	from := keyLine(lines, line)
	if from < 1 {
		return nil, false
	}
	kept := slices.Clone(lines)
	for i := from; i <= len(lines) && (i == from || !isKeyLine(lines[i-1])); i++ {
		kept[i-1] = ""
		if strings.HasSuffix(lines[i-1], "\n") {
			kept[i-1] = "\n"
		}
	}
	out := []byte(strings.Join(kept, ""))
	return out, len(bytes.TrimSpace(out)) > 0
}

// keyLine is the number of the last line at or before the given one that begins a top-level key; 0 if there is none.
func keyLine(lines []string, line int) int {
	for line = min(line, len(lines)); line >= 1 && !isKeyLine(lines[line-1]); line-- {
	}
	return max(line, 0)
}

// isKeyLine says whether a line begins a top-level key: it is not indented, and is neither a comment nor a closing
// bracket.
func isKeyLine(line string) bool {
	return strings.Trim(line, "\r\n") != "" && !strings.ContainsAny(line[:1], " \t#-]}")
}
