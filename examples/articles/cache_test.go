package articles

import (
	"context"
	"testing"

	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// adapter lets the check ask our cache for articles.
type adapter struct{ *Cache }

func (a adapter) Get(ctx context.Context, key string) (isr.Served, error) {
	article, err := a.Article(ctx, key)
	return isr.Served{Body: []byte(article.HTML), Fresh: article.Fresh}, err
}

// rows says what our rows mean.
var rows = isr.Schema{Rows: []isr.Row{{
	Partition: "id = page#{key}", Body: "html", Generated: "updated_at ms", Token: "locked_by",
	Expires: "locked_until ms",
}}}

func newCache(n property.Node) (isr.Handler, error) {
	return adapter{&Cache{
		DB: n.Client, Table: n.Table, Now: n.Clock.Now, Sleep: n.Clock.Sleep, NewToken: n.Tokens, Lock: n.Lease,
		FreshFor: n.Revalidate, Write: func(ctx context.Context, slug string) (string, error) {
			html, err := n.Render(ctx, slug, func(context.Context) error { return nil })
			return string(html), err
		},
	}}, nil
}

func TestCache(t *testing.T) {
	property.Check{Rows: rows}.Run(t, newCache)
}

func TestTwoWriters(t *testing.T) {
	property.Check{Rows: rows}.Prove(t, "testdata/two-writers.yaml", newCache)
}
