package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/isr-sim/isr-sim/scenario/sim"
)

// MayBeDown says whether something can have crashed the machine by then, so that it can come back.
func (a Actor) MayBeDown(at time.Duration) bool {
	return a.Crashes > 0 || slices.ContainsFunc(a.Events, func(e sim.Planned) bool { return e.Kind == sim.Crash && e.At <= at })
}

// SetsClock says whether the machine's clock may be set during a run.
func (a Actor) SetsClock() bool {
	return len(a.ClockSteps) > 0 || slices.ContainsFunc(a.Events, func(e sim.Planned) bool { return e.Kind == sim.ClockStep })
}

// eventForms are the forms of events, by their first word.
var eventForms = []struct{ word, example string }{
	{"crash", "crash at 12s"},
	{"restart", "restart at 20s"},
	{"pause", "pause at 5s for 15s"},
	{"clock", "clock +2s at 10s"},
}

// event reads what befalls a machine at a time.
func (p *parse) event(n ast.Node) sim.Planned {
	text := p.text(n)
	var verbs, examples []string
	for _, f := range eventForms {
		verbs, examples = append(verbs, f.word), append(examples, f.example)
	}
	if p.shape != nil {
		p.describeWords("", verbs, examples)
	}
	if p.err != nil || p.shape != nil {
		return sim.Planned{}
	}
	words := strings.Fields(text)
	verb := ""
	if len(words) > 0 {
		verb = words[0]
	}
	i := slices.Index(verbs, verb)
	if i < 0 {
		p.fail(n, orExample(didYouMean(verb, verbs), examples[0]), "found the event %q, expected one that begins with %s", text, strings.Join(verbs, ", "))
		return sim.Planned{}
	}
	e, err := parseEvent(words)
	if err != nil {
		p.fail(n, "such as: "+examples[i], "found the event %q, expected %v", text, err)
	}
	return e
}

func orExample(hint, example string) string {
	if hint == "" {
		return "such as: " + example
	}
	return hint
}

// parseEvent reads the words of an event whose first one is known. The error says what was expected.
func parseEvent(words []string) (e sim.Planned, err error) {
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
