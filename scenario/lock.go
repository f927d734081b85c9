package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/internal/base/inside"
	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// locks is a world's knowledge of the locks of its scripts. It stays empty in a world of pages.
type locks struct {
	terms *promise.LockTerms // what the lock promises; nil until somebody has asked for a lock
	// by lock: the nodes that have it, as far as their clients know, and how many times
	holders map[string]map[string]int
	tokens  map[string]int64 // the largest token that each guarded resource has seen
	writers map[string]int   // by lock: the place of the hold that wrote last
	turns   map[string]int   // by the id of a hold: its place among all holds
}

// held is a hold of a node's script.
type held struct {
	*hooks.Held
	node    *node
	key, id string
	terms   promise.LockTerms
	asked   time.Time     // by the node's clock: when the lock, or its latest extension, was asked for
	waited  time.Duration // time that was not the node's own: first until it asked for the lock, later until it took it
	trouble int           // how many of the node's requests had failed when it asked for the lock
}

// holds says whether scripts hold locks. If they do, the run is about locks, and not about pages.
func (s *Scenario) holds() bool { return s.asks(verbHold) }

// asks says whether scripts have a command with the verb.
func (s *Scenario) asks(v Verb) bool {
	for _, a := range s.Actors {
		for _, c := range a.Script {
			if c.Verb == v {
				return true
			}
		}
	}
	return false
}

// hold takes the lock, works under it, and gives it back. If the lock refuses, it asks again, up to the scenario's
// patience.
func (n *node) hold(client hooks.LockClient, c Command) {
	for attempt := 0; attempt < n.world.scenario.Cache.Patience; attempt++ {
		if attempt > 0 {
			_ = n.idle(n.life(), client, n.world.scenario.Cache.Poll)
			n.turn()
		}
		if h := n.take(client, c.Key); h != nil {
			h.work(c.For)
			h.release()
			return
		}
	}
}

// take asks for the lock once. It returns nil if the lock refuses.
func (n *node) take(client hooks.LockClient, key string) *held {
	w := n.world
	terms := client.Terms()
	h := &held{
		node: n, key: key, id: n.nextID(n.proc.Name() + "-hold"), terms: terms,
		asked: n.proc.Clock().Now(), trouble: n.own.troubles(), waited: n.own.waited(n.proc.Now()),
	}
	n.proc.Tell(func() {
		w.locks.terms = &terms
		if w.locks.others(key, n.proc.Name()) {
			w.mark(mark.HoldContended)
		}
	})
	h.record(mark.EventLockAsked, nil)
	n.proc.Tell(func() { w.stopAround(w.scenario.Cache.Lease, promise.LeaseRounding) })
	got, err := client.Acquire(n.life(), key)
	n.turn()
	if err == nil && (got == nil || got.Release == nil) {
		err = errors.New("the lock returned neither a hold nor an error")
	}
	if err != nil {
		h.record(mark.EventLockRefused, err)
		return nil
	}
	h.Held = got
	id := h.id
	n.proc.Tell(func() {
		w.mark(mark.HoldTaken)
		if w.locks.others(key, n.proc.Name()) {
			w.mark(mark.HoldTakenOver)
		}
		w.locks.take(key, n.proc.Name(), id)
	})
	h.record(mark.EventLockTaken, nil)
	h.waited = n.own.waited(n.proc.Now())
	n.proc.Tell(func() { w.stopAt(w.scenario.Cache.Lease) })
	return h
}

// stopAt makes time stop at the end of a lease that begins now.
func (w *world) stopAt(lease time.Duration) {
	if !w.allStops { // see stopAround
		w.deadlines.add(w.clock.Now().Add(lease).Unix())
	}
}

// stopAround makes time stop a second before, at, and a second after the end of a time for which a lock or a result is
// promised from now on. It also stops a millisecond before the moment until which an invariant holds that promise: this
// is earlier, by twice the error of clocks and by what rows may round. A search goes to no other instants.
func (w *world) stopAround(promised, rounded time.Duration) {
	if !w.allStops {
		return
	}
	end := w.clock.Now().Add(promised)
	held := end.Add(-2*w.scenario.Skew - rounded)
	w.deadlines.addStops(end.Add(-time.Second), held.Add(-time.Millisecond), end, end.Add(time.Second))
}

// work holds the lock for some time by the node's clock, or until the holder is told, or must assume, that it has lost
// the lock. It writes to the guarded resource at the beginning, in between, and at the end.
func (h *held) work(d time.Duration) {
	const parts = 3
	n := h.node
	clock := n.proc.Clock()
	lease := n.world.scenario.Cache.Lease
	until := clock.Now().Add(d)
	part := min(d/parts, lease/parts)
	for {
		if !h.holds() || !h.write() {
			return
		}
		left := until.Sub(clock.Now())
		if left <= 0 {
			return
		}
		h.sleep(min(max(part, time.Millisecond), left))
		n.turn()
		if h.Extend != nil && clock.Now().Sub(h.asked) >= lease/2 && !h.extend() {
			return
		}
	}
}

// sleep lets time pass under the lock.
func (h *held) sleep(d time.Duration) {
	if h.Work != nil {
		h.Work(h.node.life(), d)
		return
	}
	_ = h.node.sleep(h.node.life(), d)
}

// holds asks the lock whether it is still held. If the lock cannot be asked, the holder relies on it until its lease
// ends.
func (h *held) holds() bool {
	n := h.node
	if h.Holds == nil {
		return h.terms.Heartbeats || n.proc.Clock().Now().Sub(h.asked) < n.world.scenario.Cache.Lease
	}
	h.record(mark.EventLockChecking, nil)
	yes, err := h.Holds(n.life())
	n.turn()
	if yes && err == nil {
		h.record(mark.EventLockHeld, nil)
		return true
	}
	h.lost(err)
	return false
}

func (h *held) extend() bool {
	n := h.node
	asked := n.proc.Clock().Now()
	h.record(mark.EventLockExtending, nil)
	n.proc.Tell(func() { n.world.stopAround(n.world.scenario.Cache.Lease, promise.LeaseRounding) })
	err := h.Extend(n.life())
	n.turn()
	if err != nil {
		h.lost(err)
		return false
	}
	h.asked = asked
	n.mark(mark.HoldExtended)
	h.record(mark.EventLockExtended, nil)
	n.proc.Tell(func() { n.world.stopAt(n.world.scenario.Cache.Lease) })
	return true
}

func (h *held) lost(err error) {
	h.node.mark(mark.HoldLost)
	h.record(mark.EventLockLost, err)
}

func (h *held) release() {
	n := h.node
	n.proc.Tell(func() { n.world.locks.add(h.key, n.proc.Name(), -1) })
	h.record(mark.EventLockReleasing, nil)
	err := h.Release(n.life())
	n.turn()
	h.record(mark.EventLockReleased, err)
}

// write writes to the resource that the lock guards. It returns false if the resource refuses the write.
func (h *held) write() bool {
	w := &guardedWrite{held: h}
	if h.Token != nil {
		w.token, w.fenced = h.Token(), true
	}
	if h.node.proc.Remembers() {
		w.send(h.node, h.facts(mark.EventGuardedWrite), h.waited)
	}
	if err := h.node.do(h.node.life(), w); err != nil {
		h.node.turn() // if the node is down, this ends it
	}
	return !w.refused
}

// record adds an event of the hold to the history.
func (h *held) record(kind history.Kind, err error) {
	h.node.record(h.event(kind, err))
}

func (h *held) event(kind history.Kind, err error) history.Event {
	facts := h.facts(kind)
	facts.Excused = h.node.own.waited(h.node.proc.Now()) - h.waited
	return eventOf(history.Event{Kind: kind, Key: h.key}, facts, err)
}

// eventOf adds the facts of a hold or a call to an event, and the text of an error.
func eventOf(e history.Event, facts *mark.Hold, err error) history.Event {
	if inside.In(&e).Hold = facts; err != nil {
		e.Note = err.Error()
	}
	return e
}

// take notes that a node has the lock, by the id of its hold.
func (l *locks) take(key, node, id string) {
	if l.turns == nil {
		l.turns = map[string]int{}
	}
	l.turns[id] = len(l.turns) + 1
	l.add(key, node, 1)
}

// clone returns a copy.
func (l *locks) clone() locks {
	holders := maps.Clone(l.holders)
	//isrsim:unordered each by itself
	for key, of := range holders {
		holders[key] = maps.Clone(of)
	}
	return locks{l.terms, holders, maps.Clone(l.tokens), maps.Clone(l.writers), maps.Clone(l.turns)}
}

// facts are the facts of an event, without a time.
func (h *held) facts(kind history.Kind) *mark.Hold {
	facts := &mark.Hold{ID: h.id, Troubled: h.node.own.troubled(h.trouble, kind == mark.EventLockRefused)}
	if h.Held != nil && h.Token != nil {
		facts.Token, facts.Fenced = h.Token(), true
	}
	return facts
}

func (l *locks) add(key, node string, n int) {
	if l.holders == nil {
		l.holders = map[string]map[string]int{}
	}
	if l.holders[key] == nil {
		l.holders[key] = map[string]int{}
	}
	if l.holders[key][node] += n; l.holders[key][node] <= 0 {
		delete(l.holders[key], node)
	}
}

// others says whether another node has the lock, as far as that node's client knows. A crashed node still counts as
// having it.
func (l *locks) others(key, node string) bool {
	of := l.holders[key]
	return len(of) > 1 || len(of) == 1 && of[node] == 0
}

// guardedWrite is a write to the resource that a lock guards. It goes through the network like any request. If the
// writers have fencing tokens, the resource refuses a token that is smaller than one that it has seen.
type guardedWrite struct {
	toldBy
	held    *held
	token   int64
	fenced  bool
	refused bool
}

// toldBy is what a node knows when it sends a request whose effect is an event of a lock or a call. If the node's code
// is remembered, it may have gone on in another run by the time of the effect.
type toldBy struct {
	since time.Time  // when the node began to wait
	facts *mark.Hold // as it was then; nil if the code is not remembered
}

// send notes what the node knows now. The parameter waited is the time for which it had waited before the event's hold
// or call.
func (t *toldBy) send(n *node, facts *mark.Hold, waited time.Duration) {
	facts.Excused, t.since = n.own.waits(n.proc.Now)
	facts.Excused -= waited
	t.facts = facts
}

// String is all of it.
func (t toldBy) String() string {
	return fmt.Sprintf("since %d: %+v", t.since.UnixNano(), *t.facts)
}

// now are the facts at the effect, which is now: the node has waited until now, or until it crashed.
func (t *toldBy) now(n *node) *mark.Hold {
	facts, until := *t.facts, n.proc.Now()
	for _, was := range slices.Backward(n.world.history.Events()) {
		if was.Kind == history.Crashed && was.Actor == n.proc.Name() {
			until = was.Time
			break
		}
	}
	facts.Excused += until.Sub(t.since)
	return &facts
}

// guardedObject is a guarded resource, as a thing in a world.
const guardedObject = "guarded"

func (*guardedWrite) Outcomes() []int { return ordinary }

func (g *guardedWrite) Accesses(int) []sim.Access {
	return []sim.Access{{Object: sim.ObjectNamed(guardedObject, g.held.key), Write: true},
		{Object: sim.Told, Write: true}}
}

func (g *guardedWrite) Apply(int) {
	h := g.held
	w := h.node.world
	l := &w.locks
	if l.tokens == nil {
		l.tokens, l.writers = map[string]int64{}, map[string]int{}
	}
	kind := history.Kind(mark.EventGuardedWrite)
	g.refused = false
	if seen, any := l.tokens[h.key]; g.fenced && any && g.token < seen {
		g.refused, kind = true, mark.EventGuardedRefused
		w.mark(mark.GuardedRefused)
	} else {
		if g.fenced {
			l.tokens[h.key] = g.token
		}
		w.mark(mark.GuardedWritten)
		if l.turns[h.id] < l.writers[h.key] {
			w.mark(mark.GuardedLate)
		}
		l.writers[h.key] = max(l.writers[h.key], l.turns[h.id])
	}
	var e history.Event
	if g.facts != nil {
		e = eventOf(history.Event{Kind: kind, Key: h.key}, g.now(h.node), nil)
	} else {
		e = h.event(kind, nil)
	}
	e.Time, e.Actor, e.Change = h.node.proc.Now(), h.node.proc.Name(), w.seen
	w.add(e)
}

func (g *guardedWrite) Describe(int) string {
	text := "writes what is guarded by lock " + g.held.key
	if g.fenced {
		text += fmt.Sprintf(" with token %d", g.token)
	}
	return text + " -> " + g.DescribeAnswer()
}

func (g *guardedWrite) DescribeAnswer() string {
	if g.refused {
		return "refused: a larger token was seen"
	}
	return "written"
}

// AnswerFingerprint implements sim.Fingerprinter. What the resource has seen follows from what clients were told.
func (g *guardedWrite) AnswerFingerprint() (uint64, bool) {
	if g.refused {
		return 1, true
	}
	return 0, true
}

// Asks implements sim.Remembered.
func (g *guardedWrite) Asks() string {
	return fmt.Sprintf("to write what lock %s guards, %v", g.held.key, g.toldBy)
}

// Answer implements sim.Remembered.
func (g *guardedWrite) Answer() any { return g.refused }

// Tell implements sim.Remembered.
func (g *guardedWrite) Tell(answer any) (same bool) {
	g.refused, same = answer.(bool)
	return same
}

func (g *guardedWrite) SortKey() string { return "guarded " + g.held.key }

// ownTime separates a node's own time from the time for which it waits for others. Goroutines of the node share it.
type ownTime struct {
	mu       sync.Mutex
	open     int           // requests under way
	since    time.Time     // since when there have been requests under way
	excused  time.Duration // the time of earlier requests, and of late timers
	failures []failure     // requests that failed, in order
	wrong    bool          // the latest request was malformed
}

// failure is a request that failed for another reason than its conditions.
type failure struct {
	invocation string // the invocation id of the attempt, if a program's SDK made it
	at         time.Time
	retried    bool // the SDK sent it again, so that its caller was not told
	malformed  bool // by the caller's own fault
}

// request notes that a request is sent. It returns a function that notes that the caller has the answer.
func (o *ownTime) request(now func() time.Time) (answered func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open++; o.open == 1 {
		o.since = now()
	}
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.open--; o.open == 0 {
			o.excused += now().Sub(o.since)
		}
	}
}

// waited is the time so far for which the node has waited for others.
func (o *ownTime) waited(now time.Time) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open > 0 {
		return o.excused + now.Sub(o.since)
	}
	return o.excused
}

// waits returns since when the node waits for others once it has sent a request, and the time for which it has waited
// before.
func (o *ownTime) waits(now func() time.Time) (before time.Duration, since time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open > 0 {
		return o.excused, o.since
	}
	return o.excused, now()
}

// late notes that a timer of the node fired too late, as if the node had stood still.
func (o *ownTime) late(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.excused += max(d, 0)
}

// attempted notes the result of a request.
func (o *ownTime) attempted(invocation string, now time.Time, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wrong = err != nil && malformed(err)
	if err != nil && !refusal(err) {
		o.failures = append(o.failures, failure{invocation: invocation, at: now, malformed: malformed(err)})
	}
}

// retries notes that the SDK of a program makes an attempt. The SDK itself cannot be observed, but the attempts of one
// call have the same invocation id. So the caller did not see the failure of the previous attempt, and the call has
// been under way since then.
func (o *ownTime) retries(invocation string, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.failures {
		if f := &o.failures[i]; invocation != "" && f.invocation == invocation && !f.retried {
			f.retried = true
			o.excused += now.Sub(f.at)
		}
	}
}

// troubles is how many requests have failed so far.
func (o *ownTime) troubles() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.failures)
}

// troubled says whether a caller was told of a failure. The parameter before is the number of earlier failures that do
// not count. A malformed request is no excuse, but where it is the reason of a refusal: if all are refused so, the
// table has other keys, of which a check says more than that.
func (o *ownTime) troubled(before int, refused bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.failures[before:], func(f failure) bool {
		return !f.retried && (!f.malformed || refused && o.wrong)
	})
}

// ownClient is the key under which the context of a call says that it has come through the node's client.
type ownClient struct{}

// tellsTrouble makes the client note the outcome that the caller of each call gets, after the SDK's own retries.
func (o *ownTime) tellsTrouble(options *dynamodb.Options) {
	options.APIOptions = append(options.APIOptions[:len(options.APIOptions):len(options.APIOptions)],
		func(s *middleware.Stack) error {
			return s.Initialize.Add(middleware.InitializeMiddlewareFunc("isr-sim trouble", func(
				ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
			) (middleware.InitializeOutput, middleware.Metadata, error) {
				out, meta, err := next.HandleInitialize(context.WithValue(ctx, ownClient{}, true), in)
				o.attempted("", time.Time{}, cmp.Or(err, inPart(out.Result)))
				return out, meta, err
			}), middleware.Before)
		})
}

// errInPart is the failure of a batch that was not done to its end. Its caller may give up because of it.
var errInPart = errors.New("the batch came back in part")

// errGivenUp is the failure of a request for whose answer a program no longer waited.
var errGivenUp = errors.New("the program gave the request up")

// inPart returns errInPart if an answer says that a part of a batch was left undone.
func inPart(out any) error {
	switch out := out.(type) {
	case *dynamodb.BatchGetItemOutput:
		if out != nil && len(out.UnprocessedKeys) > 0 {
			return errInPart
		}
	case *dynamodb.BatchWriteItemOutput:
		if out != nil && len(out.UnprocessedItems) > 0 {
			return errInPart
		}
	case *dynamodb.BatchExecuteStatementOutput:
		if out != nil && slices.ContainsFunc(out.Responses, leftUndone) {
			return errInPart
		}
	}
	return nil
}

// leftUndone says whether a statement of a batch was left undone.
func leftUndone(r types.BatchStatementResponse) bool {
	return r.Error != nil && (r.Error.Code == types.BatchStatementErrorCodeEnumThrottlingError ||
		r.Error.Code == types.BatchStatementErrorCodeEnumProvisionedThroughputExceeded ||
		r.Error.Code == types.BatchStatementErrorCodeEnumTransactionConflict)
}

// refusal says whether an error is only about failed conditions. That there is no such table yet is the condition of
// CreateTable.
func refusal(err error) bool {
	if _, ok := errors.AsType[*types.ResourceInUseException](err); ok {
		return true
	}
	if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return true
	}
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return false
	}
	for _, reason := range cancelled.CancellationReasons {
		if code := reason.Code; code != nil && *code != "None" && *code != "ConditionalCheckFailed" {
			return false
		}
	}
	return true
}

// malformed says whether an error says that the request itself is wrong: its words, or what it does to the row.
func malformed(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && slices.Contains([]string{"ValidationException", "ResourceNotFoundException", "SerializationException",
		"UnknownOperationException"}, api.ErrorCode())
}

// lockClock is the clock of a node whose lock is judged. It notes sleeps that end late, because the lock is not to
// blame for them.
type lockClock struct {
	nodeClock
	node *node
}

// nodeClock has the methods of package sim's clocks: programs need more than a clock.
type nodeClock interface {
	clockwork.Clock
	Lane(f func()) (drop func())
	Join()
	Memory() sim.Memory
	Local() time.Time
}

func (c lockClock) Sleep(d time.Duration) {
	began := c.node.proc.Now()
	c.nodeClock.Sleep(d)
	c.node.own.late(c.node.proc.Now().Sub(began) - d)
}
