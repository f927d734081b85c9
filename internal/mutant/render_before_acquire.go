package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// renderBeforeAcquire reads the origin before it asks for the lease. It holds the lease when it publishes, and still
// puts a page from older data over one from newer data.
func renderBeforeAcquire() isr.Protocol {
	return isr.Protocol{
		Name:    "render-before-acquire",
		Summary: "the page is made before the lease is taken, and the lease covers only its publish",
		Breaks:  "monotonic-publication",
		New: func(cfg isr.Config) (isr.Handler, error) {
			reference, err := pagecache.NewRecipeA(cfg)
			if err != nil {
				return nil, err
			}
			early := &earlyRenderer{RecipeA: reference, made: map[string]early{}}
			cfg.Render = early.render
			return pagecache.AsHandler(pagecache.NewOn(early, cfg))
		},
	}
}

// early is a page that was made before its lease was there.
type early struct {
	body []byte
	at   pagecache.EpochSeconds
}

type earlyRenderer struct {
	*pagecache.RecipeA
	made map[string]early // by key
}

func (s *earlyRenderer) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	at := s.Now()
	body, err := s.Config().Render(ctx, key, func(context.Context) error { return nil })
	if err != nil {
		return pagecache.Lease{}, err
	}
	s.made[key] = early{body, at}
	return s.RecipeA.Acquire(ctx, key)
}

func (s *earlyRenderer) render(_ context.Context, key string, _ func(context.Context) error) ([]byte, error) {
	return s.made[key].body, nil
}

func (s *earlyRenderer) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	older := m.GeneratedAt - s.made[l.Key].at
	m.GeneratedAt -= older
	m.TTL -= older
	return s.RecipeA.Publish(ctx, l, m)
}
