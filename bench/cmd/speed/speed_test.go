package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseResults(t *testing.T) {
	got, err := parseResults(`goos: linux
BenchmarkDoor/op=get/by=isr-sim         	  104596	      2760 ns/op	     12 allocs/op
BenchmarkMemory                         	       1	      1192 heap-B/row
PASS
BenchmarkDoor/op=get/by=isr-sim         	  104596	      2761.5 ns/op	     12 allocs/op
`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[measurement]figures{
		{"Door/op=get/by=isr-sim", "ns/op"}:     {2760, 2761.5},
		{"Door/op=get/by=isr-sim", "allocs/op"}: {12, 12},
		{"Memory", "heap-B/row"}:                {1192},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(measurement{})); diff != "" {
		t.Errorf("parseResults (-want +got):\n%s", diff)
	}
	for _, bad := range []string{"BenchmarkDoor 1 fast ns/op", "BenchmarkDoor 1 12 ns/op 13"} {
		if got, err := parseResults(bad); err == nil {
			t.Errorf("parseResults(%q) = %v, want an error", bad, got)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, tc := range []struct {
		figures figures
		want    float64
	}{
		{figures{3}, 3},
		{figures{9, 1, 2}, 2},
		{figures{4, 1, 2, 9}, 3},
	} {
		if got := tc.figures.median(); got != tc.want {
			t.Errorf("median of %v = %v, want %v", tc.figures, got, tc.want)
		}
	}
}

// TestVerdicts tries figures on both sides of each kind of target.
func TestVerdicts(t *testing.T) {
	for _, tc := range []struct {
		name         string
		line         line
		ours, theirs figures
		want         string
	}{
		{"fast enough", line{atLeast: 5}, figures{2, 2, 2}, figures{8, 10, 20}, "5.00x 4.00x 10.0x met"},
		{"too slow", line{atLeast: 5}, figures{2, 2, 2}, figures{8, 9.9, 20}, "4.95x 4.00x 10.0x missed"},
		{"little overhead", line{atMost: 1.25}, figures{5}, figures{4}, "1.25x 1.25x 1.25x met"},
		{"overhead", line{atMost: 1.25}, figures{5.1}, figures{4}, "1.27x 1.27x 1.27x missed"},
		{"no target", line{}, figures{5, 6}, figures{4, 4}, "1.38x 1.25x 1.50x "},
		{"small", line{below: 1500, ours: measurement{unit: "heap-B/row"}}, figures{1499, 1400}, nil,
			"1450 B 1400 B 1499 B met"},
		{"large", line{below: 1e6}, figures{1e6}, nil, "1 ms 1 ms 1 ms missed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := verdict{line: tc.line, ours: tc.ours, theirs: tc.theirs}
			v.weigh()
			if got := fmt.Sprintln(v.show(v.ratio), v.show(v.low), v.show(v.high), v.outcome()); got != tc.want+"\n" {
				t.Errorf("got %s want %s", got, tc.want)
			}
		})
	}
}

// TestMissingFigures checks that a target without its figures is not met.
func TestMissingFigures(t *testing.T) {
	measured := map[measurement]figures{}
	for _, c := range comparisons() {
		for _, l := range c.lines {
			measured[l.ours], measured[l.theirs] = figures{1}, figures{1}
		}
	}
	all, err := judge(measured)
	if err != nil {
		t.Fatal(err)
	}
	if missed, total := countMissed(all); missed != 19 || total != 27 {
		t.Errorf("as fast as all peers: %d of %d targets are missed, want 19 of 27", missed, total)
	}
	for _, lost := range []measurement{
		{"Door/op=get/by=isr-sim", "cpu-ns/op"}, {"HTTP/op=get/by=dynalite", "cpu-ns/req"}, {"Memory", "heap-B/row"},
	} {
		was := measured[lost]
		delete(measured, lost)
		if _, err := judge(measured); err == nil {
			t.Errorf("without %v there is a verdict, want an error", lost)
		}
		measured[lost] = was
	}
}

func TestIntoPage(t *testing.T) {
	all := []judged{
		{comparison: comparison{title: "Door", peer: "other"}, verdicts: []verdict{
			{line: line{name: "get", atLeast: 3}, ratio: 4},
			{line: line{name: "publish-transaction", atLeast: 3}, ratio: 432.1},
		}},
		{comparison: comparison{title: "alone"}},
	}
	want := "# Title\n" + partBegins + `
| | get | conditional put | conditional update | publish transaction |
|---|---|---|---|---|
| Door | 4.00x | - | - | 432x |

` + partEnds + "More.\n"
	for _, old := range []string{"", "\n| old |\n"} {
		got, err := intoPage("# Title\n"+partBegins+old+partEnds+"More.\n", all)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with %q between the lines (-want +got):\n%s", old, diff)
		}
	}
	if _, err := intoPage("# Title\n"+strings.TrimSpace(partEnds), all); err == nil {
		t.Error("a page without the lines: want an error")
	}
}
