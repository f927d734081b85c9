package mutant

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// publishAtExpiry takes a lease for held in the second in which it is over. In that second every other machine may take
// it.
func publishAtExpiry() isr.Protocol {
	return isr.Protocol{
		Name:    "publish-at-expiry",
		Summary: "a publish counts its lease as held while lease_expires_at >= now, one second too long",
		Breaks:  "stale-writer",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return expiryPublisher{r} }),
	}
}

type expiryPublisher struct{ *pagecache.RecipeA }

func (s expiryPublisher) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	return publishIf(ctx, s.RecipeA, l, m, "lease_token = :token AND lease_expires_at >= :now", map[string]types.AttributeValue{
		":token": &types.AttributeValueMemberS{Value: l.Token}, ":now": seconds(s.Now()),
	})
}
