package pagecache

import (
	"context"
	"fmt"
)

// Invalidate implements Invalidator. It needs GuardVersion: ErrUnsupported without. After any other error, it may have
// taken effect.
func (c *Cache) Invalidate(ctx context.Context, key string) error {
	return c.store.Invalidate(ctx, key)
}

// Rollback implements Rollbacker, for recipe B: ErrUnsupported otherwise. It waits while another node is regenerating
// the page. After an error that is neither of these nor ErrMiss, it may have taken effect, and another call goes back
// further.
//
// A rollback lasts until the page is made again. An older version is fresh until its own window is over, which it
// mostly is, and never if the page has been invalidated since it was made: then the next request makes the page again.
func (c *Cache) Rollback(ctx context.Context, key string) error {
	for look := 0; ; look++ {
		err := c.rollBack(ctx, key)
		if err == nil || !again(err) {
			return err
		}
		if look >= c.cfg.Patience {
			return fmt.Errorf("isr: roll back %s: %w: at each of %d looks, %w", key, ErrUnavailable, look+1, err)
		}
		c.cfg.Clock.Sleep(c.cfg.Poll)
	}
}

func (c *Cache) rollBack(ctx context.Context, key string) error {
	lease, err := c.store.Acquire(ctx, key)
	if err != nil {
		return err
	}
	visible, older, err := c.store.Older(ctx, key)
	if err == nil {
		err = c.store.Restore(ctx, lease, visible, older)
	}
	if err != nil {
		c.release(ctx, lease)
	}
	return err
}
