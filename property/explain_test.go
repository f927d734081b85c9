package property_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/race"
	"github.com/isr-sim/isr-sim/internal/record"
)

// onePause is a world in which nothing but the pause lets a lease run out.
const onePause = `name: one-pause
actors:
  - name: alice
    script: [get /home]
    pauses: 1
    pause-for: 11s
  - name: bob
    script: [sleep 11s, get /home]
bounds: {schedules: 400, steps: 2000, ticks: 0}
`

// TestExplain holds that the command which a failure names explains it, the same way each time.
func TestExplain(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("thousands of runs, one after the other")
	}
	pause := regexp.MustCompile(`needed: step \d+, alice pause: without it 0 of 100 `)
	for _, tc := range []struct {
		store string
		env   []string
		want  *regexp.Regexp
		racy  bool // the store's goroutines are in no order, and so its random tails need not be the same twice
	}{
		{"blind-release", []string{replayEnv + "=" + fileOf(t, onePause)}, pause, false},
		{"heartbeat after release", nil, regexp.MustCompile("last jump: step "), true},
	} {
		t.Run(tc.store, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			runChild(t, dir, tc.store, []string{"-rapid.seed=1", "-rapid.shrinktime=2s"}, tc.env...).wantFailure(t,
				"explain: go test -v -run '^TestChild$' github.com/isr-sim/isr-sim/property -isrsim.explain\n")
			explained := func() string {
				c := runChild(t, dir, tc.store, []string{"-isrsim.explain"}, tc.env...)
				c.wantFailure(t, "violated: ", "what had to happen")
				_, text, _ := strings.Cut(c.output, "what had to happen")
				text, _, _ = strings.Cut(text, "--- FAIL")
				return text
			}
			first := explained()
			made, err := os.Open(filepath.Join(dir, filepath.FromSlash(recordOf(first))))
			if err != nil {
				t.Fatalf("%v in:\n%s", err, first)
			}
			defer made.Close()
			if r, err := record.Read(made); err != nil || r.Explanation == nil || r.Explanation.Tails != 100 || len(r.Explanation.After) == 0 {
				t.Errorf("the record has the explanation %+v, %v", r.Explanation, err)
			}
			if !strings.Contains(first, "the chance of it after each step, from 100 random tails each\n") || !tc.want.MatchString(first) {
				t.Errorf("want %s in:\n%s", tc.want, first)
			}
			if tc.racy {
				return
			}
			if again := explained(); again != first {
				t.Errorf("another explanation:\n%s", again)
			}
		})
	}
}

// recordOf is the file that a text names after "record: ".
func recordOf(text string) string {
	_, name, _ := strings.Cut(text, "record: ")
	name, _, _ = strings.Cut(name, "\n")
	return name
}
