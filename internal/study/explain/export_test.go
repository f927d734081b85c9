package explain

// Grew says whether the number of so many tails grew by more than they are off.
func Grew(before, after, tails int) bool { return (&Explanation{Tails: tails}).grew(before, after) }
