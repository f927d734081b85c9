package scenario

import (
	"bytes"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// maxRepairs bounds how often a file is parsed: each time may take as long as the file is large.
const maxRepairs = 8

// parsed parses a file. Where a part is no YAML, that is a mistake, and the rest is parsed without the top-level key
// whose value it is: so the mistakes in the rest are found in the same go. It returns nil if nothing can be read.
func (r *reader) parsed(data []byte) *ast.File {
	file, err := parseYAML(data)
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

// withoutKey parses the file without the top-level key around a line or without the one before it, since an open
// bracket is noticed at the next key: whichever lets the parser get further. It returns no data if the parser stumbles
// over the same place without either.
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

// withoutLines empties the lines of the top-level key around a line, so that all others keep their numbers.
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

// isKeyLine says whether a line begins a top-level key: it is not indented, and neither a comment nor a bracket.
func isKeyLine(line string) bool {
	return strings.Trim(line, "\r\n") != "" && !strings.ContainsAny(line[:1], " \t#-]}")
}
