package kernel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/trace/describe"
	"github.com/isr-sim/isr-sim/internal/trace/request"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// answersMost is how many answers of the store a finding names at most: the latest.
const answersMost = 6

// cause returns the lines that led to a finding. If the finding ends with an answer, it adds the reason for it: the
// store's answers to the machine meanwhile, the latest change of each row in them, and the requests and answers of that
// change's author.
func (w *world) cause(seen invariant.Evidence, f invariant.Finding) (invariant.Finding, []describe.Line) {
	if !f.Answered {
		return f, w.led(seen, f)
	}
	last := &seen.History[f.Events[len(f.Events)-1]-1]
	asked := w.lastAsked(seen.History[:last.Seq-1], last)
	if asked == nil {
		return f, w.led(seen, f)
	}
	var causes []answered
	for i := len(w.answers) - 1; i >= 0 && len(causes) < answersMost && w.answers[i].events >= asked.Seq; i-- {
		if a := w.answers[i]; a.actor == last.Actor && a.events < last.Seq {
			causes = append(causes, a)
		}
	}
	slices.Reverse(causes)
	f.Events, f.Changes = slices.Clone(f.Events), slices.Clone(f.Changes)
	for _, a := range causes {
		request.EachRow(a.in, func(table *string, key map[string]types.AttributeValue, _ bool) {
			if c := lastChange(seen.Changes[:a.change], a.region, *table, key); c != nil {
				f.Changes = append(f.Changes, c.Seq)
				f.Events = append(f.Events, w.actions(seen.History[:last.Seq-1], c, last.Key)...)
			}
		})
	}
	for i, seq := range f.Events[1:] { // what a request without a body wrote, such as an invalidation
		asked, e := &seen.History[f.Events[i]-1], &seen.History[seq-1]
		if w.subject.Asks(asked.Kind) && asked.Actor == e.Actor && e.Body == "" {
			for _, c := range seen.Changes[asked.Change:min(e.Change, asked.Change+answersMost)] {
				if c.Actor == e.Actor {
					f.Changes = append(f.Changes, c.Seq)
				}
			}
		}
	}
	f = ordered(f)
	lines, words := w.led(seen, f), w.words()
	if len(causes) == 0 && !w.askedObjects {
		lines = append(lines, describe.Line{Time: last.Time, Actor: last.Actor, Events: last.Seq - 1,
			Change: last.Change, Text: "had sent no request for it: the answer came from its memory"})
	}
	for _, a := range causes {
		line := a.line(words, "")
		if !slices.ContainsFunc(lines, func(l describe.Line) bool {
			return l.Events == line.Events && l.Change == line.Change && strings.HasPrefix(l.Text, line.Text)
		}) {
			lines = append(lines, line)
		}
	}
	return f, inOrder(lines)
}

// lastAsked is the latest request to an event's node about its key, or nil.
func (w *world) lastAsked(events []history.Event, of *history.Event) *history.Event {
	for i := len(events) - 1; i >= 0; i-- {
		if e := &events[i]; e.Actor == of.Actor && e.Key == of.Key && w.subject.Asks(e.Kind) {
			return e
		}
	}
	return nil
}

// lastChange is the latest change of a row, found by key or by the whole row, or nil.
func lastChange(changes []ddbfake.Change, region, table string, key map[string]types.AttributeValue) *ddbfake.Change {
	row, err := attr.ItemFromSDK(key)
	if err != nil {
		return nil
	}
	for i := len(changes) - 1; i >= 0; i-- {
		if c := &changes[i]; c.Region == region && c.Table == request.TableName(table) && holds(row, c.Key) {
			return c
		}
	}
	return nil
}

func holds(row, key attr.Item) bool {
	//isrsim:unordered all of them count
	for name, value := range key {
		if row[name] == nil || !attr.Equal(row[name], value) {
			return false
		}
	}
	return true
}

// actions returns the numbers of the request that made a node change a key, and of the node's last two events for that
// request.
func (w *world) actions(events []history.Event, c *ddbfake.Change, key string) (seqs []int) {
	before := events
	for i := range before {
		if before[i].Change >= c.Seq {
			before = before[:i]
			break
		}
	}
	asked := w.lastAsked(before, &history.Event{Actor: c.Actor, Key: key})
	if c.Cause != ddbfake.CauseClient || asked == nil {
		return nil
	}
	for i := range events[asked.Seq:] {
		e := &events[asked.Seq+i]
		if e.Actor != c.Actor || e.Key != key {
			continue
		}
		if w.subject.Asks(e.Kind) {
			break
		}
		seqs = append(seqs, e.Seq)
	}
	return append(seqs[max(len(seqs)-2, 0):], asked.Seq)
}

// answered is a request with its answer, which a finding may cite.
type answered struct {
	at             time.Time
	actor          string
	in, out        any
	err            error
	events, change int // how many events there had been before it, and the latest change
	region         string
}

func (w *world) answered(r *storeRequest) answered {
	return answered{w.clock.Now(), r.call.Actor, r.call.Input, r.out, r.err, len(w.history.Events()), w.seen,
		cmp.Or(r.call.Region, ddbfake.DefaultRegion)}
}

// line returns the line of a finding for a; it ends with more.
func (a *answered) line(words describe.Words, more string) describe.Line {
	return describe.Line{Time: a.at, Actor: a.actor,
		Text: words.Input(a.in) + " -> " + words.Outcome(a.out, a.err) + more, Events: a.events, Change: a.change}
}

// replicaRead is a GetItem that may have been answered by a replica without the latest writes.
type replicaRead struct{ answered }

// noteAnswer notes a request that is answered. Reads of a replica and partial answers are also kept in separate lists.
func (w *world) noteAnswer(r *storeRequest) {
	w.answers = append(w.answers, w.answered(r))
	if w.struck == ddbfake.FaultUnprocessed || w.struck == ddbfake.FaultShortPage {
		w.partials = append(w.partials, w.answered(r))
	}
	in, isGet := r.call.Input.(*dynamodb.GetItemInput)
	_, isRow := r.out.(*dynamodb.GetItemOutput)
	if w.subjects != nil && !w.fingerprinter.oldVersions && w.eventual(r.call.Input) {
		w.subjects[hooks.EventualReads] = true
	}
	if w.subjects != nil && request.SeesPasts(r.call.Input) {
		w.subjects[hooks.SeesPasts] = true
	}
	if isGet && isRow && !aws.ToBool(in.ConsistentRead) &&
		(w.scenario.ReplicaLag > 0 || w.struck == ddbfake.FaultStaleRead) {
		read := replicaRead{w.answered(r)}
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

// stale reports whether the read missed a change made before it. If the read asks for a part of the row, only the
// existence of the row is compared.
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

// partialMost is how many partial answers a finding names at most. It names the latest ones.
const partialMost = 3

// led returns causes of a finding other than changes and events: stale reads, and partial answers to its machines
// between its first and its last line.
func (w *world) led(seen invariant.Evidence, f invariant.Finding) []describe.Line {
	lines, actors, words := w.misled(seen, f), actorsOf(seen, f), w.words()
	all := 0
	for i := len(w.partials) - 1; i >= 0 && all < partialMost; i-- {
		if p := &w.partials[i]; actors[p.actor] && within(p.events, p.change, f) {
			all++
			lines = append(lines, p.line(words, ""))
		}
	}
	return inOrder(lines)
}

func inOrder(lines []describe.Line) []describe.Line {
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

// meanwhile adds the events between a finding's first and last line: pauses, crashes and clock steps of its machines;
// and, if only the history is judged, every event of its key and every change of a row. A long story gets only the
// events of its machines, or nothing. Judges need only rows and the history, but the reader of a finding wants to know
// why.
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
	more.Operations = f.Operations
	short := ordered(more)
	if !w.by.Rows && len(f.Events) > 0 {
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

// within says whether something lies between the first and the last line of a finding. The parameters are how many
// events and changes came before it.
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
	if len(w.reads) == 0 || len(f.Operations) > 0 || len(f.Events)+len(f.Changes) == 0 {
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
		if e.Actor == last.Actor && w.subject.Asks(e.Kind) {
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
	kind        ddbfake.FaultKind // 0 if its sender no longer waited for the answer
	met         bool              // it was sent again, and refused for the row that it had written
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
		switch r.kind {
		case ddbfake.FaultResponseLost:
		case 0:
			what = "its sender no longer waited for the answer"
		default:
			what = fmt.Sprintf("its answer was an error: %s", r.kind)
		}
		if r.met {
			what += "; sent again, it was refused for this row, its own"
		}
		return what
	}
	return ""
}

// record keeps the requests and answers on the wire, for a probe.
func (w *world) record(r *storeRequest) {
	keep := func(e hooks.Exchange) {
		e.What = w.words().Input(e.Input)
		w.exchanges = append(w.exchanges, e)
	}
	if w.struck == ddbfake.FaultUnprocessed {
		if part := request.Done(r.call.Input, r.out); r.err == nil && part != nil {
			keep(hooks.Exchange{Input: part, Hidden: true})
		}
		return
	}
	if w.struck == 0 || takesEffect(w.struck) { // a call that had no effect here would have one in another store
		if r.twice {
			keep(hooks.Exchange{Input: r.call.Input, Hidden: true})
		}
		keep(hooks.Exchange{
			Input: r.call.Input, Output: r.out, Err: r.err, Hidden: w.struck != 0 && !r.twice || w.behind(r.call.Input),
		})
	}
}

// behind reports whether a lagging replica may have answered. In that case another store may answer differently.
func (w *world) behind(input any) bool {
	return w.scenario.ReplicaLag > 0 && w.eventual(input)
}

// eventual reports whether a request is a read that a replica may answer.
func (w *world) eventual(input any) bool {
	return w.db.Matches(ddbfake.Fault{Kind: ddbfake.FaultStaleRead}, ddbfake.Call{Input: input})
}
