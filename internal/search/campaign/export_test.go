package campaign

import "github.com/isr-sim/isr-sim/scenario"

// Counts says in how many schedules each mark was reached.
func (r *Report) Counts() map[scenario.Mark]int { return r.total.Marks }
