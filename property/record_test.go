package property_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// records is an idempotency layer with a row for each key. At first the row is in progress until a certain time, and
// only its owner may write the result. Then the row is completed, until it may be forgotten. docs/CHECK.md explains the
// recipe. The field bug is a key of bugsOfRecords.
type records struct {
	property.Machine
	bug string
}

func newRecords(bug string) func(property.Machine) (property.Once, error) {
	return func(n property.Machine) (property.Once, error) { return &records{n, bug}, nil }
}

// The status of a row.
const (
	inProgress = "IN_PROGRESS"
	completed  = "COMPLETED"
)

var errTryAgain = errors.New("another call is in progress: try again")

// Do implements property.Once.
func (r *records) Do(
	ctx context.Context, key, payload string, effect func(context.Context) (string, error),
) (string, error) {
	me := r.Tokens()
	before, err := r.begin(ctx, key, payload, me)
	if err != nil || before != nil {
		result, err := r.of(before, payload, err)
		if err == nil && r.inBatches() {
			result, err = r.find(ctx, key, text(before["owner"]))
		}
		if r.bug == "no result" {
			result = ""
		}
		return result, err
	}
	result, err := effect(ctx)
	if err != nil {
		if r.bug == "completes what failed" {
			return r.complete(ctx, key, payload, me, "")
		}
		r.giveUp(ctx, key, me)
		return "", err
	}
	if r.bug == "runs it again" { // to make sure
		if again, err := effect(ctx); err == nil {
			result = again
		}
	}
	if err := r.write(ctx, key, me, result); err != nil {
		return "", err // the record expires by itself
	}
	result, err = r.complete(ctx, key, payload, me, result)
	if _, conflict := errors.AsType[*types.TransactionConflictException](err); conflict &&
		r.bug == "gives up after a conflict" {
		r.giveUp(ctx, key, me) // as if the row belonged to another call
	}
	if err != nil && r.bug == "gives up what happened" {
		r.giveUp(ctx, key, me)
	}
	return result, err
}

// inBatches reports whether the result is in a separate row, written with others before the call is completed.
func (r *records) inBatches() bool { return r.bug == "in batches" || r.bug == "in part" }

// write writes the separate rows of a result, if there are any.
func (r *records) write(ctx context.Context, key, me, result string) error {
	left := map[string][]types.WriteRequest{}
	for _, sort := range []string{"LOG#", "RESULT#"} {
		row := r.row(key)
		row["sk"], row["result"] = str(sort+me), str(result)
		left[r.Table] = append(left[r.Table], types.WriteRequest{PutRequest: &types.PutRequest{Item: row}})
	}
	for r.inBatches() && len(left) > 0 {
		out, err := r.Client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: left})
		if err != nil {
			return err
		}
		if left = out.UnprocessedItems; r.bug == "in part" {
			break
		}
	}
	return nil
}

// find finds the result of an owner's call in its separate row.
func (r *records) find(ctx context.Context, key, owner string) (string, error) {
	row := r.row(key)
	row["sk"] = str("RESULT#" + owner)
	out, err := r.Client.GetItem(ctx,
		&dynamodb.GetItemInput{TableName: &r.Table, Key: row, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return "", err
	}
	return text(out.Item["result"]), nil
}

// of returns the answer to a call that has found a row of another call.
func (r *records) of(row map[string]types.AttributeValue, payload string, err error) (string, error) {
	switch {
	case err != nil:
		return "", err
	case row == nil:
		return "", errTryAgain
	case text(row["payload"]) != payload && r.bug != "any payload":
		return "", isr.ErrOtherInputs
	case text(row["status"]) == completed:
		return text(row["result"]), nil
	default:
		return "", errTryAgain
	}
}

// begin takes the key. If a row of the key still counts, it returns that row instead.
func (r *records) begin(
	ctx context.Context, key, payload, me string,
) (before map[string]types.AttributeValue, err error) {
	now := r.Clock.Now()
	kept := r.kept(now)
	ttl := kept.Add(time.Second - time.Nanosecond).Unix() // rounded up
	if r.bug == "ttl of a call in progress" {
		ttl = now.Add(r.Lease).Unix()
	}
	in := &dynamodb.PutItemInput{
		TableName: &r.Table,
		Item: map[string]types.AttributeValue{
			"pk": str(key), "sk": str("ONCE"), "owner": str(me), "status": str(inProgress), "payload": str(payload),
			"until": inMillis(now.Add(r.Lease)), "kept": inMillis(kept), "ttl": num(ttl),
		},
		ConditionExpression: aws.String(
			"attribute_not_exists(pk) OR kept <= :now OR (#status = :progress AND #until <= :now)",
		),
		ExpressionAttributeNames: map[string]string{"#status": "status", "#until": "until"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":now": inMillis(now), ":progress": str(inProgress),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	switch r.bug {
	case "no condition":
		in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = nil, nil, nil
	case "never taken over":
		in.ConditionExpression = aws.String("attribute_not_exists(pk) OR kept <= :now OR (#status = :progress AND " +
			"#until <= :now AND attribute_exists(nothing))")
	case "taken over early":
		in.ExpressionAttributeValues[":now"] = inMillis(now.Add(time.Second))
	case "looks first":
		out, err := r.Client.GetItem(ctx,
			&dynamodb.GetItemInput{TableName: &r.Table, Key: r.row(key), ConsistentRead: aws.Bool(true)})
		if err != nil {
			return nil, err
		}
		if text(out.Item["status"]) == completed {
			return out.Item, nil
		}
		in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = nil, nil, nil
	}
	_, err = r.Client.PutItem(ctx, in)
	row, refused := conditionMet(err)
	if !refused {
		return nil, err
	}
	if text(row["owner"]) == me && r.bug != "own record" {
		return nil, nil // the row is this call's: the answer to its put was lost
	}
	// This is no bug: until the replica shows the call as completed, the call counts as in progress.
	if r.bug == "looks at a replica" {
		seen, err := r.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &r.Table, Key: r.row(key)})
		if err != nil || text(seen.Item["owner"]) != text(row["owner"]) {
			return nil, cmp.Or(err, errTryAgain)
		}
		return seen.Item, nil
	}
	return row, nil
}

// kept is the time until which a result is kept.
func (r *records) kept(now time.Time) time.Time {
	if r.bug == "forgets early" {
		return now.Add(r.Retention / 2)
	}
	return now.Add(r.Retention)
}

// complete writes the result, if this call is still the call in progress. Otherwise it returns the result of the call
// that has replaced it.
func (r *records) complete(ctx context.Context, key, payload, me, result string) (string, error) {
	kept := r.kept(r.Clock.Now())
	in := &dynamodb.UpdateItemInput{
		TableName: &r.Table, Key: r.row(key),
		UpdateExpression: aws.String(
			"SET #status = :completed, #result = :result, kept = :kept, #ttl = :ttl, #owner = :me, payload = :payload",
		),
		ConditionExpression: aws.String("#owner = :me AND #status = :progress"),
		ExpressionAttributeNames: map[string]string{
			"#status": "status", "#result": "result", "#ttl": "ttl", "#owner": "owner",
		},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":completed": str(completed), ":progress": str(inProgress), ":me": str(me), ":result": str(result),
			":payload": str(payload), ":kept": inMillis(kept),
			":ttl": num(kept.Add(time.Second - time.Nanosecond).Unix()),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if r.bug == "completes blindly" {
		in.ConditionExpression = nil
		delete(in.ExpressionAttributeValues, ":progress")
	}
	_, err := r.Client.UpdateItem(ctx, in)
	row, refused := conditionMet(err)
	if !refused {
		return result, err
	}
	return r.of(row, payload, nil) // if the answer to its own update was lost, the row has this call's result
}

// giveUp lets others make the call, because the effect has not happened. An error does no harm: the row expires by
// itself.
func (r *records) giveUp(ctx context.Context, key, me string) {
	in := &dynamodb.DeleteItemInput{
		TableName: &r.Table, Key: r.row(key), ConditionExpression: aws.String("#owner = :me AND #status = :progress"),
		ExpressionAttributeNames:  map[string]string{"#owner": "owner", "#status": "status"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":me": str(me), ":progress": str(inProgress)},
	}
	if r.bug == "gives up anyone's" {
		in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = nil, nil, nil
	}
	_, _ = r.Client.DeleteItem(ctx, in)
}

func (r *records) row(key string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": str(key), "sk": str("ONCE")}
}

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func num(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
func inMillis(t time.Time) types.AttributeValue { return num(t.UnixMilli()) }

func text(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// conditionMet reports whether an error comes from a failed condition, and returns the row for which it failed.
func conditionMet(err error) (map[string]types.AttributeValue, bool) {
	if refused, is := errors.AsType[*types.ConditionalCheckFailedException](err); is {
		return refused.Item, true
	}
	return nil, false
}

// bugsOfRecords are the bugs. Each must violate at least one of the invariants beside it.
var bugsOfRecords = map[string]string{
	"gives up anyone's":         "effect-once",
	"gives up what happened":    "effect-once",
	"gives up after a conflict": "effect-once",
	"runs it again":             "effect-once",
	"no condition":              "effect-once same-result",
	"looks first":               "effect-once same-result",
	"taken over early":          "effect-once",
	"forgets early":             "effect-once same-result",
	"ttl of a call in progress": "effect-once free-call call-liveness",
	"completes blindly":         "same-result",
	"completes what failed":     "same-result",
	"no result":                 "same-result",
	"any payload":               "same-payload",
	"own record":                "free-call",
	"never taken over":          "call-liveness free-call",
	"in part":                   "same-result",
}

// recordsCheck is the check that all these tests use.
var recordsCheck = property.OnceCheck{Payload: true, TTL: "ttl"}

// TestOncePasses: a correct layer passes.
func TestOncePasses(t *testing.T) {
	effort.OneAtATime(t)
	t.Parallel()
	c := recordsCheck
	c.Schedules = effort.Fewer(5, 2)
	all := []string{"", "looks at a replica", "in batches"}
	for _, way := range effort.Quick(all, all[:1]) {
		c.Run(t, newRecords(way))
	}
}

// twofold is a layer that makes each effect happen twice at the same time, and returns the second result.
type twofold struct{ property.Once }

func (o twofold) Do(
	ctx context.Context, key, payload string, effect func(context.Context) (string, error),
) (string, error) {
	return o.Once.Do(ctx, key, payload, func(ctx context.Context) (string, error) {
		var results [2]string
		var of errgroup.Group
		for i := range results {
			of.Go(func() (err error) {
				results[i], err = effect(ctx)
				return err
			})
		}
		err := of.Wait()
		return max(results[0], results[1]), err
	})
}

// TestAnEffectThatHappensTwiceAtOnceIsFound: a call that begins its effect again while it is under way is at fault,
// whatever its caller is told.
func TestAnEffectThatHappensTwiceAtOnceIsFound(t *testing.T) {
	effort.OneAtATime(t)
	c := runChild(t, t.TempDir(), "once: at once", []string{"-rapid.seed=1", "-rapid.shrinktime=0s"})
	c.wantFailure(t, "effect-once: ", "which began it again while it was under way")
}

// TestBugsOfCallsAreFound: a check with default settings finds each bug, whatever rapid's seed.
func TestBugsOfCallsAreFound(t *testing.T) {
	effort.Long(t)
	seeds := effort.Fewer(2, 1)
	for _, bug := range slices.Sorted(maps.Keys(bugsOfRecords)) {
		t.Run(bug, func(t *testing.T) {
			if bug == "no condition" || bug == "looks first" { // TestProveRefutes finds the one, and thereby the other
				effort.Nightly(t)
			}
			t.Parallel()
			first := 1
			switch bug { // a seed that finds the bug soon
			case "ttl of a call in progress":
				first = 6
			case "gives up after a conflict":
				first = 10
			}
			for seed := first; seed < first+seeds; seed++ {
				c := runChild(t, t.TempDir(), "once: "+bug,
					[]string{fmt.Sprintf("-rapid.seed=%d", seed), "-rapid.shrinktime=0s"})
				c.wantFailure(t, "violated: TestChild under calls-under-test", "scenario: "+failFile, "replay: ")
				if !slices.ContainsFunc(strings.Fields(bugsOfRecords[bug]),
					func(inv string) bool { return strings.Contains(c.output, inv+": ") }) {
					t.Errorf("seed %d: none of %q is said to be violated:\n%s", seed, bugsOfRecords[bug], c.output)
				}
			}
		})
	}
}

// Under go test -artifacts, a failure leaves its scenario and its record among the artifacts, and attributes name its
// seed and its invariant. This holds both when it is found and when a test begins with it.
func TestArtifacts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 2 {
		c := runChild(t, dir, "blind-release", []string{"-rapid.seed=1", "-rapid.shrinktime=0s", "-test.artifacts"})
		c.wantFailure(t, "=== ATTR  TestChild isrsim.seed ", "=== ATTR  TestChild isrsim.invariant lock-theft\n",
			"artifacts: "+filepath.Join(dir, "_artifacts"))
		_, rest, _ := strings.Cut(c.output, "artifacts: ")
		to, _, _ := strings.Cut(rest, "\n")
		for ending, text := range map[string]string{".yaml": "violates: lock-theft", ".json": `"lock-theft"`} {
			left, err := os.ReadFile(filepath.Join(to, "TestChild"+ending))
			if err != nil || !strings.Contains(string(left), text) {
				t.Errorf("TestChild%s has no %s (%v):\n%s", ending, text, err, left)
			}
		}
		must.OK(t, os.RemoveAll(to))
	}
}
