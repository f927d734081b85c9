package pages

import (
	"context"
	"testing"

	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// adapter lets the check ask our cache for pages.
type adapter struct{ *Cache }

func (a adapter) Get(ctx context.Context, key string) (isr.Served, error) {
	page, err := a.Page(ctx, key)
	return isr.Served{Body: []byte(page.HTML), Fresh: page.Fresh}, err
}

func TestCache(t *testing.T) {
	property.CheckStore(t, func(n property.Node) (isr.Handler, error) {
		return adapter{&Cache{
			DB:       n.Client, // a real *dynamodb.Client, without a network
			Table:    n.Table,
			Now:      n.Clock.Now, // this machine's clock: it may be wrong, and the machine may stop
			Sleep:    n.Clock.Sleep,
			NewToken: n.Tokens,
			Lease:    n.Lease,
			FreshFor: n.Revalidate,
			KeepFor:  n.Retention,
			Render: func(ctx context.Context, path string) (string, error) {
				html, err := n.Render(ctx, path, func(context.Context) error { return nil })
				return string(html), err
			},
		}}, nil
	})
}
