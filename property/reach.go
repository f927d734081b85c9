package property

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/engine"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/subject/list/draw"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Reach returns the marks that at least one world of a check must reach, unless the check says otherwise. With the
// reference, at least a quarter of the worlds reach each of them. A store that never reaches one of them has not been
// tested where its bugs would be. A store that publishes nothing, or whose adapter never says that a page is fresh, has
// not been tested at all.
func Reach() []scenario.Mark { return slices.Clone(draw.Pages.Reach) }

// tally sums up the worlds of one check.
type tally struct {
	engine.Tally
	answers *answers
	verbs   []spec.Verb // the verbs that clients asked for besides get
	early   bool        // the search ended because the time of the test was nearly over
}

// unasked is why nothing was judged in runs without requests. Machines share no memory.
const unasked = "no request reached the node's Client: the code has a client of its own, or keeps in the test's own " +
	"process what no other machine sees"

// missing returns the wanted marks that were not reached, if there were enough worlds and schedules to expect them.
func (c *tally) missing(wanted []spec.Mark) []spec.Mark {
	missing, _ := c.Missing(wanted)
	return missing
}

// chance is a line that names the wanted marks that were not reached, if that may be chance; otherwise "".
func (c *tally) chance(wanted []spec.Mark) string {
	missing, untested := c.Missing(wanted)
	if len(missing)+len(untested) == 0 {
		return ""
	}
	return engine.Untested(slices.Concat(missing, untested))
}

// nothing returns the reason why no world was judged; "" if some world was judged.
func (c *tally) nothing(s *subject) string {
	c.Asked = c.Asked || c.answers.asked
	return c.Nothing(s.Subject, c.answers.errors < c.answers.all, engine.Words{
		NoWorld: "no world was run: -rapid.checks is too small (-short takes a fifth of it)", Unasked: unasked,
		Code: "the store", In: fmt.Sprintf(" in %d worlds", c.Worlds),
	})
}

// rows explains in lines why Check.Rows does not fit; "" if nothing shows that.
func (c *tally) rows() string {
	if why := c.Rows(); why != "" {
		return why + "\n"
	}
	return ""
}

// hint is a line about how the store can reach a mark that it has missed; "" if nothing is known about these marks.
func (c *Check) hint(missing []spec.Mark) string {
	if c.Goroutines && slices.Contains(missing, mark.ClockSet) {
		return fmt.Sprintf("hint: nothing has read a node's Clock; time.Now has no error here. Code that cannot "+
			"read another clock leaves %s out of Reach\n",
			mark.ClockSet)
	}
	if !slices.Contains(missing, mark.TTLDeletion) {
		return ""
	}
	return fmt.Sprintf("hint: TTL deletes only rows with a number in their attribute ttl; a store that needs none "+
		"leaves %s out of Check.Reach\n",
		mark.TTLDeletion)
}

// String prints the tally, with the number of worlds in which each mark was reached.
func (c *tally) String() string {
	var reached []string
	for _, m := range spec.Marks() {
		if n := c.Marks[m]; n > 0 {
			reached = append(reached, fmt.Sprintf("%s %d", m, n))
		}
	}
	return fmt.Sprintf("%d worlds, %d schedules, %d steps; worlds that reached: %s",
		c.Worlds, c.Schedules, c.Steps, strings.Join(reached, ", "))
}

// abilities returns the verbs that a store can do: the store has the verb's method, and that does not return
// ErrUnsupported. To find out, abilities makes one store in a separate run. If the store breaks in this run, it also
// breaks in the worlds, and is reported then.
func (r runner) abilities(rows isr.Schema) []spec.Verb {
	p := prober{can: map[spec.Verb]bool{}}
	s := spec.Defaults()
	s.Name, s.Rows = "abilities", rows
	s.Bounds = spec.Bounds{Schedules: 1, Steps: worlds.MaxSteps}
	s.Actors = []spec.Actor{{Name: worlds.ActorNames[0], Script: []spec.Command{{Verb: "get", Key: probedKey}}}}
	protocol := r.guard(&answers{}).protocol(r.name, r.newStore)
	newStore := protocol.New
	protocol.New = func(cfg isr.Config) (isr.Handler, error) {
		store, err := newStore(cfg)
		if err != nil {
			return nil, err
		}
		return p.of(store), nil
	}
	options := r.options()
	options.Invariants = nil
	_, _ = inside(r, kernel.Run{Scenario: s, Protocol: protocol, Seed: 1, ExpectedSteps: 1, Options: options}.Do)
	var verbs []spec.Verb
	for _, v := range draw.Verbs {
		if p.can[v] {
			verbs = append(verbs, v)
		}
	}
	return verbs
}

// probedKey is a page that no world has.
const probedKey = "/isr-sim"

// prober tries the methods of a store, in place of Get.
type prober struct {
	store isr.Handler
	can   map[spec.Verb]bool
}

func (p prober) of(store isr.Handler) isr.Handler {
	p.store = store
	if closer, ok := store.(io.Closer); ok {
		return struct {
			prober
			io.Closer
		}{p, closer}
	}
	return p
}

func (p prober) Get(ctx context.Context, key string) (isr.Served, error) {
	under := p.store
	if c, ok := under.(interface{ under() isr.Handler }); ok {
		under = c.under()
	}
	try := func(v spec.Verb, call func() error) {
		p.can[v] = true // even if it panics
		var err error
		inStore(func() { err = call() })
		p.can[v] = !errors.Is(err, isr.ErrUnsupported)
	}
	if s, ok := under.(isr.Invalidator); ok {
		try("invalidate", func() error { return s.Invalidate(ctx, key) })
	}
	if s, ok := under.(isr.Rollbacker); ok {
		try("rollback", func() error { return s.Rollback(ctx, key) })
	}
	if s, ok := under.(isr.Regenerator); ok {
		try("regenerate", func() error {
			_, err := s.Regenerate(ctx, key, isr.Request{ID: "isr-sim", Hash: "isr-sim"})
			return err
		})
	}
	return isr.Served{}, nil
}
