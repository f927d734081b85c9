package explain

// Grew reports whether the number of violated tails grew by more than three standard errors. The parameter tails is the
// number of all tails.
func Grew(before, after, tails int) bool { return (&Explanation{Tails: tails}).grew(before, after) }
