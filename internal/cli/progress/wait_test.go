package progress

import (
	"strings"
	"testing"

	"github.com/jonboulle/clockwork"
)

// screen is a terminal that hands over each text that is written.
type screen chan string

func (s screen) Write(p []byte) (int, error) {
	s <- string(p)
	return len(p), nil
}

func TestWait(t *testing.T) {
	clock := clockwork.NewFakeClock()
	s := make(screen, 3)
	remove := wait(s, "shrinking", clock)
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
	wait(s, "shrinking", clockwork.NewFakeClock())()
	Wait(s, "shrinking")() // no terminal
	if len(s) > 0 {
		t.Errorf("got %q", <-s)
	}
}
