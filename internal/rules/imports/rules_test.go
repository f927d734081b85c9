package imports

import (
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
