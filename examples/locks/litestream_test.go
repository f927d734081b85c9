//go:build nightly

// The module of Litestream brings SQLite, which takes longer to compile than all other tests of this module to run.

package locks

import (
	"context"

	"github.com/benbjohnson/litestream"
	"github.com/benbjohnson/litestream/s3"

	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/property/bodies"
)

// leasers makes a Leaser for each lock of a machine. It reads time.Now.
type leasers func(name string) *s3.Leaser

func (l leasers) Acquire(ctx context.Context, name string) (property.Held, error) {
	leaser := l(name)
	lease, err := leaser.AcquireLease(ctx)
	if err != nil {
		return nil, err
	}
	return &heldLease{leaser, lease}, nil
}

type heldLease struct {
	*s3.Leaser
	*litestream.Lease
}

func (h *heldLease) StillHeld(context.Context) (bool, error) { return !h.IsExpired(), nil }

func (h *heldLease) Extend(ctx context.Context) error {
	lease, err := h.RenewLease(ctx, h.Lease)
	if err == nil {
		h.Lease = lease
	}
	return err
}

func (h *heldLease) Release(ctx context.Context) error { return h.ReleaseLease(ctx, h.Lease) }

func init() {
	libraries["litestream"] = library{
		property.LockCheck{Goroutines: true, TTL: property.NoTTL, Schedules: 2}, newLeasers,
	}
	findings = append(findings,
		finding{"litestream", "litestream-own-lease",
			[]string{"free-lock: ", "alice was refused lock job, which nobody else could hold", "held by alice"}},
		finding{"litestream", "litestream-renewal", []string{"kept-lease: ", "alice was told to have lost"}},
		finding{"litestream", "litestream-conflict", []string{"kept-lease: ", "alice was told to have lost"}})
}

func newLeasers(n property.Machine) (property.Lock, error) {
	client, err := bodies.Of(n.Bodies)
	return leasers(func(name string) *s3.Leaser {
		l := s3.NewLeaser()
		l.SetClient(client)
		l.Bucket, l.Path, l.TTL, l.Owner = bodies.Bucket, name, n.Lease, n.Tokens()
		return l
	}), err
}
