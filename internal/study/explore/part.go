package explore

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
)

// Part is an exploration so far, which a campaign saves now and then because it may be killed.
type Part struct {
	*Exploration

	// Whole says that the exploration is complete. Otherwise the other fields say what it has seen.
	Whole      bool   `json:"whole,omitempty"`
	Judged     int    `json:"judged,omitempty"` // the number of schedules that did not break off
	Last       int    `json:"last,omitempty"`   // the index of the last schedule
	OrdersSeen string `json:"orders_seen,omitempty"`
	StatesSeen string `json:"states_seen,omitempty"`
}

// progress is an exploration, and the counts from which its result is made.
type progress struct {
	*Exploration

	total          schedules.Total
	orders, states census
	last           int
}

// count puts the sums of all runs into the exploration.
func (p *progress) count() {
	p.Steps, p.Unmet = p.total.Steps, schedules.FaultTexts(p.total.Unmet)
	p.Unjudged = p.total.Schedules > 0 && !p.total.Judged
	p.Reached = reached(p.total.Marks)
}

// part is the exploration so far.
func (p *progress) part() *Part {
	p.count()
	return &Part{Exploration: p.Exploration, Judged: p.total.Schedules, Last: p.last,
		OrdersSeen: p.orders.text(censusInMemory), StatesSeen: p.states.text(censusInMemory)}
}

// again returns the progress of a part. x is the new exploration, to which the part must belong.
func (t *Part) again(x *Exploration, s *spec.Scenario) (p progress, err error) {
	if t.Exploration == nil {
		return p, fmt.Errorf("found no exploration in it, expected one of %s", x)
	}
	if err := t.check(); err != nil {
		return p, err
	}
	what, got, want := t.differs(x)
	if what == "" && t.Shard != x.Shard {
		what, got, want = "shard", t.Shard, x.Shard
	}
	if what != "" {
		return p, fmt.Errorf("found the %s %v, expected %v: it is of another campaign", what, got, want)
	}
	p = progress{Exploration: t.Exploration, last: t.Last, total: schedules.Total{
		Schedules: t.Judged, Steps: t.Steps, Marks: schedules.MarkSet{}, Judged: t.Judged > 0 && !t.Unjudged,
	}}
	for _, r := range t.Reached {
		p.total.Marks[r.Mark] = r.Runs
	}
	for _, f := range s.Faults {
		if slices.Contains(t.Unmet, schedules.FaultTexts([]spec.Fault{f})[0]) {
			p.total.Unmet = append(p.total.Unmet, f)
		}
	}
	for _, seen := range []struct {
		text string
		into *census
	}{{t.OrdersSeen, &p.orders}, {t.StatesSeen, &p.states}} {
		read, err := parseText(seen.text, censusInMemory)
		if err != nil {
			return p, err
		}
		*seen.into = *read
	}
	return p, nil
}

// Saved is the progress that explore saved of a campaign: the parts of its scenarios, in order. Only the last may be
// incomplete.
type Saved struct {
	Format  string  `json:"format"`
	Version string  `json:"version"` // the version of isr-sim: another one may find other things
	Seconds float64 `json:"seconds"` // the real time so far
	Parts   []*Part `json:"parts"`
}

const savedFormat = "isr-sim part"

// Write writes a line of JSON that ReadSaved reads back, and a line with its sum, because a damaged digit could leave
// schedules out.
func (s *Saved) Write(w io.Writer) error {
	s.Format = savedFormat
	data, err := json.Marshal(s)
	if err == nil {
		_, err = fmt.Fprintf(w, "%s\n%x\n", data, sha256.Sum256(data))
	}
	return err
}

// ReadSaved reads the output of Write by the same version of isr-sim. The parameter file is for errors.
func ReadSaved(file string, data []byte, version string) (*Saved, error) {
	var s Saved
	text, sum, _ := bytes.Cut(data, []byte("\n"))
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	switch err := decoder.Decode(&s); {
	case err != nil || string(sum) != fmt.Sprintf("%x\n", sha256.Sum256(text)) || s.Format != savedFormat ||
		slices.Contains(s.Parts, nil):
		return nil, fmt.Errorf("%s: found something else than what isr-sim explore saves there", file)
	case s.Version != version:
		return nil, fmt.Errorf("%s: found a part of a campaign of isr-sim %s, expected one of %s", file, s.Version,
			version)
	}
	return &s, nil
}

// Ran tells how much has been run.
func (s *Saved) Ran() string {
	if len(s.Parts) == 0 {
		return "nothing"
	}
	last := s.Parts[len(s.Parts)-1]
	if last.Exploration == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s of %s", schedules.Plural(last.Ran, "schedule"), last)
}
