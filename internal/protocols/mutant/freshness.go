package mutant

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// freshASecondLonger takes the first second at which a page is stale for the last one at which it is fresh.
var freshASecondLonger = isr.Protocol{
	Name:    "fresh-a-second-longer",
	Summary: "a page counts as fresh at generated_at + revalidate_seconds, and not only before",
	Breaks:  "freshness",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return lingerer{r} }),
}

type lingerer struct{ *pagecache.RecipeA }

func (lingerer) Fresh(m pagecache.Meta, now time.Time) bool {
	return pagecache.Floor(now) <= m.FreshUntil()
}

// freshAsOfRead decides on freshness once, when it reads META. If a machine stops between the decision and the answer,
// it calls a page fresh whose window ended long ago.
//
// Seen in: etcd-io/etcd issue 20418, where a paused process served reads that were no longer true.
var freshAsOfRead = isr.Protocol{
	Name:    "fresh-as-of-read",
	Summary: "a page is called fresh if it was fresh when META was read, no matter how long ago",
	Breaks:  "freshness",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return &rememberer{RecipeA: r} }),
}

type rememberer struct {
	*pagecache.RecipeA
	read time.Time // when META was last read
}

func (s *rememberer) Read(ctx context.Context, key string) (pagecache.Meta, error) {
	s.read = s.Config().Clock.Now()
	return s.RecipeA.Read(ctx, key)
}

func (s *rememberer) Fresh(m pagecache.Meta, _ time.Time) bool { return s.RecipeA.Fresh(m, s.read) }

// generatedAtLate stamps the page when it is published, not before the origin is read: the page claims to be younger
// than its data by the time of the render.
var generatedAtLate = isr.Protocol{
	Name:    "generated-at-late",
	Summary: "generated_at is the time of the publish, not the time before the data was read",
	Breaks:  "freshness",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return lateStamper{r} }),
}

type lateStamper struct{ *pagecache.RecipeA }

func (s lateStamper) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	late := s.Now() - m.GeneratedAt
	m.GeneratedAt += late
	m.TTL += late
	return s.RecipeA.Publish(ctx, l, m)
}

// refillRestartsWindow measures freshness from the time when this node first saw the page. After a restart, or on a
// node that was idle, every old page is new.
//
// Seen in: vercel/next.js issues 24806 and 24088.
var refillRestartsWindow = isr.Protocol{
	Name:    "refill-restarts-window",
	Summary: "a page counts as fresh for a whole window from the moment a node first reads it",
	Breaks:  "freshness",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return refiller{r, map[string]time.Time{}} }),
}

type refiller struct {
	*pagecache.RecipeA
	seen map[string]time.Time // by body
}

func (s refiller) Fresh(m pagecache.Meta, now time.Time) bool {
	first, known := s.seen[m.S3Key]
	if !known {
		s.seen[m.S3Key], first = now, now
	}
	return now.Before(first.Add(s.Config().Revalidate))
}

// windowOpensBeforeRender stamps the old page as new before it makes the new one, to keep others from making it too.
// When the machine dies before it is done, the old page stays, and every machine takes it for fresh.
//
// Seen in: nitrojs/nitro issue 1198, where a refresh in the background was killed with its function.
var windowOpensBeforeRender = isr.Protocol{
	Name:    "window-opens-before-render",
	Summary: "generated_at of the old page is set to now when its regeneration begins",
	Breaks:  "freshness",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return &opener{RecipeA: r} }),
}

type opener struct {
	*pagecache.RecipeA
	acquired bool // the lease was acquired just now
}

func (s *opener) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	l, err := s.RecipeA.Acquire(ctx, key)
	s.acquired = err == nil
	return l, err
}

// Read opens the window after the second look, which must still find the page stale.
func (s *opener) Read(ctx context.Context, key string) (pagecache.Meta, error) {
	m, err := s.RecipeA.Read(ctx, key)
	if !s.acquired || err != nil || s.RecipeA.Fresh(m, s.Config().Clock.Now()) {
		s.acquired = false
		return m, err
	}
	s.acquired = false
	cfg := s.Config()
	_, _ = cfg.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &cfg.Table,
		Key:                       pagecache.Key(s.PK(key), isr.SortMeta),
		UpdateExpression:          aws.String("SET generated_at = :now"),
		ConditionExpression:       aws.String("attribute_exists(pk)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":now": seconds(s.Now())},
	}) // then others may make it, too
	return m, nil
}
