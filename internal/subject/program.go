package subject

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Wire says how the commands of a subject are sent to a program in any language: docs/NODES.md has the protocol.
type Wire struct {
	Can    []string                  // the abilities of the subject that a hello may name
	PartOf map[string]string         // by ability: the ability of which it is a part
	Client func(Program) isr.Handler // makes a program the handler that the verbs need

	Member   string          // the member of a hello in which it promises something
	Promises func() Promises // returns what the member is decoded into; nil means no member
}

// Work is the ability of a program that spends time itself, under a lock or between commands: its timers fire
// meanwhile.
const Work = "work"

// Program is the program of one incarnation of a node. As an isr.Handler it can do nothing: use the handler from
// Wire.Client.
type Program interface {
	isr.Handler
	// Can says whether the program's hello names an ability.
	Can(ability string) bool
	// Ask sends a command, which needs an ability, and returns the reply. If the reply has an error, Ask also returns
	// it as its error.
	Ask(ctx context.Context, ability string, c Line) (Reply, error)
	// Work lets time pass for as long as the command says. Wait notes that time passes in which a program cannot work.
	Work(ctx context.Context, c Line)
	Wait()
	// Promises returns the promises in the hello.
	Promises(Wire) Promises
	Config() isr.Config

	Later() bool // reports whether timers are set that have not fired: they fire within the next command, or in Rest
	Rest(context.Context, time.Duration) error
	EndLife() error
}

// Line has the members of a command's line besides its type.
type Line struct {
	ID      int    `json:"id"`
	Verb    string `json:"verb"`
	Key     string `json:"key"`
	Request string `json:"request,omitempty"` // of regenerate: the idempotency key
	Inputs  string `json:"inputs,omitempty"`  // and the hash of its inputs

	For     float64 `json:"for,omitempty"`     // of work: how long, in seconds
	Payload string  `json:"payload,omitempty"` // of once

	// Effect is called when the program asks for it, before its reply.
	Effect func(context.Context) (string, error) `json:"-"`
}

func (c Line) String() string { return c.Verb + " " + c.Key }

// Reply has the members of a reply's line besides its type and number. Members that its verb does not have are zero.
type Reply struct {
	Body  string `json:"body"`
	Fresh bool   `json:"fresh"`
	Error string `json:"error"`
	Held  bool   `json:"held,omitempty"`  // of held
	Token *int64 `json:"token,omitempty"` // of hold and extend: the fencing token
	Other bool   `json:"other,omitempty"` // of once, with an error: the key belongs to another payload
}

// Promises are what a hello promises about a subject.
type Promises interface {
	fmt.Stringer
	// Wrong says why a program with these abilities cannot promise them.
	Wrong(can []string) error
	// Terms are the promises that decide which worlds are drawn.
	Terms() Terms
}

// Terms are promises of locks and calls: see promise.LockTerms and promise.OnceTerms. A Takeover of 0 stands for the
// usual one.
type Terms struct {
	Margin, Wait, Takeover time.Duration
	Payload                bool
}

// Waits are the promises that locks and calls have in common, in seconds. A promise that is left out has its default.
type Waits struct {
	Wait     float64 `json:"wait"`
	Takeover float64 `json:"takeover"`
}

// Wrong names a promise with an impossible value.
func (w Waits) Wrong(of string) error {
	return cmp.Or(WrongSeconds(of, "wait", w.Wait), WrongSeconds(of, "takeover", w.Takeover))
}

// Of returns the promises; usual is the takeover that is promised by default.
func (w Waits) Of(usual time.Duration) (wait, takeover time.Duration) {
	return cmp.Or(Seconds(w.Wait), hooks.DefaultWait), cmp.Or(Seconds(w.Takeover), usual)
}

// WrongSeconds refuses a promise that is not a valid time.
func WrongSeconds(of, name string, found float64) error {
	if most := Most.Seconds(); !(found >= 0 && found <= most) {
		return fmt.Errorf("has %s whose %s is %v, expected seconds from 0 to those of a year", of, name, found)
	}
	return nil
}

// Seconds converts a number of seconds.
func Seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
