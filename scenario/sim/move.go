package sim

// Move identifies a step by its content, so that a schedule can be described for another run than its own, even in a
// world that was changed a little. Of the steps possible at one moment, no two have the same Move.
type Move struct {
	Kind    Kind
	Name    string // Step.Name
	Outcome int    // of an effect: 0 is the ordinary one
	Planned bool   // it is not chosen by the schedule: see Planned
	item    uint64 // of a source's step
}

// Move returns the step's identity.
func (s Step) Move() Move { return Move{s.Kind, s.Name, s.outcome, s.planned, s.item} }
