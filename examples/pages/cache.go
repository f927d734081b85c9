// Package pages is a usual page cache: one row for the page and one for the lock, written with the SDK's own client. It
// knows nothing of isr-sim. Its test shows how such a cache is checked: README.md prints it.
package pages

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Cache serves pages that are rendered again, by one machine at a time, when they are older than FreshFor.
type Cache struct {
	DB       *dynamodb.Client
	Table    string
	Now      func() time.Time
	Sleep    func(time.Duration)
	NewToken func() string
	Render   func(ctx context.Context, path string) (html string, err error)
	Lease    time.Duration // how long a lock is held
	FreshFor time.Duration // how long a page may be served without asking again; whole seconds
	KeepFor  time.Duration // how much longer DynamoDB keeps the row
}

// Page is an answer.
type Page struct {
	HTML  string
	Fresh bool // no older than FreshFor

	asOf int64 // when its data was read, in epoch seconds
}

// looks is the number of times that a request looks again, a second later each, if it finds no page and no lock to
// take.
const looks = 30

// Page returns a page: the one in the table while it is fresh, else a new one, or the old one while another machine
// renders.
func (c *Cache) Page(ctx context.Context, path string) (Page, error) {
	for range looks {
		page, found, err := c.read(ctx, path)
		if err != nil || page.Fresh {
			return page, err
		}
		token := c.NewToken()
		locked, err := c.lock(ctx, path, token)
		switch {
		case err != nil:
			return Page{}, err
		case locked:
			return c.renew(ctx, path, token)
		case found:
			return page, nil
		}
		c.Sleep(time.Second)
	}
	return Page{}, errors.New("pages: another machine renders " + path + " and does not finish")
}

// renew renders a page under its lock and publishes it.
func (c *Cache) renew(ctx context.Context, path, token string) (Page, error) {
	// The machine that had the lock before may have published since the first look.
	if page, _, err := c.read(ctx, path); err != nil || page.Fresh {
		c.unlock(ctx, path, token)
		page.Fresh = c.fresh(page.asOf) // the request took time: isr-sim found this line missing
		return page, err
	}
	asOf := c.Now().Unix() // before the data is read: the page is no newer than this
	html, err := c.Render(ctx, path)
	if err == nil {
		err = c.publish(ctx, path, token, html, asOf)
	}
	if err != nil {
		c.unlock(ctx, path, token)
		return Page{}, err
	}
	return Page{HTML: html, Fresh: c.fresh(asOf), asOf: asOf}, nil
}

// read returns the page in the table, and whether there is one.
func (c *Cache) read(ctx context.Context, path string) (page Page, found bool, err error) {
	out, err := c.DB.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &c.Table, Key: row(path, "META"), ConsistentRead: aws.Bool(true),
	})
	if err != nil || out.Item == nil {
		return Page{}, false, err
	}
	html, isText := out.Item["html"].(*types.AttributeValueMemberS)
	at, isNumber := out.Item["generated_at"].(*types.AttributeValueMemberN)
	if !isText || !isNumber {
		return Page{}, false, errors.New("pages: a row of another program: " + path)
	}
	asOf, err := strconv.ParseInt(at.Value, 10, 64)
	return Page{HTML: html.Value, Fresh: c.fresh(asOf), asOf: asOf}, true, err
}

func (c *Cache) fresh(asOf int64) bool { return c.Now().Before(time.Unix(asOf, 0).Add(c.FreshFor)) }

// lock takes the lock of a page, if no machine has it or its lease is over.
func (c *Cache) lock(ctx context.Context, path, token string) (bool, error) {
	now := c.Now()
	item := row(path, "LOCK")
	item["lease_token"] = text(token)
	item["lease_expires_at"] = number(now.Add(c.Lease + time.Second - 1).Unix()) // rounded up
	_, err := c.DB.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &c.Table, Item: item,
		ConditionExpression:       aws.String("attribute_not_exists(pk) OR lease_expires_at <= :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":now": number(now.Unix())},
	})
	var held *types.ConditionalCheckFailedException
	if errors.As(err, &held) {
		return false, nil
	}
	return err == nil, err
}

// publish puts the page and deletes the lock in one transaction, if the lock is still ours.
func (c *Cache) publish(ctx context.Context, path, token, html string, asOf int64) error {
	page := row(path, "META")
	page["html"] = text(html)
	page["generated_at"] = number(asOf)
	page["revalidate_seconds"] = number(int64(c.FreshFor / time.Second))
	page["ttl"] = number(asOf + int64((c.FreshFor+c.KeepFor)/time.Second))
	_, err := c.DB.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: &c.Table, Item: page}},
		{Delete: &types.Delete{
			TableName: &c.Table, Key: row(path, "LOCK"),
			ConditionExpression: aws.String("lease_token = :mine AND lease_expires_at > :now"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":mine": text(token), ":now": number(c.Now().Unix()),
			},
		}},
	}})
	return err
}

// unlock gives the lock back early. If it fails, the lease ends by itself.
func (c *Cache) unlock(ctx context.Context, path, token string) {
	_, _ = c.DB.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &c.Table, Key: row(path, "LOCK"),
		ConditionExpression:       aws.String("lease_token = :mine"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":mine": text(token)},
	})
}

func row(path, kind string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": text("PAGE#" + path), "sk": text(kind)}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
