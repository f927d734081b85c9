package mutant

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// eventualRead reads META by an eventually consistent read, as GetItem does by default. A page that was just published
// is not seen yet, so it is made again.
var eventualRead = isr.Protocol{
	Name:    "eventual-read",
	Summary: "META is read with eventual consistency, even after the lock was taken",
	Breaks:  "linearizable",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return eventualReader{r} }),
}

type eventualReader struct{ *pagecache.RecipeA }

func (s eventualReader) Read(ctx context.Context, key string) (pagecache.Meta, error) {
	cfg := s.Config()
	out, err := cfg.Client.GetItem(ctx,
		&dynamodb.GetItemInput{TableName: &cfg.Table, Key: pagecache.Key(s.PK(key), isr.SortMeta)})
	if err != nil {
		return pagecache.Meta{}, err
	}
	return s.Found(out.Item)
}

// firstLookEventual saves half the price of a read. Only the look under the lease is consistent, because decisions are
// made only there. But a page may be served from the first look, too, and the replica that answers may be older than
// the previous one.
var firstLookEventual = isr.Protocol{
	Name:    "first-look-eventual",
	Summary: "META is read with eventual consistency, except under the lease",
	Breaks:  "monotonic-reads",
	New: onRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
		return &thriftyReader{RecipeA: r, eventual: eventualReader{r}}
	}),
}

type thriftyReader struct {
	*pagecache.RecipeA
	eventual eventualReader
	acquired bool // the lease was acquired just now
}

func (s *thriftyReader) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	l, err := s.RecipeA.Acquire(ctx, key)
	s.acquired = err == nil
	return l, err
}

func (s *thriftyReader) Read(ctx context.Context, key string) (pagecache.Meta, error) {
	if s.acquired {
		s.acquired = false
		return s.RecipeA.Read(ctx, key)
	}
	return s.eventual.Read(ctx, key)
}

// memoryBeforeMeta remembers META in the process for as long as its page is fresh. A machine that is asked to make the
// page again within its window goes on serving the old one.
var memoryBeforeMeta = isr.Protocol{
	Name:    "memory-before-meta",
	Summary: "META is remembered by each process while its page is fresh, whatever is published meanwhile",
	Breaks:  "read-your-writes",
	New: onRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
		return metaKeeper{r, map[string]pagecache.Meta{}}
	}),
}

type metaKeeper struct {
	*pagecache.RecipeA
	seen map[string]pagecache.Meta // by key
}

func (s metaKeeper) Read(ctx context.Context, key string) (pagecache.Meta, error) {
	now := func() time.Time { return s.Config().Clock.Now() }
	if m, known := s.seen[key]; known && s.Fresh(m, now()) {
		return m, nil
	}
	m, err := s.RecipeA.Read(ctx, key)
	if err == nil && s.Fresh(m, now()) {
		s.seen[key] = m
	}
	return m, err
}

// staleInnerCache makes a page again from data that an inner cache still takes for fresh. Two windows add up: the page
// claims to be new, but its data is as old as both windows.
//
// Seen in: vercel/next.js issue 58909.
var staleInnerCache = isr.Protocol{
	Name:    "stale-inner-cache",
	Summary: "the origin is read through a cache with a window of its own",
	Breaks:  "freshness",
	New: func(cfg isr.Config) (isr.Handler, error) {
		if cfg.Render != nil {
			cfg.Render = throughCache(cfg)
		}
		return onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return r })(cfg)
	},
}

// throughCache renders again only after the inner window.
func throughCache(cfg isr.Config) isr.Renderer {
	type entry struct {
		body []byte
		at   pagecache.EpochSeconds
	}
	inner := map[string]entry{}
	return func(ctx context.Context, key string, keepAlive func(context.Context) error) ([]byte, error) {
		now := pagecache.Floor(cfg.Clock.Now())
		if e, ok := inner[key]; ok && now.Time().Sub(e.at.Time()) <= cfg.Revalidate {
			return e.body, nil
		}
		body, err := cfg.Render(ctx, key, keepAlive)
		if err == nil {
			inner[key] = entry{body, now}
		}
		return body, err
	}
}

// lastPageForEver serves the last page that the process has seen when everything else fails, and never asks how old it
// is: stale-if-error without a limit.
var lastPageForEver = isr.Protocol{
	Name:    "last-page-for-ever",
	Summary: "after a failure a process serves the last page that it has served, of whatever age",
	Breaks:  "bounded-staleness",
	New: func(cfg isr.Config) (isr.Handler, error) {
		inner, err := pagecache.New(cfg)
		if err != nil {
			return nil, err
		}
		return stockKeeper{inner, map[string][]byte{}}, nil
	},
}

type stockKeeper struct {
	*pagecache.Cache
	last map[string][]byte // by key
}

func (h stockKeeper) Get(ctx context.Context, key string) (isr.Served, error) {
	served, err := h.Cache.Get(ctx, key)
	if err == nil {
		h.last[key] = served.Body
		return served, nil
	}
	if body, known := h.last[key]; known {
		return isr.Served{Body: body}, nil // as stale: it does not claim more
	}
	return isr.Served{}, err
}

// buildTimePage fills the cache when an instance starts, as if the cache were empty. A deployment, or a machine that
// starts late, takes the site back to the day of the build.
//
// Seen in: caching-tools/next-shared-cache issue 1060.
var buildTimePage = isr.Protocol{
	Name:    "build-time-page",
	Summary: "a new instance puts the page of its build, even over a newer META",
	Breaks:  "stale-writer",
	New: func(cfg isr.Config) (isr.Handler, error) {
		store, err := pagecache.NewRecipeA(cfg)
		if err != nil {
			return nil, err
		}
		inner, err := pagecache.NewOn(store, cfg)
		if err != nil {
			return nil, err
		}
		return &seeder{Cache: inner, store: store, seeded: map[string]bool{}}, nil
	},
}

type seeder struct {
	*pagecache.Cache
	store  *pagecache.RecipeA
	seeded map[string]bool // by key
}

func (h *seeder) Get(ctx context.Context, key string) (isr.Served, error) {
	if !h.seeded[key] {
		h.seeded[key] = true
		if err := h.seed(ctx, key); err != nil {
			return isr.Served{}, err
		}
	}
	return h.Cache.Get(ctx, key)
}

func (h *seeder) seed(ctx context.Context, key string) error {
	cfg := h.store.Config()
	now := h.store.Now()
	body, err := cfg.Render(ctx, key, func(context.Context) error { return nil })
	if err != nil {
		return err
	}
	m := pagecache.Meta{
		PK: h.store.PK(key), S3Key: "pages/built-" + cfg.Tokens(), GeneratedAt: now,
		RevalidateSeconds: int64(cfg.Revalidate / time.Second),
		TTL:               pagecache.Ceil(now.Time().Add(cfg.Revalidate + cfg.Retention)),
	}
	if err := cfg.Bodies.PutBody(ctx, m.S3Key, body); err != nil {
		return err
	}
	return putBlindly(ctx, h.store, m)
}
