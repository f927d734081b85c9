package reschedule_test

import (
	"fmt"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// register is a world of one number that actors read and write in requests.
type register struct{ value int }

// access is a request to a register: a read, or a write of value.
type access struct {
	to    *register
	write bool
	value int
	lossy bool // the schedule may also lose the request
}

func (a *access) Outcomes() []int {
	if a.lossy {
		return []int{0, 1}
	}
	return []int{0}
}

func (a *access) Accesses(int) []sim.Access {
	return []sim.Access{{Object: sim.ObjectNamed("register"), Write: a.write}}
}

func (a *access) Apply(outcome int) {
	switch {
	case outcome == 1:
	case a.write:
		a.to.value = a.value
	default:
		a.value = a.to.value
	}
}

func (a *access) Describe(int) string    { return fmt.Sprintf("%+v", *a) }
func (a *access) DescribeAnswer() string { return fmt.Sprint(a.value) }

// incrementers is the classic lost update: n actors read the number, then write it plus one.
func incrementers(cfg sim.Config, n int) (*register, sim.Result) {
	r, s := &register{}, sim.New(cfg)
	for i := range n {
		s.Add(sim.Actor{Name: string(rune('a' + i)), Run: func(p *sim.Proc) {
			read := &access{to: r}
			p.Do(read)
			p.Do(&access{to: r, write: true, value: read.value + 1})
		}})
	}
	return r, s.Run()
}
