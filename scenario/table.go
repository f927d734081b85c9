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

func createTable(ctx context.Context, client tableCreator, table *dynamodb.CreateTableInput) error {
	if _, err := client.CreateTable(ctx, table); err != nil {
		return fmt.Errorf("scenario: create the table: %w", err)
	}
	if _, err := client.UpdateTimeToLive(ctx, isr.TTLInput(TableName)); err != nil {
		return fmt.Errorf("scenario: enable TTL: %w", err)
	}
	return nil
}

// empty is the store at the beginning of every run, by how its table is created; nil is the schema's own. It is made
// once a process: to restore it costs a third of making it.
var empty struct {
	mu     sync.Mutex
	tables map[*dynamodb.CreateTableInput]*ddbfake.Snapshot
}

func emptyTable(ctx context.Context, like *dynamodb.CreateTableInput) (*ddbfake.Snapshot, error) {
	empty.mu.Lock()
	defer empty.mu.Unlock()
	if made := empty.tables[like]; made != nil {
		return made, nil
	}
	input := isr.TableInput(TableName)
	if like != nil {
		named := *like
		named.TableName = input.TableName
		input = &named
	}
	db := ddbfake.New(ddbfake.Options{})
	if err := createTable(ctx, db.As(""), input); err != nil {
		return nil, err
	}
	if empty.tables == nil {
		empty.tables = map[*dynamodb.CreateTableInput]*ddbfake.Snapshot{}
	}
	made := db.Snapshot()
	empty.tables[like] = made
	return made, nil
}
