package explore

import (
	"fmt"
	"math"

	"github.com/isr-sim/isr-sim/internal/search/schedules"
)

// Coverage measures how much of everything possible a campaign has seen, by partial orders or by states.
type Coverage struct {
	Schedules int `json:"schedules"` // the schedules that count
	// Distinct counts the different things that they saw, and Once those that only one schedule saw.
	Distinct int `json:"distinct"`
	Once     int `json:"once"`
	// New is the number of things that were seen for the first time in the last Latest schedules, the last tenth.
	New    int `json:"new"`
	Latest int `json:"latest"`
	// About says that the numbers are estimates from a sample: there were too many things to remember, or they come
	// from several files.
	About bool `json:"about,omitempty"`
	// Growth has the number of different things seen up to certain schedules, at most growthPoints of them.
	Growth []Growth `json:"growth,omitempty"`
	// Sample is the data that merging needs.
	Sample string `json:"sample"`
}

// Growth is the number of different things that the schedules of a campaign had seen up to one schedule.
type Growth struct {
	Schedule int `json:"schedule"` // its place in the whole campaign, from 1
	Distinct int `json:"distinct"`
}

// growthPoints is the number of points of a curve: enough for a picture.
const growthPoints = 50

// growth counts the things seen up to each of several evenly spaced schedules. last is the index of the last schedule.
func (c *census) growth(last int) []Growth {
	n := min(last, math.MaxInt/growthPoints-1) + 1 // a file may contain any number
	points := min(n, growthPoints)
	firsts := make([]int, points) // for each point, the things first seen since the point before
	//isrsim:unordered counts
	for _, s := range c.seen {
		firsts[min(s.first, n-1)*points/n]++
	}
	list, sum := make([]Growth, points), 0
	for i, k := range firsts {
		sum += k
		list[i] = Growth{((i+1)*n + points - 1) / points, int(math.Ldexp(float64(sum), c.halved))}
	}
	return list
}

// coverage counts the sightings of a census in the given number of schedules. last is the index of the last one.
func (c *census) coverage(schedules, last int) Coverage {
	if schedules == 0 {
		return Coverage{Sample: c.String()}
	}
	before := tenth(last)
	return Coverage{
		Schedules: schedules, Latest: schedules / 10, About: c.halved > 0, Growth: c.growth(last), Sample: c.String(),
		Distinct: c.count(func(sighting) bool { return true }),
		Once:     c.count(func(s sighting) bool { return !s.again }),
		New:      c.count(func(s sighting) bool { return s.first >= before }),
	}
}

// NextIsNew estimates the chance that one more schedule sees something new: the share of schedules that saw something
// that no other schedule saw.
//
// Source: Good: The population frequencies of species and the estimation of population parameters (Biometrika 1953),
// which credits Turing; Böhme: STADS: Software testing as species discovery (TOSEM 2018), for testing. It takes the
// schedules for independent draws. They are, except in a portfolio's warm-up.
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
