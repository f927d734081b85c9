package serve

import (
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/control"
)

// ParseClock returns the clock that a text asks for, and its mode: wall follows real time, manual stands until the
// control API moves it, and so does an instant, at which it begins.
func ParseClock(text string) (clock control.Clock, mode string, err error) {
	switch text {
	case "wall":
		return newWallClock(), "wall", nil
	case "manual":
		return fakeclock.New(fakeclock.Epoch), "manual", nil
	}
	start, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return nil, "", fmt.Errorf("found %q, expected wall, manual, or an instant", text)
	}
	return fakeclock.New(start.UTC()), "manual", nil
}
