package progress

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
)

// Progress is only for people at a terminal.
func TestProgressIsForTerminals(t *testing.T) {
	t.Setenv("AGENT", "")
	t.Setenv("AI_AGENT", "")
	var b strings.Builder
	show, remove := Of(&b, "paused-writer", "schedules", 0)
	if remove(); show != nil || b.Len() > 0 {
		t.Errorf("progress is shown on what is no terminal: %q", b.String())
	}
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	defer terminal.Close()
	for _, by := range []string{"", "AGENT", "AI_AGENT"} {
		if by != "" {
			t.Setenv(by, "1")
		}
		if show, _ := Of(terminal, "paused-writer", "schedules", 0); (show != nil) != (by == "") {
			t.Errorf("on a terminal with %q set, progress is shown: %t", by, show != nil)
		}
		if by != "" {
			t.Setenv(by, "")
		}
	}
}

func TestTheBarSaysHowFarHowFastAndHowLong(t *testing.T) {
	effort.NotShort(t)
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

// screen is a terminal that passes on each written text.
type screen chan string

func (s screen) Write(p []byte) (int, error) {
	s <- string(p)
	return len(p), nil
}

func TestWait(t *testing.T) {
	clock := clockwork.NewFakeClock()
	s := make(screen, 3)
	remove := wait(s, func() string { return "shrinking" }, clock)
	if err := clock.BlockUntilContext(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	clock.Advance(patience)
	if got := <-s; got != "\rshrinking: 1s" {
		t.Errorf("got %q", got)
	}
	remove()
	remove()
	if got, want := <-s, "\r"+strings.Repeat(" ", len("shrinking: 1s"))+"\r"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(s) > 0 {
		t.Errorf("got %q once more", <-s)
	}
}

func TestNothingIsSaidOfShortWaits(t *testing.T) {
	s := make(screen, 1)
	wait(s, func() string { return "shrinking" }, clockwork.NewFakeClock())()
	Wait(s, "shrinking")() // no terminal
	if len(s) > 0 {
		t.Errorf("got %q", <-s)
	}
}
