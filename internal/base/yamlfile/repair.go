package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	yaml "github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"
)

// parseYAML calls the library. A file that makes the library panic is also a mistake in the file.
func parseYAML(data []byte) (file *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the YAML library fails on it: %v", p)
		}
	}()
	return parser.ParseBytes(data, 0)
}

// failParse makes a mistake with a position from the parser's error.
func (r *Reader) failParse(err error) {
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
	r.FailAt(line, column, hint, "%s", "not YAML: "+problem)
}

// maxRepairs bounds how often a file is parsed, because each time takes longer for larger files.
const maxRepairs = 8

// parsed parses a file. If a part of the file is not YAML, that is a mistake, and the file is parsed again without the
// top-level key of that part, so that mistakes in the rest are found, too. It returns nil if nothing can be read.
func (r *Reader) parsed(data []byte) *ast.File {
	file, err := parseYAML(data)
	if err != nil && r.foreignText() {
		r.Cut = true
		return nil
	}
	for repairs := 0; err != nil; repairs++ {
		r.Apart(func() { r.failParse(err) })
		r.Cut = true
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

// withoutKey parses the file without the top-level key around a line or, alternatively, the one before it, because an
// open bracket is noticed only at the next key. It uses the form in which the parser gets further. If the parser fails
// at the same place in both forms, it returns no data.
func (r *Reader) withoutKey(data []byte, line int, was error) (*ast.File, []byte, error) {
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
		probe := Reader{File: r.File, lines: r.lines}
		probe.failParse(err)
		if probe.Err.Line > furthest {
			furthest, rest, was = probe.Err.Line, without, err
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

// keyLine returns the number of the last line at or before a line that begins a top-level key; 0 if there is none.
func keyLine(lines []string, line int) int {
	for line = min(line, len(lines)); line >= 1 && !isKeyLine(lines[line-1]); line-- {
	}
	return max(line, 0)
}

// isKeyLine reports whether a line begins a top-level key: it is not indented, and is neither a comment nor a closing
// bracket.
func isKeyLine(line string) bool {
	return strings.Trim(line, "\r\n") != "" && !strings.ContainsAny(line[:1], " \t#-]}")
}
