package schedule

import (
	"fmt"
	"time"
)

// Kind is the kind of a step.
type Kind uint8

// The kinds of steps that a scenario can plan. The scheduler has others, of its own.
const (
	Restart   Kind = iota + 6 // a crashed node comes back with an empty memory
	Pause                     // a node stops running; its requests under way go on
	Crash                     // a node loses its memory; its requests under way go on
	ClockStep                 // a node's clock is set
)

var kindNames = [...]string{
	"", "start", "effect", "response", "timer", "resume", "restart", "pause", "crash", "clock-step", "orphan", "external", "tick",
}

// String returns the kind as traces print it.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// Planned is something that befalls an actor's node at a certain time, in every schedule. Time does not go on before it
// has happened; what else can happen at that time comes before it or after it, as the schedule has it.
//
// A crash or a pause of a node that is down changes nothing, nor does a restart of one that is not, nor anything once the
// actor's code has come to its end. A pause of a node that is paused makes the pause longer, if it ends later.
type Planned struct {
	Kind Kind          // Pause, Crash, Restart or ClockStep
	At   time.Duration // true time since the start of the run
	For  time.Duration // how long a Pause lasts, exactly; by how much a ClockStep sets the clock
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
