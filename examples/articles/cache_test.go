package articles

import (
	"context"
	"slices"
	"testing"

	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// adapter has the check ask our cache for articles.
type adapter struct{ *Cache }

func (a adapter) Get(ctx context.Context, key string) (isr.Served, error) {
	article, err := a.Article(ctx, key)
	return isr.Served{Body: []byte(article.HTML), Fresh: article.Fresh}, err
}

// rows says what our rows mean.
var rows = isr.Schema{Rows: []isr.Row{{
	Partition: "id = page#{key}", Body: "html", Generated: "updated_at ms", Token: "locked_by", Expires: "locked_until ms",
}}}

func TestCache(t *testing.T) {
	withoutTTL := func(m scenario.Mark) bool { return m == scenario.TTLDeletion } // our rows have no ttl
	property.Check{Rows: rows, Reach: slices.DeleteFunc(property.Reach(), withoutTTL)}.Run(t, func(n property.Node) (isr.Handler, error) {
		return adapter{&Cache{
			DB: n.Client, Table: n.Table, Now: n.Clock.Now, Sleep: n.Clock.Sleep, NewToken: n.Tokens, Lock: n.Lease, FreshFor: n.Revalidate,
			Write: func(ctx context.Context, slug string) (string, error) {
				html, err := n.Render(ctx, slug, func(context.Context) error { return nil })
				return string(html), err
			},
		}}, nil
	})
}
