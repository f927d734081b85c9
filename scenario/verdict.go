package scenario

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/base/inside"
	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/trace/describe"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// judges are the invariants that judge a run, and the names of the invariants that the scenario leaves out.
type judges struct {
	chosen bool                  // if false, all invariants of package invariant judge
	by     []invariant.Invariant // the invariants of package invariant
	own    []invariant.Invariant // the caller's
	out    []string
}

func (j judges) none() bool { return j.chosen && j.by == nil && j.own == nil }

// judgesOf chooses the invariants. They are those of package invariant about pages, locks or calls, and the caller's
// own, without the invariants that the scenario leaves out; or the only one that the options name. An error says that
// the caller's own invariants have a mistake, or that a name is unknown, or that nothing is left of the only one.
func judgesOf(s *Scenario, o Options) (j judges, err error) {
	locks, calls := s.holds(), s.asks(verbOnce)
	if s.Invariants == nil && s.Without == nil && o.Invariants == nil && o.Only == "" && !locks && !calls {
		return judges{}, nil // nearly every run is like this, and it must cost nothing
	}
	all := invariant.All()
	switch {
	case locks:
		all = invariant.OfLocks()
	case calls:
		all = invariant.OfCalls()
	}
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
		if slices.Contains(s.Without, inv.Name) || s.Invariants != nil && !slices.Contains(s.Invariants, inv.Name) {
			j.out = append(j.out, inv.Name)
		} else if meant(inv) {
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

// NotJudged returns the names of the invariants of package invariant that the scenario leaves out.
func (s *Scenario) NotJudged() (names []string) {
	j, err := judgesOf(s, Options{})
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
		Changes: w.changes(), History: w.history.Events(),
		MaxClockSkew: w.scenario.Skew, Revalidate: w.scenario.Cache.Revalidate, Settle: w.scenario.Settle,
		TTLBuffer: w.scenario.Cache.TTLBuffer, AcrossNodes: w.scenario.Promise.AcrossNodes,
		MaxAge: w.scenario.Promise.MaxAge,
	}
	recorded := inside.In(&evidence)
	recorded.Operations, recorded.Bodies, recorded.Lags = w.operations.All(), w.bodyLog, lags
	o.seen = invariant.Evidence{MaxClockSkew: evidence.MaxClockSkew}
	inside.In(&o.seen).Operations = recorded.Operations
	recorded.Lease, recorded.Behind = w.scenario.Cache.Lease, w.scenario.ReplicaLag
	recorded.Overlapping = w.bubble != nil
	if w.ofLocks || w.ofCalls {
		recorded.Retention = w.scenario.Cache.Retention
		inside.In(&evidence).Lock, inside.In(&evidence).Once = w.locks.terms, w.calls.terms
		evidence.Changes = w.db.Changes() // whatever they mean
	}
	shown = evidence // this one has the changes of the caches' own rows
	shown.Changes, shown.Schema = w.db.Changes(), w.scenario.Rows
	if judges.none() {
		o.Verdict, o.Why = invariant.Unknown, judgesNothing
		return shown
	}
	reporter := func(say, state func(string) string) func(invariant.Invariant, invariant.Finding) {
		return func(inv invariant.Invariant, f invariant.Finding) {
			switch {
			case f.Verdict == invariant.Unknown && o.Verdict == invariant.OK:
				o.Verdict, o.Why = invariant.Unknown, inv.Name+": "+say(f.Why)
				inside.In(o).Doubtful = describe.Finding(w.words(), shown, f)
			case f.Verdict == invariant.Violated:
				o.Broken = append(o.Broken, inv.Name)
				if o.Violation == nil {
					o.Verdict, o.Why, inside.In(o).Doubtful = invariant.Violated, "", nil
					inv.Statement = state(inv.Statement)
					w.shown = hooks.Shown{Changes: f.Changes, Events: f.Events, Operations: inside.In(&f).Operations}
					words := w.words()
					words.Untold = w.untold.of
					o.Violation = &Violation{Invariant: inv, Why: say(f.Why), Lines: describe.Finding(words, shown,
						w.meanwhile(shown, f), w.led(shown, f)...)}
				}
			}
		}
	}
	if !judges.chosen || len(judges.by) > 0 {
		state := func(text string) string { return w.rows.say(withSkew(text, w.scenario.Skew)) }
		invariant.Judge(evidence, reporter(w.rows.say, state), judges.by...)
	}
	if len(judges.own) > 0 && o.cut == 0 {
		as := func(text string) string { return text }
		invariant.Judge(shown, reporter(as, as), judges.own...)
	}
	if !w.ofLocks && !w.ofCalls { // locks and calls are judged by what clients were told, and not by rows
		w.fit(o)
	}
	w.tableless(o)
	if o.Verdict == invariant.OK && inside.In(o).Result.End == sim.Cut && o.cut == 0 {
		o.Verdict = invariant.Unknown
		o.Why = fmt.Sprintf("the run was cut after %d steps, the scenario's bound", inside.In(o).Result.Steps)
	}
	return shown
}

// namesSkew finds e, 2e and 4e in the statement of an invariant.
var namesSkew = regexp.MustCompile(`\b[24]?e\b`)

// withSkew adds to a statement that names e what e is.
func withSkew(statement string, e time.Duration) string {
	if !namesSkew.MatchString(statement) {
		return statement
	}
	return fmt.Sprintf("%s (e is %v, the promised max-clock-skew)", statement, e)
}

// Outcome is the result of a run.
type Outcome struct {
	Verdict   invariant.Verdict
	Violation *Violation // the first violation, if the verdict is violated
	Broken    []string   // the names of all violated invariants, in the order of invariant.All
	Why       string     // for the verdict unknown
	Marks     []Mark     // the marks that were reached, in the order of Marks

	told
	protocol string
	swarm    bool
	allStops bool
	cut      int // the value of Run.Steps, if it has ended the run
	seen     invariant.Evidence
	whole    bool     // seen has everything, and not only the operations
	out      []string // names of invariants that the scenario leaves out
}

type told = inside.Of[outcome]

// outcome is the part of an Outcome that is only for campaigns and reports.
type outcome struct {
	Result sim.Result
	Unmet  []Fault // declared faults that no call of the run could meet
	// Misfit says why Scenario.Rows does not fit the rows that were written, and names some of them; without
	// Scenario.Rows, that none of them is META or LOCK. It is empty if Scenario.Rows fits them, or if no row was
	// written. If the rows do not fit, no violation that rests on them makes the run violated, but unknown.
	Misfit string
	// Judged says that one of the invariants that judge had something to judge.
	Judged bool
	// Doubtful are the changes and events that leave the doubt, for the verdict unknown, like Violation.Lines.
	Doubtful []string
	// Pageless names the rows that were no pages, with the reason, if none was a page.
	Pageless string
	// Metrics are the store's counters, under their names in CloudWatch. The requests that create the tables are not
	// counted.
	Metrics []ddbfake.Metrics
	// Digest is the beginning of the trace's SHA-256, eight hexadecimal digits; "" if the run was not traced.
	Digest string
}

// Shown prints what leaves the doubt, after an empty line; "" if nothing is known of it.
func (o *outcome) Shown() string {
	if len(o.Doubtful) == 0 {
		return ""
	}
	return "\n  " + strings.Join(o.Doubtful, "\n  ") + "\n"
}

// Replay returns everything that is needed to run the schedule again.
func (o *Outcome) Replay() Replay {
	in := inside.In(o)
	r := Replay{
		Protocol: o.protocol, Seed: in.Result.Seed, Choices: in.Result.Choices, Swarm: o.swarm, AllStops: o.allStops,
		Steps: o.cut, Digest: in.Digest,
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

// BrokenError says that a run broke off and has no verdict: the protocol could not be set up or its code panicked,
// a recorded schedule does not fit, or a second run of it had another result (*NondeterminismError).
type BrokenError struct{ where }

type where = inside.Of[broken]

type broken struct {
	Scenario, Protocol string
	Swarm, AllStops    bool       // as in Run
	Result             sim.Result // how far it came; enough to make it break off again
}

// Replay returns everything that is needed to run the schedule again.
func (e *BrokenError) Replay() Replay {
	in := inside.In(e)
	return Replay{
		Protocol: in.Protocol, Seed: in.Result.Seed, Choices: in.Result.Choices, Swarm: in.Swarm, AllStops: in.AllStops,
	}
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("scenario %s, protocol %s, seed %d: %v", inside.In(e).Scenario, inside.In(e).Protocol,
		inside.In(e).Result.Seed, inside.In(e).Result.Err)
}

// Unwrap returns the error on which the run broke off.
func (e *BrokenError) Unwrap() error { return inside.In(e).Result.Err }

// Evidence returns everything that the run saw, for checks of the caller's own: change log, history, operations,
// bodies, and the scenario's promises. The caller must not modify it. The result kept is false if the evidence was not
// kept, because a campaign makes all its runs in the same memory. To get the evidence of such a run, repeat it with
// Outcome.Replay and Replay.Run.
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
		fmt.Fprintf(&b, "unknown: %s under %s: %s\n%s", scenario, protocol, o.Why, inside.In(o).Shown())
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

// answered is a request with its answer, of which a finding may tell.
type answered struct {
	at             time.Time
	actor          string
	in, out        any
	events, change int // how many events there had been before it, and the latest change
}

func (w *world) answered(r *storeRequest) answered {
	return answered{w.clock.Now(), r.call.Actor, r.call.Input, r.out, len(w.history.Events()), w.seen}
}

// line is the line of a finding about it, which ends with more.
func (a *answered) line(words describe.Words, more string) describe.Line {
	return describe.Line{Time: a.at, Actor: a.actor,
		Text: words.Input(a.in) + " -> " + words.Outcome(a.out, nil) + more, Events: a.events, Change: a.change}
}

// replicaRead is a read that may have been answered by a replica without the latest writes.
type replicaRead struct {
	answered // a GetItem
	region   string
}

// noteRead notes a read that is answered, and any answer in part.
func (w *world) noteRead(r *storeRequest) {
	if w.struck == ddbfake.FaultUnprocessed || w.struck == ddbfake.FaultShortPage {
		w.partials = append(w.partials, w.answered(r))
	}
	in, isGet := r.call.Input.(*dynamodb.GetItemInput)
	_, isRow := r.out.(*dynamodb.GetItemOutput)
	if w.subjects != nil && !w.fingerprinter.pasts && w.eventual(r.call.Input) {
		w.subjects[hooks.EventualReads] = true
	}
	if w.subjects != nil && seesPasts(r.call.Input) {
		w.subjects[hooks.SeesPasts] = true
	}
	if isGet && isRow && !aws.ToBool(in.ConsistentRead) &&
		(w.scenario.ReplicaLag > 0 || w.struck == ddbfake.FaultStaleRead) {
		read := replicaRead{w.answered(r), cmp.Or(r.call.Region, ddbfake.DefaultRegion)}
		w.reads = append(w.reads, read)
		if w.onStale != nil && read.stale(w.db.Changes()) {
			w.onStale(r.call.Actor, len(w.reads))
		}
	}
}

// asFresh returns the input of a call. If the call is the read that must be fresh, the returned input asks for a
// strongly consistent read, so that no replica answers.
func (w *world) asFresh(input any) any {
	in, isGet := input.(*dynamodb.GetItemInput)
	if !isGet || aws.ToBool(in.ConsistentRead) || w.scenario.ReplicaLag == 0 || len(w.reads)+1 != w.fresh {
		return input
	}
	same := *in
	same.ConsistentRead = aws.Bool(true)
	return &same
}

// stale says whether the read did not see a change that was made before it. If the read asks for a part of the row,
// only the existence of the row is compared.
func (r *replicaRead) stale(changes []ddbfake.Change) bool {
	in, _ := r.in.(*dynamodb.GetItemInput)
	out, _ := r.out.(*dynamodb.GetItemOutput)
	key, err := attr.ItemFromSDK(in.Key)
	if err != nil {
		return false
	}
	var now attr.Item
	for i := range changes[:r.change] {
		if c := &changes[i]; c.Region == r.region && c.Table == aws.ToString(in.TableName) && c.Key.Equal(key) {
			now = c.After
		}
	}
	was, err := attr.ItemFromSDK(out.Item)
	if err != nil || now == nil || out.Item == nil {
		return err == nil && (now == nil) != (out.Item == nil)
	}
	return in.ProjectionExpression == nil && in.AttributesToGet == nil && !was.Equal(now)
}

// partialMost is how many answers in part a finding names at most: the latest.
const partialMost = 3

// led returns what led to a finding and is no change and no event: a stale read, and the answers in part that the
// machines of the finding got between its first and its last line.
func (w *world) led(seen invariant.Evidence, f invariant.Finding) []describe.Line {
	lines, actors, words := w.misled(seen, f), actorsOf(seen, f), w.words()
	all := 0
	for i := len(w.partials) - 1; i >= 0 && all < partialMost; i-- {
		if p := &w.partials[i]; actors[p.actor] && within(p.events, p.change, f) {
			all++
			lines = append(lines, p.line(words, ""))
		}
	}
	slices.SortStableFunc(lines, func(a, b describe.Line) int {
		return cmp.Or(cmp.Compare(a.Events, b.Events), cmp.Compare(a.Change, b.Change))
	})
	return lines
}

// actorsOf are the machines that a finding names.
func actorsOf(seen invariant.Evidence, f invariant.Finding) map[string]bool {
	actors := map[string]bool{}
	for _, seq := range f.Events {
		actors[seen.History[seq-1].Actor] = true
	}
	for _, seq := range f.Changes {
		actors[seen.Changes[seq-1].Actor] = true
	}
	return actors
}

// meanwhileMost is how many lines meanwhile adds at most. In a longer story they would hide the finding.
const meanwhileMost = 24

// ofNodes are the kinds of events that say when a machine did not run, or what happened to its clock.
var ofNodes = []history.Kind{history.Paused, history.Resumed, history.Crashed, history.Restarted, history.Stepped}

// meanwhile adds to a finding what else there was between its first and its last line: pauses, crashes and clock steps
// of the machines that it names; and for a lock or a call all that was done to its key, and to any row. Of a long story
// it adds only the former, or nothing. The judges need only rows and what clients were told. Who reads the finding
// wants to know why.
func (w *world) meanwhile(seen invariant.Evidence, f invariant.Finding) invariant.Finding {
	if len(f.Events)+len(f.Changes) == 0 {
		return f
	}
	more := invariant.Finding{Events: slices.Clone(f.Events), Changes: slices.Clone(f.Changes)}
	actors := actorsOf(seen, f)
	for i := range seen.History {
		if e := &seen.History[i]; slices.Contains(ofNodes, e.Kind) && actors[e.Actor] && within(i, e.Change, f) {
			more.Events = append(more.Events, e.Seq)
		}
	}
	inside.In(&more).Operations = inside.In(&f).Operations
	short := ordered(more)
	if (w.ofLocks || w.ofCalls) && len(f.Events) > 0 {
		first, last := seen.History[f.Events[0]-1], seen.History[f.Events[len(f.Events)-1]-1]
		for i := range seen.History[:last.Seq] {
			if e := &seen.History[i]; e.Seq > first.Seq && (e.Key == first.Key || e.Key == "") {
				more.Events = append(more.Events, e.Seq)
			}
		}
		for seq := first.Change + 1; seq <= last.Change; seq++ {
			more.Changes = append(more.Changes, seq)
		}
	}
	for _, longer := range []invariant.Finding{ordered(more), short} {
		if len(longer.Events)+len(longer.Changes) <= meanwhileMost {
			return longer
		}
	}
	return f
}

// ordered returns the finding with its events and changes in their order, each once.
func ordered(f invariant.Finding) invariant.Finding {
	for _, all := range []*[]int{&f.Events, &f.Changes} {
		*all = slices.Compact(slices.Sorted(slices.Values(*all)))
	}
	return f
}

// within says whether something that came after so many events and changes came between the first and the last line of
// a finding.
func within(events, changes int, f invariant.Finding) bool {
	after, before := false, false
	if n := len(f.Events); n > 0 {
		after, before = events >= f.Events[0], events < f.Events[n-1]
	}
	if n := len(f.Changes); n > 0 {
		after, before = after || changes >= f.Changes[0], before || changes < f.Changes[n-1]
	}
	return after && before
}

// misled returns the stale read that led to the last step of a finding: the last stale read by the same actor in the
// same request of the client. If the finding shows operations, it returns nothing, because they are the reads
// themselves.
func (w *world) misled(seen invariant.Evidence, f invariant.Finding) (lines []describe.Line) {
	if len(w.reads) == 0 || len(inside.In(&f).Operations) > 0 || len(f.Events)+len(f.Changes) == 0 {
		return nil
	}
	var last history.Event // the last thing that the finding shows, as an event
	for _, seq := range f.Events {
		last = seen.History[seq-1]
	}
	for _, seq := range f.Changes {
		if c := seen.Changes[seq-1]; c.Time.After(last.Time) {
			last = history.Event{Time: c.Time, Actor: c.Actor, Change: c.Seq - 1}
		}
	}
	asked := 0 // how many events there were when the client asked
	for i := range seen.History {
		e := &seen.History[i]
		if last.Seq > 0 && e.Seq >= last.Seq || last.Seq == 0 && e.Change > last.Change {
			break
		}
		if e.Actor == last.Actor && (e.Kind == history.Asked || e.Kind == mark.EventLockAsked ||
			e.Kind == mark.EventCallAsked || e.Kind == history.Invalidating) {
			asked = i + 1
		}
	}
	for i := len(w.reads) - 1; i >= 0; i-- {
		r := &w.reads[i]
		after := last.Seq > 0 && r.events >= last.Seq || last.Seq == 0 && r.change > last.Change
		if r.actor != last.Actor || after || r.events < asked || !r.stale(seen.Changes) {
			continue
		}
		return []describe.Line{r.line(w.words(), ", from a replica that is behind")}
	}
	return nil
}

// untold are the requests that took effect without their senders' knowledge, in order. They are kept because no row
// shows this cause of later events.
type untold []untoldRequest

type untoldRequest struct {
	actor string
	// first and last are the Seq of the first and the last change that it made.
	first, last int
	kind        ddbfake.FaultKind
	met         bool // it was sent again, and refused for the row that it had written
}

// note notes a request. The parameter last is the number of its last change.
func (u *untold) note(r *storeRequest, last int, kind ddbfake.FaultKind) {
	if r.changed > 0 {
		*u = append(*u, untoldRequest{actor: r.call.Actor, first: last - r.changed + 1, last: last, kind: kind})
	}
}

// met notes that an actor's last request was refused for its own row.
func (u untold) met(actor string) {
	for i := len(u) - 1; i >= 0; i-- {
		if u[i].actor == actor {
			u[i].met = true
			return
		}
	}
}

// of says which answer the sender of a change did not get; "" if the sender got the answer.
func (u untold) of(change int) string {
	for _, r := range u {
		if change < r.first || change > r.last {
			continue
		}
		what := "its answer was lost"
		if r.kind != ddbfake.FaultResponseLost {
			what = fmt.Sprintf("its answer was an error: %s", r.kind)
		}
		if r.met {
			what += "; sent again, it was refused for this row, its own"
		}
		return what
	}
	return ""
}
