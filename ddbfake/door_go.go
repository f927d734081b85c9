package ddbfake

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Door is the Go door: its methods have the signatures of *dynamodb.Client, and those about streams of
// *dynamodbstreams.Client, and reach the engine without JSON. The functional options are accepted and ignored: there is
// no endpoint, no signing and no retrying here, so a nil ClientRequestToken stays nil where the SDK's client would fill
// one in. Inputs are not kept; outputs belong to the caller. A done context refuses a call before it takes effect.
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

// BatchGetItem has the signature of *dynamodb.Client's.
func (d *Door) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return through[dynamodb.BatchGetItemOutput](ctx, d, in)
}

// BatchWriteItem has the signature of *dynamodb.Client's.
func (d *Door) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	return through[dynamodb.BatchWriteItemOutput](ctx, d, in)
}

// CreateTable has the signature of *dynamodb.Client's.
func (d *Door) CreateTable(ctx context.Context, in *dynamodb.CreateTableInput, _ ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error) {
	return through[dynamodb.CreateTableOutput](ctx, d, in)
}

// DeleteItem has the signature of *dynamodb.Client's.
func (d *Door) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return through[dynamodb.DeleteItemOutput](ctx, d, in)
}

// DeleteTable has the signature of *dynamodb.Client's.
func (d *Door) DeleteTable(ctx context.Context, in *dynamodb.DeleteTableInput, _ ...func(*dynamodb.Options)) (*dynamodb.DeleteTableOutput, error) {
	return through[dynamodb.DeleteTableOutput](ctx, d, in)
}

// DescribeContinuousBackups has the signature of *dynamodb.Client's.
func (d *Door) DescribeContinuousBackups(ctx context.Context, in *dynamodb.DescribeContinuousBackupsInput, _ ...func(*dynamodb.Options)) (*dynamodb.DescribeContinuousBackupsOutput, error) {
	return through[dynamodb.DescribeContinuousBackupsOutput](ctx, d, in)
}

// DescribeEndpoints has the signature of *dynamodb.Client's.
func (d *Door) DescribeEndpoints(ctx context.Context, in *dynamodb.DescribeEndpointsInput, _ ...func(*dynamodb.Options)) (*dynamodb.DescribeEndpointsOutput, error) {
	return through[dynamodb.DescribeEndpointsOutput](ctx, d, in)
}

// DescribeLimits has the signature of *dynamodb.Client's.
func (d *Door) DescribeLimits(ctx context.Context, in *dynamodb.DescribeLimitsInput, _ ...func(*dynamodb.Options)) (*dynamodb.DescribeLimitsOutput, error) {
	return through[dynamodb.DescribeLimitsOutput](ctx, d, in)
}

// DescribeTable has the signature of *dynamodb.Client's.
func (d *Door) DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput, _ ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	return through[dynamodb.DescribeTableOutput](ctx, d, in)
}

// DescribeTimeToLive has the signature of *dynamodb.Client's.
func (d *Door) DescribeTimeToLive(ctx context.Context, in *dynamodb.DescribeTimeToLiveInput, _ ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error) {
	return through[dynamodb.DescribeTimeToLiveOutput](ctx, d, in)
}

// GetItem has the signature of *dynamodb.Client's.
func (d *Door) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return through[dynamodb.GetItemOutput](ctx, d, in)
}

// ListTables has the signature of *dynamodb.Client's.
func (d *Door) ListTables(ctx context.Context, in *dynamodb.ListTablesInput, _ ...func(*dynamodb.Options)) (*dynamodb.ListTablesOutput, error) {
	return through[dynamodb.ListTablesOutput](ctx, d, in)
}

// ListTagsOfResource has the signature of *dynamodb.Client's.
func (d *Door) ListTagsOfResource(ctx context.Context, in *dynamodb.ListTagsOfResourceInput, _ ...func(*dynamodb.Options)) (*dynamodb.ListTagsOfResourceOutput, error) {
	return through[dynamodb.ListTagsOfResourceOutput](ctx, d, in)
}

// PutItem has the signature of *dynamodb.Client's.
func (d *Door) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return through[dynamodb.PutItemOutput](ctx, d, in)
}

// Query has the signature of *dynamodb.Client's.
func (d *Door) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return through[dynamodb.QueryOutput](ctx, d, in)
}

// Scan has the signature of *dynamodb.Client's.
func (d *Door) Scan(ctx context.Context, in *dynamodb.ScanInput, _ ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	return through[dynamodb.ScanOutput](ctx, d, in)
}

// TagResource has the signature of *dynamodb.Client's.
func (d *Door) TagResource(ctx context.Context, in *dynamodb.TagResourceInput, _ ...func(*dynamodb.Options)) (*dynamodb.TagResourceOutput, error) {
	return through[dynamodb.TagResourceOutput](ctx, d, in)
}

// TransactGetItems has the signature of *dynamodb.Client's.
func (d *Door) TransactGetItems(ctx context.Context, in *dynamodb.TransactGetItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactGetItemsOutput, error) {
	return through[dynamodb.TransactGetItemsOutput](ctx, d, in)
}

// TransactWriteItems has the signature of *dynamodb.Client's.
func (d *Door) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return through[dynamodb.TransactWriteItemsOutput](ctx, d, in)
}

// UntagResource has the signature of *dynamodb.Client's.
func (d *Door) UntagResource(ctx context.Context, in *dynamodb.UntagResourceInput, _ ...func(*dynamodb.Options)) (*dynamodb.UntagResourceOutput, error) {
	return through[dynamodb.UntagResourceOutput](ctx, d, in)
}

// UpdateItem has the signature of *dynamodb.Client's.
func (d *Door) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return through[dynamodb.UpdateItemOutput](ctx, d, in)
}

// UpdateTable has the signature of *dynamodb.Client's.
func (d *Door) UpdateTable(ctx context.Context, in *dynamodb.UpdateTableInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateTableOutput, error) {
	return through[dynamodb.UpdateTableOutput](ctx, d, in)
}

// UpdateTimeToLive has the signature of *dynamodb.Client's.
func (d *Door) UpdateTimeToLive(ctx context.Context, in *dynamodb.UpdateTimeToLiveInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error) {
	return through[dynamodb.UpdateTimeToLiveOutput](ctx, d, in)
}
