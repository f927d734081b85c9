package scenario_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/scenario"
)

// The published schema is that of the parser, with the meanings that docs/SCENARIOS.md gives. Package schemas holds
// files against it.
func TestThePublishedSchemaIsThatOfTheParser(t *testing.T) {
	root := scenario.FileShape()
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.ID = "https://raw.githubusercontent.com/isr-sim/isr-sim/main/docs/scenario.schema.json"
	root.Title = "A scenario of isr-sim"
	page, err := os.ReadFile("../docs/SCENARIOS.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := root.Properties["rows"].AnyOf[1].Items
	for _, part := range []struct {
		heading string
		of      *scenario.Shape
	}{
		{"## Keys", root},
		{"### The cache", root.Properties["cache"]},
		{"### The promise", root.Properties["promise"]},
		{"### Actors", root.Properties["actors"].Items},
		{"### Bounds", root.Properties["bounds"]},
		{"## Rows of your own", rows},
	} {
		meanings := meaningsIn(t, string(page), part.heading)
		//isrsim:unordered each is changed by itself
		for key, of := range part.of.Properties {
			if of.Description = meanings[key]; of.Description == "" {
				t.Errorf("docs/SCENARIOS.md, %s: no row for %s", part.heading, key)
			}
			delete(meanings, key)
		}
		if part.of != rows && len(meanings) > 0 {
			t.Errorf("docs/SCENARIOS.md, %s: rows for keys that the parser does not know: %v", part.heading, meanings)
		}
	}
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		t.Fatal(err)
	}
	const published = "../docs/scenario.schema.json"
	if *update {
		if err := os.WriteFile(published, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("docs/scenario.schema.json (-of the parser +published); go test ./scenario -run Schema -scenario.update:\n%s", diff)
	}
}

var (
	tableRow = regexp.MustCompile("(?m)^\\| (`[^|]*`) \\| (?:([^|]*) ?\\| )?([^|]+) \\|$")
	link     = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	codeWord = regexp.MustCompile("`([^`]*)`")
)

// meaningsIn reads the tables of a part of a page, up to the next heading: key, default and meaning.
func meaningsIn(t *testing.T, page, heading string) map[string]string {
	t.Helper()
	_, part, ok := strings.Cut(page, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("docs/SCENARIOS.md has no heading %q", heading)
	}
	part, _, _ = strings.Cut(part, "\n#")
	out := map[string]string{}
	for _, row := range tableRow.FindAllStringSubmatch(part, -1) {
		text := link.ReplaceAllString(strings.TrimSpace(row[3]), "$1")
		switch value := strings.TrimSpace(row[2]); value {
		case "":
		case "required":
			text += "\n\nRequired."
		default:
			text += "\n\nDefault: " + value
		}
		for _, key := range codeWord.FindAllStringSubmatch(row[1], -1) {
			out[key[1]] = text
		}
	}
	return out
}
