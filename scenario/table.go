package scenario

import (
	"context"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// tableName is the one table of every scenario.
const tableName = "isr-cache"

// tableCreator is what createTable needs of a client.
type tableCreator interface {
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	UpdateTimeToLive(context.Context, *dynamodb.UpdateTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error)
}

func createTable(ctx context.Context, client tableCreator) error {
	if _, err := client.CreateTable(ctx, tableInput(tableName)); err != nil {
		return fmt.Errorf("scenario: create the table: %w", err)
	}
	_, err := client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               aws.String(tableName),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)},
	})
	if err != nil {
		return fmt.Errorf("scenario: enable TTL: %w", err)
	}
	return nil
}

// empty is the store at the beginning of every run. It is made once a process: to
// restore it costs a third of making it.
var empty struct {
	once  sync.Once
	table *ddbfake.Snapshot
	err   error
}

func emptyTable(ctx context.Context) (*ddbfake.Snapshot, error) {
	empty.once.Do(func() {
		db := ddbfake.New(ddbfake.Options{})
		empty.err = createTable(ctx, db.As(""))
		empty.table = db.Snapshot()
	})
	return empty.table, empty.err
}

// tableInput describes the cache table.
func tableInput(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName:   aws.String(name),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	}
}
