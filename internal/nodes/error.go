package nodes

import "fmt"

// Error says why a node's program has left its run without a verdict.
type Error struct {
	Actor   string
	Command string // what the program was doing: "get /home", or "its start"
	Problem string
	Hint    string // the remedy; may be empty
}

// Error implements error.
func (e *Error) Error() string {
	text := fmt.Sprintf("node %s, at %s: %s", e.Actor, e.Command, e.Problem)
	if e.Hint != "" {
		text += "\nhint: " + e.Hint
	}
	return text
}

// BreaksRun makes the simulator end the run with this error, when a node's code panics with it.
func (*Error) BreaksRun() {}
