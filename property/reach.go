package property

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
)

// Reach returns the marks that at least one world of a check must reach, unless the check says otherwise. With the
// reference, at least a quarter of the worlds reach each of them; a store with which one is never reached has not been
// tested where its bugs would be. A store that publishes nothing, or whose adapter never says that a page is fresh, has
// not been tested at all.
func Reach() []scenario.Mark {
	return []scenario.Mark{
		scenario.Published, scenario.ServedFresh, scenario.LockTakenOver, scenario.LockRefused, scenario.PublishRefused, scenario.TTLDeletion,
		scenario.NodePaused, scenario.NodeCrashed, scenario.ClockSet, scenario.Mark(ddbfake.FaultResponseLost.String()),
	}
}

// enoughWorlds is from how many worlds on a mark that was never reached means something. With fewer (-short,
// -rapid.checks), it may be chance. Pages are published, and served as fresh, in most worlds.
const (
	enoughWorlds      = 50
	enoughForThePages = 10
)

// tally counts the marks that the worlds of one check have reached.
type tally struct {
	worlds, schedules, steps int
	marks                    map[scenario.Mark]int // in how many worlds
	answers                  *answers
	// misfit says why Check.Rows does not fit the rows of some world, over several lines; "" if it fits all.
	misfit string
}

func (c *tally) add(r *campaign.Report) {
	c.worlds++
	c.schedules += r.Schedules
	c.steps += r.Steps
	if c.misfit == "" && r.Misfit != "" {
		c.misfit = r.Misfit + "\n"
	}
	for _, m := range r.Reached() {
		c.marks[m]++
	}
}

// missing returns the wanted marks that were not reached, if there were worlds enough to expect them.
func (c *tally) missing(wanted []scenario.Mark) []scenario.Mark {
	return slices.DeleteFunc(slices.Clone(wanted), func(m scenario.Mark) bool {
		enough := enoughWorlds
		if m == scenario.Published || m == scenario.ServedFresh || m == scenario.HoldTaken {
			enough = enoughForThePages
		}
		return c.marks[m] > 0 || c.worlds < enough
	})
}

// hint says how a store can reach a mark that it has missed, where that is known; a line, or "".
func hint(missing []scenario.Mark) string {
	if !slices.Contains(missing, scenario.TTLDeletion) {
		return ""
	}
	return fmt.Sprintf("hint: TTL deletes only rows with a number in their attribute ttl; a store that needs none leaves %s out of Check.Reach\n",
		scenario.TTLDeletion)
}

// String prints the tally, with the number of worlds in which each mark was reached.
func (c *tally) String() string {
	var reached []string
	for _, m := range scenario.Marks() {
		if n := c.marks[m]; n > 0 {
			reached = append(reached, fmt.Sprintf("%s %d", m, n))
		}
	}
	return fmt.Sprintf("%d worlds, %d schedules, %d steps; worlds that reached: %s",
		c.worlds, c.schedules, c.steps, strings.Join(reached, ", "))
}
