// Package schedule has the text forms of a schedule: the choices that make it, and its planned events. Choices are in
// replay files, and are printed with each violation. The scheduler that takes the steps is an internal part of isr-sim;
// a program runs schedules through package scenario.
package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind is the kind of a step.
type Kind uint8

// The kinds of steps that a scenario can plan. The scheduler has further kinds.
const (
	Restart   Kind = iota + 6 // a crashed node comes back with an empty memory
	Pause                     // a node stops running; its requests in progress continue
	Crash                     // a node loses its memory; its requests in progress continue
	ClockStep                 // a node's clock is set
)

var kindNames = [...]string{
	"", "start", "effect", "response", "timer", "resume", "restart", "pause", "crash", "clock-step",
	"orphan", "external", "tick",
}

// String returns the kind as traces print it.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// Planned is an event of an actor's node that happens at a certain time, in every schedule. Time does not pass before
// the event has happened. The schedule decides which other steps at that time come before it.
//
// A crash or a pause changes nothing if the node is down, and a restart changes nothing if it is not down. After the
// end of the actor's code, no event changes anything. If a node is paused again, and the second pause ends later than
// the first, the pause becomes longer.
type Planned struct {
	Kind Kind          // Pause, Crash, Restart or ClockStep
	At   time.Duration // true time since the start of the run
	For  time.Duration // exactly how long a Pause lasts, or by how much a ClockStep sets the clock
}

// String returns the event as scenario files write it, such as "pause at 5s for 15s".
func (e Planned) String() string {
	switch e.Kind {
	case Pause:
		return fmt.Sprintf("pause at %v for %v", e.At, e.For)
	case ClockStep:
		return fmt.Sprintf("clock %s at %v", signed(e.For), e.At)
	default:
		return fmt.Sprintf("%v at %v", e.Kind, e.At)
	}
}

// signed prints the step of a clock.
func signed(d time.Duration) string {
	if d > 0 {
		return "+" + d.String()
	}
	return d.String()
}

// Choices is a schedule: for each moment at which several steps were possible, the position of the step that was taken.
type Choices []int

const digits = "0123456789abcdefghijklmnopqrstuvwxyz"

// String prints the choices as one word. A choice is one character, 0 to 9 or a to z; a larger choice is a number in
// parentheses. Without choices, the word is "-".
func (c Choices) String() string {
	if len(c) == 0 {
		return "-"
	}
	var b strings.Builder
	for _, n := range c {
		if n < len(digits) {
			b.WriteByte(digits[n])
		} else {
			fmt.Fprintf(&b, "(%d)", n)
		}
	}
	return b.String()
}

// ParseChoices parses the output of String.
func ParseChoices(s string) (Choices, error) {
	if s == "-" {
		return nil, nil
	}
	if s == "" {
		return nil, fmt.Errorf("choices: found nothing, expected a word such as 0120 (or - for none)")
	}
	var c Choices
	for i := 0; i < len(s); i++ {
		if n := strings.IndexByte(digits, s[i]); n >= 0 {
			c = append(c, n)
			continue
		}
		if s[i] != '(' {
			return nil, fmt.Errorf(
				"choices: found %q at character %d, expected 0 to 9, a to z, or a number in parentheses", s[i], i+1,
			)
		}
		end := strings.IndexByte(s[i:], ')')
		if end < 0 {
			return nil, fmt.Errorf("choices: the parenthesis at character %d is never closed", i+1)
		}
		n, err := strconv.Atoi(s[i+1 : i+end])
		if err != nil || n < len(digits) {
			return nil, fmt.Errorf("choices: found %q at character %d, expected a number of at least %d",
				s[i:i+end+1], i+1, len(digits))
		}
		c = append(c, n)
		i += end
	}
	return c, nil
}
