package imports

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxWings is the largest number of folders of internal: a newcomer can take that many in at a glance.
const maxWings = 17

// TestWings: internal has few wings; each wing says in its doc.go what it contains; and no two wings import each other.
func TestWings(t *testing.T) {
	entries, err := os.ReadDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) > maxWings {
		t.Errorf("internal has %d entries, want at most %d", len(entries), maxWings)
	}
	for _, entry := range entries {
		if _, err := os.Stat(filepath.Join("..", "..", entry.Name(), "doc.go")); err != nil {
			t.Errorf("a wing without its paragraph: %v", err)
		}
	}
	if circle := circle(wings(load(t), Module.Module)); circle != nil {
		t.Errorf("wings lead into each other: %s", strings.Join(circle, " imports "))
	}
}

// TestCircle: wings that import each other are found, even if no packages import each other in a circle.
func TestCircle(t *testing.T) {
	graph := Graph{
		"m/internal/a/one": {"m/internal/b/two", "fmt"}, "m/internal/b/two": {"m/scenario"},
		"m/internal/b/three": {"m/internal/a/four"}, "m/scenario": nil, "m/internal/a/four": {"m/internal/a/five"},
	}
	if got := circle(wings(graph, "m")); !slices.Equal(got, []string{"a", "b", "a"}) {
		t.Errorf("got %v, want a, b, a", got)
	}
	delete(graph, "m/internal/b/three")
	if got := circle(wings(graph, "m")); got != nil {
		t.Errorf("got %v, want none", got)
	}
}

// wings returns the imports between the wings of internal.
func wings(graph Graph, module string) Graph {
	wing := func(path string) string {
		below, _ := strings.CutPrefix(path, module+"/internal/")
		if below == path {
			return ""
		}
		name, _, _ := strings.Cut(below, "/")
		return name
	}
	all := Graph{}
	for _, from := range slices.Sorted(maps.Keys(graph)) {
		for _, to := range graph[from] {
			a, b := wing(from), wing(to)
			if a != "" && b != "" && a != b && !slices.Contains(all[a], b) {
				all[a] = append(all[a], b)
			}
		}
	}
	return all
}

// circle returns the shortest way from a node back to itself, for the first node that has one; nil if none has.
func circle(graph Graph) []string {
	for _, from := range slices.Sorted(maps.Keys(graph)) {
		for _, next := range graph[from] {
			if way := reach(graph, next, []string{from}, false); way != nil {
				return append([]string{from}, way...)
			}
		}
	}
	return nil
}
