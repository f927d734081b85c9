package scenario

import (
	"context"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// TableName is the name of the one table of every scenario.
const TableName = "isr-cache"

// tableCreator is the part of a client that createTable needs.
type tableCreator interface {
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	UpdateTimeToLive(context.Context, *dynamodb.UpdateTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error)
}

func createTable(ctx context.Context, client tableCreator) error {
	if _, err := client.CreateTable(ctx, isr.TableInput(TableName)); err != nil {
		return fmt.Errorf("scenario: create the table: %w", err)
	}
	if _, err := client.UpdateTimeToLive(ctx, isr.TTLInput(TableName)); err != nil {
		return fmt.Errorf("scenario: enable TTL: %w", err)
	}
	return nil
}

// empty is the store at the beginning of every run. It is made once a process: to restore it costs a third of making
// it.
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
