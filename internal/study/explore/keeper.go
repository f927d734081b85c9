package explore

import (
	"cmp"
	"context"

	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
)

// keeper adds the findings of a campaign to a corpus.
type keeper struct {
	corpus  Corpus
	set     schedules.Set
	steps   map[string]int // the size of the shortest known run that violates an invariant
	reached schedules.MarkSet
	err     error // the first error, after which nothing more is kept
}

func newKeeper(corpus Corpus, set schedules.Set, known []CorpusRun) *keeper {
	k := &keeper{corpus: corpus, set: set, steps: map[string]int{}, reached: schedules.MarkSet{}}
	for _, r := range known {
		if r.Problem != "" {
			continue
		}
		k.knows(r.Violates, r.steps, r.marks)
	}
	return k
}

func (k *keeper) knows(violates string, steps int, marks []spec.Mark) {
	if before, known := k.steps[violates]; violates != "" && (!known || steps < before) {
		k.steps[violates] = steps
	}
	for _, mark := range marks {
		k.reached[mark]++
	}
}

// keeps reports whether there is a folder, and no error so far.
func (k *keeper) keeps() bool { return k.corpus.Folder != "" && k.err == nil }

// note keeps a run at once if it is the first that violates its invariant, or that reaches some mark, because a
// campaign may be killed.
func (k *keeper) note(ctx context.Context, o *kernel.Outcome) error {
	if !k.keeps() {
		return nil
	}
	what, violates := "", ""
	if o.Violation != nil {
		violates = o.Violation.Invariant.Name
		if _, known := k.steps[violates]; !known {
			what = violates
		}
	} else if missing := k.reached.Missing(o.Marks); len(missing) > 0 {
		what = "reach-" + string(missing[0])
	}
	if what == "" {
		return nil
	}
	if o.Digest == "" {
		if err := k.set.Confirm(ctx, o); err != nil {
			return err
		}
	}
	var steps int
	steps, k.err = k.corpus.Keep(ctx, k.set.Scenario, k.set.Protocol, o.Replay(), what)
	k.knows(violates, cmp.Or(steps, o.Result.Steps), o.Marks)
	return nil
}

// finish keeps the shortest run of each invariant, if it is shorter than the known ones or none is known, and returns
// the error of the folder.
func (k *keeper) finish(ctx context.Context, x *Exploration) error {
	for _, f := range x.Findings {
		if steps, known := k.steps[f.Name]; !k.keeps() || f.Name == brokenFinding ||
			known && f.Shortest.Steps >= steps {
			continue
		}
		r, err := x.Recorded(&f.Shortest)
		if err != nil {
			return err
		}
		r.Violates = f.Name
		_, k.err = k.corpus.Keep(ctx, k.set.Scenario, k.set.Protocol, r, f.Name)
	}
	return k.err
}
