package property

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/internal/race"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// NewLeaser makes a store that holds its leases as lock clients do: a goroutine
// for each extends it while the page is rendered, with a timeout for each call.
func NewLeaser(n Node) (isr.Handler, error) { return newLeaser(n, false) }

// NewRevivingLeaser makes one that releases the lock without waiting for a
// heartbeat that is under way, and whose heartbeat does not ask whose lock it is:
// it revives the lock, over that of the next holder.
//
// Source: https://github.com/awslabs/amazon-dynamodb-lock-client/pull/116, https://github.com/tristanls/dynamodb-lock-client/issues/1
func NewRevivingLeaser(n Node) (isr.Handler, error) { return newLeaser(n, true) }

func newLeaser(n Node, reviving bool) (isr.Handler, error) {
	rows, err := pagecache.NewRecipeA(n.Config)
	if err != nil {
		return nil, err
	}
	l := &leaser{RecipeA: rows, node: n, reviving: reviving, closed: make(chan struct{})}
	cache, err := pagecache.NewOn(l, n.Config)
	if err != nil {
		return nil, err
	}
	return closing{cache, l.Close}, nil
}

// closing is a cache that can be closed, and do nothing else besides Get.
type closing struct {
	cache *pagecache.Cache
	end   func() error
}

// Close is the store's.
func (c closing) Close() error { return c.end() }

// Get is the cache's.
func (c closing) Get(ctx context.Context, key string) (isr.Served, error) {
	return c.cache.Get(ctx, key)
}

// leaser is a store with heartbeats.
type leaser struct {
	*pagecache.RecipeA
	node     Node
	reviving bool

	mu     sync.Mutex
	beat   *heartbeat
	once   sync.Once
	closed chan struct{}
}

type heartbeat struct {
	stop, stopped chan struct{}
	mu            sync.Mutex
	lease         pagecache.Lease
}

func (l *leaser) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	lease, err := l.RecipeA.Acquire(ctx, key)
	if err != nil {
		return lease, err
	}
	b := &heartbeat{stop: make(chan struct{}), stopped: make(chan struct{}), lease: lease}
	l.mu.Lock()
	l.beat = b
	l.mu.Unlock()
	go l.run(ctx, b)
	return lease, nil
}

func (l *leaser) run(ctx context.Context, b *heartbeat) {
	defer close(b.stopped)
	every := l.node.Lease / 3
	ticker := l.node.Clock.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-b.stop:
			return
		case <-l.closed:
			return
		case <-ticker.Chan():
			call, cancel := context.WithTimeout(ctx, every)
			lease, err := l.extend(call, b.lease)
			cancel()
			if err == nil {
				b.mu.Lock()
				b.lease = lease
				b.mu.Unlock()
			}
		}
	}
}

// extend is the heartbeat's call.
func (l *leaser) extend(ctx context.Context, lease pagecache.Lease) (pagecache.Lease, error) {
	if !l.reviving {
		return l.RecipeA.Refresh(ctx, lease)
	}
	lock := l.NewLock(lease.Key, lease.Token)
	number := func(e pagecache.EpochSeconds) types.AttributeValue {
		return &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(e), 10)}
	}
	_, err := l.node.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &l.node.Table, Key: pagecache.Key(lock.PK, isr.SortLock),
		UpdateExpression:         aws.String("SET lease_token = :mine, lease_expires_at = :expires, #ttl = :ttl"),
		ExpressionAttributeNames: map[string]string{"#ttl": "ttl"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":mine": &types.AttributeValueMemberS{Value: lease.Token}, ":expires": number(lock.LeaseExpiresAt), ":ttl": number(lock.TTL),
		},
	})
	lease.ExpiresAt = lock.LeaseExpiresAt
	return lease, err
}

// end stops the heartbeat and returns the lease as it has left it.
func (l *leaser) end(lease pagecache.Lease) pagecache.Lease {
	l.mu.Lock()
	b := l.beat
	l.beat = nil
	l.mu.Unlock()
	if b == nil {
		return lease
	}
	close(b.stop)
	if !l.reviving {
		<-b.stopped
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lease
}

func (l *leaser) Publish(ctx context.Context, lease pagecache.Lease, m pagecache.Meta) error {
	return l.RecipeA.Publish(ctx, l.end(lease), m)
}

func (l *leaser) Release(ctx context.Context, lease pagecache.Lease) error {
	return l.RecipeA.Release(ctx, l.end(lease))
}

// Close ends the heartbeat.
func (l *leaser) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// SetShrinkRuns is for a process that has no time for small schedules.
func SetShrinkRuns(n int) { shrinkRuns = n }

// Fewer is few under the race detector and in short runs, where the same things are looked at less often.
func Fewer[T any](n, few T) T {
	if testing.Short() {
		return few
	}
	return race.Fewer(n, few)
}

// CommandOf is the command of a test.
func CommandOf(test string) string { return commandOf(test) }
