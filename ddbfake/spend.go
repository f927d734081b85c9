package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Each operation takes its units here. Metrics count them, and Options.Throughput limits them, even if the operation
// does not report them as ConsumedCapacity.

// spend takes the units of a read or a write. A refused request takes nothing.
func (db *DB) spend(r *request, s spending) error {
	if r.trial {
		return nil
	}
	if limit := db.limit(r, &s); limit != limitNone {
		return s.refusal(limit)
	}
	db.take(r, &s)
	return nil
}

// limit returns the limit that refuses a spending, and counts the event; limitNone if no limit does.
func (db *DB) limit(r *request, s *spending) string {
	if db.limits == nil {
		return limitNone
	}
	limit := db.limits.exceeded(s, r.now)
	if limit != limitNone {
		db.countThrottled(r, s.table, s.index, s.write)
	}
	return limit
}

// take takes the units of a spending that no limit refuses.
func (db *DB) take(r *request, s *spending) {
	m := db.countersOf(s.table).of(s.index)
	if s.write {
		m.ConsumedWriteCapacityUnits += s.units
	} else {
		m.ConsumedReadCapacityUnits += s.units
	}
	if db.limits != nil {
		db.limits.take(s, r.now)
	}
}

// spendWrite takes the units of a write and its indexes, all or none: a global index without units refuses the write.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/gsi-throttling.html
func (db *DB) spendWrite(r *request, w *write) error {
	if err := db.refused(r, w); err != nil {
		return err
	}
	db.takeWrite(r, w, 1)
	return nil
}

func (db *DB) refused(r *request, w *write) error {
	if db.limits == nil {
		return nil
	}
	var first error
	w.spendings(1, func(s *spending) {
		if limit := db.limit(r, s); limit != limitNone && first == nil {
			first = s.refusal(limit)
		}
	})
	return first
}

// takeWrite takes the units of a write that no limit refuses; times is 2 for the table within a transaction.
func (db *DB) takeWrite(r *request, w *write, times float64) {
	if db.limits == nil && w.table.indexes == nil {
		// nearly always, and without allocating
		db.countersOf(w.table).own.ConsumedWriteCapacityUnits += times * w.units()
		return
	}
	w.spendings(times, func(s *spending) { db.take(r, s) })
}

// spendings visits the units that a write takes: first from its table, and then from each index that it changes. A
// local index takes units of the same key as its table.
//
// Deviation: a row that moves within a global index takes all units at its new key; the service takes some of them at
// the old key.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes
func (w *write) spendings(times float64, visit func(*spending)) {
	s := spending{table: w.table, hash: w.key.hash, keyed: true, write: true, units: times * w.units()}
	visit(&s)
	if w.table.indexes == nil {
		return
	}
	for _, u := range w.indexUnits() {
		s := spending{table: w.table, hash: w.key.hash, keyed: true, write: true, units: u.units}
		if u.index.global {
			s.index, s.hash = u.index, w.hashIn(u.index)
		}
		visit(&s)
	}
}

// hashIn returns the partition key of a write in an index; if the row leaves the index, it is the row's former key
// there.
func (w *write) hashIn(x *index) string {
	if w.after != nil {
		if key, ok := x.keyOf(&w.after.record); ok {
			return key.hash
		}
	}
	key, _ := x.keyOf(&w.row.record)
	return key.hash
}

// spendFailed takes the units of a write whose condition failed. Their number depends on the row or on the item of a
// put, whichever is larger.
//
// Deviation: an update whose condition failed does not pay for the item that it would have made, which is not known.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
func (db *DB) spendFailed(r *request, a *action) error {
	units := blocks(max(sizeOf(a.row), a.sizeBytes), writeBlockBytes)
	return db.spend(r, spending{table: a.table, hash: a.key.hash, keyed: true, write: true, units: units})
}

// The service's texts for a table or index that is paid per request.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html#API_TransactWriteItems_Errors
// Source: https://github.com/praetorian-inc/chariot-ui/issues/684 (the ThrottlingException of a PutItem)
const (
	scalingTable = "Throughput exceeds the current capacity of your table or index. DynamoDB is " +
		"automatically scaling your table or index so please try again shortly. If exceptions persist, check if you " +
		"have a hot key: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
	scalingIndexes = "Throughput exceeds the current capacity for one or more global secondary indexes. " +
		"DynamoDB is automatically scaling your index so please try again shortly."
)

// onDemand reports whether the table exists and is paid per request.
func (s *spending) onDemand() bool {
	return s.table != nil && s.table.billing == types.BillingModePayPerRequest
}

// message returns the text of a refusal.
func (s *spending) message() *string {
	switch {
	case !s.onDemand():
		return aws.String(throughputExceeded)
	case s.index != nil && s.write:
		return aws.String(scalingIndexes)
	}
	return aws.String(scalingTable)
}

func (s *spending) refusal(limit string) error {
	operation := "Read"
	if s.write {
		operation = "Write"
	}
	var index *string
	if s.index != nil {
		index = &s.index.name
	}
	return s.refusedFor([]types.ThrottlingReason{throttlingReason(s.table, index, operation, limit)})
}

// refusedFor returns the service's error. An on-demand table has another exception than a provisioned one, whatever the
// limit is: AWS documents ThrottlingException for "any data plane API operation" of the former.
//
// Deviation: there are reports of on-demand tables whose hot key got a ProvisionedThroughputExceededException. AWS does
// not document when that happens.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
// Source: https://github.com/praetorian-inc/chariot-ui/issues/684 (a hot key on demand: ThrottlingException)
// Source: https://github.com/aws-samples/sample-collaborative-ai-dlc/pull/443 (a hot key on demand: the other one)
func (s *spending) refusedFor(reasons []types.ThrottlingReason) error {
	if s.onDemand() {
		return &types.ThrottlingException{Message: s.message(), ThrottlingReasons: reasons}
	}
	return &types.ProvisionedThroughputExceededException{Message: s.message(), ThrottlingReasons: reasons}
}

// reason returns the reason of a cancelled transaction.
func (s *spending) reason() types.CancellationReason {
	code := reasonThrottled
	if s.onDemand() {
		code = reasonScaling
	}
	return types.CancellationReason{Code: aws.String(code), Message: s.message()}
}

// refusals are cancellation reasons, one for each action of a transaction; nil if no limit refuses an action.
type refusals []types.CancellationReason

// add sets the reason of action i of n if a limit refuses the action.
func (all *refusals) add(db *DB, r *request, s *spending, i, n int) {
	if db.limit(r, s) == limitNone {
		return
	}
	if *all == nil {
		*all = make(refusals, n)
	}
	if (*all)[i].Code == nil {
		(*all)[i] = s.reason()
	}
}

// err cancels the transaction if there is a reason.
func (all refusals) err() error {
	if all == nil {
		return nil
	}
	return cancelled(all)
}

// spendTransaction takes the units of all writes of a transaction, or of none.
func (db *DB) spendTransaction(r *request, writes []write) error {
	if db.limits != nil {
		var all refusals
		for i := range writes {
			writes[i].spendings(2, func(s *spending) { all.add(db, r, s, i, len(writes)) })
		}
		if err := all.err(); err != nil {
			return err
		}
	}
	for i := range writes {
		db.takeWrite(r, &writes[i], 2)
	}
	return nil
}

// Capacity units. A consistent read takes one unit per 4 KB, an eventually consistent one half a unit. A write takes
// one unit per KB of the larger of its two images. A read or write counts as at least one block, even without a row.
// Within a transaction it takes twice as many units, except for a transaction's writes to an index.
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
// Source: https://github.com/nubo-db/dynoxide/pull/188 (indexes in a transaction, measured at the service)
const (
	readBlockBytes  = 4096
	writeBlockBytes = 1024
)

func blocks(sizeBytes, blockBytes int) float64 {
	return float64(max(1, (sizeBytes+blockBytes-1)/blockBytes))
}

func readUnits(sizeBytes int, consistent bool) float64 {
	if consistent {
		return blocks(sizeBytes, readBlockBytes)
	}
	return blocks(sizeBytes, readBlockBytes) / 2
}

func (w *write) units() float64 { return blocks(w.largest(), writeBlockBytes) }

// largest returns the size of the larger image.
func (w *write) largest() int { return max(sizeOf(w.after), sizeOf(w.row)) }

// consumed returns the ConsumedCapacity of a write that is a request by itself, nil if not asked for.
func (w *write) consumed(asked types.ReturnConsumedCapacity) *types.ConsumedCapacity {
	if !wanted(asked) {
		return nil
	}
	c := consumedBy(asked, w.table.name, w.units())
	addIndexes(c, w.indexUnits())
	return c
}

func wanted(asked types.ReturnConsumedCapacity) bool {
	return asked == types.ReturnConsumedCapacityTotal || asked == types.ReturnConsumedCapacityIndexes
}

// consumedBy reports units without saying whether they were read or written: only transactions do. It returns nil if
// the request did not ask.
func consumedBy(asked types.ReturnConsumedCapacity, table string, units float64) *types.ConsumedCapacity {
	if !wanted(asked) {
		return nil
	}
	c := &types.ConsumedCapacity{TableName: aws.String(table), CapacityUnits: aws.Float64(units)}
	if asked == types.ReturnConsumedCapacityIndexes {
		c.Table = &types.Capacity{CapacityUnits: aws.Float64(units)}
	}
	return c
}

// tableUnits adds up units by table.
type tableUnits struct {
	tables []string // in order of first appearance
	units  map[string]float64
	// indexes has the units of each table's indexes.
	indexes map[string][]indexUnits
}

func (u *tableUnits) add(table string, units float64) {
	if u.units == nil {
		u.units = map[string]float64{}
	}
	if _, ok := u.units[table]; !ok {
		u.tables = append(u.tables, table)
	}
	u.units[table] += units
}

// consumed reports the units of a transaction, as read or as written.
func (u *tableUnits) consumed(asked types.ReturnConsumedCapacity, read bool) []types.ConsumedCapacity {
	if !wanted(asked) {
		return nil
	}
	out := make([]types.ConsumedCapacity, len(u.tables))
	for i, name := range u.tables {
		c := consumedBy(asked, name, u.units[name])
		if c.Table != nil {
			mark(&c.Table.ReadCapacityUnits, &c.Table.WriteCapacityUnits, *c.Table.CapacityUnits, read)
		}
		if !read && u.indexes != nil {
			addIndexes(c, u.indexes[name])
			markIndexes(c.GlobalSecondaryIndexes)
			markIndexes(c.LocalSecondaryIndexes)
		}
		mark(&c.ReadCapacityUnits, &c.WriteCapacityUnits, *c.CapacityUnits, read)
		out[i] = *c
	}
	return out
}

// mark sets the number of units read, or of units written.
func mark(readUnits, writeUnits **float64, units float64, read bool) {
	if read {
		*readUnits = aws.Float64(units)
	} else {
		*writeUnits = aws.Float64(units)
	}
}
