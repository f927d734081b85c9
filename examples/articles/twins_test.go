package articles

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

const publish, lock = "locked_by = :me AND locked_until > :now", "attribute_not_exists(locked_by) OR " +
	"locked_until <= :now OR locked_by = :me"

// A twin is our cache with one condition that is wrong, or with articles that are fresh for longer.
type twin struct {
	from, to, breaks string
	fresher          time.Duration
}

var twins = map[string]twin{
	"publish by token alone":             {publish, "locked_by = :me", "expired-publish", 0},
	"publish at the end of the lock":     {publish, "locked_by = :me AND locked_until >= :now", "expired-publish", 0},
	"publish without a look at the lock": {publish, "attribute_exists(id)", "stale-writer", 0},
	"a lock that is never taken over":    {lock, "attribute_not_exists(locked_by) OR locked_by = :me", "liveness", 0},
	"a lock that is taken over at once": {lock,
		"attribute_not_exists(locked_by) OR locked_until >= :now OR locked_by = :me", "lock-theft", 0},
	"an article that is fresh for a moment longer": {publish, publish, "freshness", time.Second / 2},
}

// TestTheBrokenTwinsAreRefused: each twin is refused in the world in which the cache is proved.
func TestTheBrokenTwinsAreRefused(t *testing.T) {
	file, err := filepath.Abs("testdata/two-writers.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, twin := range twins {
		t.Run(name, func(t *testing.T) {
			proof := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTwin$") // it fails
			proof.Env = append(os.Environ(), "TWIN="+name, "WORLD="+file)
			proof.Dir = t.TempDir() // where it leaves its failure
			if out, err := proof.CombinedOutput(); err == nil || !strings.Contains(string(out), twin.breaks+": ") {
				t.Errorf("%v, want a violation of %s in\n%s", err, twin.breaks, out)
			}
		})
	}
}

func TestTwin(t *testing.T) {
	twin, is := twins[os.Getenv("TWIN")]
	if !is {
		t.Skip("TestTheBrokenTwinsAreRefused runs it")
	}
	check := property.Check{Rows: rows}
	check.Promise.Recipe = twin.breaks == "expired-publish" // else it passes: nobody is harmed
	check.Prove(t, os.Getenv("WORLD"), func(n property.Node) (isr.Handler, error) {
		n.Revalidate += twin.fresher
		n.Client = with(n.Client, twin.from, twin.to)
		return newCache(n)
	})
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
