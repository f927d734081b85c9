package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/suggest"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Verb is the kind of a command of a script.
type Verb string

// The verbs of scripts. A cache that cannot do what a verb asks for, because its handler is no isr.Invalidator,
// isr.Rollbacker or isr.Regenerator, or is no lock, breaks the run.
const (
	Get        Verb = "get"        // asks the node's cache for a page: get /home
	Change     Verb = "change"     // changes the origin's data behind a page: change /home
	Sleep      Verb = "sleep"      // waits by the node's clock: sleep 61s
	Invalidate Verb = "invalidate" // has a page not be fresh any more: invalidate /home
	Rollback   Verb = "rollback"   // goes back to the version before: rollback /home
	Regenerate Verb = "regenerate" // has a page made once for a request: regenerate /home as order-7 with v2
	Hold       Verb = "hold"       // takes a lock, works under it for a time, and gives it back: hold job for 3s
)

// Command is one line of a script.
type Command struct {
	Verb Verb
	Key  string        // for all but sleep
	For  time.Duration // for sleep and hold
	// Request is the idempotency key of regenerate, and Inputs the hash of its inputs; "" is that of a request without
	// any.
	Request, Inputs string
}

// String returns the command as scripts write it.
func (c Command) String() string {
	switch {
	case c.Verb == Sleep:
		return string(c.Verb) + " " + c.For.String()
	case c.Verb == Regenerate && c.Inputs != "":
		return fmt.Sprintf("%s %s as %s with %s", c.Verb, c.Key, c.Request, c.Inputs)
	case c.Verb == Regenerate:
		return fmt.Sprintf("%s %s as %s", c.Verb, c.Key, c.Request)
	case c.Verb == Hold:
		return fmt.Sprintf("%s %s for %s", c.Verb, c.Key, c.For)
	default:
		return string(c.Verb) + " " + c.Key
	}
}

// noInputs is the hash of no inputs.
const noInputs = "none"

// request is the request that the cache regenerates a page for.
func (c Command) request() isr.Request {
	return isr.Request{ID: c.Request, Hash: cmp.Or(c.Inputs, noInputs)}
}

// form is how a command is written.
type form struct {
	verb    Verb
	form    string
	example string // of the words after the verb
}

// forms are those of all commands.
var forms = []form{
	{Get, "get KEY", "/home"},
	{Change, "change KEY", "/home"},
	{Sleep, "sleep DURATION", "61s"},
	{Invalidate, "invalidate KEY", "/home"},
	{Rollback, "rollback KEY", "/home"},
	{Regenerate, "regenerate KEY as REQUEST, or regenerate KEY as REQUEST with INPUTS", "/home as order-7"},
	{Hold, "hold LOCK for DURATION", "job for 3s"},
}

// commandError says why a line is no command, and how to mend it.
type commandError struct{ problem, hint string }

// parseCommand reads a line of a script.
func parseCommand(text string) (Command, *commandError) {
	words := strings.Fields(text)
	verb := ""
	if len(words) > 0 {
		verb, words = words[0], words[1:]
	}
	c := Command{Verb: Verb(verb)}
	of := slices.IndexFunc(forms, func(f form) bool { return f.verb == c.Verb })
	if of < 0 {
		return c, unknownVerb(text, verb)
	}
	wrong := func(expected string) *commandError {
		return &commandError{fmt.Sprintf("found %q, expected %s", text, expected), verb + " " + forms[of].example}
	}
	switch c.Verb {
	case Sleep:
		d, err := time.ParseDuration(strings.Join(words, " "))
		if err != nil || d <= 0 || d > 365*24*time.Hour {
			return c, wrong("a duration of more than 0s, up to a year")
		}
		c.For = d
	case Regenerate:
		if len(words) != 3 && len(words) != 5 || words[1] != "as" || len(words) == 5 && words[3] != "with" {
			return c, wrong(forms[of].form)
		}
		if c.Key, c.Request = words[0], words[2]; len(words) == 5 {
			c.Inputs = words[4]
		}
	case Hold:
		if len(words) != 3 || words[1] != "for" {
			return c, wrong(forms[of].form)
		}
		d, err := time.ParseDuration(words[2])
		if err != nil || d <= 0 || d > 365*24*time.Hour {
			return c, wrong("a duration of more than 0s, up to a year")
		}
		c.Key, c.For = words[0], d
	default:
		if len(words) != 1 {
			return c, wrong("one key after " + verb)
		}
		c.Key = words[0]
	}
	if c.Verb != Sleep && c.Verb != Hold && !strings.Contains(c.Key, "/") {
		return c, &commandError{
			fmt.Sprintf("found the key %q in %q, expected the path of a page, which has a slash", c.Key, text),
			strings.Replace(text, " "+c.Key, " /"+c.Key, 1),
		}
	}
	return c, nil
}

func unknownVerb(text, verb string) *commandError {
	var verbs, all []string
	for _, f := range forms {
		verbs, all = append(verbs, string(f.verb)), append(all, f.form)
	}
	e := &commandError{problem: fmt.Sprintf("found the command %q, expected %s", text, strings.Join(all, ", "))}
	if meant, ok := suggest.Nearest(verb, verbs); ok {
		e.hint = fmt.Sprintf("did you mean %q?", meant)
	}
	return e
}
