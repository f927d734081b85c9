package ddbfake

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/faults"
)

// Clock is the service's time: TTL, idempotency tokens and the change log use no other. *fakeclock.Clock, a
// clockwork.Clock and a one-method wrapper of time.Now all satisfy it.
type Clock interface {
	Now() time.Time
}

// Options configure a DB. The zero value works.
type Options struct {
	// Clock is the service's clock. Nil means a fakeclock that stands at fakeclock.Epoch until a test moves it.
	Clock Clock
	// Lag says when TTL deletes rows that have expired. The zero value, LagManual, leaves that to Sweep and
	// SweepExpired.
	Lag Lag
	// Seed decides the lag of each row under LagUniform and LagExponential: with the same seed, rows are deleted in the
	// same order.
	Seed uint64
	// ReplicaLag is the lag of the replicas that serve eventually consistent reads: such a read sees every row as it
	// was that long ago. Reads with ConsistentRead and TransactGetItems see the present. Zero is no lag.
	//
	// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.ReadConsistency.html
	ReplicaLag time.Duration
	// Throughput enforces the service's limits, by Clock. One partition key of a table or a global index can be read
	// with 3,000 units a second and written with 1,000. A provisioned table or index has its units. A table or index
	// that is paid per request begins with its warm throughput: 12,000 and 4,000, unless more was asked for. 30 minutes
	// after a peak it has twice that peak, up to its OnDemandThroughput.
	//
	// A request beyond the limits gets a ProvisionedThroughputExceededException from a provisioned table and a
	// ThrottlingException from the other kind; a transaction is cancelled; a batch leaves items unprocessed. Unused
	// units are saved, up to those of one second. A request that needs more units than are left is let in on credit.
	// Throughput is off by default: then only faults limit calls.
	//
	// Deviation: the service may save the units of five minutes, and has quotas per account; the fake has neither. A
	// Scan takes units of the table, and not of keys.
	//
	// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/burst-adaptive-capacity.html
	// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html
	Throughput bool
	// Conflicts makes calls conflict if they overlap in real time, that is, if they are in Do at the same time. A
	// PutItem, UpdateItem, DeleteItem or TransactWriteItems is refused if a TransactWriteItems with one of its items
	// succeeds meanwhile. A TransactGetItems is refused if any write of one of its items succeeds meanwhile. A
	// transaction is refused if an earlier one with the same ClientRequestToken is in progress and succeeds. No other
	// call conflicts. One of two calls that conflict always succeeds.
	//
	// It is off by default, because goroutine scheduling decides which calls overlap: with it, two runs of a program
	// may get different answers. Without it calls conflict only where a FaultConflict says so.
	//
	// Source:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling
	Conflicts bool
	// KeepChanges bounds the change log of a long-lived DB: at least the latest KeepChanges changes are kept, and at
	// most twice that number. Zero keeps all. Replicas lose the dropped changes too: a read never lags behind the
	// beginning of the log.
	KeepChanges int
	// LogRequests is the number of latest requests that Requests remembers. Zero keeps none.
	LogRequests int
	// OnFault, if set, is called with each fault that strikes, before the fault takes effect. It is for tests that must
	// know what the caller cannot. It must not call the DB.
	OnFault func(Fault)
	// ByKey, if set, decides which rows Fault.Key matches. It returns known as false for a key that it does not know,
	// which is then matched as if ByKey were nil. It must not call the DB.
	ByKey func(key, table string, row map[string]types.AttributeValue) (is, known bool)
	// Together, if set, reports whether two rows, given by their keys, must not be separated by a FaultShortPage. It
	// must not call the DB.
	Together func(table string, a, b map[string]types.AttributeValue) bool
}

// DB is one DynamoDB: tables, rows, TTL settings, idempotency tokens, pending faults and the change log. It is safe for
// concurrent use; calls take effect one at a time.
type DB struct {
	clock   Clock
	seed    uint64
	onFault func(Fault)
	clients atomic.Uint64 // how many clients Client has made
	// overlaps is nil without Options.Conflicts.
	overlaps *overlaps

	mu             sync.Mutex
	lag, regionLag Lag
	// replicaLag is never negative. Changes that have not reached the replicas yet are in the change log.
	replicaLag time.Duration
	// keepChanges is never negative.
	keepChanges int
	state       state
	injected    faults.Waiting[Fault]
	parsed      parsed
	bindings    bindings
	transaction *transaction // nil before the first transaction
	served      faults.Ring[Request]
	limits      *limits              // nil without Options.Throughput
	counters    map[string]*counters // by address
	userErrors  map[string]int       // by region
	request     request              // the request that is being served: calls are served one at a time
	onRestore   []*func(func())      // see OnRestore
	byKey       byKey                // Options.ByKey
	together    together             // Options.Together
}

// New returns an empty DB.
func New(o Options) *DB {
	db := new(DB)
	db.Reset(o, nil)
	return db
}

// Reset makes db equal to the result of New(o), in the state of a snapshot if one is given. It is for programs that
// need many DBs, one after another: they reuse the memory of one DB. Results that were read from db before do not
// change. Its former clients must not be used during the call.
func (db *DB) Reset(o Options, s *Snapshot) {
	if all := db.aroundRestore(); all != nil {
		setBack(all, func() { db.reset(o, s) })
		return
	}
	db.reset(o, s)
}

func (db *DB) reset(o Options, s *Snapshot) {
	if o.Clock == nil {
		o.Clock = fakeclock.New(fakeclock.Epoch)
	}
	restored := newStateOf(s)
	db.mu.Lock()
	defer db.mu.Unlock()
	db.clock, db.seed, db.onFault = o.Clock, o.Seed, o.OnFault
	db.clients.Store(0)
	db.overlaps = nil
	if o.Conflicts {
		db.overlaps = new(overlaps)
	}
	db.lag, db.regionLag, db.replicaLag, db.keepChanges = o.Lag, LagAtOnce, max(o.ReplicaLag, 0), max(o.KeepChanges, 0)
	db.state = restored
	db.retime()
	db.injected, db.byKey, db.together = nil, o.ByKey, o.Together
	db.resetMetrics()
	db.limits = nil
	if o.Throughput {
		db.limits = newLimits()
	}
	db.served = faults.Ring[Request]{Keep: max(o.LogRequests, 0)}
}

// SetLag changes when TTL deletes rows. Rows due for deletion under the former lag are deleted first.
func (db *DB) SetLag(l Lag) {
	db.mu.Lock()
	defer db.mu.Unlock()
	now := db.clock.Now()
	db.settle(now)
	db.lag = l
	//isrsim:unordered each table drops its own rows, from its index only
	for _, t := range db.state.tables {
		t.wake()
		t.dropAncient(now)
	}
}

// Items returns the rows of a table sorted by partition key, then sort key; nil if there is no such table. The table is
// named as in Tables: by its name if it is in the default region, or by its ARN. The result includes expired rows that
// TTL has not deleted. The rows must not be modified.
func (db *DB) Items(table string) []attr.Item {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.settle(db.clock.Now())
	t := db.state.at(table)
	if t == nil {
		return nil
	}
	items := make([]attr.Item, 0, t.rows.Len())
	t.rows.Scan(func(r *row) bool {
		items = append(items, itemOf(r))
		return true
	})
	return items
}

// state is everything a snapshot holds. Rows and tokens live in trees that copy on write, so copying a state costs a
// few words of memory for each table.
type state struct {
	// The key of a table is its name in the default region, and its ARN elsewhere.
	tables   map[string]*table
	tokens   tokens
	log      changeLog
	requests int
	// loads holds, for each Load and each restore from a backup, the number of its first request and the number of the
	// first request after it, in order. Snapshots share it.
	loads []int
	// streams are sorted by ARN, disabled ones included. The list is replaced, not changed: snapshots share it.
	streams []*stream
	// backups are sorted: see backup.compare. The list is replaced, not changed: snapshots share it.
	backups  []*backup
	underWay underWay
	// tablesCreated and backupsCreated count tables and backups, to make their ids.
	tablesCreated, backupsCreated int
}

func newState() state { return state{tables: map[string]*table{}, tokens: newTokens()} }

// copy returns a state that shares structure with s. Both may be changed later.
func (s *state) copy() state {
	c := *s
	c.tables = maps.Clone(s.tables)
	//isrsim:unordered each table is copied by itself
	for name, t := range c.tables {
		c.tables[name] = t.copy()
	}
	c.tokens = s.tokens.copy()
	c.log = s.log.copy()
	c.underWay = s.underWay.copy()
	return c
}

// Tables returns the names of the tables in the default region and the ARNs of the others, sorted by region, then name.
// Unlike ListTables it is not a request: no fault hits it, and it is not counted.
func (db *DB) Tables() []string {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.state.addresses()
}

// addresses names the tables: see DB.Tables.
func (s *state) addresses() (names []string) {
	for _, t := range slices.SortedFunc(maps.Values(s.tables), (*table).compare) {
		names = append(names, t.address())
	}
	return names
}

// Lag returns the lag of TTL: Options.Lag, or the argument of the latest SetLag.
func (db *DB) Lag() Lag {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.lag
}

// Fate reports when TTL deletes a row. Due is the second that the row's ttl names: the row is expired from the next
// second on. It is zero if TTL does not delete the row, or if there is no row. Deletion is the instant at which the lag
// deletes the row, unless it is written before. It is zero if the lag never deletes the row, or leaves that to Sweep.
// Without a Region, Table may be an ARN, as in Tables.
func (db *DB) Fate(of Row) (due, deletion time.Time) {
	db.mu.Lock()
	defer db.mu.Unlock()
	now := db.clock.Now()
	db.settle(now)
	t := db.state.at(address(cmp.Or(of.Region, DefaultRegion), of.Table))
	if t == nil {
		return time.Time{}, time.Time{}
	}
	named, err := t.schema.ofItem(of.Key)
	if err != nil {
		return time.Time{}, time.Time{}
	}
	r := t.get(named)
	if r == nil || r.due == noDue || r.due < now.Unix()-maxTTLAgeSeconds {
		return time.Time{}, time.Time{}
	}
	deletion, _ = db.lag.ends(db.seed, t, r)
	return time.Unix(r.due, 0).UTC(), deletion
}
