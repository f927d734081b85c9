package subject

import (
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Subject is what a scenario checks.
type Subject interface {
	// Name is the subject's name in errors, in the plural.
	Name() string
	// Verbs are the commands that scripts have for it. The subject of a scenario is the one to which its commands
	// belong.
	Verbs() []Verb
	// Marks are the names of the events that its runs can reach, in the order in which reports print them.
	Marks() []string
	// Basic has rows of marks. A campaign that reaches no mark of a row has judged nothing, and the row's first mark
	// counts as missing.
	Basic() [][]string
	// Invariants judge its runs, in the order in which reports name them.
	Invariants() []invariant.Invariant
	// Asks reports whether an event of this kind is a client's request to its node.
	Asks(history.Kind) bool
	// Judged says what its runs are judged by.
	Judged() Judged
	// Memories are what its invariants remember of the past, for a search.
	Memories(Past) []recorder.Memory
	// New returns what a world keeps for it.
	New(World) State
	// Wire says how its commands are sent to a program. The zero Wire means that only code in Go can have this subject.
	Wire() Wire
}

// Judged says what runs are judged by, besides the requests and answers of clients.
type Judged struct {
	// Rows says that rows have meanings. If it is false, no row is judged, and any two rows may be the whole of one
	// thing.
	Rows bool
	// Times says that invariants judge the times of the requests and answers of clients. Then the order in which the
	// code of different nodes runs matters, and so do the delays that are that code's fault.
	Times bool
}

// State is what a world keeps for its subject in one run.
type State interface {
	// Configure adds the subject's part to the configuration of a node's code under test.
	Configure(Node, *isr.Config)
	// Visit is the code of one more node after faults have stopped: it asks for everything once more.
	Visit(*sim.Proc)
	// GiveUp returns the event that ends a visit which still waits for an answer. The visit's last event shows whether
	// it waits; if it does not, GiveUp returns false.
	GiveUp(last history.Event) (history.Event, bool)
	// Evidence adds what the invariants need to know besides the change log and the history.
	Evidence(*invariant.Evidence)
	// Keep returns a function that restores the state as it is now, however often it is called.
	Keep() (back func())
}

// Stateless is the State of a subject for which a world keeps nothing, without its Visit.
type Stateless struct{}

// Configure implements State.
func (Stateless) Configure(Node, *isr.Config) {}

// GiveUp implements State: no visit waits.
func (Stateless) GiveUp(last history.Event) (history.Event, bool) { return last, false }

// Evidence implements State.
func (Stateless) Evidence(*invariant.Evidence) {}

// Keep implements State.
func (Stateless) Keep() (back func()) { return func() {} }

// Past has what the memories of a search are made from.
type Past struct {
	Promise invariant.Promise
	// Asks says whether scripts have a command with the verb.
	Asks func(verb string) bool
	// Text returns what stands for a text in fingerprints; nil means the text itself. Body returns a body by its name.
	Text, Body func(string) string
}

// Command is one line of a script, as its verb has read it.
type Command struct {
	Verb    string
	Key     string
	For     time.Duration
	Request string
	Inputs  string
}

// Verb is a command that scripts may have.
type Verb struct {
	Name    string
	Form    string // how it is written
	Example string // an example of the words after the verb
	// Parse reads the words after the verb. If they are wrong, it returns what was expected. Nil expects one key.
	Parse func(words []string, c *Command) (expected string)
	// Words returns the words after the verb; nil means the key.
	Words func(Command) string
	// Path says that the key is the path of a page.
	Path bool
	// Regions says that the command is judged in several regions, too.
	Regions bool
	// Do carries the command out.
	Do func(Node, isr.Handler, Command)
}

// Most is the longest duration of a command.
const Most = 365 * 24 * time.Hour

// ParseFor reads the duration of a command. If it is wrong, it returns what was expected.
func ParseFor(text string, c *Command) (expected string) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > Most {
		return "a duration of more than 0s, up to a year"
	}
	c.For = d
	return ""
}

// String returns the command as scripts write it, by its verb.
func (v *Verb) String(c Command) string {
	if v.Words == nil {
		return v.Name + " " + c.Key
	}
	return v.Name + " " + v.Words(c)
}

// Able returns the handler of a node as the interface that a verb needs. It panics if the handler does not implement
// it, so the run has no verdict.
func Able[T any](n Node, handler isr.Handler, verb string) T {
	t, ok := handler.(T)
	if !ok {
		panic(fmt.Errorf("protocol %s cannot %s: its %T has no such method", n.World().Protocol(), verb, handler))
	}
	return t
}
