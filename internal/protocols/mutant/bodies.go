package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// bodyAfterPointer publishes the pointer before the body. Readers in between find a page without a body, and a machine
// that dies there leaves one for good.
//
// Seen in: public body caches that write the body after the row, and, the other way round, delta-io/delta-rs pull
// request 2452: the body was deleted and the row stayed.
var bodyAfterPointer = isr.Protocol{
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

// lateBodies holds bodies back until somebody asks to store them.
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

// etagOfAnotherBody keeps the etag that META has. A client with the old body is told that the body is current.
var etagOfAnotherBody = isr.Protocol{
	Name:    "etag-of-another-body",
	Summary: "the etag of the page before is published with the new body",
	Breaks:  "no-dangling-pointer",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return etagKeeper{r} }),
}

type etagKeeper struct{ *pagecache.RecipeA }

func (s etagKeeper) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	if before, err := s.Read(ctx, l.Key); err == nil && before.ETag != "" {
		m.ETag = before.ETag
	}
	return s.RecipeA.Publish(ctx, l, m)
}

// pointerBeforeVersion moves the pointer first, and puts the version that it leads to in a second request. Readers in
// between find nothing, and a machine that dies there leaves it so.
var pointerBeforeVersion = isr.Protocol{
	Name:    "pointer-before-version",
	Summary: "META is pointed at a version that a second request puts",
	Breaks:  "no-dangling-pointer",
	New:     onRecipeB(func(r *pagecache.RecipeB) pagecache.Store { return pointingFirst{r} }),
}

type pointingFirst struct{ *pagecache.RecipeB }

func (s pointingFirst) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	v := s.NewVersion(l, m)
	m.CurrentSK = v.SK
	if err := transact(ctx, s, pointTo(s.RecipeB, l, m), giveBack(s.RecipeB, l)); err != nil {
		return err
	}
	return transact(ctx, s, putVersion(s, v))
}

// rollbackWithoutLease moves the pointer back without asking whether the lease is still its own, and gives the lease
// back in a separate request. It is like an operator who edits the row while a machine is about to publish.
var rollbackWithoutLease = isr.Protocol{
	Name:    "rollback-without-lease",
	Summary: "a rollback moves META without a check of its lease, and gives the lease back in a second request",
	Breaks:  "atomic-publish",
	New:     onRecipeB(func(r *pagecache.RecipeB) pagecache.Store { return handOnRow{r} }),
}

type handOnRow struct{ *pagecache.RecipeB }

func (s handOnRow) Restore(ctx context.Context, l pagecache.Lease, _, older pagecache.Meta) error {
	if err := transact(ctx, s, pointTo(s.RecipeB, l, older)); err != nil {
		return err
	}
	_ = s.Release(ctx, l) // best effort, and by token: this is not the bug
	return nil
}

// rollbackOfOnePage looks for the version to go back to in the first page of its Query, as if there were no other page.
// That works until the versions of a page take more than 1 MB. Then the previous version is among those that it never
// sees.
var rollbackOfOnePage = isr.Protocol{
	Name:    "rollback-of-one-page",
	Summary: "a rollback asks for the versions and ignores LastEvaluatedKey, so it knows only the first page of them",
	Breaks:  "monotonic-publication",
	New:     onRecipeB(func(r *pagecache.RecipeB) pagecache.Store { return onePage{r} }),
}

type onePage struct{ *pagecache.RecipeB }

func (s onePage) Older(ctx context.Context, key string) (visible, older pagecache.Meta, err error) {
	cfg := s.Config()
	cfg.Client = firstPages{cfg.Client}
	r, err := pagecache.NewRecipeB(cfg)
	if err != nil {
		return visible, older, err
	}
	return r.Older(ctx, key)
}

type firstPages struct{ isr.Client }

func (c firstPages) Query(
	ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options),
) (*dynamodb.QueryOutput, error) {
	out, err := c.Client.Query(ctx, in, o...)
	if err != nil {
		return nil, err
	}
	page := *out
	page.LastEvaluatedKey = nil
	return &page, nil
}

// sharedBodyName stores the body under the page's name instead of the generation's. The row is fenced but the body is
// not: a writer that has lost its lease puts its old body under the new row.
//
// Seen in: a public body cache that writes without a condition.
var sharedBodyName = isr.Protocol{
	Name:    "shared-body-name",
	Summary: "all bodies of a page are stored under one name, and the last write wins",
	Breaks:  "freshness",
	New: func(cfg isr.Config) (isr.Handler, error) {
		render := cfg.Render
		one := &oneBody{BodyStore: cfg.Bodies}
		if cfg.Bodies != nil && render != nil {
			cfg.Bodies = one
			cfg.Render = func(ctx context.Context, key string, keepAlive func(context.Context) error) ([]byte, error) {
				one.key = key
				return render(ctx, key, keepAlive)
			}
		}
		return onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return sameNamePublisher{r} })(cfg)
	},
}

// oneBody stores every body of a key under one name.
type oneBody struct {
	isr.BodyStore
	key string // the key of the page that is being made
}

func (b *oneBody) PutBody(ctx context.Context, _ string, body []byte) error {
	return b.BodyStore.PutBody(ctx, "pages"+b.key, body)
}

type sameNamePublisher struct{ *pagecache.RecipeA }

func (s sameNamePublisher) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	m.S3Key = "pages" + l.Key
	return s.RecipeA.Publish(ctx, l, m)
}
