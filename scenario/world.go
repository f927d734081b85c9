package scenario

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// tableName is the one table of every scenario.
const tableName = "isr-cache"

// world is everything that exists in one run: the store, the bodies, the origin,
// the nodes, and the record of what happened.
type world struct {
	ctx      context.Context
	scenario *Scenario
	protocol isr.Protocol
	start    time.Time
	clock    *fakeclock.Clock
	db       *ddbfake.DB
	sim      *sim.Sim

	bodies   map[string][]byte
	versions map[string]int // of the origin's data, by key
	ids      map[string]int // how many names of each kind have been given out
	possible []possibleFault
	keyOf    map[string]string // partition key to cache key, for traces

	history   history.Log
	marks     map[Mark]bool
	seen      int        // changes that afterCall and the trace have looked at
	exchanges []Exchange // what went over the wire, if recording
	recording bool
	sdk       bool   // nodes get clients of the SDK
	clients   uint64 // how many
	deadlines deadlines
	skewed    bool              // some node's clock can differ from true time
	struck    ddbfake.FaultKind // what the call being served was hit by; 0 is nothing
}

// node is one machine: an incarnation of an actor.
type node struct {
	world *world
	proc  *sim.Proc
}

// newWorld makes the world of one run. Nothing happens in it yet.
func newWorld(ctx context.Context, s *Scenario, protocol isr.Protocol, cfg sim.Config) (*world, error) {
	w := &world{
		// A campaign that is interrupted stops between runs: within one, a cancelled context would be a fault of its own.
		ctx:      context.WithoutCancel(ctx),
		scenario: s, protocol: protocol, start: fakeclock.Epoch, clock: fakeclock.New(fakeclock.Epoch),
		bodies: map[string][]byte{}, versions: map[string]int{}, ids: map[string]int{}, keyOf: map[string]string{},
		marks: map[Mark]bool{},
	}
	lag := s.Lag.Fixed
	if s.Lag.Scheduler {
		lag = ddbfake.LagManual
	}
	w.db = ddbfake.New(ddbfake.Options{Clock: w.clock, Lag: lag, OnFault: w.onFault})
	if err := createTable(w.ctx, w.db.As("")); err != nil {
		return nil, err
	}
	for _, f := range s.Faults {
		if !f.Maybe {
			w.db.Inject(f.Fault)
			continue
		}
		w.possible = append(w.possible, possibleFault{f.Fault, max(f.Fault.Times, 1)})
		if f.Fault.Times == ddbfake.Always {
			w.possible[len(w.possible)-1].left = -1
		}
	}
	cfg.Clock = w.clock
	cfg.OnNode = w.onNode
	w.sim = sim.New(cfg)
	w.sim.AddSource(&sweeper{w})
	w.sim.AddSource(&w.deadlines)
	for _, a := range s.Actors {
		w.addActor(a)
	}
	return w, nil
}

// tableCreator is what createTable needs of a client.
type tableCreator interface {
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	UpdateTimeToLive(context.Context, *dynamodb.UpdateTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error)
}

func createTable(ctx context.Context, client tableCreator) error {
	if _, err := client.CreateTable(ctx, tableInput(tableName)); err != nil {
		return fmt.Errorf("scenario: create the table: %w", err)
	}
	_, err := client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               aws.String(tableName),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)},
	})
	if err != nil {
		return fmt.Errorf("scenario: enable TTL: %w", err)
	}
	return nil
}

// tableInput describes the cache table.
func tableInput(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName:   aws.String(name),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	}
}

// addActor adds the actor's node and what it runs.
func (w *world) addActor(a Actor) {
	w.skewed = w.skewed || a.Drift != (fakeclock.Drift{}) || len(a.ClockSteps) > 0
	for _, c := range a.Script {
		if c.Key != "" {
			w.keyOf[isr.PartitionKey("", c.Key)] = c.Key
		}
	}
	next := 0 // the command in progress: a restarted node takes it up again
	w.sim.Add(sim.Actor{
		Name: a.Name, Drift: a.Drift, ClockSteps: a.ClockSteps,
		Pauses: a.Pauses, PauseFor: a.PauseFor, Crashes: a.Crashes, Restarts: a.Restarts,
		Run: func(p *sim.Proc) {
			n := &node{w, p}
			handler := n.handler()
			for ; next < len(a.Script); next++ {
				n.carryOut(handler, a.Script[next])
			}
		},
	})
}

// handler makes the node's cache, as the protocol has it.
func (n *node) handler() isr.Handler {
	handler, err := n.world.protocol.New(n.config())
	if err != nil {
		panic(fmt.Errorf("protocol %s: %w", n.world.protocol.Name, err))
	}
	return handler
}

// carryOut does one command of the script.
func (n *node) carryOut(handler isr.Handler, c Command) {
	switch c.Verb {
	case Get:
		n.get(handler, c.Key)
	case Change:
		n.proc.Do(&originChange{node: n, key: c.Key})
	case Sleep:
		n.proc.Clock().Sleep(c.For)
	}
}

// get asks the cache for a page and records what it was told.
func (n *node) get(handler isr.Handler, key string) {
	n.record(history.Event{Kind: history.Asked, Key: key})
	served, err := handler.Get(n.world.ctx, key)
	if err != nil {
		n.record(history.Event{Kind: history.Failed, Key: key, Note: err.Error()})
		return
	}
	e := history.Event{Kind: history.Served, Key: key, As: history.Stale, Body: string(served.Body)}
	if served.Fresh {
		e.As = history.Fresh
	} else {
		n.world.mark(ServedStale)
	}
	n.record(e)
}

// config is the node's cache as the scenario configures it.
func (n *node) config() isr.Config {
	c := n.world.scenario.Cache
	var dynamo isr.Client = client{n}
	if n.world.sdk {
		dynamo = n.sdkClient()
	}
	return isr.Config{
		Client: dynamo, Clock: n.proc.Clock(), Bodies: bodies{n}, Render: n.render,
		Tokens: func() string { return n.world.nextID(n.proc.Name()) },
		Table:  tableName,
		Lease:  c.Lease, Revalidate: c.Revalidate, Retention: c.Retention, LockBuffer: c.LockBuffer,
		Contention: c.Contention, Poll: c.Poll, Patience: c.Patience,
	}
}

func (n *node) record(e history.Event) {
	e.Time, e.Actor = n.proc.Now(), n.proc.Name()
	if n.world.skewed && n.proc.Clock().Now().Sub(e.Time).Abs() > n.world.scenario.Skew {
		n.world.mark(SkewBroken)
	}
	n.world.history.Add(e)
}

// nextID gives out names that are unique in the run: alice-1, alice-2.
func (w *world) nextID(of string) string {
	w.ids[of]++
	return fmt.Sprintf("%s-%d", of, w.ids[of])
}

// nextClient numbers the clients of the SDK in this run.
func (w *world) nextClient() uint64 {
	w.clients++
	return w.clients
}

func (w *world) mark(m Mark) { w.marks[m] = true }

// onNode records what befalls a node.
func (w *world) onNode(k sim.Kind, p *sim.Proc, note string) {
	e := history.Event{Time: w.clock.Now(), Actor: p.Name()}
	switch k {
	case sim.Orphan:
		w.mark(OrphanTookPlace)
		return
	case sim.Pause:
		e.Kind, e.Note = history.Paused, note
		w.mark(NodePaused)
	case sim.Resume:
		e.Kind = history.Resumed
	case sim.Crash:
		e.Kind = history.Crashed
		w.mark(NodeCrashed)
	case sim.Restart:
		e.Kind, e.Note = history.Restarted, note
		w.mark(NodeRestarted)
	case sim.ClockStep:
		e.Kind, e.Note = history.Stepped, note
		w.mark(ClockSet)
	}
	w.history.Add(e)
}

// onFault notes what the caller of the call being served must not know.
func (w *world) onFault(f ddbfake.Fault) {
	w.struck = f.Kind
	w.mark(Mark(f.Kind.String()))
}

// afterCall notes what a call reached, and which deadlines the rows now hold.
func (w *world) afterCall(r *storeRequest) {
	w.markCall(r)
	for _, c := range w.db.ChangesSince(w.seen) {
		w.seen = c.Seq
		w.markChange(c)
		w.deadlines.note(c.After)
		if w.recording && c.Cause == ddbfake.CauseTTL {
			w.exchanges = append(w.exchanges, Exchange{Swept: c.Before}) // a lag's deletions come before the call that finds them done
		}
	}
	if !w.recording {
		return
	}
	switch w.struck {
	case ddbfake.FaultThrottled, ddbfake.FaultRequestLost, ddbfake.FaultErrorBefore:
		// It never took effect, and would do so elsewhere.
	default:
		w.exchanges = append(w.exchanges, Exchange{Input: r.call.Input, Output: r.out, Err: r.err, Blind: w.struck != 0})
	}
}

func (w *world) markCall(r *storeRequest) {
	switch in := r.call.Input.(type) {
	case *dynamodb.GetItemInput:
		if out, ok := r.out.(*dynamodb.GetItemOutput); ok && w.isExpired(out.Item) {
			w.mark(ExpiredRowRead)
		}
	case *dynamodb.PutItemInput:
		if row, ok := refused(r.err); ok {
			if r.attempt > 1 && row != nil && equalText(row["lease_token"], in.Item["lease_token"]) {
				w.mark(OwnCommitMet)
			} else {
				w.markRefusal(in.Item, true)
			}
		}
	case *dynamodb.UpdateItemInput:
		if _, ok := refused(r.err); ok {
			w.markRefusal(in.Key, writesToken(in))
		}
	case *dynamodb.TransactWriteItemsInput:
		if _, ok := refused(r.err); ok {
			w.mark(PublishRefused)
		}
	}
}

// markRefusal notes that a write of one row was refused. A write of LOCK that
// sets a token is an acquire; any other, a refresh or a release.
func (w *world) markRefusal(key map[string]types.AttributeValue, acquires bool) {
	switch sk, _ := key["sk"].(*types.AttributeValueMemberS); {
	case sk == nil:
	case sk.Value == isr.SortMeta:
		w.mark(PublishRefused)
	case sk.Value == isr.SortLock && acquires:
		w.mark(LockRefused)
	}
}

// writesToken says whether an update names lease_token in its expression.
func writesToken(in *dynamodb.UpdateItemInput) bool {
	expression := aws.ToString(in.UpdateExpression)
	if strings.Contains(expression, "lease_token") {
		return true
	}
	//isrsim:unordered any of them will do
	for alias, name := range in.ExpressionAttributeNames {
		if name == "lease_token" && strings.Contains(expression, alias) {
			return true
		}
	}
	return false
}

func (w *world) markChange(c ddbfake.Change) {
	if c.Cause == ddbfake.CauseTTL {
		w.mark(TTLDeletion)
	}
	if sk, _ := c.Key.Str("sk"); sk != isr.SortLock || c.Before == nil || c.After == nil {
		return
	}
	before, _ := c.Before.Str("lease_token")
	after, _ := c.After.Str("lease_token")
	if before == after {
		w.mark(LeaseRefreshed)
	} else {
		w.mark(LockTakenOver)
	}
}

// isExpired says whether TTL may have deleted a row that a client still reads.
func (w *world) isExpired(row map[string]types.AttributeValue) bool {
	ttl, ok := row["ttl"].(*types.AttributeValueMemberN)
	if !ok {
		return false
	}
	expires, err := time.ParseDuration(ttl.Value + "s")
	return err == nil && time.Unix(0, 0).Add(expires).Before(w.clock.Now())
}

func equalText(a, b types.AttributeValue) bool {
	as, aok := a.(*types.AttributeValueMemberS)
	bs, bok := b.(*types.AttributeValueMemberS)
	return aok && bok && as.Value == bs.Value
}
