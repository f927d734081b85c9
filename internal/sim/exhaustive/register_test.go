package exhaustive_test

import (
	"fmt"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/sim"
)

// register is a world of one number that actors read and write in requests.
type register struct {
	name  string
	value int
}

// access is a request to a register: a read, or a write of value.
type access struct {
	to     *register
	write  bool
	value  int
	lossy  bool // the schedule may also lose the request
	missed bool
}

func (a *access) Outcomes() []int {
	if a.lossy {
		return []int{0, 1}
	}
	return []int{0}
}

func (a *access) Accesses(int) []sim.Access {
	return []sim.Access{{Object: sim.ObjectNamed(a.to.name), Write: a.write}}
}

func (a *access) Apply(outcome int) {
	switch {
	case outcome == 1:
		a.missed = true
	case a.write:
		a.to.value = a.value
	default:
		a.value = a.to.value
	}
}

func (a *access) Describe(int) string    { return fmt.Sprintf("%+v", *a) }
func (a *access) DescribeAnswer() string { return fmt.Sprint(a.value) }

// incrementers is the classic lost update: n actors read, then write one more.
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

// AnswerFingerprint makes requests to registers comparable. Package sim itself knows whether an answer was lost: that
// is the outcome of the request.
func (a *access) AnswerFingerprint() (uint64, bool) {
	return uint64(fingerprint.Hash(0).Number(uint64(a.value))), true
}

// nothing is a request without an effect.
type nothing struct{}

func (nothing) Outcomes() []int           { return []int{0} }
func (nothing) Accesses(int) []sim.Access { return nil }
func (nothing) Apply(int)                 {}
func (nothing) Describe(int) string       { return "nothing" }
func (nothing) DescribeAnswer() string    { return "nothing" }

func noState() (state, named uint64) { return 0, 0 }
