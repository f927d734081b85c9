package mutant

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// retryWithoutToken sends a publish that was not answered again as a new one, is refused because its own lease is gone,
// and concludes that it has lost: it tidies up and deletes the body to which META leads by now. With the token of the
// first attempt DynamoDB would have answered with success.
//
// Seen in: delta-io/delta-rs pull request 2452, where the body was deleted while the row pointed at it.
func retryWithoutToken() isr.Protocol {
	return isr.Protocol{
		Name:    "retry-without-token",
		Summary: "a publish without an answer is sent as a new one, and when that is refused, the body is deleted",
		Breaks:  "no-dangling-pointer",
		New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return tidy{r} }),
	}
}

type tidy struct{ *pagecache.RecipeA }

func (s tidy) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	err := s.RecipeA.Publish(ctx, l, m)
	if _, answered := errors.AsType[smithy.APIError](err); err != nil && !answered && !errors.Is(err, isr.ErrLeaseLost) {
		err = s.RecipeA.Publish(ctx, l, m)
	}
	if deleter, can := s.Config().Bodies.(bodyDeleter); can && errors.Is(err, isr.ErrLeaseLost) {
		if deleteErr := deleter.DeleteBody(ctx, m.S3Key); deleteErr != nil {
			return fmt.Errorf("%w; and the body stays: %w", err, deleteErr)
		}
	}
	return err
}

// bodyDeleter is a body store from which bodies can be taken away.
type bodyDeleter interface {
	DeleteBody(ctx context.Context, name string) error
}
