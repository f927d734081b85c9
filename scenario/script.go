package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/schedule"
)

// Verb is the kind of a command of a script, by its word: get, change, sleep, invalidate, rollback, regenerate, hold,
// once. If a cache cannot do what a verb asks for, because its handler is no isr.Invalidator, isr.Rollbacker or
// isr.Regenerator, or is no lock or layer, the run breaks off.
type Verb string

const (
	verbGet        Verb = "get"        // asks the node's cache for a page: get /home
	verbChange     Verb = "change"     // changes the origin's data behind a page: change /home
	verbSleep      Verb = "sleep"      // waits by the node's clock: sleep 61s
	verbInvalidate Verb = "invalidate" // ends the freshness of a page: invalidate /home
	verbRollback   Verb = "rollback"   // goes back to the version before: rollback /home
	verbRegenerate Verb = "regenerate" // has a page made once for a request: regenerate /home as order-7 with v2
	verbHold       Verb = "hold"       // takes a lock, works under it for a time, and gives it back: hold job for 3s
	verbOnce       Verb = "once"       // makes a call that runs once: once order-7 with a
)

// Command is one line of a script.
type Command struct {
	Verb Verb
	Key  string        // for all but sleep
	For  time.Duration // for sleep and hold
	// Request is the idempotency key of regenerate, and Inputs is the hash of its inputs; "" if there are no inputs.
	// For once, Key is the idempotency key, and Inputs is the payload.
	Request, Inputs string
}

// String returns the command as scripts write it.
func (c Command) String() string {
	switch {
	case c.Verb == verbSleep:
		return string(c.Verb) + " " + c.For.String()
	case c.Verb == verbRegenerate && c.Inputs != "":
		return fmt.Sprintf("%s %s as %s with %s", c.Verb, c.Key, c.Request, c.Inputs)
	case c.Verb == verbRegenerate:
		return fmt.Sprintf("%s %s as %s", c.Verb, c.Key, c.Request)
	case c.Verb == verbHold:
		return fmt.Sprintf("%s %s for %s", c.Verb, c.Key, c.For)
	case c.Verb == verbOnce:
		return fmt.Sprintf("%s %s with %s", c.Verb, c.Key, c.Inputs)
	default:
		return string(c.Verb) + " " + c.Key
	}
}

// noInputs is the hash for a request without inputs.
const noInputs = "none"

// request is the request for which the cache regenerates a page.
func (c Command) request() isr.Request {
	return isr.Request{ID: c.Request, Hash: cmp.Or(c.Inputs, noInputs)}
}

// form is how a command is written.
type form struct {
	verb    Verb
	form    string
	example string // an example of the words after the verb
}

// forms are the forms of all commands.
var forms = []form{
	{verbGet, "get KEY", "/home"},
	{verbChange, "change KEY", "/home"},
	{verbSleep, "sleep DURATION", "61s"},
	{verbInvalidate, "invalidate KEY", "/home"},
	{verbRollback, "rollback KEY", "/home"},
	{verbRegenerate, "regenerate KEY as REQUEST, or regenerate KEY as REQUEST with INPUTS", "/home as order-7"},
	{verbHold, "hold LOCK for DURATION", "job for 3s"},
	{verbOnce, "once KEY with PAYLOAD", "order-7 with a"},
}

// commandError says why a line is no command, and how to correct it.
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
	case verbSleep:
		d, err := time.ParseDuration(strings.Join(words, " "))
		if err != nil || d <= 0 || d > 365*24*time.Hour {
			return c, wrong("a duration of more than 0s, up to a year")
		}
		c.For = d
	case verbRegenerate:
		if len(words) != 3 && len(words) != 5 || words[1] != "as" || len(words) == 5 && words[3] != "with" {
			return c, wrong(forms[of].form)
		}
		if c.Key, c.Request = words[0], words[2]; len(words) == 5 {
			c.Inputs = words[4]
		}
	case verbHold:
		if len(words) != 3 || words[1] != "for" {
			return c, wrong(forms[of].form)
		}
		d, err := time.ParseDuration(words[2])
		if err != nil || d <= 0 || d > 365*24*time.Hour {
			return c, wrong("a duration of more than 0s, up to a year")
		}
		c.Key, c.For = words[0], d
	case verbOnce:
		if len(words) != 3 || words[1] != "with" {
			return c, wrong(forms[of].form)
		}
		c.Key, c.Inputs = words[0], words[2]
	default:
		if len(words) != 1 {
			return c, wrong("one key after " + verb)
		}
		c.Key = words[0]
	}
	if !slices.Contains([]Verb{verbSleep, verbHold, verbOnce}, c.Verb) && !strings.Contains(c.Key, "/") {
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
	return &commandError{fmt.Sprintf("found the command %q, expected %s", text, strings.Join(all, ", ")),
		suggest.Hint(verb, verbs, "")}
}

// eventForms are the forms of events, by the first word of the event.
var eventForms = []struct{ word, example string }{
	{"crash", "crash at 12s"},
	{"restart", "restart at 20s"},
	{"pause", "pause at 5s for 15s"},
	{"clock", "clock +2s at 10s"},
}

// event reads an event of a machine at a time.
func (p *parse) event(n yamlNode) schedule.Planned {
	text := p.text(n)
	var verbs, examples []string
	for _, f := range eventForms {
		verbs, examples = append(verbs, f.word), append(examples, f.example)
	}
	if p.shape != nil {
		p.describeWords("", verbs, examples)
	}
	if p.err != nil || p.shape != nil {
		return schedule.Planned{}
	}
	words := strings.Fields(text)
	verb := ""
	if len(words) > 0 {
		verb = words[0]
	}
	i := slices.Index(verbs, verb)
	if i < 0 {
		p.fail(n, suggest.Hint(verb, verbs, "such as: "+examples[0]),
			"found the event %q, expected one that begins with %s", text, strings.Join(verbs, ", "))
		return schedule.Planned{}
	}
	e, err := parseEvent(words)
	if err != nil {
		p.fail(n, "such as: "+examples[i], "found the event %q, expected %v", text, err)
	}
	return e
}

// parseEvent reads the words of an event. Its first word is known. The error says what was expected.
func parseEvent(words []string) (e schedule.Planned, err error) {
	at := func(rest ...string) error {
		if len(rest) != 2 || rest[0] != "at" {
			return fmt.Errorf("at and a time behind %s", strings.Join(words[:len(words)-len(rest)], " "))
		}
		e.At, err = parseTime(rest[1])
		return err
	}
	switch words[0] {
	case "crash":
		e.Kind = sim.Crash
		return e, at(words[1:]...)
	case "restart":
		e.Kind = sim.Restart
		return e, at(words[1:]...)
	case "pause":
		e.Kind = sim.Pause
		if len(words) != 5 || words[3] != "for" {
			return e, errors.New("at and a time, for and a duration")
		}
		if err := at(words[1:3]...); err != nil {
			return e, err
		}
		e.For, err = parseTime(words[4])
		if err == nil && e.For == 0 {
			err = errors.New("a pause that lasts")
		}
		return e, err
	default:
		e.Kind = sim.ClockStep
		if len(words) < 2 {
			return e, errors.New("by how much, and at a time")
		}
		e.For, err = time.ParseDuration(words[1])
		if err != nil || e.For == 0 || e.For.Abs() > 24*time.Hour {
			return e, errors.New("a step of at most 24h behind clock, such as +2s or -2s")
		}
		return e, at(words[2:]...)
	}
}

// parseTime reads a duration that is not negative.
func parseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > mostDuration {
		return 0, fmt.Errorf("a time such as 12s in place of %q", text)
	}
	return d, nil
}
