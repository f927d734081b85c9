package reschedule

// PointAfter is the moment at which an actor's code has taken the given number of steps.
func PointAfter(actor string, steps int) Point { return Point{actor: actor, steps: steps} }
