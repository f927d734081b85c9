package pagecache

import (
	"context"
	"errors"

	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// observed is a store that reports its operations to the observers in the contexts of its calls. If the node dies
// before an answer, the observer gets none.
type observed struct {
	Store
	buffer EpochSeconds // how long before its ttl a row counts as gone
}

func called(ctx context.Context, op storeop.Operation) (answered func(storeop.Operation)) {
	if observe := storeop.HooksOf(ctx).Observe; observe != nil {
		return observe(op)
	}
	return func(storeop.Operation) {}
}

func (o observed) Read(ctx context.Context, key string) (Meta, error) {
	op := storeop.Operation{Verb: storeop.Read, Key: key}
	answered := called(ctx, op)
	m, err := o.Store.Read(ctx, key)
	answered(withResult(o.withMeta(op, m), err))
	return m, err
}

func (o observed) Acquire(ctx context.Context, key string) (Lease, error) {
	op := storeop.Operation{Verb: storeop.Acquire, Key: key}
	answered := called(ctx, op)
	l, err := o.Store.Acquire(ctx, key)
	answered(withResult(withLease(op, l), err))
	return l, err
}

func (o observed) Refresh(ctx context.Context, l Lease) (Lease, error) {
	op := withLease(storeop.Operation{Verb: storeop.Refresh, Key: l.Key}, l)
	answered := called(ctx, op)
	refreshed, err := o.Store.Refresh(ctx, l)
	if err == nil {
		op = withLease(op, refreshed)
	}
	answered(withResult(op, err))
	return refreshed, err
}

func (o observed) Publish(ctx context.Context, l Lease, m Meta) error {
	op := o.withMeta(withLease(storeop.Operation{Verb: storeop.Publish, Key: l.Key}, l), m)
	answered := called(ctx, op)
	err := o.Store.Publish(ctx, l, m)
	answered(withResult(op, err))
	return err
}

// Restore is a publish of an earlier page.
func (o observed) Restore(ctx context.Context, l Lease, visible, older Meta) error {
	op := o.withMeta(withLease(storeop.Operation{Verb: storeop.Publish, Key: l.Key}, l), older)
	answered := called(ctx, op)
	err := o.Store.Restore(ctx, l, visible, older)
	answered(withResult(op, err))
	return err
}

func (o observed) Release(ctx context.Context, l Lease) error {
	op := withLease(storeop.Operation{Verb: storeop.Release, Key: l.Key}, l)
	answered := called(ctx, op)
	err := o.Store.Release(ctx, l)
	answered(withResult(op, err))
	return err
}

func withLease(op storeop.Operation, l Lease) storeop.Operation {
	op.Token, op.Expires = l.Token, int64(l.ExpiresAt)
	return op
}

func (o observed) withMeta(op storeop.Operation, m Meta) storeop.Operation {
	op.Page = m.S3Key
	if m.TTL != 0 {
		op.TTL = int64(m.TTL - o.buffer)
	}
	return op
}

// withResult returns the operation with the result that a store's answer means.
func withResult(op storeop.Operation, err error) storeop.Operation {
	switch {
	case err == nil:
		op.Result = storeop.Done
	case errors.Is(err, isr.ErrMiss), again(err):
		op.Result = storeop.Refused
	default:
		op.Result = storeop.InDoubt
	}
	return op
}
