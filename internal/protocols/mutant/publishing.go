package mutant

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// blindPublish publishes as the reference does. If its lease is lost, it puts META anyway. A writer that was paused
// past its lease overwrites the page of its successor.
//
// Seen in: awslabs/amazon-dynamodb-lock-client issue 1.
var blindPublish = isr.Protocol{
	Name:    "blind-publish",
	Summary: "a publish that is refused because its lease is lost then puts META without a condition",
	Breaks:  "stale-writer",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return blindPublisher{r} }),
}

type blindPublisher struct{ *pagecache.RecipeA }

func (s blindPublisher) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	err := s.RecipeA.Publish(ctx, l, m)
	if !errors.Is(err, isr.ErrLeaseLost) {
		return err
	}
	return putBlindly(ctx, s, m)
}

// checkThenActPublish asks whether it still holds the lease, and publishes if it does. Between the answer and the
// arrival of its put, the lease ends and another machine takes it. Looking first makes the window smaller but does not
// close it.
var checkThenActPublish = isr.Protocol{
	Name:    "check-then-act-publish",
	Summary: "LOCK is read and found to be the node's own; META is then published without a condition",
	Breaks:  "stale-writer",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return checkingPublisher{blindPublisher{r}} }),
}

type checkingPublisher struct{ blindPublisher }

func (s checkingPublisher) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	row, err := s.GetRow(ctx, l.Key, isr.SortLock)
	if err != nil {
		return err
	}
	if token, expires := leaseIn(row); token != l.Token || expires <= s.Now() {
		return isr.ErrLeaseLost
	}
	return s.blindPublisher.Publish(ctx, l, m)
}

// publishAtExpiry counts a lease as held in the second in which it is over. In that second every other machine may take
// it.
var publishAtExpiry = isr.Protocol{
	Name:    "publish-at-expiry",
	Summary: "a publish counts its lease as held while lease_expires_at >= now, one second too long",
	Breaks:  "expired-publish",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return expiryPublisher{r} }),
}

type expiryPublisher struct{ *pagecache.RecipeA }

func (s expiryPublisher) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	return publishIf(ctx, s.RecipeA, l, m, "lease_token = :token AND lease_expires_at >= :now",
		map[string]types.AttributeValue{
			":token": &types.AttributeValueMemberS{Value: l.Token}, ":now": seconds(s.Now()),
		})
}

// releaseBeforePublish gives the lease back when the page is made, and publishes after that. A waiting machine begins
// at once, finds the old page, and makes it again.
//
// Seen in: nitrojs/nitro issue 1812, where the response went out and the waiting ended before the cache was written.
var releaseBeforePublish = isr.Protocol{
	Name:    "release-before-publish",
	Summary: "the lease is given back first, and the page published after it",
	Breaks:  "stale-writer",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return earlyReleaser{r} }),
}

type earlyReleaser struct{ *pagecache.RecipeA }

func (s earlyReleaser) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	if err := s.Release(ctx, l); err != nil {
		return err
	}
	return putBlindly(ctx, s, m)
}

// twoTransactions publishes under the lease and gives it back afterwards, in a separate request. In between all
// machines see the new page and a lock that says that it is being made. A machine that dies there leaves the lock
// behind.
//
// Seen in: tristanls/dynamodb-lock-client issue 21, where a release and a commit were two requests.
var twoTransactions = isr.Protocol{
	Name:    "two-transactions",
	Summary: "the publish only checks LOCK, which a second request then deletes",
	Breaks:  "atomic-publish",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return twoStepPublisher{r} }),
}

type twoStepPublisher struct{ *pagecache.RecipeA }

func (s twoStepPublisher) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	if err := publishChecked(ctx, s.RecipeA, l, m); err != nil {
		return err
	}
	_ = s.Release(ctx, l)
	return nil
}

// refusedPublishBelieved reports that the request is done once it has made the page, although the store refused the
// publish: the lease was over. If the client looks again, it finds the previous page.
var refusedPublishBelieved = isr.Protocol{
	Name:    "refused-publish-believed",
	Summary: "a page that was asked for by name counts as made once it is rendered, although its publish is refused",
	Breaks:  "read-your-writes",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return optimist{r} }),
}

type optimist struct{ *pagecache.RecipeA }

func (s optimist) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	err := s.RecipeA.Publish(ctx, l, m)
	if l.Request.ID != "" && errors.Is(err, isr.ErrLeaseLost) {
		return nil
	}
	return err
}

// lastPagePublishedAgain publishes its last page again when it cannot make a new one, and calls it new. Serving an old
// page is a policy; making it young is a lie that the next tier believes.
//
// Seen in: opennextjs/opennextjs-cloudflare issue 1281.
var lastPagePublishedAgain = isr.Protocol{
	Name:    "last-page-published-again",
	Summary: "when the origin fails, the last page is published again as a new one",
	Breaks:  "freshness",
	New: func(cfg isr.Config) (isr.Handler, error) {
		if cfg.Render != nil {
			cfg.Render = orLast(cfg.Render)
		}
		return onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return r })(cfg)
	},
}

func orLast(render isr.Renderer) isr.Renderer {
	last := map[string][]byte{}
	return func(ctx context.Context, key string, keepAlive func(context.Context) error) ([]byte, error) {
		body, err := render(ctx, key, keepAlive)
		if err != nil && last[key] != nil {
			return last[key], nil
		}
		if err == nil {
			last[key] = body
		}
		return body, err
	}
}

// oldStockPublished publishes the first page that this node made, again and again, under its own lease and with a true
// time. It is like an artefact that is kept in a folder and goes out with every deployment.
var oldStockPublished = isr.Protocol{
	Name:    "old-stock-published",
	Summary: "a node publishes the first page that it made every time",
	Breaks:  "monotonic-publication",
	New: onRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
		return stockist{r, map[string]pagecache.Meta{}}
	}),
}

type stockist struct {
	*pagecache.RecipeA
	first map[string]pagecache.Meta // by key
}

func (s stockist) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	if _, made := s.first[l.Key]; !made {
		s.first[l.Key] = m
	}
	return s.RecipeA.Publish(ctx, l, s.first[l.Key])
}

// ownCommitAsConflict does not look at the token of the row that refused it. If the answer to the put is lost, the SDK
// sends the put again, and the put finds its own commit. Then no machine knows that it holds the lock, and the page has
// to wait until the lease ends.
//
// Seen in: aws/aws-sdk-java issue 2667, cirello-io/dynamolock issue 280.
var ownCommitAsConflict = isr.Protocol{
	Name:    "own-commit-as-conflict",
	Summary: "an acquire that meets its own row takes it for another node's",
	Breaks:  "liveness",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return stranger{r} }),
}

type stranger struct{ *pagecache.RecipeA }

func (s stranger) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	cfg := s.Config()
	lock := s.NewLock(key, cfg.Tokens())
	_, err := cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &cfg.Table, Item: lock.Item(), ConditionExpression: aws.String(free),
		ExpressionAttributeValues: map[string]types.AttributeValue{":now": seconds(s.Now())},
	})
	if _, refused := pagecache.Refused(err); refused {
		return pagecache.Lease{}, pagecache.ErrHeld
	}
	if err != nil {
		return pagecache.Lease{}, err
	}
	return pagecache.Lease{Key: key, Token: lock.LeaseToken, ExpiresAt: lock.LeaseExpiresAt}, nil
}

// retryWithoutToken sends an unanswered publish again as a new one. That is refused because its own lease is gone, so
// the node concludes that it has lost: it tidies up, and deletes the body to which META now leads. With the token of
// the first attempt DynamoDB would have answered with success.
//
// Seen in: delta-io/delta-rs pull request 2452, where the body was deleted while the row pointed at it.
var retryWithoutToken = isr.Protocol{
	Name:    "retry-without-token",
	Summary: "a publish without an answer is sent as a new one, and when that is refused, the body is deleted",
	Breaks:  "no-dangling-pointer",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return tidy{r} }),
}

type tidy struct{ *pagecache.RecipeA }

func (s tidy) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	err := s.RecipeA.Publish(ctx, l, m)
	if _, answered := errors.AsType[smithy.APIError](err); err != nil && !answered &&
		!errors.Is(err, isr.ErrLeaseLost) {
		err = s.RecipeA.Publish(ctx, l, m)
	}
	if deleter, can := s.Config().Bodies.(bodyDeleter); can && errors.Is(err, isr.ErrLeaseLost) {
		if deleteErr := deleter.DeleteBody(ctx, m.S3Key); deleteErr != nil {
			return fmt.Errorf("%w; and the body stays: %w", err, deleteErr)
		}
	}
	return err
}

// bodyDeleter is a body store that can delete bodies.
type bodyDeleter interface {
	DeleteBody(ctx context.Context, name string) error
}

// recipe is the part of its store that a publish uses.
type recipe interface {
	Config() isr.Config
	Now() pagecache.EpochSeconds
	PK(key string) string
}

// transact sends the actions of a publish in one transaction.
func transact(ctx context.Context, r recipe, actions ...types.TransactWriteItem) error {
	_, err := r.Config().Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: actions})
	if _, refused := pagecache.Refused(err); refused {
		return isr.ErrLeaseLost
	}
	return err
}

// publishIf is recipe A's publish with another condition on LOCK.
func publishIf(ctx context.Context, r *pagecache.RecipeA, l pagecache.Lease, m pagecache.Meta, condition string,
	values map[string]types.AttributeValue) error {
	return transact(ctx, r, putMeta(r, m), deleteLock(r, l, condition, values))
}

// publishChecked is recipe A's publish, except that LOCK is only checked and stays.
func publishChecked(ctx context.Context, r *pagecache.RecipeA, l pagecache.Lease, m pagecache.Meta) error {
	cfg := r.Config()
	return transact(ctx, r, putMeta(r, m), types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: &cfg.Table, Key: pagecache.Key(r.PK(l.Key), isr.SortLock),
		ConditionExpression: aws.String(ownAndHeld), ExpressionAttributeValues: ownAndHeldValues(r, l),
	}})
}

// putBlindly puts META without a condition on META or on the lease.
func putBlindly(ctx context.Context, r recipe, m pagecache.Meta) error {
	cfg := r.Config()
	_, err := cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &cfg.Table, Item: m.Item()})
	return err
}

// These are the actions of the references' publishes, and their condition on LOCK.

const ownAndHeld = "lease_token = :token AND lease_expires_at > :now"

func ownAndHeldValues(r recipe, l pagecache.Lease) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		":token": &types.AttributeValueMemberS{Value: l.Token}, ":now": seconds(r.Now()),
	}
}

func putMeta(r recipe, m pagecache.Meta) types.TransactWriteItem {
	cfg := r.Config()
	return types.TransactWriteItem{Put: &types.Put{TableName: &cfg.Table, Item: m.Item()}}
}

func putVersion(r recipe, v pagecache.Version) types.TransactWriteItem {
	cfg := r.Config()
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &cfg.Table, Item: v.Item(), ConditionExpression: aws.String("attribute_not_exists(pk)"),
	}}
}

func pointTo(r *pagecache.RecipeB, l pagecache.Lease, m pagecache.Meta) types.TransactWriteItem {
	return types.TransactWriteItem{Update: r.PointTo(l.Key, m, nil, nil)}
}

func deleteLock(
	r recipe, l pagecache.Lease, condition string, values map[string]types.AttributeValue,
) types.TransactWriteItem {
	cfg := r.Config()
	return types.TransactWriteItem{Delete: &types.Delete{
		TableName: &cfg.Table, Key: pagecache.Key(r.PK(l.Key), isr.SortLock),
		ConditionExpression: &condition, ExpressionAttributeValues: values,
	}}
}

func giveBack(r recipe, l pagecache.Lease) types.TransactWriteItem {
	return deleteLock(r, l, ownAndHeld, ownAndHeldValues(r, l))
}
