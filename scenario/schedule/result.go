package schedule

import "time"

// End says how a run ended: "finished" if every actor's code came to its end, or crashed for good; "cut" if its bound on
// steps was reached first; "broken" if an actor panicked, or a replayed schedule does not fit (see Result.Err);
// "abandoned" if a search needs no more of it.
type End string

// Result is the outcome of a run. Seed and Choices are enough to run it again.
type Result struct {
	Seed    uint64
	Choices Choices
	Steps   int
	// Switches is the number of context switches: steps of an actor's own code (Start, Effect, Response, Timer) that
	// follow a step of another actor's code. Pauses, crashes, steps of a source and the passing of time are of no actor's
	// code.
	Switches int
	Elapsed  time.Duration // true time, from the start of the run to its end
	End      End
	Err      error
}

// Strategy picks the steps of a run; its text is its name. The scheduler has them all: isr-sim run --help lists their
// names.
type Strategy interface{ String() string }
