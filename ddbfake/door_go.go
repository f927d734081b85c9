package ddbfake

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Door is the Go door for rows and their tables: its methods have the signatures of *dynamodb.Client, and reach the
// engine without JSON. DB.Client and DB.StreamsClient have all operations. The functional options are accepted and
// ignored: there is no endpoint, no signing and no retrying here, so a nil ClientRequestToken stays nil where the SDK's
// client would fill one in. Inputs are not kept; outputs belong to the caller. A done context refuses a call before it
// takes effect.
type Door struct {
	db            *DB
	actor, region string
}

// As returns the Go door for an actor, to the default region.
func (db *DB) As(actor string) *Door { return &Door{db: db, actor: actor} }

// In returns the door of the same actor to a region, for example "eu-west-1".
func (d *Door) In(region string) *Door { return &Door{db: d.db, actor: d.actor, region: region} }

func through[O any](ctx context.Context, d *Door, in any) (*O, error) {
	out, err := d.db.Do(ctx, Call{Actor: d.actor, Region: d.region, Input: in})
	if err != nil {
		return nil, err
	}
	return out.(*O), nil
}

// BatchExecuteStatement has the signature of *dynamodb.Client's.
func (d *Door) BatchExecuteStatement(
	ctx context.Context, in *dynamodb.BatchExecuteStatementInput, _ ...func(*dynamodb.Options),
) (*dynamodb.BatchExecuteStatementOutput, error) {
	return through[dynamodb.BatchExecuteStatementOutput](ctx, d, in)
}

// BatchGetItem has the signature of *dynamodb.Client's.
func (d *Door) BatchGetItem(
	ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options),
) (*dynamodb.BatchGetItemOutput, error) {
	return through[dynamodb.BatchGetItemOutput](ctx, d, in)
}

// BatchWriteItem has the signature of *dynamodb.Client's.
func (d *Door) BatchWriteItem(
	ctx context.Context, in *dynamodb.BatchWriteItemInput, _ ...func(*dynamodb.Options),
) (*dynamodb.BatchWriteItemOutput, error) {
	return through[dynamodb.BatchWriteItemOutput](ctx, d, in)
}

// CreateTable has the signature of *dynamodb.Client's.
func (d *Door) CreateTable(
	ctx context.Context, in *dynamodb.CreateTableInput, _ ...func(*dynamodb.Options),
) (*dynamodb.CreateTableOutput, error) {
	return through[dynamodb.CreateTableOutput](ctx, d, in)
}

// DeleteItem has the signature of *dynamodb.Client's.
func (d *Door) DeleteItem(
	ctx context.Context, in *dynamodb.DeleteItemInput, _ ...func(*dynamodb.Options),
) (*dynamodb.DeleteItemOutput, error) {
	return through[dynamodb.DeleteItemOutput](ctx, d, in)
}

// DeleteTable has the signature of *dynamodb.Client's.
func (d *Door) DeleteTable(
	ctx context.Context, in *dynamodb.DeleteTableInput, _ ...func(*dynamodb.Options),
) (*dynamodb.DeleteTableOutput, error) {
	return through[dynamodb.DeleteTableOutput](ctx, d, in)
}

// DescribeTable has the signature of *dynamodb.Client's.
func (d *Door) DescribeTable(
	ctx context.Context, in *dynamodb.DescribeTableInput, _ ...func(*dynamodb.Options),
) (*dynamodb.DescribeTableOutput, error) {
	return through[dynamodb.DescribeTableOutput](ctx, d, in)
}

// DescribeTimeToLive has the signature of *dynamodb.Client's.
func (d *Door) DescribeTimeToLive(
	ctx context.Context, in *dynamodb.DescribeTimeToLiveInput, _ ...func(*dynamodb.Options),
) (*dynamodb.DescribeTimeToLiveOutput, error) {
	return through[dynamodb.DescribeTimeToLiveOutput](ctx, d, in)
}

// ExecuteStatement has the signature of *dynamodb.Client's.
func (d *Door) ExecuteStatement(
	ctx context.Context, in *dynamodb.ExecuteStatementInput, _ ...func(*dynamodb.Options),
) (*dynamodb.ExecuteStatementOutput, error) {
	return through[dynamodb.ExecuteStatementOutput](ctx, d, in)
}

// ExecuteTransaction has the signature of *dynamodb.Client's.
func (d *Door) ExecuteTransaction(
	ctx context.Context, in *dynamodb.ExecuteTransactionInput, _ ...func(*dynamodb.Options),
) (*dynamodb.ExecuteTransactionOutput, error) {
	return through[dynamodb.ExecuteTransactionOutput](ctx, d, in)
}

// GetItem has the signature of *dynamodb.Client's.
func (d *Door) GetItem(
	ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options),
) (*dynamodb.GetItemOutput, error) {
	return through[dynamodb.GetItemOutput](ctx, d, in)
}

// PutItem has the signature of *dynamodb.Client's.
func (d *Door) PutItem(
	ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options),
) (*dynamodb.PutItemOutput, error) {
	return through[dynamodb.PutItemOutput](ctx, d, in)
}

// Query has the signature of *dynamodb.Client's.
func (d *Door) Query(
	ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options),
) (*dynamodb.QueryOutput, error) {
	return through[dynamodb.QueryOutput](ctx, d, in)
}

// Scan has the signature of *dynamodb.Client's.
func (d *Door) Scan(
	ctx context.Context, in *dynamodb.ScanInput, _ ...func(*dynamodb.Options),
) (*dynamodb.ScanOutput, error) {
	return through[dynamodb.ScanOutput](ctx, d, in)
}

// TransactGetItems has the signature of *dynamodb.Client's.
func (d *Door) TransactGetItems(
	ctx context.Context, in *dynamodb.TransactGetItemsInput, _ ...func(*dynamodb.Options),
) (*dynamodb.TransactGetItemsOutput, error) {
	return through[dynamodb.TransactGetItemsOutput](ctx, d, in)
}

// TransactWriteItems has the signature of *dynamodb.Client's.
func (d *Door) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	return through[dynamodb.TransactWriteItemsOutput](ctx, d, in)
}

// UpdateItem has the signature of *dynamodb.Client's.
func (d *Door) UpdateItem(
	ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	return through[dynamodb.UpdateItemOutput](ctx, d, in)
}

// UpdateTimeToLive has the signature of *dynamodb.Client's.
func (d *Door) UpdateTimeToLive(
	ctx context.Context, in *dynamodb.UpdateTimeToLiveInput, _ ...func(*dynamodb.Options),
) (*dynamodb.UpdateTimeToLiveOutput, error) {
	return through[dynamodb.UpdateTimeToLiveOutput](ctx, d, in)
}
