package mutant

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// bodyAfterPointer publishes the pointer before the body. Readers in between find a page without a body, and a machine
// that dies there leaves one for good.
//
// Seen in: public body caches that write after the row, and delta-io/delta-rs pull request 2452 from the other side,
// where the body went and the row stayed.
func bodyAfterPointer() isr.Protocol {
	return isr.Protocol{
		Name:    "body-after-pointer",
		Summary: "META is published first, and the body that it names is stored after it",
		Breaks:  "no-dangling-pointer",
		New: func(cfg isr.Config) (isr.Handler, error) {
			late := &lateBodies{BodyStore: cfg.Bodies, waiting: map[string][]byte{}}
			if cfg.Bodies != nil {
				cfg.Bodies = late
			}
			return onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return pointerFirst{r, late} })(cfg)
		},
	}
}

// lateBodies keeps bodies back until they are to be stored.
type lateBodies struct {
	isr.BodyStore
	waiting map[string][]byte
}

func (b *lateBodies) PutBody(_ context.Context, name string, body []byte) error {
	b.waiting[name] = body
	return nil
}

type pointerFirst struct {
	*pagecache.RecipeA
	bodies *lateBodies
}

func (s pointerFirst) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	body := s.bodies.waiting[m.S3Key]
	delete(s.bodies.waiting, m.S3Key)
	if err := s.RecipeA.Publish(ctx, l, m); err != nil {
		return err
	}
	return s.bodies.BodyStore.PutBody(ctx, m.S3Key, body)
}
