// Package articles is a cache with names of its own: one row an article, with the
// lock in the same row, and times in milliseconds. It knows nothing of isr-sim.
// Its test says what the rows mean, and checks it.
package articles

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Cache serves articles that are written again, by one machine at a time, when
// they are older than FreshFor.
type Cache struct {
	DB       *dynamodb.Client
	Table    string // keyed by id
	Now      func() time.Time
	Sleep    func(time.Duration)
	NewToken func() string
	Write    func(ctx context.Context, slug string) (html string, err error)
	Lock     time.Duration // how long a lock is held
	FreshFor time.Duration
}

// Article is an answer.
type Article struct {
	HTML  string
	Fresh bool // no older than FreshFor

	updatedAt time.Time // when its data was read
}

// looks is the number of times that a request looks again, a second later
// each, if it finds no article and no lock to take.
const looks = 30

// Article returns an article: the one in the table while it is fresh, else a new
// one, or the old one while another machine writes.
func (c *Cache) Article(ctx context.Context, slug string) (Article, error) {
	for range looks {
		out, err := c.DB.GetItem(ctx,
			&dynamodb.GetItemInput{TableName: &c.Table, Key: key(slug), ConsistentRead: aws.Bool(true)})
		if err != nil {
			return Article{}, err
		}
		article, found := c.read(out.Item)
		if article.Fresh {
			return article, nil
		}
		me := c.NewToken()
		row, err := c.lock(ctx, slug, me)
		var held *types.ConditionalCheckFailedException
		switch {
		case err == nil:
			return c.renew(ctx, slug, me, row)
		case !errors.As(err, &held):
			return Article{}, err
		case found:
			article.Fresh = c.fresh(article.updatedAt)
			return article, nil
		}
		c.Sleep(time.Second)
	}
	return Article{}, errors.New("articles: another machine writes " + slug + " and does not finish")
}

// renew writes an article under its lock. row is the article as it was when the lock was taken: another machine may
// have been faster.
func (c *Cache) renew(ctx context.Context, slug, me string, row map[string]types.AttributeValue) (Article, error) {
	if article, _ := c.read(row); article.Fresh {
		c.unlock(ctx, slug, me)
		article.Fresh = c.fresh(article.updatedAt)
		return article, nil
	}
	updatedAt := c.Now() // before the data is read
	html, err := c.Write(ctx, slug)
	if err == nil {
		err = c.publish(ctx, slug, me, html, updatedAt)
	}
	if err != nil {
		c.unlock(ctx, slug, me)
		return Article{}, err
	}
	return Article{HTML: html, Fresh: c.fresh(updatedAt), updatedAt: updatedAt}, nil
}

// lock takes the lock of an article, and returns its row.
func (c *Cache) lock(ctx context.Context, slug, me string) (map[string]types.AttributeValue, error) {
	now := c.Now()
	out, err := c.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &c.Table, Key: key(slug), ReturnValues: types.ReturnValueAllNew,
		UpdateExpression: aws.String("SET locked_by = :me, locked_until = :until"),
		// The SDK may send the request again after it took effect: then the lock is ours already.
		ConditionExpression: aws.String("attribute_not_exists(locked_by) OR locked_until <= :now OR locked_by = :me"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":me": text(me), ":until": millis(now.Add(c.Lock)), ":now": millis(now),
		},
	})
	if err != nil {
		return nil, err
	}
	return out.Attributes, nil
}

// publish writes the article and gives the lock back, if it is still ours.
func (c *Cache) publish(ctx context.Context, slug, me, html string, updatedAt time.Time) error {
	_, err := c.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &c.Table, Key: key(slug),
		UpdateExpression:    aws.String("SET html = :html, updated_at = :at REMOVE locked_by, locked_until"),
		ConditionExpression: aws.String("locked_by = :me AND locked_until > :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":html": text(html), ":at": millis(updatedAt), ":me": text(me), ":now": millis(c.Now()),
		},
	})
	return err
}

// unlock gives the lock back early. If it fails, the lock ends by itself.
func (c *Cache) unlock(ctx context.Context, slug, me string) {
	_, _ = c.DB.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &c.Table, Key: key(slug), UpdateExpression: aws.String("REMOVE locked_by, locked_until"),
		ConditionExpression:       aws.String("locked_by = :me"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":me": text(me)},
	})
}

// read returns the article in a row, and whether there is one.
func (c *Cache) read(row map[string]types.AttributeValue) (Article, bool) {
	html, isText := row["html"].(*types.AttributeValueMemberS)
	at, isNumber := row["updated_at"].(*types.AttributeValueMemberN)
	if !isText || !isNumber {
		return Article{}, false
	}
	ms, err := strconv.ParseInt(at.Value, 10, 64)
	updatedAt := time.UnixMilli(ms)
	return Article{HTML: html.Value, Fresh: err == nil && c.fresh(updatedAt), updatedAt: updatedAt}, true
}

func (c *Cache) fresh(updatedAt time.Time) bool { return c.Now().Before(updatedAt.Add(c.FreshFor)) }

func key(slug string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"id": text("page#" + slug)}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func millis(t time.Time) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(t.UnixMilli(), 10)}
}
