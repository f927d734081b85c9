package scenario

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/rowmap"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// named are the partitions whose META or LOCK row a node's requests have named since a client asked it for a page:
// where that page's rows are, if it is one.
type named struct{ partitions []string }

// namedKey is the key under which the context of a question has its *named, where a node may be at several things at
// the same time.
type namedKey struct{}

// question begins a question: the partitions that the node names from now on belong to it.
func (n *node) question(ctx context.Context) context.Context {
	if n.world.bubble == nil {
		n.named.partitions = n.named.partitions[:0]
		return ctx
	}
	n.named = &named{}
	return context.WithValue(ctx, namedKey{}, n.named)
}

// namedFor is where the partitions go that a request names which was made with ctx; nil stands for the question that is
// being answered when it takes effect.
func (n *node) namedFor(ctx context.Context) *named {
	if n.world.bubble == nil {
		return nil
	}
	own, _ := ctx.Value(namedKey{}).(*named)
	return own
}

// note takes in the keys that a call names. A Query names none.
func (a *named) note(input any, rows *rows) {
	eachRow(input, func(table *string, key map[string]types.AttributeValue, _ bool) {
		if rows == nil {
			a.key(key)
		} else if pk, roles := rows.place(table, key); roles&(rowmap.Page|rowmap.Lock) != 0 {
			a.add(pk)
		}
	})
}

func (a *named) key(key map[string]types.AttributeValue) {
	pk, _ := key["pk"].(*types.AttributeValueMemberS)
	sk, _ := key["sk"].(*types.AttributeValueMemberS)
	if pk == nil || sk == nil || sk.Value != isr.SortMeta && sk.Value != isr.SortLock {
		return
	}
	a.add(pk.Value)
}

func (a *named) add(pk string) {
	if !slices.Contains(a.partitions, pk) {
		a.partitions = append(a.partitions, pk)
	}
}

// partition is where the rows of a page are: the partition that was named, or of several the one that the page has by
// the schema. "" is not known.
func (a *named) partition(p page) string {
	switch len(a.partitions) {
	case 0:
		return ""
	case 1:
		return a.partitions[0]
	}
	if pk := isr.PartitionKey(p.tenant, p.key); slices.Contains(a.partitions, pk) {
		return pk
	}
	return ""
}
