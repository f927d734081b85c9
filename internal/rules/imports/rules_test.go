package imports

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRules applies made-up rules to made-up graphs: a good one, and one that breaks each rule.
func TestRules(t *testing.T) {
	rules := Rules{
		Module: "example.org/m",
		Levels: [][]string{{"low", "other"}, {"middle"}, {"top", "top/tool"}},
		Bans: []Ban{
			{From: []string{"low", "middle"}, To: []string{"heavy.org/..."}, Reason: "light"},
			{From: []string{"top/..."}, Except: []string{"top/tool"}, To: []string{"testing"},
				Directly: true, Reason: "tests"},
			{From: []string{"middle"}, To: []string{"./other"}, Reason: "alone"},
		},
	}
	good := func() Graph {
		return Graph{
			"example.org/m/low":      {"fmt"},
			"example.org/m/other":    {"fmt"},
			"example.org/m/middle":   {"example.org/m/low"},
			"example.org/m/top":      {"example.org/m/middle", "example.org/m/other", "heavy.org/a"},
			"example.org/m/top/tool": {"testing", "heavy.org/a/b"},
			"heavy.org/a":            {"testing"},
			"light.org/x":            {"light.org/y"},
			"light.org/y":            {"heavy.org/a/b"},
		}
	}
	for _, tc := range []struct {
		name   string
		change func(Graph)
		want   []string // a part of each complaint
	}{
		{name: "good", change: func(Graph) {}},
		{
			name:   "upwards",
			change: func(g Graph) { g["example.org/m/low"] = []string{"example.org/m/middle"} },
			want:   []string{"low (level 1) imports middle (level 2)"},
		},
		{
			name:   "sideways",
			change: func(g Graph) { g["example.org/m/low"] = []string{"example.org/m/other"} },
			want:   []string{"low (level 1) imports other (level 1)", "middle imports low imports other: alone"},
		},
		{
			name:   "missing package",
			change: func(g Graph) { delete(g, "example.org/m/other") },
			want:   []string{"other has a level but does not exist"},
		},
		{
			name:   "package without a level",
			change: func(g Graph) { g["example.org/m/new"] = nil },
			want:   []string{"new has no level"},
		},
		{
			name:   "forbidden, directly",
			change: func(g Graph) { g["example.org/m/middle"] = []string{"heavy.org/a"} },
			want:   []string{"middle imports heavy.org/a: light"},
		},
		{
			name:   "forbidden, three imports away",
			change: func(g Graph) { g["example.org/m/low"] = []string{"light.org/x"} },
			want: []string{
				"low imports light.org/x imports light.org/y imports heavy.org/a/b: light",
				"middle imports low imports light.org/x imports light.org/y imports heavy.org/a/b: light",
			},
		},
		{
			name:   "forbidden directly only, and imported directly",
			change: func(g Graph) { g["example.org/m/top"] = []string{"testing"} },
			want:   []string{"top imports testing: tests"},
		},
		{
			name:   "exception about nothing",
			change: func(g Graph) { delete(g, "example.org/m/top/tool") },
			want:   []string{"top/tool has a level but does not exist", "a ban names top/tool, which"},
		},
		{
			name: "ban about nothing",
			change: func(g Graph) {
				delete(g, "example.org/m/middle")
				g["example.org/m/top"] = nil
			},
			want: []string{"middle has a level but does not exist", "a ban names middle, which",
				"a ban names middle, which"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			graph := good()
			tc.change(graph)
			got := rules.Check(graph)
			if len(got) != len(tc.want) {
				t.Fatalf("got %d complaints, want %d:\n%s", len(got), len(tc.want), strings.Join(got, "\n"))
			}
			for i, want := range tc.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("complaint %d: got %q, want one that says %q", i, got[i], want)
				}
			}
		})
	}
}

func TestPatterns(t *testing.T) {
	for _, tc := range []struct {
		pattern, path string
		want          bool
	}{
		{"a/b", "a/b", true},
		{"a/b", "a/b/c", false},
		{"a/b/...", "a/b", true},
		{"a/b/...", "a/b/c/d", true},
		{"a/b/...", "a/bc", false},
		{"...", "anything", true},
	} {
		if got := matches(tc.pattern, tc.path); got != tc.want {
			t.Errorf("matches(%q, %q) = %v, want %v", tc.pattern, tc.path, got, tc.want)
		}
	}
}

func TestReachIsShortest(t *testing.T) {
	graph := Graph{"a": {"b", "c"}, "b": {"c"}, "c": {"d"}, "d": {"a"}}
	if diff := cmp.Diff([]string{"a", "c", "d"}, reach(graph, "a", []string{"d"}, false)); diff != "" {
		t.Errorf("chain (-want +got):\n%s", diff)
	}
}

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
