package locks

import (
	"context"
	"errors"
	"time"

	"cirello.io/dynamolock/v2"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/property"
)

// dynamoLock is dynamolock's client as the check asks for it.
type dynamoLock struct{ *dynamolock.Client }

func (l dynamoLock) Acquire(ctx context.Context, name string) (property.Held, error) {
	lock, err := l.AcquireLockWithContext(ctx, name)
	if err != nil {
		return nil, err
	}
	return heldLock{lock, l.Client}, nil
}

type heldLock struct {
	*dynamolock.Lock
	client *dynamolock.Client
}

func (h heldLock) StillHeld(context.Context) (bool, error) { return !h.IsExpired(), nil }

func (h heldLock) Release(ctx context.Context) error {
	_, err := h.client.ReleaseLockWithContext(ctx, h.Lock)
	if errors.Is(err, dynamolock.ErrLockAlreadyReleased) {
		return nil
	}
	return err
}

// newDynamoLock makes a lock with heartbeats, four in a lease.
func newDynamoLock(n property.Machine) (property.Lock, error) {
	client, err := dynamolock.New(n.Client, n.Table, dynamolock.WithLeaseDuration(n.Lease),
		dynamolock.WithHeartbeatPeriod(n.Lease/4),
		dynamolock.WithOwnerName(n.Tokens()))
	if err != nil {
		return nil, err
	}
	return dynamoLock{client}, nil
}

// table is the table of a lock whose only key is a string.
func table(key string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String(key), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String(key),
			AttributeType: types.ScalarAttributeTypeS}},
		BillingMode: types.BillingModePayPerRequest,
	}
}

// dynamoCheck has the promises of dynamolock: it extends itself, asks again
// every second, and watches a lease before it takes a lock over.
var dynamoCheck = property.LockCheck{
	Table: table("key"), Goroutines: true, Heartbeats: true,
	Leases: []time.Duration{20 * time.Second, 4 * time.Second}, Takeover: 45 * time.Second, Schedules: 2,
}
