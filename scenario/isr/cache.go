package isr

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// Served is a page and what the cache claims of it.
type Served struct {
	Body []byte
	// Fresh says that the page is within its freshness window by this node's clock, at the moment of serving.
	Fresh bool
}

// Cache answers requests for pages: from META while it is fresh, else by
// regenerating the page under a lease.
type Cache struct {
	cfg   Config
	store Store
}

// New returns a cache on recipe A, the reference protocol.
func New(cfg Config) (*Cache, error) {
	store, err := NewRecipeA(cfg)
	if err != nil {
		return nil, err
	}
	return NewOn(store, cfg)
}

// NewOn returns a cache on any store.
func NewOn(store Store, cfg Config) (*Cache, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Cache{cfg, store}, nil
}

// ErrUnavailable says that a page can neither be found nor be made now: somebody
// else is at it for longer than the cache's patience, or the store failed.
var ErrUnavailable = errors.New("page unavailable")

// Get returns the page for key.
func (c *Cache) Get(ctx context.Context, key string) (Served, error) {
	var last *page // the newest page seen, fresh or not
	for look := 0; ; look++ {
		found, err := c.look(ctx, key)
		if err != nil {
			return Served{}, err
		}
		if found != nil {
			last = found
			if c.fresh(last) {
				return c.serve(last), nil
			}
		}
		lease, err := c.store.Acquire(ctx, key)
		switch {
		case err == nil:
			made, err := c.regenerate(ctx, lease)
			if err == nil {
				return c.serve(made), nil
			}
			if last != nil {
				return c.serve(last), nil // the failure policy: the last known page beats none
			}
			return Served{}, err
		case !errors.Is(err, ErrHeld):
			if last != nil {
				return c.serve(last), nil
			}
			return Served{}, err
		case last != nil && (c.cfg.Contention == ServeStale || look >= c.cfg.Patience):
			return c.serve(last), nil
		case look >= c.cfg.Patience:
			return Served{}, fmt.Errorf("isr: get %s: %w: the lease was held at each of %d looks", key, ErrUnavailable, look+1)
		}
		c.cfg.Clock.Sleep(c.cfg.Poll)
	}
}

// page is a META row with its body.
type page struct {
	meta Meta
	body []byte
}

// look returns the page that META leads to, nil if there is none. A row whose
// body is gone is as good as no row.
func (c *Cache) look(ctx context.Context, key string) (*page, error) {
	meta, err := c.store.Read(ctx, key)
	if errors.Is(err, ErrMiss) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	body, err := c.cfg.Bodies.GetBody(ctx, meta.S3Key)
	if errors.Is(err, ErrNoBody) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("isr: get %s: body %s: %w", key, meta.S3Key, err)
	}
	return &page{meta, body}, nil
}

func (c *Cache) fresh(p *page) bool { return c.store.Fresh(p.meta, c.cfg.Clock.Now()) }

// serve claims freshness as of now: while the body was on its way, the window
// may have ended.
func (c *Cache) serve(p *page) Served { return Served{Body: p.body, Fresh: c.fresh(p)} }

// regenerate makes and publishes the page. The lease is given back whatever
// happens; if that fails, it ends by itself.
func (c *Cache) regenerate(ctx context.Context, lease Lease) (*page, error) {
	// Whoever held the lease before may have published after our look: making the page again would be a stampede.
	if found, err := c.look(ctx, lease.Key); err == nil && found != nil && c.fresh(found) {
		_ = c.store.Release(ctx, lease)
		return found, nil
	}
	made, err := c.render(ctx, &lease)
	if err != nil {
		_ = c.store.Release(ctx, lease)
		return nil, err
	}
	if err := c.store.Publish(ctx, lease, made.meta); err != nil {
		return c.unpublished(ctx, lease, made, err)
	}
	return made, nil
}

// render makes the page and stores its body. generated_at is taken before the
// origin is read, so that a page never claims to be newer than its data.
func (c *Cache) render(ctx context.Context, lease *Lease) (*page, error) {
	generatedAt := Floor(c.cfg.Clock.Now())
	body, err := c.cfg.Render(ctx, lease.Key, func(ctx context.Context) error { return c.keepAlive(ctx, lease) })
	if err != nil {
		return nil, fmt.Errorf("isr: render %s: %w", lease.Key, err)
	}
	sum := sha256.Sum256(body)
	meta := Meta{
		PK: PartitionKey(c.cfg.Tenant, lease.Key),
		// The token is this generation's alone, so no other writer can touch the body that META will name.
		S3Key:             "pages/" + lease.Token,
		GeneratedAt:       generatedAt,
		RevalidateSeconds: int64(c.cfg.Revalidate / time.Second),
		ETag:              `"` + hex.EncodeToString(sum[:8]) + `"`,
	}
	meta.TTL = Ceil(meta.FreshUntil().Time().Add(c.cfg.Retention))
	if err := c.cfg.Bodies.PutBody(ctx, meta.S3Key, body); err != nil {
		return nil, fmt.Errorf("isr: body of %s: %w", lease.Key, err)
	}
	return &page{meta, body}, nil
}

// keepAlive refreshes the lease once half of it is over.
func (c *Cache) keepAlive(ctx context.Context, lease *Lease) error {
	if c.cfg.Clock.Now().Add(c.cfg.Lease / 2).Before(lease.ExpiresAt.Time()) {
		return nil
	}
	refreshed, err := c.store.Refresh(ctx, *lease)
	if err != nil {
		return err
	}
	*lease = refreshed
	return nil
}

// unpublished decides what to serve after a publish that was refused or whose
// outcome is unknown. What META shows now decides; our own page serves as a last
// resort, because its data is as new as its generated_at says.
func (c *Cache) unpublished(ctx context.Context, lease Lease, made *page, cause error) (*page, error) {
	_ = c.store.Release(ctx, lease)
	found, err := c.look(ctx, lease.Key)
	if err == nil && found != nil && c.fresh(found) {
		return found, nil
	}
	if errors.Is(cause, ErrLeaseLost) {
		return made, nil
	}
	return nil, cause
}
