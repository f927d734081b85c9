package mutant

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// reentrantByOwner lets a machine have the lock that it has already, by its name. After a crash it takes the lock of
// its former life, whose last requests may still be under way. A name tells the machine, and not its attempt.
func reentrantByOwner() isr.Protocol {
	return isr.Protocol{
		Name:    "reentrant-by-owner",
		Summary: "LOCK names its owner, and a node of that name acquires it again while it is held",
		Breaks:  "lock-theft",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return reentrantAcquirer{r} }),
	}
}

type reentrantAcquirer struct{ *pagecache.RecipeA }

func (s reentrantAcquirer) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	lock := s.NewLock(key, s.Config().Tokens())
	owner := &types.AttributeValueMemberS{Value: ownerOf(lock.LeaseToken)}
	row := lock.Item()
	row["owner_name"] = owner
	return acquireIf(ctx, s.RecipeA, key, row, free+" OR owner_name = :owner", map[string]types.AttributeValue{
		":now": seconds(s.Now()), ":owner": owner,
	})
}

// ownerOf returns the machine that made the token: tokens of simulated nodes begin with its name, as in alice-1 and,
// after a restart, alice.2-1.
func ownerOf(token string) string {
	if end := strings.IndexAny(token, ".-"); end >= 0 {
		return token[:end]
	}
	return token
}
