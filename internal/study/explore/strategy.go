package explore

import (
	"cmp"
	"slices"

	"github.com/isr-sim/isr-sim/internal/search/schedules"
)

// Tried has the number of schedules that one strategy chose, and their findings.
type Tried struct {
	Strategy  string  `json:"strategy"`
	Schedules int     `json:"schedules"`
	Found     []Count `json:"found,omitempty"` // by name
}

// Count is a finding, with the number of schedules that show it.
type Count struct {
	Name  string `json:"name"` // as in Finding
	Count int    `json:"count"`
}

// triedBy has the findings of one attempt.
func triedBy(a schedules.Attempt) Tried {
	t := Tried{Strategy: a.Strategy, Schedules: 1}
	if v := a.Outcome.Violation; v != nil {
		t.Found = []Count{{v.Invariant.Name, 1}}
	}
	return t
}

// tried adds the findings of a strategy.
func (x *Exploration) tried(t Tried) {
	i, known := slices.BinarySearchFunc(x.Strategies, t.Strategy,
		func(o Tried, name string) int { return cmp.Compare(o.Strategy, name) })
	if !known {
		x.Strategies = slices.Insert(x.Strategies, i, Tried{Strategy: t.Strategy})
	}
	to := &x.Strategies[i]
	to.Schedules += t.Schedules
	for _, c := range t.Found {
		j, known := slices.BinarySearchFunc(to.Found, c.Name,
			func(o Count, name string) int { return cmp.Compare(o.Name, name) })
		if !known {
			to.Found = slices.Insert(to.Found, j, Count{Name: c.Name})
		}
		to.Found[j].Count += c.Count
	}
}
