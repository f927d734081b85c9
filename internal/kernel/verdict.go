package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/livelock"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/trace/describe"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
)

// judges are the invariants that judge a run, and the names of the invariants that the scenario leaves out.
type judges struct {
	chosen bool                  // by the scenario or the options
	by     []invariant.Invariant // the invariants of the subject
	own    []invariant.Invariant // the caller's
	out    []string
}

func (j judges) none() bool { return j.by == nil && j.own == nil }

// judgesOf chooses the invariants. They are those of the subject, and the caller's own, without the invariants that the
// scenario leaves out; or the only one that the options name. Invariants that are rules of the recipe judge where it is
// promised, or where they are named. An error says that the caller's own invariants have a mistake, or that a name is
// unknown, or that nothing is left of the only one.
func judgesOf(s *spec.Scenario, o Options, recipe bool) (j judges, err error) {
	of := s.Subject()
	if s.Invariants == nil && s.Without == nil && o.Invariants == nil && o.Only == "" {
		if recipe { // nearly every run is like this, and it must cost nothing
			return judges{by: of.All}, nil
		}
		return judges{by: of.Harmful}, nil
	}
	all := of.All
	var names []string
	for _, inv := range slices.Concat(all, o.Invariants) {
		switch {
		case inv.Name == "" || inv.Statement == "" || inv.Check == nil:
			return j, fmt.Errorf(
				"scenario %s: found the invariant %q, expected one with a name, a statement and a check", s.Name,
				inv.Name,
			)
		case slices.Contains(names, inv.Name):
			return j, fmt.Errorf("scenario %s: found a second invariant with the name %s, expected a name of its own",
				s.Name, inv.Name)
		}
		names = append(names, inv.Name)
	}
	for _, name := range slices.Concat(s.Invariants, s.Without, []string{cmp.Or(o.Only, names[0])}) {
		if !slices.Contains(names, name) {
			also := suggest.Hint(name, names, "")
			if also != "" {
				also = "; " + also
			}
			return j, fmt.Errorf("scenario %s: found the invariant %q, expected one of %s%s", s.Name, name,
				strings.Join(names, ", "), also)
		}
	}
	j.chosen = true
	meant := func(inv invariant.Invariant) bool { return o.Only == "" || inv.Name == o.Only }
	for _, inv := range all {
		named := slices.Contains(s.Invariants, inv.Name) || o.Only == inv.Name
		switch {
		case slices.Contains(s.Without, inv.Name) || s.Invariants != nil && !slices.Contains(s.Invariants, inv.Name):
			j.out = append(j.out, inv.Name)
		case meant(inv) && (recipe || named || !inv.Rule):
			j.by = append(j.by, inv)
		}
	}
	for _, inv := range o.Invariants { // a file can leave out the caller's own invariants, but does not choose them
		if slices.Contains(s.Without, inv.Name) {
			j.out = append(j.out, inv.Name)
		} else if meant(inv) {
			j.own = append(j.own, inv)
		}
	}
	if o.Only != "" && j.none() {
		return j, fmt.Errorf(
			"scenario %s: found %s as the only invariant, which the scenario leaves out, expected one that judges",
			s.Name, o.Only,
		)
	}
	return j, nil
}

// excused is the verdict of a run in which nothing is violated, with the reason: unknown if clock skew leaves one of
// the invariants nothing to judge.
func (j judges) excused(ev invariant.Evidence) (invariant.Verdict, string) {
	names, why := invariant.Excuses(j.by, ev)
	if names == nil {
		return invariant.OK, ""
	}
	all := strings.Join(names, ", ")
	return invariant.Unknown, fmt.Sprintf("%s, so %s judged nothing (a smaller one, or without: [%s])", why, all, all)
}

// promisesRecipe says whether the rules of the recipe are promised: by the scenario, or because the protocol is one of
// isr-sim, which are the recipes, their mutants and their policies.
func promisesRecipe(s *spec.Scenario, protocol string) bool {
	return s.Promise.Recipe || protocols.BuiltIn(protocol)
}

// NotJudged returns the names of the invariants of package invariant that the scenario leaves out.
func NotJudged(s *spec.Scenario) (names []string) {
	j, err := judgesOf(s, Options{}, true)
	if err != nil {
		return nil // then no run of the scenario has a verdict
	}
	return j.out
}

// judgesNothing is the reason why a run in which no invariant judges has no verdict.
const judgesNothing = "nothing was judged: the scenario leaves out all invariants"

// judge sets the run's verdict, and returns the run's evidence. The parameter lags has the histories under other lags.
func (w *world) judge(o *Outcome, lags []recorder.Lagged, judges judges) (shown invariant.Evidence) {
	o.Verdict, o.out = invariant.OK, judges.out
	evidence := invariant.Evidence{
		Record: invariant.Record{
			Changes: w.Changes(), History: w.history.Events(), MaxClockSkew: w.scenario.Skew,
			Revalidate: w.scenario.Cache.Revalidate, Settle: w.scenario.Settle,
			TTLBuffer: w.scenario.Cache.TTLBuffer, AcrossNodes: w.scenario.Promise.AcrossNodes,
			MaxAge: w.scenario.Promise.MaxAge,
		},
		Operations: w.operations.All(), Bodies: w.bodyLog, Lags: lags, Held: w.scenario.Cache.Lease,
		Behind: w.scenario.ReplicaLag, Overlapping: w.bubble != nil, Recipe: w.recipe,
	}
	o.seen = invariant.Evidence{
		Record: invariant.Record{MaxClockSkew: evidence.MaxClockSkew}, Operations: evidence.Operations,
	}
	if w.state.Evidence(&evidence); !w.by.Rows {
		evidence.Changes = w.db.Changes() // not translated
	}
	shown = evidence // with the changes of the caches' own rows
	shown.Changes, shown.Schema = w.db.Changes(), w.scenario.Rows
	run := describe.Run{Changes: shown.Changes, History: shown.History, Operations: shown.Operations}
	if judges.none() {
		o.Verdict, o.Why = invariant.Unknown, judgesNothing
		return shown
	}
	shownBy := func(f invariant.Finding) hooks.Shown {
		return hooks.Shown{Changes: f.Changes, Events: f.Events, Operations: f.Operations}
	}
	reporter := func(say, state func(string) string) func(invariant.Invariant, invariant.Finding) {
		return func(inv invariant.Invariant, f invariant.Finding) {
			if why := w.rows.unlocked(inv.Name); f.Verdict == invariant.Violated && why != "" {
				f.Verdict, f.Why = invariant.Unknown, why
			}
			switch {
			case f.Verdict == invariant.Unknown && o.Verdict == invariant.OK:
				o.Verdict, o.Why = invariant.Unknown, inv.Name+": "+say(f.Why)
				o.Doubtful = run.Shown(w.words(), shownBy(f))
			case f.Verdict == invariant.Violated:
				o.Broken = append(o.Broken, inv.Name)
				if o.Violation == nil {
					o.Verdict, o.Why, o.Doubtful = invariant.Violated, "", nil
					o.Harm, o.Graded = f.Harm(), f.Graded && !inv.Rule
					inv.Statement = state(inv.Statement)
					w.shown = shownBy(f)
					words := w.words()
					words.Untold = w.untold.of
					f, led := w.cause(shown, f)
					o.Violation = &Violation{Invariant: inv, Why: say(f.Why), Lines: run.Shown(words,
						shownBy(w.meanwhile(shown, f)), led...)}
				}
			}
		}
	}
	if len(judges.by) > 0 {
		state := func(text string) string { return w.rows.say(withSkew(text, w.scenario.Skew)) }
		invariant.Judge(evidence, reporter(w.rows.say, state), judges.by...)
	}
	if len(judges.own) > 0 && o.cut == 0 {
		as := func(text string) string { return text }
		invariant.Judge(shown, reporter(as, as), judges.own...)
	}
	if w.by.Rows {
		w.fit(o)
	}
	w.tableless(o)
	if o.Verdict == invariant.OK && o.Result.End == sim.Cut && o.cut == 0 {
		o.Verdict = invariant.Unknown
		o.Why = fmt.Sprintf("the run was cut after %d steps, the scenario's bound", o.Result.Steps)
	}
	return shown
}

// namesSkew finds e, 2e and 4e in the statement of an invariant.
var namesSkew = regexp.MustCompile(`\b[24]?e\b`)

// withSkew adds the value of e to a statement that names e.
func withSkew(statement string, e time.Duration) string {
	if !namesSkew.MatchString(statement) {
		return statement
	}
	return fmt.Sprintf("%s (e is %v, the promised max-clock-skew)", statement, e)
}

// Outcome is the result of a run.
type Outcome struct {
	Verdict   invariant.Verdict
	Violation *Violation  // the first violation, if the verdict is violated
	Broken    []string    // the names of all violated invariants, in the order of invariant.All
	Why       string      // for the verdict unknown
	Marks     []spec.Mark // the marks that were reached, in the order of Marks

	Result sim.Result
	Unmet  []spec.Fault // declared faults that could strike no call of the run
	// Misfit says why Scenario.Rows does not fit the rows that were written, and names some of them; without
	// Scenario.Rows, that none of them is META or LOCK. It is empty if Scenario.Rows fits them, or if no row was
	// written. If the rows do not fit, a violation that rests on them makes the run unknown.
	Misfit string
	// Tableless says that nothing was written, and that the code asked for a table or a region that the world lacks.
	// Misfit says which.
	Tableless bool
	// Judged says that one of the invariants that judge had something to judge.
	Judged bool
	// Doubtful are, for the verdict unknown, the changes and events that cause the doubt, like Violation.Lines.
	Doubtful []string
	// Pageless is set if no row was a page. It names the rows, and the reason.
	Pageless string
	// Metrics are the store's counters, under their names in CloudWatch. The requests that create the tables are not
	// counted.
	Metrics []ddbfake.Metrics
	// AskedObjects says that a request reached the bodies' store through a client of S3, in a world without pages.
	AskedObjects bool
	// Harm is that of the Violation: 0 if a rule of the recipe is broken and nobody is harmed, 1 if somebody may be, 2
	// if the harm is done. Graded says that the invariant also knows violations with more harm, or with less.
	Harm   int
	Graded bool
	// Digest is the beginning of the trace's SHA-256, eight hexadecimal digits; "" if the run was not traced.
	Digest string

	protocol string
	swarm    bool
	allStops bool
	cut      int // the value of Run.Steps, if it has ended the run
	seen     invariant.Evidence
	whole    bool     // seen has everything, and not only the operations
	out      []string // names of invariants that the scenario leaves out
}

// Shown prints the lines of Doubtful after an empty line; "" if there are none.
func (o *Outcome) Shown() string {
	if len(o.Doubtful) == 0 {
		return ""
	}
	return "\n  " + strings.Join(o.Doubtful, "\n  ") + "\n"
}

// Replay returns everything that is needed to run the schedule again.
func (o *Outcome) Replay() spec.Replay {
	r := spec.Replay{
		Protocol: o.protocol, Seed: o.Result.Seed, Choices: o.Result.Choices, Swarm: o.swarm, AllStops: o.allStops,
		Steps: o.cut, Digest: o.Digest,
	}
	if o.Violation != nil {
		r.Violates = o.Violation.Invariant.Name
	}
	return r
}

// Violation is a broken invariant and the few things that show it.
type Violation struct {
	Invariant invariant.Invariant
	Why       string
	Lines     []string // the events, in order of time
}

// BrokenError says that a run broke off and has no verdict: the protocol could not be set up or its code panicked, a
// recorded schedule does not fit, or a second run of it had another result (*NondeterminismError).
type BrokenError struct {
	Scenario, Protocol string
	Swarm, AllStops    bool       // as in Run
	Result             sim.Result // how far it came; enough to make it break off again
}

// Replay returns everything that is needed to run the schedule again.
func (e *BrokenError) Replay() spec.Replay {
	return spec.Replay{
		Protocol: e.Protocol, Seed: e.Result.Seed, Choices: e.Result.Choices, Swarm: e.Swarm, AllStops: e.AllStops,
	}
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("scenario %s, protocol %s, seed %d: %v", e.Scenario, e.Protocol,
		e.Result.Seed, e.Result.Err)
}

// Unwrap returns the error on which the run broke off.
func (e *BrokenError) Unwrap() error { return e.Result.Err }

// Evidence returns everything that the run saw, for checks of the caller's own: change log, history, operations,
// bodies, and the scenario's promises. The caller must not modify it. The result kept is false if the evidence was not
// kept, because a campaign makes all its runs in the same memory. To get the evidence of such a run, repeat it with
// Outcome.Replay and Replay.
func (o *Outcome) Evidence() (ev invariant.Evidence, kept bool) {
	if !o.whole {
		return invariant.Evidence{}, false
	}
	return o.seen, true
}

// Explain prints the verdict. For a violation it also prints the invariant with its statement and the few events that
// show it.
func (o *Outcome) Explain(scenario, protocol string) string {
	var b strings.Builder
	switch o.Verdict {
	case invariant.Violated:
		o.Violation.print(&b, scenario, protocol)
	case invariant.Unknown:
		fmt.Fprintf(&b, "unknown: %s under %s: %s\n%s", scenario, protocol, o.Why, o.Shown())
	case invariant.OK:
		fmt.Fprintf(&b, "ok: %s under %s\n", scenario, protocol)
		if o.cut > 0 {
			fmt.Fprintf(&b,
				"the recorded run ends after step %d, so what needs the end of a run was not judged, such "+
					"as liveness\n", o.cut)
		}
	}
	if len(o.out) > 0 {
		fmt.Fprintf(&b, "not judged, left out by the scenario: %s\n", strings.Join(o.out, ", "))
	}
	return b.String()
}

func (v *Violation) print(b *strings.Builder, scenario, protocol string) {
	fmt.Fprintf(b, "violated: %s under %s\n\n%s: %s\n%s\n\n", scenario, protocol, v.Invariant.Name,
		v.Invariant.Statement, v.Why)
	for _, line := range v.Lines {
		fmt.Fprintf(b, "  %s\n", line)
	}
}

// liveness returns the invariant that a livelock violates; nil if it is not judged.
func (j judges) liveness() *invariant.Invariant {
	if i := slices.IndexFunc(j.by, func(inv invariant.Invariant) bool { return inv.OfLiveness() }); i >= 0 {
		return &j.by[i]
	}
	return nil
}

// tried is a cycle of a schedule.
type tried struct {
	scenario *spec.Scenario
	protocol string
	schedule fingerprint.Hash
}

// mostEnded bounds the cycles that are known to end: a campaign comes to other ones in each schedule. A full memory is
// emptied.
const mostEnded = 1 << 14

// goesRound makes the outcome a violation of liveness if the run can go round one of its cycles for ever. A run that
// ends shows no livelock: its schedule was lucky at some point. So another run goes round, with the real code. It is
// made again whenever the first one is replayed: its error breaks the first one, too.
func (r Run) goesRound(ctx context.Context, o *Outcome, liveness *invariant.Invariant) error {
	own, alone := r.stage, r.alone // as r is now: below, its probe has no search
	if own == nil {
		own = newStage()
		defer own.Close()
	}
	// of the probe, only what decides the random bytes that code draws, and whether code runs at all
	r.probe = &hooks.Probe{Search: r.probe.Search, Off: r.probe.Off, Memory: sim.Memory{Afresh: r.probe.Memory.Afresh}}
	for _, cycle := range o.Result.Cycles {
		id := tried{r.Scenario, r.Protocol.Name, fingerprint.Hash(o.Result.Seed).Number(uint64(cycle.To)).
			Text(o.Result.Choices[:cycle.Choices].String())}
		if own.ended[id] {
			continue
		}
		c := &livelock.Round{Within: r.Scenario.Settle}
		r.round, r.stage, r.Trace, r.Setup.Blind = c, own.second(), c, true
		r.Strategy = sim.GoRound(o.Result.Choices, cycle, c.Again)
		var round *Outcome
		var err error
		alone(func() { _, round, err = r.perform(ctx) })
		if err == nil && c.Rounds == 0 {
			err = &NondeterminismError{Found: o, Difference: "it did not come to them again"}
		}
		steps := fmt.Sprintf("steps %d to %d", cycle.From+1, cycle.To)
		if err != nil {
			own.dropSecond()
			if broken, is := errors.AsType[*BrokenError](err); is {
				err = broken.Result.Err
			}
			result := o.Result
			result.End, result.Err = sim.Broken, fmt.Errorf("when %s were repeated: %w", steps, err)
			return &BrokenError{r.Scenario.Name, r.Protocol.Name, r.Swarm, o.allStops, result}
		}
		if round.Result.End == sim.Cut {
			o.Verdict, o.Why = invariant.Unknown, fmt.Sprintf("%s: %s were repeated %d times, in %v, and might be so "+
				"for longer than settle", liveness.Name, steps, c.Rounds, c.Lasted)
			return nil
		}
		if !c.ForEver {
			if len(own.ended) == mostEnded {
				clear(own.ended)
			}
			own.ended[id] = true
			continue
		}
		o.Verdict, o.Why, o.Broken = invariant.Violated, "", append(o.Broken, liveness.Name)
		o.Harm = (&invariant.Finding{Verdict: invariant.Violated}).Harm()
		o.Violation = &Violation{
			Invariant: *liveness,
			Why: fmt.Sprintf("%s never served: without a fault, %s can repeat for ever (they were taken %d times, "+
				"in %v)", are(cycle.Waiting), steps, c.Rounds, c.Lasted),
			Lines: c.Steps,
		}
		return nil
	}
	return nil
}

// alone calls f while no code runs for the other searchers of a team.
func (r Run) alone(f func()) {
	if x := r.probe.Memory.Search; x != nil {
		x.Histories().Alone(f)
		return
	}
	f()
}

// are puts names before what is said of them.
func are(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " are"
}

// text is the rows, the bodies and other objects, and a mark for each strike of a fault.
func (w *world) text() (text string, now time.Time) {
	var b strings.Builder
	for _, table := range w.db.Tables() {
		for _, row := range w.db.Items(table) {
			fmt.Fprintln(&b, table, row)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.bodies)) {
		if body := w.bodies[name]; body != nil {
			fmt.Fprintf(&b, "%s %s\n", name, body)
		}
	}
	if w.objects != nil {
		b.WriteString(w.objects.String())
	}
	return b.String() + strings.Repeat("!", w.strikes), w.clock.Now()
}
