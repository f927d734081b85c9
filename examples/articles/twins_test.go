package articles

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// A twin is our cache with one condition that is wrong, or with articles that are fresh for longer. Each is refused in
// the world in which the cache is proved.
func TestTheBrokenTwinsAreRefused(t *testing.T) {
	const publish, lock = "locked_by = :me AND locked_until > :now", "attribute_not_exists(locked_by) OR " +
		"locked_until <= :now OR locked_by = :me"
	for _, twin := range []struct {
		name, from, to, breaks string
		fresher                time.Duration
	}{
		{"publish by token alone", publish, "locked_by = :me", "stale-writer", 0},
		{"publish at the end of the lock", publish, "locked_by = :me AND locked_until >= :now", "stale-writer", 0},
		{"publish without a look at the lock", publish, "attribute_exists(id)", "stale-writer", 0},
		{"a lock that is never taken over", lock, "attribute_not_exists(locked_by) OR locked_by = :me", "liveness", 0},
		{"a lock that is taken over at once", lock,
			"attribute_not_exists(locked_by) OR locked_until >= :now OR locked_by = :me", "lock-theft", 0},
		{"an article that is fresh for a moment longer", publish, publish, "freshness", time.Second / 2},
	} {
		t.Run(twin.name, func(t *testing.T) {
			t.Parallel()
			s, err := scenario.Load("testdata/two-writers.yaml")
			if err != nil {
				t.Fatal(err)
			}
			s.Rows = rows
			broken := func(cfg isr.Config) (isr.Handler, error) {
				cfg.Revalidate += twin.fresher
				return newCache(property.Node{
					Config: cfg, Client: with(cfg.Client.(*dynamodb.Client), twin.from, twin.to),
				})
			}
			proof, err := campaign.Prove{
				Scenario: s, Protocol: isr.Protocol{Name: "twin", New: broken}, Options: scenario.Options{SDK: true},
			}.Run(t.Context())
			switch {
			case err != nil:
				t.Fatal(err)
			case proof.Failure == nil:
				t.Errorf("%s, want a violation of %s", proof.Summary(), twin.breaks)
			case !slices.Contains(proof.Failure.Broken, twin.breaks):
				t.Errorf("it violates %v, want %s", proof.Failure.Broken, twin.breaks)
			}
		})
	}
}

// with is the client with another condition.
func with(client *dynamodb.Client, from, to string) *dynamodb.Client {
	swap := middleware.InitializeMiddlewareFunc("twin", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		if update, is := in.Parameters.(*dynamodb.UpdateItemInput); is &&
			aws.ToString(update.ConditionExpression) == from {
			changed := *update
			changed.ConditionExpression = &to
			changed.ExpressionAttributeValues = map[string]types.AttributeValue{}
			for name, value := range update.ExpressionAttributeValues {
				// DynamoDB refuses values that are not used
				if strings.Contains(to+aws.ToString(update.UpdateExpression), name) {
					changed.ExpressionAttributeValues[name] = value
				}
			}
			in.Parameters = &changed
		}
		return next.HandleInitialize(ctx, in)
	})
	return dynamodb.New(client.Options(), func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions,
			func(stack *middleware.Stack) error { return stack.Initialize.Add(swap, middleware.Before) })
	})
}
