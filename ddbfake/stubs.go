package ddbfake

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/tidwall/btree"
)

type tokens struct{}

func newTokens() tokens       { return tokens{} }
func (t tokens) copy() tokens { return t }

type row struct{ item attr.Item }
type table struct{ rows *btree.BTreeG[*row] }

func (t *table) copy() *table { return t }

type injected struct{ Fault }

func (db *DB) nextFault(r *request, in any) *Fault                   { return nil }
func (db *DB) serveFaulty(r *request, in any, f *Fault) (any, error) { return r.op.serve(db, r, in) }

// Inject adds faults to those pending.
func (db *DB) Inject(faults ...Fault) {}

// ClearFaults drops every pending fault.
func (db *DB) ClearFaults() {}

// Row names a row that has expired.
type Row struct {
	Table string
	Key   attr.Item
	Due   time.Time
}

// Expired returns rows that TTL may delete now.
func (db *DB) Expired() []Row { return nil }

// Sweep deletes one row if it is still expired.
func (db *DB) Sweep(r Row) bool { return false }

// SweepExpired deletes every expired row.
func (db *DB) SweepExpired() int { return 0 }

// Hash is a digest of tables and rows.
func (db *DB) Hash() [32]byte { return [32]byte{} }

func (db *DB) expireByLag(now time.Time) {}

func (db *DB) createTable(r *request, in *dynamodb.CreateTableInput) (*dynamodb.CreateTableOutput, error) {
	return &dynamodb.CreateTableOutput{}, nil
}

func (db *DB) deleteItem(r *request, in *dynamodb.DeleteItemInput) (*dynamodb.DeleteItemOutput, error) {
	return &dynamodb.DeleteItemOutput{}, nil
}

func (db *DB) deleteTable(r *request, in *dynamodb.DeleteTableInput) (*dynamodb.DeleteTableOutput, error) {
	return &dynamodb.DeleteTableOutput{}, nil
}

func (db *DB) describeTable(r *request, in *dynamodb.DescribeTableInput) (*dynamodb.DescribeTableOutput, error) {
	return &dynamodb.DescribeTableOutput{}, nil
}

func (db *DB) describeTimeToLive(r *request, in *dynamodb.DescribeTimeToLiveInput) (*dynamodb.DescribeTimeToLiveOutput, error) {
	return &dynamodb.DescribeTimeToLiveOutput{}, nil
}

func (db *DB) getItem(r *request, in *dynamodb.GetItemInput) (*dynamodb.GetItemOutput, error) {
	return &dynamodb.GetItemOutput{}, nil
}

func (db *DB) listTables(r *request, in *dynamodb.ListTablesInput) (*dynamodb.ListTablesOutput, error) {
	return &dynamodb.ListTablesOutput{}, nil
}

func (db *DB) putItem(r *request, in *dynamodb.PutItemInput) (*dynamodb.PutItemOutput, error) {
	return &dynamodb.PutItemOutput{}, nil
}

func (db *DB) query(r *request, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
	return &dynamodb.QueryOutput{}, nil
}

func (db *DB) transactGetItems(r *request, in *dynamodb.TransactGetItemsInput) (*dynamodb.TransactGetItemsOutput, error) {
	return &dynamodb.TransactGetItemsOutput{}, nil
}

func (db *DB) transactWriteItems(r *request, in *dynamodb.TransactWriteItemsInput) (*dynamodb.TransactWriteItemsOutput, error) {
	return &dynamodb.TransactWriteItemsOutput{}, nil
}

func (db *DB) updateItem(r *request, in *dynamodb.UpdateItemInput) (*dynamodb.UpdateItemOutput, error) {
	return &dynamodb.UpdateItemOutput{}, nil
}

func (db *DB) updateTimeToLive(r *request, in *dynamodb.UpdateTimeToLiveInput) (*dynamodb.UpdateTimeToLiveOutput, error) {
	return &dynamodb.UpdateTimeToLiveOutput{}, nil
}

type standing time.Time

func (s standing) Now() time.Time { return time.Time(s) }
