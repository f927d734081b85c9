package pagecache

import (
	"context"
	"errors"

	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Observed returns a store that reports its operations: it calls observe when an operation is called, and the function
// that observe returns when it is answered. If the node dies in between, no answer is reported. The observer has to
// know the caller and the time.
func Observed(store Store, observe history.Observer) Store {
	cfg := store.Config()
	return observed{store, observe, buffer(&cfg)}
}

type observed struct {
	Store
	observe history.Observer
	buffer  EpochSeconds // between when a row counts as gone and its ttl
}

func (o observed) Read(ctx context.Context, key string) (Meta, error) {
	op := history.Operation{Verb: history.Read, Key: key}
	answered := o.observe(op)
	m, err := o.Store.Read(ctx, key)
	answered(withResult(o.withMeta(op, m), err))
	return m, err
}

func (o observed) Acquire(ctx context.Context, key string) (Lease, error) {
	op := history.Operation{Verb: history.Acquire, Key: key}
	answered := o.observe(op)
	l, err := o.Store.Acquire(ctx, key)
	answered(withResult(withLease(op, l), err))
	return l, err
}

func (o observed) Refresh(ctx context.Context, l Lease) (Lease, error) {
	op := withLease(history.Operation{Verb: history.Refresh, Key: l.Key}, l)
	answered := o.observe(op)
	refreshed, err := o.Store.Refresh(ctx, l)
	if err == nil {
		op = withLease(op, refreshed)
	}
	answered(withResult(op, err))
	return refreshed, err
}

func (o observed) Publish(ctx context.Context, l Lease, m Meta) error {
	op := o.withMeta(withLease(history.Operation{Verb: history.Publish, Key: l.Key}, l), m)
	answered := o.observe(op)
	err := o.Store.Publish(ctx, l, m)
	answered(withResult(op, err))
	return err
}

// Restore is a publish, of a page that was there before.
func (o observed) Restore(ctx context.Context, l Lease, visible, older Meta) error {
	op := o.withMeta(withLease(history.Operation{Verb: history.Publish, Key: l.Key}, l), older)
	answered := o.observe(op)
	err := o.Store.Restore(ctx, l, visible, older)
	answered(withResult(op, err))
	return err
}

func (o observed) Release(ctx context.Context, l Lease) error {
	op := withLease(history.Operation{Verb: history.Release, Key: l.Key}, l)
	answered := o.observe(op)
	err := o.Store.Release(ctx, l)
	answered(withResult(op, err))
	return err
}

func withLease(op history.Operation, l Lease) history.Operation {
	op.Token, op.Expires = l.Token, int64(l.ExpiresAt)
	return op
}

func (o observed) withMeta(op history.Operation, m Meta) history.Operation {
	op.Page = m.S3Key
	if m.TTL != 0 {
		op.TTL = int64(m.TTL - o.buffer)
	}
	return op
}

// withResult returns the operation with the result that a store's answer tells.
func withResult(op history.Operation, err error) history.Operation {
	switch {
	case err == nil:
		op.Result = history.Done
	case errors.Is(err, isr.ErrMiss), again(err):
		op.Result = history.Refused
	default:
		op.Result = history.InDoubt
	}
	return op
}
