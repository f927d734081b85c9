package progress

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
)

func TestProgressIsForTerminals(t *testing.T) {
	var b strings.Builder
	show, remove := Of(&b, "paused-writer", "schedules", 0)
	if remove(); show != nil || b.Len() > 0 {
		t.Errorf("progress is shown on what is no terminal: %q", b.String())
	}
}

func TestTheBarSaysHowFarHowFastAndHowLong(t *testing.T) {
	for lasts, want := range map[time.Duration]string{
		0:         `paused-writer.* \d+% .*\(\d+/1000, .* schedules/.*\) \[\d+s:\d+s\]`,
		time.Hour: `paused-writer: \d+ schedules, \d+ a second .* \[\d+s:.*\]`,
	} {
		var b strings.Builder
		show, remove := newBar(&b, "paused-writer", "schedules", lasts)
		clock := clockwork.NewRealClock()
		// The bar draws itself a few times a second.
		for start, done := clock.Now(), 0; clock.Now().Sub(start) < 300*time.Millisecond; {
			done = min(done+16, 992)
			show(done, 1000)
		}
		remove()
		if !regexp.MustCompile(want).MatchString(b.String()) {
			t.Errorf("a bar that lasts %v shows %q, want %s", lasts, b.String(), want)
		}
	}
}
