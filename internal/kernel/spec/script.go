package spec

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/schedule"
	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/base/yamlfile"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/subject/list"
)

// Verb is the kind of a command of a script, by its word: get, change, sleep, invalidate, rollback, regenerate, hold,
// once. If a cache cannot do what a verb asks for, because its handler is no isr.Invalidator, isr.Rollbacker or
// isr.Regenerator, or is no lock or layer, the run breaks off.
type Verb string

// Command is one line of a script.
type Command struct {
	Verb Verb
	Key  string        // for all verbs except sleep
	For  time.Duration // for sleep and hold
	// Request is the idempotency key of regenerate, and Inputs is the hash of its inputs; "" if there are no inputs.
	// For once, Key is the idempotency key, and Inputs is the payload.
	Request, Inputs string
}

// String returns the command as scripts write it.
func (c Command) String() string {
	if v := list.Named(string(c.Verb)); v != nil {
		return v.Verb.String(c.Plain())
	}
	return string(c.Verb) + " " + c.Key
}

// commandError says why a line is no command, and how to correct it.
type commandError struct{ problem, hint string }

// parseCommand reads a line of a script.
func parseCommand(text string) (Command, *commandError) {
	words := strings.Fields(text)
	name := ""
	if len(words) > 0 {
		name, words = words[0], words[1:]
	}
	c := Command{Verb: Verb(name)}
	v := list.Named(name)
	if v == nil {
		return c, unknownVerb(text, name)
	}
	var of subject.Command
	expected := ""
	switch {
	case v.Parse != nil:
		expected = v.Parse(words, &of)
	case len(words) != 1:
		expected = "one key after " + name
	default:
		of.Key = words[0]
	}
	if expected != "" {
		return c, &commandError{fmt.Sprintf("found %q, expected %s", text, expected), name + " " + v.Example}
	}
	c.Key, c.For, c.Request, c.Inputs = of.Key, of.For, of.Request, of.Inputs
	if v.Path && !strings.Contains(c.Key, "/") {
		return c, &commandError{
			fmt.Sprintf("found the key %q in %q, expected the path of a page, which has a slash", c.Key, text),
			strings.Replace(text, " "+c.Key, " /"+c.Key, 1),
		}
	}
	return c, nil
}

func unknownVerb(text, name string) *commandError {
	var names, all []string
	for _, v := range list.Verbs() {
		names, all = append(names, v.Verb.Name), append(all, v.Form)
	}
	return &commandError{fmt.Sprintf("found the command %q, expected %s", text, strings.Join(all, ", ")),
		suggest.Hint(name, names, "")}
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
	text := p.Text(n)
	var verbs, examples []string
	for _, f := range eventForms {
		verbs, examples = append(verbs, f.word), append(examples, f.example)
	}
	if p.Shape != nil {
		p.DescribeWords("", verbs, examples)
	}
	if p.Err != nil || p.Shape != nil {
		return schedule.Planned{}
	}
	words := strings.Fields(text)
	verb := ""
	if len(words) > 0 {
		verb = words[0]
	}
	i := slices.Index(verbs, verb)
	if i < 0 {
		p.Fail(n, suggest.Hint(verb, verbs, "such as: "+examples[0]),
			"found the event %q, expected one that begins with %s", text, strings.Join(verbs, ", "))
		return schedule.Planned{}
	}
	e, err := parseEvent(words)
	if err != nil {
		p.Fail(n, "such as: "+examples[i], "found the event %q, expected %v", text, err)
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
	if err != nil || d < 0 || d > yamlfile.MostDuration {
		return 0, fmt.Errorf("a time such as 12s in place of %q", text)
	}
	return d, nil
}

func (p *parse) command(n yamlNode) Command {
	text := p.Text(n)
	if p.Err != nil {
		return Command{}
	}
	if p.Shape != nil {
		var names, examples []string
		for _, f := range list.Verbs() {
			names, examples = append(names, f.Verb.Name), append(examples, f.Verb.Name+" "+f.Example)
		}
		p.DescribeWords("", names, examples)
	}
	c, wrong := parseCommand(text)
	if wrong != nil {
		p.Fail(n, wrong.hint, "%s", wrong.problem)
	}
	return c
}

// Subject returns the subject of the scripts.
func (s *Scenario) Subject() *list.About {
	return list.Of(func(yield func(string) bool) {
		for i := range s.Actors {
			for j := range s.Actors[i].Script {
				if !yield(string(s.Actors[i].Script[j].Verb)) {
					return
				}
			}
		}
	})
}

// Plain is the command as its subject sees it.
func (c Command) Plain() subject.Command {
	return subject.Command{Verb: string(c.Verb), Key: c.Key, For: c.For, Request: c.Request, Inputs: c.Inputs}
}

// Unjudged names a part of the scenario that no invariant would judge, and says how to change it; "" if there is no
// such part. A run is judged by the invariants of one subject.
func (s *Scenario) Unjudged() (problem, hint string) {
	var of *list.About
	var last Command
	for i := range s.Actors {
		for _, c := range s.Actors[i].Script {
			v := list.Named(string(c.Verb))
			if v == nil || v.About == nil {
				continue
			}
			if of != nil && of != v.About {
				return fmt.Sprintf(
						"found %q and %q, which are of %s and of %s: a scenario is judged as one of these alone", last,
						c, of.Name(), v.About.Name(),
					),
					"make a scenario of each"
			}
			of, last = v.About, c
		}
	}
	return s.unjudgedInRegions()
}

// unjudgedInRegions names a part of the scenario that no invariant would judge in several regions, and says how to
// change it; "" if there is no such part.
func (s *Scenario) unjudgedInRegions() (problem, hint string) {
	if s.Regions() == nil {
		return "", ""
	}
	for i := range s.Actors {
		for _, c := range s.Actors[i].Script {
			if v := list.Named(string(c.Verb)); v == nil || !v.Regions {
				return fmt.Sprintf(
						"found actors in several regions with the command %q, which is judged in one region only", c,
					),
					"leave the regions out, or use get, change, sleep and invalidate"
			}
		}
	}
	switch {
	case len(s.CompareLags) > 0:
		return "found actors in several regions with compare-lags: what TTL deletes goes to the other regions, and " +
				"makes other schedules",
			"leave out the regions, or compare-lags"
	case s.Settle > 0:
		return "found actors in several regions with settle: the visitor after the run is in one region, and says " +
				"nothing about the others",
			"leave out the regions, or settle"
	default:
		return "", ""
	}
}
