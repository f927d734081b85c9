package ddbfake

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

// NotAFaultError is the error that external tests must recognise.
type NotAFaultError = notAFaultError

// Tests reach these operations through the Go door; other programs need a client.

func (d *Door) DescribeContinuousBackups(
	ctx context.Context, in *dynamodb.DescribeContinuousBackupsInput, _ ...func(*dynamodb.Options),
) (*dynamodb.DescribeContinuousBackupsOutput, error) {
	return through[dynamodb.DescribeContinuousBackupsOutput](ctx, d, in)
}

func (d *Door) ListTables(
	ctx context.Context, in *dynamodb.ListTablesInput, _ ...func(*dynamodb.Options),
) (*dynamodb.ListTablesOutput, error) {
	return through[dynamodb.ListTablesOutput](ctx, d, in)
}

func (d *Door) ListTagsOfResource(
	ctx context.Context, in *dynamodb.ListTagsOfResourceInput, _ ...func(*dynamodb.Options),
) (*dynamodb.ListTagsOfResourceOutput, error) {
	return through[dynamodb.ListTagsOfResourceOutput](ctx, d, in)
}

func (d *Door) TagResource(
	ctx context.Context, in *dynamodb.TagResourceInput, _ ...func(*dynamodb.Options),
) (*dynamodb.TagResourceOutput, error) {
	return through[dynamodb.TagResourceOutput](ctx, d, in)
}

func (d *Door) UntagResource(
	ctx context.Context, in *dynamodb.UntagResourceInput, _ ...func(*dynamodb.Options),
) (*dynamodb.UntagResourceOutput, error) {
	return through[dynamodb.UntagResourceOutput](ctx, d, in)
}

func (d *Door) UpdateTable(
	ctx context.Context, in *dynamodb.UpdateTableInput, _ ...func(*dynamodb.Options),
) (*dynamodb.UpdateTableOutput, error) {
	return through[dynamodb.UpdateTableOutput](ctx, d, in)
}

func (d *Door) DescribeStream(
	ctx context.Context, in *dynamodbstreams.DescribeStreamInput, _ ...func(*dynamodbstreams.Options),
) (*dynamodbstreams.DescribeStreamOutput, error) {
	return through[dynamodbstreams.DescribeStreamOutput](ctx, d, in)
}

func (d *Door) GetRecords(
	ctx context.Context, in *dynamodbstreams.GetRecordsInput, _ ...func(*dynamodbstreams.Options),
) (*dynamodbstreams.GetRecordsOutput, error) {
	return through[dynamodbstreams.GetRecordsOutput](ctx, d, in)
}

func (d *Door) GetShardIterator(
	ctx context.Context, in *dynamodbstreams.GetShardIteratorInput, _ ...func(*dynamodbstreams.Options),
) (*dynamodbstreams.GetShardIteratorOutput, error) {
	return through[dynamodbstreams.GetShardIteratorOutput](ctx, d, in)
}

func (d *Door) ListStreams(
	ctx context.Context, in *dynamodbstreams.ListStreamsInput, _ ...func(*dynamodbstreams.Options),
) (*dynamodbstreams.ListStreamsOutput, error) {
	return through[dynamodbstreams.ListStreamsOutput](ctx, d, in)
}

func (d *Door) DescribeEndpoints(
	ctx context.Context, in *dynamodb.DescribeEndpointsInput, _ ...func(*dynamodb.Options),
) (*dynamodb.DescribeEndpointsOutput, error) {
	return through[dynamodb.DescribeEndpointsOutput](ctx, d, in)
}

func (d *Door) DescribeLimits(
	ctx context.Context, in *dynamodb.DescribeLimitsInput, _ ...func(*dynamodb.Options),
) (*dynamodb.DescribeLimitsOutput, error) {
	return through[dynamodb.DescribeLimitsOutput](ctx, d, in)
}

// SharedRows counts the rows of the latest backup, and how many of them share memory with the table's rows.
func (db *DB) SharedRows(name string) (shared, all int) {
	db.mu.Lock()
	defer db.mu.Unlock()
	b := db.state.backups[len(db.state.backups)-1]
	t := db.state.tables[name]
	b.copyTable().rows.Scan(func(r *row) bool {
		all++
		if t.get(r.key) == r {
			shared++
		}
		return true
	})
	return shared, all
}
