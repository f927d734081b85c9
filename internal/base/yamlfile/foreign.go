package yamlfile

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/base/suggest"
)

// Kind says what a file should be.
type Kind struct {
	What string          // "a scenario"
	Hint string          // how it begins
	Keys func() []string // of its outermost mapping, the most important first
}

// foreign says that a file is something else: it has none of the keys, and none that looks like one. Then each of its
// lines is a mistake, and one message about all of them helps more. names are the keys that it has.
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

// foreignText is foreign for a file that is no YAML.
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

// ForeignKeys is foreign for a file that is YAML. One wrong key may just be wrong.
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
