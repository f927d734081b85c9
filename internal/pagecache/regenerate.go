package pagecache

import (
	"context"
	"errors"
	"fmt"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Regenerate implements Regenerator: it makes and publishes the page, fresh or not, once for each Request. The same
// request again is served the page that was made for it, for as long as Retention lasts. A request waits while another
// node is regenerating the page.
//
// ErrOtherInputs says that Request.ID was used with another Hash. A failure is an error under every failure policy: the
// page was not made, or this call cannot tell. The same request again finds out.
//
// The page of an earlier call is served as fresh only while it is the visible page.
func (c *Cache) Regenerate(ctx context.Context, key string, r isr.Request) (isr.Served, error) {
	if r.ID == "" {
		return isr.Served{}, errNoID
	}
	v := visit{Cache: c, key: key}
	for look := 0; ; look++ {
		served, err := v.answer(ctx, r)
		if err == nil || !again(err) {
			return served, err
		}
		if look >= c.cfg.Patience {
			return isr.Served{}, fmt.Errorf("isr: regenerate %s as %s: %w: at each of %d looks, %w", key, r.ID, ErrUnavailable, look+1, err)
		}
		c.cfg.Clock.Sleep(c.cfg.Poll)
	}
}

// again says whether an error means that another node was faster.
func again(err error) bool {
	return errors.Is(err, ErrHeld) || errors.Is(err, isr.ErrLeaseLost) || errors.Is(err, ErrOvertaken) || errors.Is(err, ErrAnswered)
}

// answer serves the page that has answered the request, or answers it.
func (v *visit) answer(ctx context.Context, r isr.Request) (isr.Served, error) {
	row, err := v.store.Begin(ctx, v.key, r)
	if err != nil {
		return isr.Served{}, err
	}
	if row.Status == RequestCompleted {
		return v.result(ctx, row)
	}
	lease, err := v.store.Acquire(ctx, v.key)
	if err != nil {
		return isr.Served{}, err
	}
	// The holder before may have answered the request. If Asked cannot tell, the publish will be refused.
	if row, err := v.store.Asked(ctx, v.key, r); err == nil && row.Status == RequestCompleted {
		v.release(ctx, lease)
		return v.result(ctx, row)
	}
	// The publish builds upon META as it is now, under the lease and before the origin is read.
	if err := v.see(ctx); err != nil {
		v.release(ctx, lease)
		return isr.Served{}, err
	}
	lease.Request = r
	made, err := v.render(ctx, &lease)
	if err != nil {
		_ = v.store.Fail(context.WithoutCancel(ctx), v.key, r) // best effort: it may be taken up again either way
		v.release(ctx, lease)
		return isr.Served{}, err
	}
	err = v.store.Publish(ctx, lease, made.meta)
	if err == nil {
		return v.serve(made), nil
	}
	v.release(ctx, lease)
	if !again(err) { // did it take effect?
		if row, unknown := v.store.Asked(ctx, v.key, r); unknown == nil && row.Status == RequestCompleted {
			return v.result(ctx, row)
		}
	}
	return isr.Served{}, err
}

// see looks at META alone.
func (v *visit) see(ctx context.Context) error {
	meta, err := v.store.Read(ctx, v.key)
	if err != nil && !errors.Is(err, isr.ErrMiss) {
		return err
	}
	v.seen = meta.Version
	return nil
}

// result serves the page that answered a request. It is fresh while META says so of that very page. If META cannot be
// read, it does not count as fresh.
func (v *visit) result(ctx context.Context, row RequestRow) (isr.Served, error) {
	body, err := v.cfg.Bodies.GetBody(ctx, row.ResultS3Key)
	if err != nil {
		return isr.Served{}, fmt.Errorf("isr: regenerate %s: body %s: %w", v.key, row.ResultS3Key, err)
	}
	if meta, err := v.store.Read(ctx, v.key); err == nil && meta.S3Key == row.ResultS3Key {
		return v.serve(&page{meta: meta, body: body}), nil
	}
	return isr.Served{Body: body}, nil
}
