package livelock

import (
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
	} {
		if got := shifted(test.text, now); got != test.want {
			t.Errorf("%s: got %s, want %s", test.text, got, test.want)
		}
	}
}
