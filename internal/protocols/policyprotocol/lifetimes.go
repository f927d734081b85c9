package policyprotocol

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// absolute lets a page live for its window, however often it is read. At the end of the window one node makes the page
// again, and the other requests wait for it.
//
// The policy is recipe A under isr.Wait: lock, second look and publish are the reference's.
var absolute = isr.Protocol{
	Name:    "policy-absolute",
	Summary: "a page is fresh for its window, and then made again while others wait",
	New: func(cfg isr.Config) (isr.Handler, error) {
		cfg.Contention = isr.Wait
		return pagecache.AsHandler(pagecache.New(cfg))
	},
	Memoryless: true,
}

// hybrid is sliding with a cap. A page that is not read for half of the promised window is stale, and so is one whose
// data is as old as the whole window, however often it is read. The age counts from generated_at, which no read
// changes.
var hybrid = isr.Protocol{
	Name: "policy-hybrid",
	Summary: "each read of a fresh page keeps it fresh for half a window more, up to a whole window after " +
		"its rendering",
	New: pagecache.OnRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
		return &slider{RecipeA: r, slide: (window(r) + 1) / 2, cap: window(r)}
	}),
	Memoryless: true,
}

// mostJitter is the largest share of the window that a page may lose.
const mostJitter = 0.2

// jitter shortens the window of each page by a random share of up to a fifth, so that pages that were made together do
// not end together. META has the shorter window, and every reader uses that.
var jitter = isr.Protocol{
	Name:    "policy-jitter",
	Summary: "each page is fresh for 0.8 to 1 of the window, at random, and then made again while others wait",
	New: func(cfg isr.Config) (isr.Handler, error) {
		cfg.Contention = isr.Wait
		return pagecache.OnRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return &jittered{r} })(cfg)
	},
}

type jittered struct{ *pagecache.RecipeA }

// Publish implements pagecache.Store. The draw is a hash of the lease's token, which is unique, and of the page.
func (s *jittered) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	sum := sha256.Sum256([]byte(l.Token + " " + m.S3Key + " " + m.PK))
	draw := float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
	whole := window(s.RecipeA)
	m.RevalidateSeconds = int64(whole) - int64(draw*mostJitter*float64(whole+1))
	return s.RecipeA.Publish(ctx, l, m)
}

// staleTolerance is how long after its window a page may be served as stale.
const staleTolerance = 30 * time.Second

// staleWhileRevalidate makes a stale page again on one node. The other requests are served the old page for as long as
// it is tolerated, and wait after that.
//
// The published pattern keeps a second copy of the value under a longer TTL, and has a lock that its holder deletes
// unconditionally. Here the tolerance is Config.Retention, after which a META row counts as gone whether TTL has
// deleted it or not, and the lock is recipe A's: no holder deletes another's lock, and no page is put without the lock.
var staleWhileRevalidate = isr.Protocol{
	Name:    "policy-swr",
	Summary: "one node makes a stale page again, and others are served the old one for 30 s after its window",
	New: func(cfg isr.Config) (isr.Handler, error) {
		cfg.Contention, cfg.Retention = isr.ServeStale, staleTolerance
		return pagecache.AsHandler(pagecache.New(cfg))
	},
	Memoryless: true,
}

// unprotected has no lock: each request that finds the page stale makes it, and puts it without a condition. Several
// nodes make a page at once, and the slowest of them wins, with the oldest data.
//
// A cache without LOCK also breaks stale-writer, monotonic-publication and linearizable.
var unprotected = isr.Protocol{
	Name:       "policy-unprotected",
	Summary:    "no lock: each request that finds the page stale makes it, and puts it without a condition",
	Breaks:     "single-flight",
	New:        pagecache.OnRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return &unlocked{r} }),
	Memoryless: true,
}

type unlocked struct{ *pagecache.RecipeA }

// Acquire makes the name of the body that will be put. No row holds the lease.
func (s *unlocked) Acquire(_ context.Context, key string) (pagecache.Lease, error) {
	l := s.NewLock(key, s.Config().Tokens())
	return pagecache.Lease{Key: key, Token: l.LeaseToken, ExpiresAt: l.LeaseExpiresAt}, nil
}

func (s *unlocked) Refresh(_ context.Context, l pagecache.Lease) (pagecache.Lease, error) {
	l.ExpiresAt = s.NewLock(l.Key, l.Token).LeaseExpiresAt
	return l, nil
}

func (s *unlocked) Publish(ctx context.Context, _ pagecache.Lease, m pagecache.Meta) error {
	cfg := s.Config()
	_, err := cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(cfg.Table), Item: m.Item()})
	return err
}

func (s *unlocked) Release(context.Context, pagecache.Lease) error { return nil }
