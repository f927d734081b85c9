package report

import (
	"fmt"
	"strings"

	"github.com/isr-sim/isr-sim/internal/show/record"
)

// cause is an event that need not have happened, in words.
type cause struct {
	Step                 int
	Effect, What, Counts string
}

// causes are the causes in the record's explanation, the needed ones first.
func (s *story) causes() []cause {
	x := s.Explanation
	if x == nil {
		return nil
	}
	var all []cause
	for _, c := range x.Causes {
		all = append(all, cause{Step: c.Step, Effect: clean(c.Effect), What: clean(c.What), Counts: fmt.Sprintf(
			"without it %d of %d runs violate it (%.1f%% to %.1f%%), with it %d", c.Without, x.Tails,
			100*c.From, 100*c.To, c.With)})
	}
	return all
}

// needed names the needed causes, or returns "".
func needed(r *record.Record) string {
	const most = 3
	var names []string
	if r.Explanation == nil {
		return ""
	}
	more := 0
	for _, c := range r.Explanation.Causes {
		switch {
		case c.Effect != "needed":
		case len(names) == most:
			more++
		default:
			names = append(names, fmt.Sprintf("%s (step %d)", clean(c.What), c.Step))
		}
	}
	text := strings.Join(names, ", ")
	if more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// chance prints how likely the violation is after a step, and how the step changed that.
func (s *story) chance(i int) string {
	before := float64(s.Explanation.Before) / float64(s.Explanation.Tails)
	if i > 0 {
		before = s.chances[i-1]
	}
	text := fmt.Sprintf("the chance of the violation after it: %.1f%%", 100*s.chances[i])
	if by := s.chances[i] - before; by != 0 {
		text += fmt.Sprintf(" (%+.1f)", 100*by)
	}
	return text
}
