package ddbfake

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// Metrics are the counters of one set of dimensions, with their CloudWatch names. They count from the start of the DB,
// and a Restore does not set them back: an alarm looks at the growth in its period. A counter is zero in dimensions for
// which the service does not count it. Calls through every door count, and so do calls of Put. A call whose response is
// lost counts with the outcome that it had at the service. A lost request does not count.
//
// The API of streams counts in UserErrors only, and so do operations on no table, such as ListTables. A body that is
// not JSON reaches no DB and is not counted.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html
type Metrics struct {
	// Region is not a dimension in CloudWatch, which keeps the metrics of each region apart.
	Region string
	// Table is the dimension TableName. Empty for UserErrors, which is a metric of the account in its region.
	Table string
	// Index is the dimension GlobalSecondaryIndexName, of consumed units and throttle events. Local indexes count as
	// their tables.
	Index string
	// Operation is the dimension Operation, of ThrottledRequests, SystemErrors and SuccessfulRequestLatency.
	Operation string

	// ThrottledRequests counts the requests of an Operation that were refused because a limit was exceeded. One
	// throttled event is enough. A batch counts only if all of its requests are throttled.
	//
	// Source:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html#ThrottledRequests
	ThrottledRequests int
	// ReadThrottleEvents counts the throttled reads of items of a Table or an Index; a Query or a Scan counts as one.
	//
	// Source:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html#ReadThrottleEvents
	ReadThrottleEvents int
	// WriteThrottleEvents counts the throttled writes of items of a Table or an Index.
	//
	// Source:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html#WriteThrottleEvents
	WriteThrottleEvents int
	// UserErrors counts answers with HTTP status 400, except for throttled requests and failed conditions.
	//
	// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html#UserErrors
	UserErrors int
	// SystemErrors counts the answers of an Operation with HTTP status 500.
	//
	// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html#SystemErrors
	SystemErrors int
	// ConditionalCheckFailedRequests counts each PutItem, UpdateItem and DeleteItem on a Table whose condition failed.
	// AWS names only these three, so a cancelled transaction counts in UserErrors alone.
	//
	// Source:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html#ConditionalCheckFailedRequests
	ConditionalCheckFailedRequests int
	// TransactionConflict counts requests on items of a Table that were refused because of a transaction on the same
	// item. A cancelled transaction counts once per item in conflict.
	//
	// Source:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html#TransactionConflict
	TransactionConflict int
	// TimeToLiveDeletedItemCount counts the rows of a Table that TTL has deleted.
	//
	// Source:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html#TimeToLiveDeletedItemCount
	TimeToLiveDeletedItemCount int
	// ConsumedReadCapacityUnits adds up the read units of a Table or an Index.
	//
	// Source:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html#ConsumedReadCapacityUnits
	ConsumedReadCapacityUnits float64
	// ConsumedWriteCapacityUnits adds up the write units of a Table or an Index. A write whose condition failed
	// consumes them too. A cancelled transaction consumes none here: AWS does not document how many.
	//
	// Source:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html#ConsumedWriteCapacityUnits
	// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
	ConsumedWriteCapacityUnits float64
	// SuccessfulRequests counts the successful requests of an Operation: in CloudWatch, the statistic SampleCount of
	// SuccessfulRequestLatency.
	//
	// Source:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html#SuccessfulRequestLatency
	SuccessfulRequests int
	// SuccessfulRequestLatency adds up the latency of the successful requests of an Operation: the statistic Sum.
	//
	// Deviation: the fake serves a request in no time. Its latency is the time from Call.Sent to the effect, which the
	// service leaves out.
	//
	// Source:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html#SuccessfulRequestLatency
	SuccessfulRequestLatency time.Duration
}

// Metrics returns the counters, sorted by region, table, index and operation. Dimensions under which nothing was
// counted are left out, as CloudWatch leaves them out. For the total of a metric, range over the result.
func (db *DB) Metrics() []Metrics {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.settle(db.clock.Now())
	room := len(db.userErrors)
	//isrsim:unordered a sum
	for _, c := range db.counters {
		room += 1 + len(c.indexes) + len(c.operations)
	}
	all := make([]Metrics, 0, room)
	add := func(m, empty Metrics) {
		empty.Region, empty.Table, empty.Index, empty.Operation = m.Region, m.Table, m.Index, m.Operation
		if m != empty {
			all = append(all, m)
		}
	}
	//isrsim:unordered sorted below
	for region, n := range db.userErrors {
		add(Metrics{Region: region, UserErrors: n}, Metrics{})
	}
	//isrsim:unordered sorted below
	for _, c := range db.counters {
		add(c.own, Metrics{})
		//isrsim:unordered sorted below
		for _, m := range c.indexes {
			add(*m, Metrics{})
		}
		for _, o := range c.operations {
			add(Metrics{Region: c.own.Region, Table: c.own.Table, Operation: o.of.name,
				ThrottledRequests: o.throttled, SystemErrors: o.systemErrors,
				SuccessfulRequests: o.succeeded, SuccessfulRequestLatency: o.latency}, Metrics{})
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b Metrics) int {
		return cmp.Or(cmp.Compare(a.Region, b.Region), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Index, b.Index),
			cmp.Compare(a.Operation, b.Operation))
	})
	return all
}

// counters are the metrics of all tables that have had one name in a region.
type counters struct {
	own        Metrics
	indexes    map[string]*Metrics // the metrics of global indexes
	operations []operationCounters // a list, because a program uses only a handful of operations
	throttled  bool                // the request that is being served was throttled
}

// operationCounters are the metrics that have the dimension Operation.
type operationCounters struct {
	of                                 *operation
	throttled, systemErrors, succeeded int
	latency                            time.Duration
}

func (db *DB) countersOf(t *table) *counters {
	if t.counters != nil {
		return t.counters
	}
	filed := t.address()
	c := db.counters[filed]
	if c == nil {
		c = &counters{own: Metrics{Region: t.region, Table: t.name}}
		if db.counters == nil {
			db.counters = map[string]*counters{}
		}
		db.counters[filed] = c
	}
	t.counters = c
	return c
}

// of returns the metrics of the table, or of an index with its own units.
func (c *counters) of(x *index) *Metrics {
	if x == nil || !x.global {
		return &c.own
	}
	m := c.indexes[x.name]
	if m == nil {
		m = &Metrics{Region: c.own.Region, Table: c.own.Table, Index: x.name}
		if c.indexes == nil {
			c.indexes = map[string]*Metrics{}
		}
		c.indexes[x.name] = m
	}
	return m
}

func (c *counters) operation(op *operation) *operationCounters {
	for i := range c.operations {
		if c.operations[i].of == op {
			return &c.operations[i]
		}
	}
	if c.operations == nil {
		c.operations = make([]operationCounters, 0, 4) // room for four: create, get, put, and one more
	}
	c.operations = append(c.operations, operationCounters{of: op})
	return &c.operations[len(c.operations)-1]
}

// touch adds a table to the tables of a request, and returns its counters.
func (db *DB) touch(r *request, t *table) *counters {
	c := db.countersOf(t)
	if !slices.Contains(r.touched, c) {
		c.throttled = false
		r.touched = append(r.touched, c)
	}
	return c
}

// countThrottled counts a throttled event on a table or its index x.
func (db *DB) countThrottled(r *request, t *table, x *index, write bool) {
	c := db.touch(r, t)
	c.throttled = true
	if write {
		c.of(x).WriteThrottleEvents++
	} else {
		c.of(x).ReadThrottleEvents++
	}
}

func (db *DB) countUserError(region string) {
	if db.userErrors == nil {
		db.userErrors = map[string]int{}
	}
	db.userErrors[cmp.Or(region, DefaultRegion)]++
}

// resetMetrics forgets all counters. No remaining table may refer to them.
func (db *DB) resetMetrics() {
	clear(db.counters)
	clear(db.userErrors)
}

// tablesOf returns the tables of the items that a request names, in its order; nil for a missing table.
func (db *DB) tablesOf(r *request, in any) []*table {
	targets := db.targets(r.region, in)
	tables := make([]*table, len(targets))
	for i := range targets {
		tables[i] = db.state.tables[address(r.region, targets[i].table)]
	}
	return tables
}

// attempt runs the operation of a request, and counts its outcome.
func (db *DB) attempt(r *request, in any) (any, error) {
	output, err := r.op.serve(db, r, in)
	if err != nil {
		err = inWordsOf(r.op.name, err)
	}
	db.count(r, in, err)
	return output, err
}

// countRefusal counts a call that admit has refused. It counts in the default region if the region of the call is not
// valid.
func (db *DB) countRefusal(c *Call) {
	region := c.Region
	if checkRegion(region) != nil {
		region = DefaultRegion
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.countUserError(region)
}

// refuse counts a request that a fault refuses before its operation runs, and returns the error of the fault.
func (db *DB) refuse(r *request, in any, err error) error {
	for _, t := range db.tablesOf(r, in) {
		if t != nil {
			db.touch(r, t)
		}
	}
	db.count(r, in, err)
	return err
}

// count counts the outcome of a request for each of its tables.
func (db *DB) count(r *request, in any, err error) {
	if err == nil {
		latency := r.now.Sub(r.sent)
		for _, c := range r.touched {
			o := c.operation(r.op)
			o.succeeded++
			o.latency += latency
		}
		return
	}
	if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		for _, c := range r.touched {
			c.own.ConditionalCheckFailedRequests++
		}
		return
	}
	if isThrottled(err) {
		db.countThrottledRequest(r)
		return
	}
	if _, ok := errors.AsType[*types.TransactionConflictException](err); ok {
		for _, c := range r.touched {
			c.own.TransactionConflict++
		}
	}
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		db.countThrottledRequest(r)
		db.countConflicts(r, in, cancelled.CancellationReasons)
	}
	api, ok := errors.AsType[smithy.APIError](err)
	switch {
	case !ok:
	case api.ErrorFault() == smithy.FaultServer:
		for _, c := range r.touched {
			c.operation(r.op).systemErrors++
		}
	default:
		db.countUserError(r.region)
	}
}

// isThrottled reports whether an error is one of the two that refuse a request for lack of throughput.
func isThrottled(err error) bool {
	_, provisioned := errors.AsType[*types.ProvisionedThroughputExceededException](err)
	_, onDemand := errors.AsType[*types.ThrottlingException](err)
	return provisioned || onDemand
}

// countThrottledRequest counts a refused request once for each table with a throttled event.
func (db *DB) countThrottledRequest(r *request) {
	for _, c := range r.touched {
		if c.throttled {
			c.operation(r.op).throttled++
		}
	}
}

// countConflicts counts the conflicting items of a cancelled transaction.
func (db *DB) countConflicts(r *request, in any, reasons []types.CancellationReason) {
	var tables []*table
	for i := range reasons {
		if aws.ToString(reasons[i].Code) != reasonConflict {
			continue
		}
		if tables == nil {
			tables = db.tablesOf(r, in)
		}
		if t := tables[i]; t != nil {
			db.touch(r, t).own.TransactionConflict++
		}
	}
}

// countThrottlingFault counts the throttled events of a request that a fault refuses.
func (db *DB) countThrottlingFault(r *request, in any, f Fault) {
	operation, indexName := consumes(in)
	for _, target := range db.targets(r.region, in) {
		t := db.state.tables[address(r.region, target.table)]
		if t == nil || !db.hits(f, r.region, target) {
			continue
		}
		switch writes, transaction := transactionOf(in); {
		case transaction:
			db.countThrottled(r, t, nil, writes)
		case operation != "":
			db.countThrottled(r, t, t.index(aws.ToString(indexName)), operation == "Write")
		default:
			db.touch(r, t).throttled = true
		}
	}
}
