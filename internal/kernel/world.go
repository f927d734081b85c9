package kernel

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/subject/list"
	"github.com/isr-sim/isr-sim/internal/trace/describe"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/internal/trace/request"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// world is everything that exists in one run: the store, the bodies, the origin, the nodes, and the record of events.
type world struct {
	*stage
	ctx      context.Context
	scenario *spec.Scenario
	protocol isr.Protocol
	start    time.Time
	seed     uint64
	clock    *fakeclock.Clock
	sim      *sim.Sim

	bubble   sim.Bubble // the bubble in which the run happens, if the nodes have goroutines of their own
	possible []possibleFault
	certain  []certainFault
	met      []bool // for each of the scenario's faults, whether it could strike some call
	keys     *keys

	operations    recorder.Operations // the nodes' operations on the store, if observing
	observing     bool
	quiet         bool // faults have stopped: see settle
	ends          ends
	subjects      map[string]bool // see hooks.Probe.Judged; nil without a search
	fingerprinter *fingerprinter  // nil unless a probe asks for the fingerprints of states
	replicator    *replicator     // nil if the table is in one region
	sweeper       *sweeper
	seen          int              // the number of changes that afterCall and the trace have looked at
	exchanges     []hooks.Exchange // requests and answers on the wire, if recording
	recording     bool
	call          *hooks.Call   // the call that reached the store in the present step, if recording
	rows          *rows         // the mapping, if rows have the cache's own names; nil means META and LOCK
	sdk           bool          // the nodes have clients of the SDK
	enter         func(func())  // see Setup.Enter; nil means call directly
	untold        untold        // requests whose answers were lost
	reads         []replicaRead // reads that a replica may have answered
	partials      []answered    // partial answers: no row shows them, and the code was told of no error
	fresh         int           // see hooks.Probe
	memory        sim.Memory    // see hooks.Probe
	onStale       func(actor string, read int)
	swept         int               // the number of rows that TTL has deleted because the schedule chose so
	skewed        bool              // the clock of some node can differ from true time
	struck        ddbfake.FaultKind // the fault that struck the call being served, or 0
	strikes       int               // how often a fault has struck
	askedObjects  bool              // a request reached the body store through that store's own client
	recipe        bool              // the rules of the recipe are promised
	subject       *list.About
	state         subject.State // the state of its subject
	by            subject.Judged
	times         subject.Times
	ordered       bool        // see sim.Config.Ordered
	allStops      bool        // see Options.AllStops
	showsOrder    bool        // see showsOrder
	shown         hooks.Shown // what the violation names
	marks         marks       // that the run has reached
	// The numbers, from stage.changed, of the latest changes: stored of the store; told of rows, bodies, data and
	// events; named of bodies, data and names.
	stored, told, named uint64
	shows               fingerprint.Hash // all that the run shows: see evidence
	parts               parts
	onWrite             func(key, row attr.Item)
	ttl                 string           // the attribute by which TTL deletes rows
	unread              bool             // no code reads the ttl of LOCK rows: see hooks.Probe
	ownKeys             bool             // see request.HasOwnKeys
	kept                fingerprint.Hash // see noteObjects
	alive               []life           // handlers that must end with their nodes' incarnations
	unended             error            // the first error of an EndLife before the end of the run
}

// newWorld makes the world of one run. Nothing happens in it yet.
func newWorld(ctx context.Context, r Run, cfg sim.Config) (*world, error) {
	s, protocol := r.Scenario, r.Protocol
	stage := r.stage
	if stage == nil || r.Setup.Bubble != nil { // with goroutines, a node may still run after its run
		stage = newStage()
	}
	stage.clear(cfg.Memory.Search != nil)
	w := &stage.world
	*w = world{
		stage: stage,
		// An interrupted campaign stops between runs. Within a run, a cancelled context would act like one more fault.
		ctx:      context.WithoutCancel(ctx),
		scenario: s, protocol: protocol, start: fakeclock.Epoch, clock: fakeclock.New(fakeclock.Epoch),
		keys: &keys{script: s.Actors}, subject: s.Subject(),
		ttl: cmp.Or(r.Setup.TTL, defaultTTL), ownKeys: request.HasOwnKeys(r.Setup.Table),
		recipe: promisesRecipe(s, protocol.Name), times: timesOf(s),
	}
	w.by, w.state = w.subject.Judged(), w.subject.New(w)
	w.showsOrder = showsOrder(s)
	if r.probe != nil {
		w.onWrite = r.probe.OnWrite
	}
	lag := s.Lag.OfStore()
	if r.lag != nil {
		lag = *r.lag
	}
	if problem, hint := s.Unjudged(); problem != "" {
		return nil, mistake.New(fmt.Errorf("scenario %s: %s", s.Name, problem), hint)
	}
	regions := s.Regions()
	rows, empty, err := tablesOf(w.ctx, s, tableKind{r.Setup.Table, w.ttl, strings.Join(regions, " ")})
	if err != nil {
		return nil, err
	}
	w.rows, w.seed = rows, cfg.Seed
	w.allStops = r.AllStops && (w.by.Times || s.Skew > 0 || s.ReplicaLag > 0 || len(s.CompareLags) > 0 ||
		rows.mapping().Resolution() < time.Second)
	w.deadlines.All, w.deadlines.Skew = w.allStops, 0
	if w.allStops {
		w.deadlines.Skew = s.Skew
	}
	for _, end := range windows(s) {
		w.deadlines.Windows = append(w.deadlines.Windows, w.start.Add(end))
	}
	store := ddbfake.Options{Clock: w.clock, Lag: lag, Seed: cfg.Seed, ReplicaLag: s.ReplicaLag, OnFault: w.onFault,
		Together: w.together}
	if rows != nil {
		store.ByKey = w.ofRole
	}
	w.db.Reset(store, empty)
	if regions != nil {
		w.replicator = &replicator{w: w}
		w.db.SetRegionLag(s.RegionLag.OfStore())
	}
	w.met = make([]bool, len(s.Faults))
	for i, f := range s.Faults {
		if !f.Maybe {
			w.certain = append(w.certain, certainFault{fault: f, declared: i})
			if f.OfStore() && !w.countedHere(&f) {
				w.db.Inject(f.Fault)
			}
			continue
		}
		left := f.Strikes()
		if r.Swarm && !f.Kept(cfg.Seed) {
			left = 0
		}
		w.possible = append(w.possible, possibleFault{f, left, i})
	}
	cfg.Clock, cfg.Context, w.bubble = w.clock, w.ctx, cfg.Bubble
	cfg.OnNode = w.onNode
	if stage == r.stage && stage != nil {
		cfg.Pool = &r.stage.pool
	}
	if r.compares() {
		text := func(text string) string { return w.fingerprinter.symmetric.Text(text) }
		body := func(name string) string { return string(w.bodies[name]) }
		w.fingerprinter = newFingerprinter(s, w.recipe, text, body)
		cfg.Fingerprint = w.fingerprint
		if on := r.probe.OnWorld; on != nil {
			cfg.Fingerprint = func() uint64 {
				world := w.fingerprint()
				on(world)
				return world
			}
		}
		w.ordered = r.probe.Search && w.by.Times
		cfg.Ordered = w.ordered
		cfg.Off = ^sim.Reduction(0)
		if r.probe.Search {
			cfg.Off = r.probe.Off
		}
		w.unread = cfg.Off&sim.UnreadDeadlines == 0 && r.isPlain(w) && w.ttl == defaultTTL &&
			!slices.Contains(s.Reach, mark.ExpiredRowRead)
		// an ordered run is judged by the answers to clients, which contain names
		if cfg.Off&sim.InterchangeableActors == 0 && protocol.Memoryless && !w.ordered {
			w.fingerprinter.symmetric = symmetricOf(s)
			r.probe.Symmetric = w.fingerprinter.symmetric.Class
		}
		if len(w.fingerprinter.symmetric.Class) > 0 {
			cfg.Symmetry = w
		}
	}
	if r.probe != nil && r.probe.Ends != nil {
		w.ends, w.subjects = ends{tried: r.probe.Ends}, r.probe.Judged
	}
	if draws := r.probe != nil && r.probe.Search && r.probe.Off&sim.NoRandomness != 0; draws && r.Setup.Bubble == nil {
		cfg.Memory.Seed = r.Setup.Before
	} else {
		cfg.Memory.Drew = r.Setup.Drew
	}
	if w.memory = cfg.Memory; w.memory.Search != nil {
		switch {
		case r.remembers(w):
			cfg.Keep = w.keep
		case r.SDK: // without memory, each run of such code is compared with a repetition
			return nil, &sim.TakenError{Off: sim.RememberedCode, Why: "the code of these nodes cannot be remembered"}
		default:
			cfg.Memory.Search, w.memory.Search = nil, nil
		}
	}
	w.newSim(cfg)
	for i, a := range s.Actors {
		w.addActor(a, i+1)
	}
	return w, nil
}

// words returns what the texts of traces need to know of this world.
func (w *world) words() describe.Words {
	return describe.Words{Start: w.start, Pages: w.keys, Rows: w.rows.mapping(), Regions: w.replicator != nil}
}

// newSim makes the simulator of the next phase, with the world's own sources of steps.
func (w *world) newSim(cfg sim.Config) {
	w.sim = sim.New(cfg)
	w.sweeper = &sweeper{w: w}
	w.sim.AddSource(w.sweeper)
	w.sim.AddSource(&w.deadlines)
	if w.replicator != nil {
		w.sim.AddSource(w.replicator)
	}
}

// addActor adds the actor's node and its script. The parameter place is the actor's position among the actors, from 1.
func (w *world) addActor(a spec.Actor, place int) {
	w.skewed = w.skewed || a.Drift != (fakeclock.Drift{}) || sim.SetsClock(a.ClockSteps, a.Events)
	w.sim.Add(sim.Actor{
		Name: a.Name, Drift: a.Drift, ClockSteps: a.ClockSteps,
		Pauses: a.Pauses, PauseFor: a.PauseFor, Crashes: a.Crashes, Restarts: a.Restarts, Planned: a.Events,
		Class: w.classOf(a.Name),
		Run: func(p *sim.Proc) {
			if w.by.Times && w.bubble != nil {
				// If two nodes began at the same instant, their heartbeats would wake at the same instant, and nothing
				// would decide which of them reads crypto/rand first.
				if p.Sleep(p.Life(), time.Duration(place)) != nil {
					return // it crashed before it started
				}
			}
			n, handler := w.boot(p, a.Tenant, a.Region, clientOf(place, p.Incarnation()), map[string]int{})
			// A restarted node begins with the command that was in progress.
			for next := p.Place(); next < len(a.Script); next++ {
				n.carryOut(handler, a.Script[next])
				p.SetPlace(next + 1)
				if w.fingerprinter != nil && w.protocol.Memoryless {
					p.Forget("", func() (upToNames, named uint64) {
						at := w.position(p, next)
						return at, at
					})
				}
			}
			n.Close(handler)
		},
	})
}

// ownCalls follows the name of the node in the tokens of its client's transactions. The name of a node has no tilde,
// and a token that code gives is unlikely to have one: see givenToken.
const ownCalls = "~call"

// position is the state of a node after the n-th command of its script, if its cache keeps nothing in memory. The state
// is then n, and how many names of each kind the node has used.
func (w *world) position(p *sim.Proc, n int) uint64 {
	h := fingerprint.Hash(0).Number(uint64(n))
	for _, of := range []string{p.Name(), p.Name() + subject.Rendering, p.Name() + ownCalls, p.Name() + latencies} {
		h = h.Number(uint64(w.ids[of]))
	}
	return uint64(h)
}

// NextID gives out names that are unique in the run: alice-1, alice-2.
func (w *world) NextID(of string) string {
	w.idsMu.Lock()
	defer w.idsMu.Unlock()
	w.ids[of]++
	w.named = w.changed()
	return of + "-" + strconv.Itoa(w.ids[of])
}

// countIDs returns how many names have been given out.
func (w *world) countIDs(of string) int {
	w.idsMu.Lock()
	defer w.idsMu.Unlock()
	return w.ids[of]
}

// clientOf numbers the clients of the SDK in a run, by the position of an actor, from 1, and its incarnation: nodes
// must not depend on which of them started first.
func clientOf(place, life int) uint64 { return uint64(place)<<clientBits | uint64(life) }

// clientBits are the bits of a client's number after the place.
const clientBits = 20

// visitorsClient returns the number of the visitor's nth client.
func (w *world) visitorsClient(nth int) uint64 { return clientOf(len(w.scenario.Actors)+1, nth) }

// isClient says whether a number may be that of a client in this run.
func (w *world) isClient(number uint64) bool {
	place := number >> clientBits
	return 0 < place && place <= uint64(len(w.scenario.Actors)+1)
}

// onNode records pauses, crashes, restarts and clock steps of a node.
func (w *world) onNode(k sim.Kind, p *sim.Proc, note string) {
	e := history.Event{Time: w.clock.Now(), Actor: p.Name(), Change: w.seen}
	switch k {
	case sim.Orphan:
		w.Mark(mark.OrphanTookPlace)
		return
	case sim.Pause:
		e.Kind, e.Note = history.Paused, note
		w.Mark(mark.NodePaused)
	case sim.Resume:
		e.Kind = history.Resumed
	case sim.Crash:
		e.Kind = history.Crashed
		w.unended = cmp.Or(w.unended, w.endLives(p))
		w.Mark(mark.NodeCrashed)
	case sim.Restart:
		e.Kind, e.Note = history.Restarted, note
		w.Mark(mark.NodeRestarted)
	case sim.ClockStep:
		e.Kind, e.Note = history.Stepped, note
		w.Mark(mark.ClockSet)
	}
	w.Add(e)
}

// Add adds an event to the history.
func (w *world) Add(e history.Event) {
	w.history.Add(e)
	w.showEvent(&e)
}

// onFault notes the fault that struck the call that is being served.
func (w *world) onFault(f ddbfake.Fault) {
	w.struck, w.strikes = f.Kind, w.strikes+1
	w.Mark(f.Kind.String())
	if i := slices.Index(w.scenario.Faults, spec.Fault{Fault: f}); i >= 0 {
		w.meet(i)
	}
}

// meet notes that a declared fault could strike a call. It copies w.met, because kept moments share it.
func (w *world) meet(fault int) {
	if !w.met[fault] {
		w.met = slices.Clone(w.met)
		w.met[fault] = true
	}
}

// unmetFaults returns the declared faults that could strike no call so far.
func (w *world) unmetFaults() []spec.Fault {
	var unmet []spec.Fault
	for i, f := range w.scenario.Faults {
		if !w.met[i] {
			unmet = append(unmet, f)
		}
	}
	return unmet
}

// afterCall notes the marks of a call and the deadlines that the rows now hold. It returns the number of rows that the
// call changed.
func (w *world) afterCall(r *storeRequest) (changed int) {
	w.tryEnds(r)
	changed = w.noteChanges() // if a lag has deleted rows, these changes come before those of the call
	w.markCall(r, changed)
	if w.recording {
		w.record(r)
		w.call = &hooks.Call{Input: r.call.Input, Output: r.out, Err: r.err}
	}
	return changed
}

// lastCall returns the request of the last step, or nil, and forgets it.
func (w *world) lastCall() *hooks.Call {
	call := w.call
	w.call = nil
	return call
}

// noteChanges notes the changes of the store since the last call, and counts the changes by clients.
func (w *world) noteChanges() (byClients int) {
	changes := w.db.ChangesSince(w.seen)
	for i := range changes {
		c := &changes[i]
		w.seen = c.Seq
		w.showChange(c)
		if c.Cause == ddbfake.CauseClient {
			byClients++
		}
		if w.fingerprinter != nil {
			w.fingerprinter.events(w.history.Since(w.fingerprinter.seen))
		}
		if w.rows != nil {
			w.noteOwn(c)
		} else {
			if w.fingerprinter != nil {
				w.fingerprinter.change(*c)
			}
			w.markChange(c)
			w.noteEnd(c)
			w.deadlines.Note(c.After)
			w.noteTTL(c.Key, c.After)
			if c.Table != hooks.TableName { // the cache created this table, and its ttl may have another name
				w.noteFate(c)
			}
		}
		if w.subjects != nil && c.Cause == ddbfake.CauseClient {
			w.notePassed(c.After)
		}
		if w.allStops && w.scenario.ReplicaLag > 0 {
			w.deadlines.AddStops(c.Time.Add(w.scenario.ReplicaLag)) // then replicas have it
		}
		if w.onWrite != nil && c.After != nil {
			w.onWrite(c.Key, c.After)
		}
		if w.recording && c.Cause == ddbfake.CauseTTL {
			w.exchanges = append(w.exchanges, hooks.Exchange{Swept: c.Before})
		}
	}
	return byClients
}

// givenToken returns the ClientRequestToken that code gave to a transaction, and that other transactions may share; ""
// if a client of this run generated it, so that it is unique.
func (w *world) givenToken(input any) string {
	var token string
	switch in := input.(type) {
	case *dynamodb.TransactWriteItemsInput:
		token = aws.ToString(in.ClientRequestToken)
	case *dynamodb.ExecuteTransactionInput:
		token = aws.ToString(in.ClientRequestToken)
	}
	if strings.Contains(token, ownCalls+"-") {
		return ""
	}
	if len(token) == len(madeUp) && token[8:24] == madeUp[8:24] {
		if client, err := strconv.ParseUint(token[:8], 16, 64); err == nil && w.isClient(client) {
			return ""
		}
	}
	return token
}

// madeUp is the form of the tokens that ddbfake.WithClientID makes up: first comes the number of the client. A constant
// token in code under test may have that form, too.
const madeUp = "xxxxxxxx-0000-4000-8000-xxxxxxxxxxxx"
