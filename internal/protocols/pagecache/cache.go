package pagecache

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Cache answers requests for pages: from META while the page is fresh, else by regenerating it under a lease.
type Cache struct {
	cfg   isr.Config
	store Store
	early Early // the store, if it makes pages again early; else nil
}

// New returns a cache on recipe A, the reference protocol.
func New(cfg isr.Config) (*Cache, error) {
	store, err := NewRecipeA(cfg)
	if err != nil {
		return nil, err
	}
	return NewOn(store, cfg)
}

// NewOn returns a cache on any store.
func NewOn(store Store, cfg isr.Config) (*Cache, error) {
	cfg, err := withDefaults(cfg)
	if err != nil {
		return nil, err
	}
	early, _ := store.(Early)
	return &Cache{cfg, observed{store, buffer(&cfg)}, early}, nil
}

// ErrUnavailable says that a page can neither be found nor be made now: another node has been making it for longer than
// the cache's patience, or the store failed.
var ErrUnavailable = errors.New("page unavailable")

// Get returns the page for key. By default, an error means that there is no page to serve: a page that was seen is
// served, fresh or stale, even if a later request fails.
func (c *Cache) Get(ctx context.Context, key string) (isr.Served, error) {
	v := visit{Cache: c, key: key, forgets: storeop.HooksOf(ctx).Forget}
	served, err := v.get(ctx)
	if err != nil && v.last != nil && (c.cfg.Failure == isr.ServeLast || v.hasFresh()) {
		return c.serve(v.last), nil
	}
	return served, err
}

// visit is one request for a page.
type visit struct {
	*Cache
	key  string
	last *page // the last page seen, fresh or not
	seen int64 // the version of META when it was last seen; 0 if there was none
	// replaced is the body of a page that was found fresh and must be made again; "" if there is none.
	replaced string
	looks    int                // how often the lease was held by others, as long as that matters
	forgets  func(state string) // see forget; may be nil
}

// get answers the request, or returns the reason why it cannot.
func (v *visit) get(ctx context.Context) (isr.Served, error) {
	for ; ; v.looks++ {
		found, err := v.look(ctx, "look")
		if err != nil {
			return isr.Served{}, err
		}
		if found != nil && v.fresh(found) && !v.makesAgain(found) {
			return v.serve(found), nil
		}
		v.forget("acquire")
		lease, err := v.store.Acquire(ctx, v.key)
		switch {
		case err == nil:
			v.looks = 0
			made, err := v.regenerate(ctx, lease)
			if err != nil {
				return isr.Served{}, err
			}
			return v.serve(made), nil
		case !errors.Is(err, ErrHeld):
			return isr.Served{}, err
		case v.last != nil && (v.cfg.Contention == isr.ServeStale || v.looks >= v.cfg.Patience || v.hasFresh()):
			return v.serve(v.last), nil // a lease that is held is no failure
		case v.looks >= v.cfg.Patience:
			return isr.Served{}, fmt.Errorf("isr: get %s: %w: the lease was held at each of %d looks", v.key,
				ErrUnavailable, v.looks+1)
		}
		v.forget("sleep")
		v.cfg.Clock.Sleep(v.cfg.Poll)
	}
}

// forget tells a search through all schedules what the rest of the visit depends on: its position in the code, and
// these values.
func (v *visit) forget(where string, values ...any) {
	if v.forgets != nil {
		v.forgets(fmt.Sprint(where, " ", v.key, " ", v.replaced, " ", v.looks, " ", v.last, " ", values))
	}
}

// held is the part of the state that a visit depends on while it holds a lease. The end of the lease matters only until
// the page is made.
func (l Lease) held() string { return fmt.Sprint(l.Token, l.Seen, l.Request) }

// page is a META row with its body.
type page struct {
	meta Meta
	body []byte
	// overtaken says that the publish was refused because META had changed: the page may be older than an invalidation.
	overtaken bool
}

// String returns the parts of a page on which later steps depend. The etag is not among them: for a page to be
// published, it follows from the body.
func (p *page) String() string {
	if p == nil {
		return "no page"
	}
	meta := p.meta
	meta.ETag = ""
	return fmt.Sprint(meta, " ", string(p.body), " ", p.overtaken)
}

// look returns the page that META leads to, or nil. A row whose body is gone counts as no row. The rest of the visit
// depends on its position in the code, and on these values: see forget.
func (v *visit) look(ctx context.Context, where string, values ...any) (*page, error) {
	v.forget(where, values...)
	meta, err := v.store.Read(ctx, v.key)
	if err == nil || errors.Is(err, isr.ErrMiss) {
		v.seen = meta.Version
	}
	if errors.Is(err, isr.ErrMiss) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v.forget("body", &page{meta: meta}, where, values)
	body, err := v.cfg.Bodies.GetBody(ctx, meta.S3Key)
	if errors.Is(err, isr.ErrNoBody) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("isr: get %s: body %s: %w", v.key, meta.S3Key, err)
	}
	v.last = &page{meta: meta, body: body}
	return v.last, nil
}

func (c *Cache) fresh(p *page) bool { return !p.overtaken && c.store.Fresh(p.meta, c.cfg.Clock.Now()) }

// serve judges freshness at this moment: while the body was on its way, the window may have ended.
func (c *Cache) serve(p *page) isr.Served { return isr.Served{Body: p.body, Fresh: c.fresh(p)} }

// regenerate makes and publishes the page. It always gives the lease back; if that fails, the lease ends by itself.
func (v *visit) regenerate(ctx context.Context, lease Lease) (*page, error) {
	// The previous holder may have published after our look: then making the page again would be a stampede. If our
	// look failed, we do not know.
	if found, err := v.look(ctx, "look again", lease); err != nil ||
		found != nil && v.fresh(found) && !v.replaces(found) {
		v.forget("found", lease.held(), found, err)
		v.release(ctx, lease)
		return found, err
	}
	v.forget("render", lease, v.seen)
	made, err := v.render(ctx, &lease)
	if err != nil {
		v.release(ctx, lease)
		return nil, err
	}
	v.forget("publish", lease.held(), made)
	if err := v.store.Publish(ctx, lease, made.meta); err != nil {
		return v.unpublished(ctx, lease, made, err)
	}
	return made, nil
}

// release tries to give the lease back. The caller may be gone, and its context with it. That must not keep the key
// locked for the others.
func (c *Cache) release(ctx context.Context, lease Lease) {
	_ = c.store.Release(context.WithoutCancel(ctx), lease)
}

// render makes the page and stores its body. generated_at is taken before the origin is read, so that a page never
// claims to be newer than its data.
func (v *visit) render(ctx context.Context, lease *Lease) (*page, error) {
	generatedAt := Floor(v.cfg.Clock.Now())
	lease.Seen = v.seen // before the origin is read
	body, err := v.cfg.Render(ctx, lease.Key, func(ctx context.Context) error { return v.keepAlive(ctx, lease) })
	if err != nil {
		return nil, fmt.Errorf("isr: render %s: %w", lease.Key, err)
	}
	sum := sha256.Sum256(body)
	meta := Meta{
		PK: isr.PartitionKey(v.cfg.Tenant, lease.Key),
		// The token belongs to this generation only, so no other writer can touch the body that META will name.
		S3Key:             "pages/" + lease.Token,
		GeneratedAt:       generatedAt,
		RevalidateSeconds: int64(v.cfg.Revalidate / time.Second),
		ETag:              `"` + hex.EncodeToString(sum[:8]) + `"`,
	}
	meta.TTL = pageTTL(&v.cfg, meta.FreshUntil())
	made := &page{meta: meta, body: body}
	v.forget("put", lease.held(), made)
	if err := v.cfg.Bodies.PutBody(ctx, meta.S3Key, body); err != nil {
		return nil, fmt.Errorf("isr: body of %s: %w", lease.Key, err)
	}
	return made, nil
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

// unpublished decides what to serve after a publish that was refused, or whose outcome is unknown. A fresh META
// decides. Otherwise, after a refusal, we serve our own page: its data is as new as its generated_at says. If the page
// was overtaken, it may be older than an invalidation, and is served as stale. Any other failure is the store's, and is
// returned to the caller.
func (v *visit) unpublished(ctx context.Context, lease Lease, made *page, cause error) (*page, error) {
	made.overtaken = errors.Is(cause, ErrOvertaken)
	refused := made.overtaken || errors.Is(cause, isr.ErrLeaseLost)
	if refused {
		v.last, v.replaced = nil, "" // there is a page to serve, whatever fails from here on
	}
	v.forget("unpublished", lease.held(), made, cause)
	v.release(ctx, lease)
	found, err := v.look(ctx, "look last", made, cause)
	if err == nil && found != nil && v.fresh(found) {
		return found, nil
	}
	if refused {
		return made, nil
	}
	return nil, cause
}

// Early is a Store whose pages are made again while they are still fresh.
//
// The first request that must do so takes the lease, looks again, and makes the page. If the lease is held, or anything
// fails, that request is served the old page as long as that is fresh. All other requests are served the old page.
type Early interface {
	Store
	// Due reports whether a request that has found this fresh page must make it again.
	Due(m Meta, now time.Time) bool
}

// makesAgain reports whether this request must make a page again although it has found it fresh.
func (v *visit) makesAgain(p *page) bool {
	if v.early == nil || !v.early.Due(p.meta, v.cfg.Clock.Now()) {
		return false
	}
	v.replaced = p.meta.S3Key
	return true
}

// replaces reports whether this is the page that the request makes again although it was fresh.
func (v *visit) replaces(p *page) bool { return v.replaced != "" && v.replaced == p.meta.S3Key }

// hasFresh reports whether a request that should replace a fresh page still has a fresh page to serve.
func (v *visit) hasFresh() bool { return v.replaced != "" && v.last != nil && v.fresh(v.last) }

// AsHandler turns the results of New and NewOn into those of a Protocol's New: after a failure the Handler is nil, not
// a Handler that holds a nil *Cache.
func AsHandler(c *Cache, err error) (isr.Handler, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}

// OnRecipeA makes the constructor of a protocol that replaces methods of recipe A.
func OnRecipeA(replace func(*RecipeA) Store) func(isr.Config) (isr.Handler, error) {
	return on(NewRecipeA, replace)
}

// OnRecipeB makes the constructor of a protocol that replaces methods of recipe B.
func OnRecipeB(replace func(*RecipeB) Store) func(isr.Config) (isr.Handler, error) {
	return on(NewRecipeB, replace)
}

func on[R Store](reference func(isr.Config) (R, error), replace func(R) Store) func(isr.Config) (isr.Handler, error) {
	return func(cfg isr.Config) (isr.Handler, error) {
		r, err := reference(cfg)
		if err != nil {
			return nil, err
		}
		return AsHandler(NewOn(replace(r), cfg))
	}
}

// withDefaults fills in the defaults and checks the rest.
func withDefaults(c isr.Config) (isr.Config, error) {
	if c.Client == nil || c.Clock == nil || c.Bodies == nil || c.Render == nil || c.Tokens == nil || c.Table == "" {
		return c, errors.New("isr: Config needs Client, Clock, Bodies, Render, Tokens and Table")
	}
	err := cmp.Or(
		byDefault("Lease", &c.Lease, 30*time.Second),
		byDefault("Revalidate", &c.Revalidate, time.Minute),
		byDefault("Retention", &c.Retention, 24*time.Hour),
		byDefault("TTLBuffer", &c.TTLBuffer, time.Hour),
		byDefault("Poll", &c.Poll, time.Second),
	)
	if err != nil {
		return c, err
	}
	if c.Revalidate%time.Second != 0 {
		return c, fmt.Errorf("isr: Config.Revalidate is %v, expected whole seconds: the row holds no fractions",
			c.Revalidate)
	}
	if c.Patience < 0 {
		return c, fmt.Errorf("isr: Config.Patience is %d, expected 0 (for the default) or more", c.Patience)
	}
	if c.Patience == 0 {
		c.Patience = 10
	}
	return c, nil
}

// buffer is TTLBuffer in whole seconds, rounded up.
func buffer(c *isr.Config) EpochSeconds { return Ceil(time.Unix(0, int64(c.TTLBuffer))) }

// pageTTL is the ttl of the rows of a page that is fresh until the given time.
func pageTTL(c *isr.Config, freshUntil EpochSeconds) EpochSeconds {
	return Ceil(freshUntil.Time().Add(c.Retention)) + buffer(c)
}

// byDefault replaces a zero duration by its default, and refuses a negative one.
func byDefault(name string, d *time.Duration, byItself time.Duration) error {
	if *d < 0 {
		return fmt.Errorf("isr: Config.%s is %v, expected 0 (for the default) or more", name, *d)
	}
	if *d == 0 {
		*d = byItself
	}
	return nil
}
