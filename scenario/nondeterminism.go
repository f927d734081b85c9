package scenario

// NondeterminismError says that a schedule which was run again, with the same seed and the same choices, had another
// result. No ok about such a protocol can be trusted, and no run of it can be replayed. The violation in the first run
// did happen.
type NondeterminismError struct {
	Found      *Outcome // of the first run; nil if a search was at it
	Difference string   // between two of the runs
}

func (e *NondeterminismError) Error() string {
	return "not deterministic: one schedule, run again with the same seed and the same choices, came to something else: " + e.Difference +
		"\nhint: the protocol listens to something that the simulator does not decide: look for time.Now, math/rand or a random id, " +
		"goroutines and channels, the order of a map, and what is kept from one run to the next, such as a package's variables"
}
