package policyprotocol

import (
	"context"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// sliding starts the window again with each read of a fresh page, without rendering. So a page that is read often
// enough is never made again: it is served as fresh, whatever the age of its data.
var sliding = isr.Protocol{
	Name:    "policy-sliding",
	Summary: "each read of a fresh page opens its window anew: a page that is read steadily is never made again",
	Breaks:  "freshness",
	New: pagecache.OnRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
		return &slider{RecipeA: r, slide: window(r)}
	}),
	Memoryless: true,
}

// slider is recipe A with pages that stay fresh for a time after their last read.
type slider struct {
	*pagecache.RecipeA
	slide pagecache.EpochSeconds // that time
	cap   pagecache.EpochSeconds // how old a page may become; 0 means no limit
}

// Publish opens the first window.
func (s *slider) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	m.RevalidateSeconds = int64(s.slide)
	return s.RecipeA.Publish(ctx, l, m)
}

// Read returns the row with the window that this read has written. If the row cannot be written, the old window stays,
// because another page may have replaced it.
func (s *slider) Read(ctx context.Context, key string) (pagecache.Meta, error) {
	m, err := s.RecipeA.Read(ctx, key)
	now := s.Config().Clock.Now()
	if err != nil || !s.Fresh(m, now) {
		return m, err
	}
	if longer := s.slid(m, pagecache.Floor(now)); longer.RevalidateSeconds > m.RevalidateSeconds &&
		s.extend(ctx, key, m, longer) {
		return longer, nil
	}
	return m, nil
}

// slid is the row after a read. generated_at does not change, so the row keeps the true age of its data.
func (s *slider) slid(m pagecache.Meta, now pagecache.EpochSeconds) pagecache.Meta {
	longer := m
	until := now + s.slide
	if s.cap > 0 {
		until = min(until, m.GeneratedAt+s.cap)
	} else {
		longer.TTL += until - m.FreshUntil() // under a cap, the first ttl already covers the longest window
	}
	longer.RevalidateSeconds = int64(until - m.GeneratedAt)
	return longer
}

var setWindow, ifSamePage = "SET revalidate_seconds = :longer, #ttl = :ttl",
	"s3_key = :page AND generated_at = :generated AND revalidate_seconds = :window"

// extend writes the window, and reports whether it has. A row that has changed keeps its own window: it may have
// another page, or be invalidated.
func (s *slider) extend(ctx context.Context, key string, m, longer pagecache.Meta) bool {
	cfg := s.Config()
	_, err := cfg.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(cfg.Table), Key: pagecache.Key(s.PK(key), isr.SortMeta),
		UpdateExpression: &setWindow, ConditionExpression: &ifSamePage,
		ExpressionAttributeNames: map[string]string{"#ttl": "ttl"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":page":      &types.AttributeValueMemberS{Value: m.S3Key},
			":generated": number(int64(m.GeneratedAt)), ":window": number(m.RevalidateSeconds),
			":longer": number(longer.RevalidateSeconds), ":ttl": number(int64(longer.TTL)),
		},
	})
	return err == nil
}

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
