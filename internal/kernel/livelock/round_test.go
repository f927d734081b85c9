package livelock

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTimesCountByWhatIsLeftOfThemAndNamesByTheirOrder(t *testing.T) {
	now := time.Unix(2_000_000_000, 500_000_000)
	for _, test := range []struct{ text, want string }{
		{"until 2000000012, 2000000012000, 2000000012000000000", "until in 12, in 11500, in 11500000000"},
		{"until 2000000000, 1999999000, 2000000000500", "until over, over, over"},
		{"token alice-7 of alice.2-7, not alice-7", "token alice-#1 of alice.#2, not alice-#1"},
		{"7d444840-9dc0 and f47ac10b, v1", "#1 and #2, #3"},
		{"version 3 after 2, not 3; no digits", "version #1 after #2, not #1; no digits"},
		{"2000000000 in 20000000000", "over in #1"},
		{"2000000001 2315359999 2315360000", "in 1 in 315359999 #1"},
		{"1684640001 1684640000 1684640000501 1684640000500", "over #1 over #2"},
	} {
		if got := shifted(test.text, now); got != test.want {
			t.Errorf("%s: got %s, want %s", test.text, got, test.want)
		}
	}
}

func TestRounds(t *testing.T) {
	for _, test := range []struct {
		name          string
		every, within time.Duration
		same          int // so many rounds leave the same rows
		rounds        int
		forEver       bool
	}{
		{"for a hundred rounds and longer than promised", time.Second, 99 * time.Second, 1000, 100, true},
		{"for as long as promised", time.Second, 100 * time.Second, 1000, 101, true},
		{"a hundred rounds at least", time.Hour, time.Second, 1000, 100, true},
		{"other rows in the last round", time.Second, time.Second, 99, 100, false},
		{"other rows at once", time.Second, time.Second, 0, 1, false},
	} {
		rounds := -1
		r := &Round{Within: test.within}
		r.Rows = func() (string, time.Time) {
			rows := strings.Repeat("row ", max(0, rounds-test.same))
			return rows, time.Unix(0, 0).Add(time.Duration(rounds) * test.every)
		}
		for again := true; again; {
			rounds++
			again = r.Again()
			for _, line := range []string{"%4d  a step\n", "       row in round %d\n"} {
				_, _ = fmt.Fprintf(r, line, rounds)
			}
		}
		if r.Rounds != test.rounds || r.ForEver != test.forEver || r.Lasted != time.Duration(test.rounds)*test.every ||
			!slices.Equal(r.Steps, []string{"0  a step"}) {
			t.Errorf("%s: got %d rounds, for ever: %v, in %v, of %q; want %d, %v", test.name, r.Rounds, r.ForEver,
				r.Lasted, r.Steps, test.rounds, test.forEver)
		}
	}
}
