package policyprotocol

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// unprotected has no lock: each request that finds the page stale makes it, and puts it without a condition. Several
// nodes make a page at once, and the slowest of them wins, with the oldest data.
//
// A cache without LOCK also breaks stale-writer, monotonic-publication and linearizable.
func unprotected() isr.Protocol {
	return isr.Protocol{
		Name:       "policy-unprotected",
		Summary:    "no lock: each request that finds the page stale makes it, and puts it without a condition",
		Breaks:     "single-flight",
		New:        pagecache.OnRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return &unlocked{r} }),
		Memoryless: true,
	}
}

type unlocked struct{ *pagecache.RecipeA }

// Acquire makes the name of the body that will be put. No row has the lease.
func (s *unlocked) Acquire(_ context.Context, key string) (pagecache.Lease, error) {
	l := s.NewLock(key, s.Config().Tokens())
	return pagecache.Lease{Key: key, Token: l.LeaseToken, ExpiresAt: l.LeaseExpiresAt}, nil
}

// Refresh implements pagecache.Store.
func (s *unlocked) Refresh(_ context.Context, l pagecache.Lease) (pagecache.Lease, error) {
	l.ExpiresAt = s.NewLock(l.Key, l.Token).LeaseExpiresAt
	return l, nil
}

// Publish implements pagecache.Store.
func (s *unlocked) Publish(ctx context.Context, _ pagecache.Lease, m pagecache.Meta) error {
	cfg := s.Config()
	_, err := cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(cfg.Table), Item: m.Item()})
	return err
}

// Release implements pagecache.Store.
func (s *unlocked) Release(context.Context, pagecache.Lease) error { return nil }
