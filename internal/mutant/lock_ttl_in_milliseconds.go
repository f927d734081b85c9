package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// lockTTLInMilliseconds writes the ttl of LOCK as milliseconds since the epoch, a date some fifty thousand years from
// now. Locks of machines that died stay for ever.
//
// Seen in: chiradeep/dyndb-mutex issue 13.
func lockTTLInMilliseconds() isr.Protocol {
	return isr.Protocol{
		Name:    "lock-ttl-in-milliseconds",
		Summary: "the ttl of LOCK is in milliseconds, so TTL never deletes it",
		Breaks:  "ttl-well-formed",
		New: onRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
			return ttlMangler{r, func(l pagecache.Lock) pagecache.EpochSeconds { return l.TTL * 1000 }}
		}),
	}
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
