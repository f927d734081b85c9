package explore

import (
	"fmt"

	"github.com/isr-sim/isr-sim/internal/schedules"
)

// Coverage measures how much of all that can happen a campaign has seen, by partial orders or by states.
type Coverage struct {
	Schedules int `json:"schedules"` // that were looked at
	// Distinct is how many different things they have seen, and Once how many of these only one schedule has seen.
	Distinct int `json:"distinct"`
	Once     int `json:"once"`
	// New is how many were seen for the first time in the last Latest schedules, the last tenth.
	New    int `json:"new"`
	Latest int `json:"latest"`
	// About says that the numbers are estimates, from a sample: there were too many to remember, or they come from several
	// files.
	About bool `json:"about,omitempty"`
	// Sample is the data that merging needs.
	Sample string `json:"sample"`
}

// coverage counts the sightings of a census in the given number of schedules. latest is the size of the last tenth, and
// before the first schedule in it.
func (c *census) coverage(schedules, latest, before int) Coverage {
	return Coverage{
		Schedules: schedules, Latest: latest, About: c.halved > 0, Sample: c.String(),
		Distinct: c.count(func(sighting) bool { return true }),
		Once:     c.count(func(s sighting) bool { return !s.again }),
		New:      c.count(func(s sighting) bool { return s.first >= before }),
	}
}

// NextIsNew estimates the chance that one more schedule is unlike all before it: the share of the schedules whose like
// was seen only once.
//
// Source: Good: The population frequencies of species and the estimation of population parameters (Biometrika 1953),
// which credits Turing; Böhme: STADS: Software testing as species discovery (TOSEM 2018), of testing. It takes the
// schedules for independent draws, which they are but for a portfolio's warm-up.
func (c Coverage) NextIsNew() float64 {
	if c.Schedules == 0 {
		return 1
	}
	return min(float64(c.Once)/float64(c.Schedules), 1)
}

// number prints a count that may be an estimate, of some things.
func (c Coverage) number(n int, thing string) string {
	text := fmt.Sprint(n)
	if thing != "" {
		text = schedules.Plural(n, thing)
	}
	if c.About {
		return "about " + text
	}
	return text
}
