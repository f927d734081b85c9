package campaign

import (
	"cmp"
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
)

// crew says how a search goes on as a team: the number of schedules before it becomes one, its members, the number of
// schedules of each from one meeting to the next, and the least number of schedules before it for each run of foreign
// code. They do not depend on the machine, so the result does not either.
type crew struct{ alone, size, round, each int }

// usualCrew leaves small searches alone: they are over before a team would help them. Between two meetings, members may
// visit the same states, and those without work wait: so the rounds are short. Foreign code runs for each member, one
// at a time: a team would not help a search in which it often runs.
var usualCrew = crew{alone: 1 << 12, size: 4, round: 128, each: 4}

// searcher runs the schedules of one exploration.
type searcher struct {
	Prove
	x      *exhaustive.Exploration
	looked *hooks.Probe
	audits bool
	sample uint64 // the seed of the schedules that are repeated

	pool, again hooks.Pool
}

func (s *searcher) close() {
	s.pool.Close()
	s.again.Close()
}

// run runs the schedule that the exploration has prepared. If it repeats the previous one, there is no outcome.
func (s *searcher) run(ctx context.Context) (o *kernel.Outcome, err error) {
	searching := hooks.With(ctx, s.looked)
	again := s.x.Repeating()
	if again {
		searching = hooks.Afresh(searching)
	}
	run := s.schedule(s.x.Strategy())
	o, err = run.Do(s.pool.In(searching))
	switch {
	case err != nil:
		return nil, s.unrepeatable(err)
	case again:
		return nil, nil
	}
	if s.audits && (o.Verdict == invariant.Violated || s.due()) {
		s.x.Alone(func() { err = s.audit(s.again.In(ctx), run, o, s.looked.Whole()) })
	}
	return o, err
}

// allAgain is how many of the first schedules of a search of foreign code are all repeated. In a small search, one in a
// hundred would be too few to show state shared between machines.
const allAgain = 100

// due says whether the latest schedule is run once more, whatever its verdict.
func (s *searcher) due() bool {
	n := s.x.Schedules()
	return s.strict || s.SDK && n <= allAgain || schedules.Sampled(s.sample, n) || n&(n-1) == 0
}

// divides reports whether the search goes on as a team. Only one node's code runs at a time, so that state shared
// between machines is detected safely. The same is true of the caller's invariants and of its function for rows, which
// may keep state. So a team is faster only if code is remembered; otherwise it has the same result.
func (v Prove) divides(x *exhaustive.Exploration) bool {
	crew := cmp.Or(v.crew, usualCrew)
	one := v.MaxSchedules > 0 || v.Against != nil || v.onWorld != nil || schedules.OfProgram(v.Protocol) ||
		v.SDK && (v.Setup.Beside == nil || !x.Remembers() || len(v.Invariants) > 0 ||
			v.Scenario.Rows.Translate != nil || x.Histories().Runs()*crew.each > x.Schedules())
	return x.Divided() || !one && x.Schedules() >= crew.alone
}

// together goes on as a team, until nothing is left, or a searcher has found a violation.
func (v Prove) together(
	ctx context.Context, one *searcher, proof *Proof, failed func() bool, keep func(over bool) error,
) error {
	x := one.x
	if !x.Divided() {
		if v.SDK {
			x.Histories().Most = sim.MostHistories // such code is not cheap to run again
		}
		x.Divide(cmp.Or(v.crew, usualCrew).size)
	}
	team := []*searcher{one}
	for i, member := range x.Members()[1:] {
		looked := *one.looked
		looked.Ends, looked.Judged = hooks.Ends{}, map[string]bool{}
		if looked.Memory.Search != nil {
			looked.Memory.Search = member
		}
		s := &searcher{Prove: v, x: member, looked: &looked, audits: one.audits, sample: sim.Derive(v.Seed, i)}
		team = append(team, s)
	}
	defer func() {
		for _, s := range team[1:] {
			s.close()
		}
	}()
	for {
		left, err := x.Meet()
		if err != nil {
			return v.nondeterministic(nil, sim.Result{}, err.Error())
		}
		if v.Progress != nil {
			v.Progress(x.Explored())
		}
		if err := keep(false); err != nil {
			return err
		}
		if !left || proof.Failure != nil || ctx.Err() != nil || failed() {
			return nil
		}
		if err := v.round(ctx, team, proof); err != nil {
			return err
		}
	}
}

// round lets each searcher of a team run some schedules, at the same time as others, and adds their outcomes to the
// proof in the order of the team.
func (v Prove) round(ctx context.Context, team []*searcher, proof *Proof) error {
	type found struct {
		outcomes []*kernel.Outcome
		err      error
	}
	all, most := make([]found, len(team)), cmp.Or(v.crew, usualCrew).round
	search := func(i int) {
		s, f := team[i], &all[i]
		for len(f.outcomes) < most && s.x.Next() {
			var o *kernel.Outcome
			if o, f.err = s.run(ctx); f.err != nil {
				return
			}
			if f.outcomes = append(f.outcomes, o); o.Verdict == invariant.Violated {
				return
			}
		}
	}
	var remember []int
	for i, s := range team {
		if v.SDK || s.x.Remembers() && len(v.Invariants) == 0 {
			remember = append(remember, i)
		} else {
			search(i) // alone: its code is not remembered, or the caller's invariants run
		}
	}
	atOnce := func() {
		var searching errgroup.Group
		searching.SetLimit(runtime.GOMAXPROCS(0))
		for _, i := range remember {
			searching.Go(func() error { search(i); return nil })
		}
		_ = searching.Wait()
	}
	if v.SDK {
		v.Setup.Beside(func(in func(func())) { team[0].x.Histories().Within(in, atOnce) })
	} else {
		atOnce()
	}
	for i, f := range all {
		for _, o := range f.outcomes {
			if err := v.take(ctx, proof, o); err != nil || proof.Failure != nil {
				return err
			}
		}
		if f.err != nil {
			return f.err
		}
		if i > 0 {
			gather(team[0].looked, team[i].looked)
		}
	}
	return nil
}

// gather adds the findings of one probe to another.
func gather(to, from *hooks.Probe) {
	//isrsim:unordered a union
	for end, tried := range from.Ends {
		to.Ends[end] = to.Ends[end].Plus(tried)
	}
	//isrsim:unordered a union
	for name, judged := range from.Judged {
		to.Judged[name] = to.Judged[name] || judged
	}
}
