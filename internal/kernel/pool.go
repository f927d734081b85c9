package kernel

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel/deadline"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/internal/trace/request"
	"github.com/isr-sim/isr-sim/scenario/history"
)

// doIn does the same as Do, in the memory of earlier runs.
func (r Run) doIn(ctx context.Context, pool *hooks.Pool) (*Outcome, error) {
	if taken, ok := pool.Take().(*stage); ok {
		r.stage = taken
	} else {
		r.stage = newStage()
	}
	o, err := r.judged(ctx)
	if err != nil {
		r.stage.Close() // its state is not known
		return nil, err
	}
	pool.GiveBack(r.stage)
	return o, nil
}

// stage holds the memory and the coroutines that one run after the other reuses. Making them takes a good part of a
// short run's time. A used stage behaves like a new one, and an Outcome keeps nothing of the stage.
type stage struct {
	pool      sim.Pool
	visits    sim.Pool // of the visits after the runs, if outputs are remembered
	db        ddbfake.DB
	bodies    map[string][]byte
	bodyLog   []recorder.Body
	answers   []answered     // of the store
	ids       map[string]int // how many names of each kind have been given out
	history   recorder.Log
	deadlines deadline.Stops
	noted     map[string]*noted // by the name of the node, if outputs are remembered
	changes   uint64            // the latest result of changed, for all worlds
	judged    map[uint64]bool   // see world.isJudged
	ended     map[tried]bool    // cycles that do not go on for ever: see Run.goesRound
	world     world

	idsMu     sync.Mutex // guards ids, because goroutines of several nodes may ask for names
	objectsMu sync.Mutex // guards objects
	objects   hooks.Kept // what the nodes' clients of the body store share: see bodies.State
	noObjects func()     // restores the initial state of objects

	other *stage // for a second run while the state of this one is still needed
}

func newStage() *stage {
	return &stage{
		bodies: map[string][]byte{}, bodyLog: []recorder.Body{}, ids: map[string]int{},
		noted: map[string]*noted{}, judged: map[uint64]bool{}, ended: map[tried]bool{},
	}
}

// second returns a stage for another run, while the state of this one is still needed.
func (s *stage) second() *stage {
	if s.other == nil {
		s.other = newStage()
	}
	return s.other
}

// dropSecond drops the second stage after a run on it broke off.
func (s *stage) dropSecond() {
	s.other.Close()
	s.other = nil
}

// Close ends the coroutines.
func (s *stage) Close() {
	s.pool.Close()
	s.visits.Close()
	if s.other != nil {
		s.other.Close()
	}
}

// clear removes the state of the previous run. Nodes with remembered outputs hold the objects, so these are reset in
// place.
func (s *stage) clear(remembers bool) {
	if !remembers {
		s.objects = nil
	} else if s.objects != nil {
		s.noObjects()
	}
	clear(s.bodies)
	clear(s.ids)
	//isrsim:unordered each by itself
	for _, n := range s.noted { // remembered requests point to them
		*n = noted{named: &named{}}
	}
	s.bodyLog, s.answers = s.bodyLog[:0], s.answers[:0]
	s.history.Reset()
	s.deadlines.Reset()
}

// remembers says whether the outputs of nodes are remembered in a search: their code sees the world only through its
// inputs, and keep saves everything that a run changes.
func (r Run) remembers(w *world) bool {
	noticed := r.Setup.Before == nil || r.Setup.Drew != nil
	return noticed && r.Setup.Bubble == nil && r.compares() && r.stage != nil && r.Trace == nil && !r.probe.Record &&
		r.probe.OnStale == nil
}

// isPlain reports whether nodes are caches of pages in META and LOCK rows, and their requests are not rewritten on the
// way.
func (r Run) isPlain(w *world) bool {
	outside := r.SDK || r.Protocol.SDK || r.Setup.Before != nil || r.Setup.Bubble != nil
	return !outside && w.rows == nil && w.by.Rows
}

// earlier rewinds the world of the latest run to where this run begins to differ; nil if this run must start anew.
func (r Run) earlier() *world {
	if x := r.probe.Memory.Search; x == nil || r.stage == nil || r.stage.world.memory.Search != x || x.Rewind() == nil {
		return nil
	}
	return &r.stage.world
}

// parts are parts of a world's state. Moments between which a part does not change share it.
type parts struct {
	stored uint64 // see world
	at     time.Time
	db     func()

	told       uint64
	prints     *fingerprinter
	translator *rowmap.Translator // nil unless rows have the cache's own names
	translated []ddbfake.Change
	objects    func() // nil if there were none yet

	named  uint64
	bodies map[string][]byte
	ids    map[string]int
}

// changed returns a number that no other change of the stage's worlds has.
func (s *stage) changed() uint64 {
	if s.world.memory.Search == nil { // the number is not used, and several goroutines may call this
		return 0
	}
	s.changes++
	return s.changes
}

// part brings w.parts up to date.
func (w *world) part() {
	p := &w.parts
	if now := w.clock.Now(); p.db == nil || p.stored != w.stored || !p.at.Equal(now) { // time makes TTL delete
		p.db, p.stored, p.at = w.db.Keep(), w.stored, now
	}
	if p.prints == nil || p.told != w.told {
		p.prints, p.told = w.fingerprinter.clone(), w.told
		if w.rows != nil {
			p.translator, p.translated = w.rows.translator.Clone(), w.rows.log
		}
		if p.objects = nil; w.objects != nil {
			p.objects = w.objects.Keep()
		}
	}
	if p.bodies == nil || p.named != w.named {
		p.bodies, p.ids, p.named = maps.Clone(w.bodies), maps.Clone(w.ids), w.named
	}
}

// keep keeps the state of the world, for sim.Config. Logs are only truncated: runs may go back to a moment any number
// of times, but never forward.
func (w *world) keep() func(moved bool) {
	w.part()
	s, was := w.stage, *w
	bodyLog, events, at := s.bodyLog, len(s.history.Events()), s.deadlines.Clone()
	symmetric, state := w.fingerprinter.symmetric, w.state.Keep()
	answers, untold := s.answers, slices.Clone(w.untold)
	counts := make([]int, 0, len(w.possible)+len(w.certain))
	for i := range w.possible {
		counts = append(counts, w.possible[i].left)
	}
	for i := range w.certain {
		counts = append(counts, w.certain[i].calls)
	}
	type node struct {
		is    *noted
		asked bool
		named []string
	}
	nodes := make([]node, 0, len(s.noted))
	//isrsim:unordered each by itself
	for _, n := range s.noted {
		nodes = append(nodes, node{n, n.asked, slices.Clone(n.named.partitions)})
	}
	return func(moved bool) {
		stored, told, named, prints := w.stored, w.told, w.named, w.fingerprinter
		if *w = was; moved || stored != w.stored {
			w.parts.db()
		}
		if w.fingerprinter = prints; told != w.told {
			w.fingerprinter = w.parts.prints.clone()
			if w.rows != nil {
				w.rows.translator, w.rows.log = w.parts.translator.Clone(), w.parts.translated
			}
			if w.parts.objects != nil {
				w.parts.objects()
			} else if w.objects != nil {
				w.noObjects()
			}
		}
		w.fingerprinter.symmetric = symmetric
		state()
		if named != w.named {
			back(s.bodies, w.parts.bodies)
			back(s.ids, w.parts.ids)
		}
		s.bodyLog, s.answers = bodyLog, answers
		s.history.Cut(events)
		s.deadlines = at.Clone()
		w.untold = slices.Clone(untold)
		for i := range w.possible {
			w.possible[i].left = counts[i]
		}
		for i := range w.certain {
			w.certain[i].calls = counts[len(w.possible)+i]
		}
		w.sweeper.seen = -1
		for _, n := range nodes {
			n.is.asked, n.is.named.partitions = n.asked, append(n.is.named.partitions[:0], n.named...)
		}
	}
}

// back restores the content that a map had.
func back[K comparable, V any](m, was map[K]V) {
	clear(m)
	maps.Copy(m, was)
}

// isJudged reports whether the search has already judged ok an abandoned run with the very same evidence.
func (w *world) isJudged() bool { return w.judged[w.evidence()] }

// evidence is the fingerprint of an abandoned run's evidence. It covers the time, because a lag of the fake itself
// deletes rows as time passes.
func (w *world) evidence() uint64 {
	return uint64(w.shows.Number(uint64(w.clock.Now().UnixNano())))
}

// show notes one more thing that a run shows, by its fingerprint.
func (w *world) show(of func() fingerprint.Hash) {
	if w.told = w.changed(); w.memory.Search != nil {
		w.shows = w.shows.Number(uint64(of()))
	}
}

// showChange notes a change of the log. The row before follows from the changes before.
func (w *world) showChange(c *ddbfake.Change) {
	w.show(func() fingerprint.Hash {
		h := fingerprint.Hash(c.Seq).Number(uint64(c.Request)).Number(uint64(c.Time.UnixNano())).
			Number(uint64(c.Sent.UnixNano())).Text(c.Actor).
			Number(uint64(c.Cause)).Text(c.Region).Text(c.Table).
			Number(uint64(request.ItemFingerprint(c.Key, request.AsItIs))).Number(uint64(c.Born))
		if c.After != nil {
			h = h.Number(uint64(request.ItemFingerprint(c.After, request.AsItIs)))
		}
		return h
	})
}

// showEvent notes an event of the history.
func (w *world) showEvent(e *history.Event) {
	w.show(func() fingerprint.Hash {
		return fingerprint.Hash(e.Seq).Number(uint64(e.Time.UnixNano())).Text(e.Actor).Number(uint64(e.Kind)).
			Text(e.Key).Number(uint64(e.As)).
			Text(e.Body).Text(e.Note).Text(e.Tenant).Text(e.Request).Text(e.Inputs).Text(e.Partition).Text(e.Call).
			Number(uint64(e.Within)).Number(uint64(e.Change))
	})
}

// showBody notes a change of a body.
func (w *world) showBody(b *recorder.Body) {
	w.show(func() fingerprint.Hash {
		h := fingerprint.Hash(b.Change).Number(uint64(b.Time.UnixNano())).Text(b.Actor).Text(b.Name).Text(b.Body)
		if b.Gone {
			h = h.Number(1)
		}
		return h
	})
}
