package mutant

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// lockTTLInMilliseconds writes the ttl of LOCK as milliseconds since the epoch, a date some fifty thousand years ahead.
// Locks of machines that died stay for ever.
//
// Seen in: chiradeep/dyndb-mutex issue 13.
var lockTTLInMilliseconds = isr.Protocol{
	Name:    "lock-ttl-in-milliseconds",
	Summary: "the ttl of LOCK is in milliseconds, so TTL never deletes it",
	Breaks:  "ttl-well-formed",
	New: onRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
		return ttlMangler{r, func(l pagecache.Lock) pagecache.EpochSeconds { return l.TTL * 1000 }}
	}),
}

// ttlMangler acquires with another ttl in LOCK.
type ttlMangler struct {
	*pagecache.RecipeA
	ttl func(pagecache.Lock) pagecache.EpochSeconds
}

func (s ttlMangler) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	lock := s.NewLock(key, s.Config().Tokens())
	lock.TTL = s.ttl(lock)
	return acquireIf(ctx, s.RecipeA, key, lock.Item(), free, map[string]types.AttributeValue{":now": seconds(s.Now())})
}

// lockTTLTooShort lets TTL collect the lock from the moment it is taken. Usually TTL is days late, and the bug does not
// show. When TTL is not late, the holder has lost its lock.
//
// Seen in: delta-io/delta issue 1410, where a row went while its writer still relied on it.
var lockTTLTooShort = isr.Protocol{
	Name:    "lock-ttl-too-short",
	Summary: "TTL may delete LOCK while its lease is held",
	Breaks:  "ttl-well-formed",
	New: onRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
		return ttlMangler{r, func(l pagecache.Lock) pagecache.EpochSeconds {
			return l.LeaseExpiresAt - pagecache.EpochSeconds(r.Config().Lease/time.Second)
		}}
	}),
}

// metaTTLTooShort lets TTL collect the page's row half way through its freshness: rows that go early do as much harm as
// rows that stay too long.
var metaTTLTooShort = isr.Protocol{
	Name:    "meta-ttl-too-short",
	Summary: "TTL may delete META while the page is fresh",
	Breaks:  "ttl-well-formed",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return hastyCollector{r} }),
}

type hastyCollector struct{ *pagecache.RecipeA }

func (s hastyCollector) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	m.TTL = m.GeneratedAt + pagecache.EpochSeconds(m.RevalidateSeconds/2)
	return s.RecipeA.Publish(ctx, l, m)
}

// versionTTLTooShort lets TTL collect a version a second after it went stale, but keeps the pointer to it as long as
// pages are kept: META leads to a row that is gone.
var versionTTLTooShort = isr.Protocol{
	Name:    "version-ttl-too-short",
	Summary: "TTL may delete a version while META still leads to it",
	Breaks:  "no-dangling-pointer",
	New:     onRecipeB(func(r *pagecache.RecipeB) pagecache.Store { return versionCollector{r} }),
}

type versionCollector struct{ *pagecache.RecipeB }

func (s versionCollector) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	v := s.NewVersion(l, m)
	m.CurrentSK = v.SK
	v.TTL = m.FreshUntil() + 1
	return transact(ctx, s, putVersion(s, v), pointTo(s.RecipeB, l, m), giveBack(s.RecipeB, l))
}

// presenceAsKnowledge treats a row that TTL may delete at any moment like any other row, and a missing row as one that
// never existed. Its answers depend on when DynamoDB cleans up.
var presenceAsKnowledge = isr.Protocol{
	Name:    "presence-as-knowledge",
	Summary: "a row past its ttl is used for as long as it is there",
	Breaks:  "ttl-is-gc",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return believer{r} }),
}

type believer struct{ *pagecache.RecipeA }

func (s believer) Read(ctx context.Context, key string) (pagecache.Meta, error) {
	row, err := s.GetRow(ctx, key, isr.SortMeta)
	if err != nil {
		return pagecache.Meta{}, err
	}
	if row == nil {
		return pagecache.Meta{}, isr.ErrMiss
	}
	return pagecache.ParseMeta(row)
}

// freshnessByTTL takes a row for fresh until TTL may delete it. ttl is a limit for garbage collection, hours or days
// after the page went stale.
var freshnessByTTL = isr.Protocol{
	Name:    "freshness-by-ttl",
	Summary: "a page counts as fresh until its ttl, not until generated_at + revalidate_seconds",
	Breaks:  "freshness",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return ttlReader{r} }),
}

type ttlReader struct{ *pagecache.RecipeA }

func (ttlReader) Fresh(m pagecache.Meta, now time.Time) bool { return pagecache.Floor(now) < m.TTL }
