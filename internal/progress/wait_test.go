package progress

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
)

// screen is a terminal whose text is read while it is written.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func TestWait(t *testing.T) {
	clock := clockwork.NewFakeClock()
	var s screen
	remove := wait(&s, "shrinking", clock)
	if err := clock.BlockUntilContext(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	clock.Advance(patience)
	for s.String() == "" {
		time.Sleep(time.Millisecond)
	}
	remove()
	remove()
	if want := "\rshrinking: 1s\r" + strings.Repeat(" ", len("shrinking: 1s")) + "\r"; s.String() != want {
		t.Errorf("got %q, want %q", s.String(), want)
	}
}

func TestNothingIsSaidOfShortWaits(t *testing.T) {
	var s screen
	wait(&s, "shrinking", clockwork.NewFakeClock())()
	if s.String() != "" {
		t.Errorf("got %q", s.String())
	}
	Wait(&s, "shrinking")() // no terminal
	if s.String() != "" {
		t.Errorf("got %q on what is no terminal", s.String())
	}
}
