package ddbfake

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/tidwall/btree"
)

type table struct {
	*tableID
	rows  rowSet
	bytes int64

	// counters are the table's counters in its DB; nil until they are looked up.
	counters *counters

	// indexes are the secondary indexes, global ones first. It is nil if there are none, so that a table without
	// indexes has no cost.
	indexes []*index

	ttl ttlSetting
	// dues holds the rows that TTL may delete, by due time; empty while TTL is disabled.
	dues *btree.BTreeG[*row]
	// quietUntil is an epoch second. No lag ends before it.
	quietUntil int64
	// order is the order of a Scan; nil until it is computed.
	order scanOrder

	stream *stream // the latest one, which may be disabled; nil if there was none
	*settings
}

// settings is the part of a table that seldom changes. Copies of the table share it: see table.changeSettings.
type settings struct {
	id                 string
	created            time.Time
	definitions        []types.AttributeDefinition
	keys               []types.KeySchemaElement
	billing            types.BillingMode
	billed             time.Time // when it last changed to payment per request; zero if it never did
	throughput         throughput
	ceiling            ceiling
	warmth             warmth
	encryption         encryption
	class              types.TableClass
	deletionProtection bool
	recovery           recovery
	tags               map[string]string // copied on change
	members            []groupMember     // the members of its global table, with this one; nil if it is not a replica
	strong             bool              // its global table is strongly consistent
	witness            string            // the region of its witness, "" if it has none
}

// changeSettings copies the settings before a change, because snapshots, backups and replicas must keep the old ones.
func (t *table) changeSettings() {
	s := *t.settings
	t.settings = &s
}

// tableID is the part of a table that never changes. Copies of the table share it.
type tableID struct {
	region string
	name   string
	schema keySchema
	born   int // Seq of the last change before the table was created
}

func newDues() *btree.BTreeG[*row] {
	return btree.NewBTreeGOptions(lessByDue, btree.Options{NoLocks: true})
}

// copy returns a table that shares rows with t until one of them writes.
func (t *table) copy() *table {
	c := *t
	c.rows = t.rows.Copy()
	c.dues = t.dues.Copy()
	c.indexes = copyIndexes(t.indexes)
	return &c
}

// get returns the row with this key, nil if there is none.
func (t *table) get(key primaryKey) *row { return t.rows.Get(key) }

// put replaces the row `before` by `next`; `before` is nil if there was no row. at is the row's present or former cell,
// or nil.
func (t *table) put(before, next *row, at *cell, now time.Time) {
	if before == nil {
		t.order = nil // there may be a new partition
	}
	next.due = t.ttl.dueOf(&next.record, now)
	t.rows.Set(next, at)
	if t.indexes != nil {
		t.reindex(before, next)
	}
	t.bytes += int64(next.sizeBytes - sizeOf(before))
	if before != nil && before.due != noDue {
		t.dues.Delete(before)
	}
	if next.due != noDue {
		t.dues.Set(next)
		t.quiet(next.due + 1)
	}
}

// remove deletes a row. at is its cell, or nil.
func (t *table) remove(r *row, at *cell) {
	t.rows.Delete(r, at)
	if t.indexes != nil {
		t.reindex(r, nil)
	}
	t.bytes -= int64(r.sizeBytes)
	if r.due != noDue {
		t.dues.Delete(r)
	}
}

// table finds the table of a data operation, by its name or its ARN.
func (db *DB) table(r *request, nameOrARN string) (*table, error) {
	t, err := db.find(r, nameOrARN)
	if t == nil && err == nil {
		err = resourceNotFound("Requested resource not found")
	}
	return t, err
}

// describedTable finds the table of a control operation, whose error names it.
func (db *DB) describedTable(r *request, nameOrARN string) (*table, error) {
	t, err := db.find(r, nameOrARN)
	if t == nil && err == nil {
		err = resourceNotFound("Requested resource not found: Table: " + nameInARN(nameOrARN) + " not found")
	}
	return t, err
}

// describeTable serves DescribeTable.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeTable.html
//
// Deviation: ItemCount and TableSizeBytes are exact; the service updates them about every six hours.
func (db *DB) describeTable(r *request, in *dynamodb.DescribeTableInput) (*dynamodb.DescribeTableOutput, error) {
	name, err := tableName(in.TableName)
	if err != nil {
		return nil, err
	}
	t, err := db.describedTable(r, name)
	if err != nil {
		return nil, err
	}
	return &dynamodb.DescribeTableOutput{Table: db.describe(t, types.TableStatusActive)}, nil
}

// deleteTable serves DeleteTable. The rows leave no trace in the change log or in the stream, which is disabled. A
// table with recovery leaves a system backup.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DeleteTable.html, and for what the answer
// leaves out https://github.com/scylladb/scylladb/issues/14132, https://github.com/architect/dynalite/issues/60
//
// Deviation: the answer says DELETING, as the service's does, but the table is gone at once.
func (db *DB) deleteTable(r *request, in *dynamodb.DeleteTableInput) (*dynamodb.DeleteTableOutput, error) {
	name, err := tableName(in.TableName)
	if err != nil {
		return nil, err
	}
	t, err := db.describedTable(r, name)
	if err != nil {
		return nil, err
	}
	if t.strong {
		return nil, errOneOfStrong
	}
	if t.members != nil {
		if err := t.checkLeave(r.now); err != nil {
			return nil, err
		}
	}
	if t.deletionProtection {
		return nil, invalid("Resource cannot be deleted as it is currently protected against deletion. " +
			"Disable deletion protection first.")
	}
	described := db.describe(t, types.TableStatusDeleting)
	described.KeySchema, described.AttributeDefinitions, described.CreationDateTime = nil, nil, nil
	described.GlobalSecondaryIndexes, described.LocalSecondaryIndexes, described.WarmThroughput = nil, nil, nil
	db.drop(r, t)
	return &dynamodb.DeleteTableOutput{TableDescription: described}, nil
}

func (db *DB) drop(r *request, t *table) {
	db.leave(t)
	db.disableStream(t, r.now)
	if t.recovery.enabled() {
		db.keepBackup(t, t.name+deletedTableBackup, types.BackupTypeSystem, r.now)
	}
	delete(db.state.tables, t.address())
}

// maxListedTables is the maximum size of a page of ListTables, and the default.
const maxListedTables = 100

// listTables serves ListTables.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListTables.html
func (db *DB) listTables(r *request, in *dynamodb.ListTablesInput) (*dynamodb.ListTablesOutput, error) {
	var c constraints
	if in.ExclusiveStartTableName != nil {
		c.plainName(*in.ExclusiveStartTableName, "exclusiveStartTableName")
	}
	limit := c.limit(in.Limit, maxListedTables)
	if err := c.err(); err != nil {
		return nil, err
	}
	names := []string{} // not nil: an answer shows an empty list, but omits a nil one
	start := aws.ToString(in.ExclusiveStartTableName)
	//isrsim:unordered sorted below
	for _, t := range db.state.tables {
		if t.region == r.region && t.name > start {
			names = append(names, t.name)
		}
	}
	slices.Sort(names)
	out := &dynamodb.ListTablesOutput{TableNames: names}
	if len(names) > limit {
		out.TableNames = names[:limit]
		out.LastEvaluatedTableName = aws.String(names[limit-1])
	}
	return out, nil
}

func (t *table) describe(status types.TableStatus) *types.TableDescription {
	d := &types.TableDescription{
		AttributeDefinitions:      slices.Clone(t.definitions),
		KeySchema:                 slices.Clone(t.keys),
		TableName:                 aws.String(t.name),
		TableArn:                  aws.String(tableARN(t.region, t.name)),
		TableId:                   aws.String(t.id),
		TableStatus:               status,
		CreationDateTime:          aws.Time(t.created),
		ItemCount:                 aws.Int64(int64(t.rows.Len())),
		TableSizeBytes:            aws.Int64(t.bytes),
		DeletionProtectionEnabled: aws.Bool(t.deletionProtection),
		ProvisionedThroughput:     t.throughput.describe(),
		OnDemandThroughput:        t.ceiling.describe(),
		WarmThroughput:            t.warmth.describe(),
		SSEDescription:            t.encryption.describe(),
	}
	t.describeIndexes(d)
	t.describeStreamOf(d)
	// The summary is shown if the table is or was paid per request.
	//
	// Source:
	// https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-throughput-billing.md
	// (DDB-TABLE-058)
	if !t.billed.IsZero() {
		d.BillingModeSummary = &types.BillingModeSummary{
			BillingMode:                       t.billing,
			LastUpdateToPayPerRequestDateTime: aws.Time(t.billed),
		}
	}
	if t.class != "" {
		d.TableClassSummary = &types.TableClassSummary{TableClass: t.class}
	}
	return d
}
