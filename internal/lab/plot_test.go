package lab

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/lab/policy"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// A picture has each name, unabridged, on a separate line. No axis goes below zero, and no share beyond 100 %. The
// folder is made. One seed has no interval.
func TestPlot(t *testing.T) {
	s := Settings{
		Lifetime: time.Minute, Lasts: 2 * time.Minute, WarmUp: time.Minute, Reads: 20, Changes: 1.0 / 60, Keys: 10,
		Seed: 1, Seeds: 2, Workers: 2, // two seeds have intervals that are far too wide
	}
	rows, picture := pictureOf(t, s)
	s.Seeds = 1
	if _, one := pictureOf(t, s); strings.Contains(one, "99 %") ||
		strings.Count(one, "<line") > strings.Count(picture, "<line")-6*len(rows)+8 {
		t.Error("a picture of one seed has intervals")
	}
	var svg struct {
		Texts []struct {
			X    float64 `xml:"x,attr"`
			Y    float64 `xml:"y,attr"`
			Text string  `xml:",chardata"`
		} `xml:"text"`
	}
	must.OK(t, xml.Unmarshal([]byte(picture), &svg))
	lines := map[string]float64{}
	for _, text := range svg.Texts {
		if text.X < 0 {
			t.Errorf("%q is cut at the left, at %g", text.Text, text.X)
		}
		if v, err := strconv.ParseFloat(text.Text, 64); err == nil && v < 0 || strings.HasPrefix(text.Text, "−") ||
			v > 100 {
			t.Errorf("an axis has %s", text.Text)
		}
		lines[text.Text] = text.Y
	}
	on := map[float64]string{}
	for _, r := range rows {
		y, ok := lines[r.Policy]
		if !ok || on[y] != "" {
			t.Errorf("%s: on the line of %q (there at all: %v), want a line of its own", r.Policy, on[y], ok)
		}
		on[y] = r.Policy
	}
	if len(rows) < 10 {
		t.Errorf("got %d policies, want those that suit the workload", len(rows))
	}
}

// pictureOf measures all policies, and draws them.
func pictureOf(t *testing.T, s Settings) ([]Row, string) {
	t.Helper()
	w := must.Of(WorkloadNamed("steady", s))(t)
	rows := must.Of(Compare(t.Context(), s, policy.All(s.Lifetime), []Workload{w}, nil))(t)
	files, err := Plot(filepath.Join(t.TempDir(), "some", "pictures"), rows)
	if err != nil || len(files) != 1 {
		t.Fatalf("got %v, %v, want one picture", files, err)
	}
	return rows, string(must.Of(os.ReadFile(files[0]))(t))
}
