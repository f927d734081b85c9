package locks

import (
	"context"
	"sync"
	"time"

	"github.com/vmware/vmware-go-kcl-v2/clientlibrary/checkpoint"
	"github.com/vmware/vmware-go-kcl-v2/clientlibrary/config"
	par "github.com/vmware/vmware-go-kcl-v2/clientlibrary/partition"
	"github.com/vmware/vmware-go-kcl-v2/logger"

	"github.com/isr-sim/isr-sim/property"
)

// shardLease is the lease of a shard, as the Kinesis client library of VMware
// takes it: its worker calls GetLease to take a shard, and again to renew it.
type shardLease struct {
	*checkpoint.DynamoCheckpoint
	worker string
}

func newShardLease(n property.Machine) (property.Lock, error) {
	worker := n.Tokens()
	cfg := config.NewKinesisClientLibConfig("locks", "stream", "eu-central-1", worker).
		WithTableName(n.Table).WithFailoverTimeMillis(int(n.Lease / time.Millisecond)).WithLogger(silent{})
	return shardLease{checkpoint.NewDynamoCheckpoint(cfg).WithDynamoDB(n.Client), worker}, nil
}

func (l shardLease) Acquire(_ context.Context, name string) (property.Held, error) {
	h := heldShard{l, &par.ShardStatus{ID: name, Mux: &sync.RWMutex{}}}
	return h, l.GetLease(h.shard, l.worker)
}

type heldShard struct {
	lease shardLease
	shard *par.ShardStatus
}

// StillHeld is the question that the worker asks itself.
func (h heldShard) StillHeld(context.Context) (bool, error) {
	//nolint:forbidigo // as the worker reads it; true time in a bubble
	return time.Now().Before(h.shard.GetLeaseTimeout()), nil
}

func (h heldShard) Extend(context.Context) error { return h.lease.GetLease(h.shard, h.lease.worker) }

func (h heldShard) Release(context.Context) error { return h.lease.RemoveLeaseOwner(h.shard.ID) }

var shardCheck = property.LockCheck{
	Table: table("ShardID"), Goroutines: true, Leases: []time.Duration{10 * time.Second, 2 * time.Second},
}

// silent is a logger for the library that logs nothing.
type silent struct{}

func (silent) Debugf(string, ...any)                    {}
func (silent) Infof(string, ...any)                     {}
func (silent) Warnf(string, ...any)                     {}
func (silent) Errorf(string, ...any)                    {}
func (silent) Fatalf(string, ...any)                    {}
func (silent) Panicf(string, ...any)                    {}
func (s silent) WithFields(logger.Fields) logger.Logger { return s }
