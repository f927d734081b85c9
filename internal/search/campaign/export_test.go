package campaign

import "github.com/isr-sim/isr-sim/internal/kernel/spec"

// Counts says in how many schedules each mark was reached.
func (r *Report) Counts() map[spec.Mark]int { return r.total.Marks }
