package bodies_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/property/bodies"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// rows are the rows of the cache below.
var rows = isr.Schema{Rows: []isr.Row{
	{Partition: "doc = {key}", Sort: "part = page", BodyKey: "object", Generated: "read_at", TTL: "gone_at"},
	{Partition: "doc = {key}", Sort: "part = lock", Token: "taken_by", Expires: "taken_until", TTL: "gone_at"},
}}

// cache keeps pages in S3. Each of the last fields turns on a bug.
type cache struct {
	property.Node
	s3      *s3.Client
	late    bool // the row is written before the body that it leads to
	oneName bool // all generations of a page have the same body name
}

func (c *cache) Get(ctx context.Context, key string) (isr.Served, error) {
	for range c.Patience + 1 {
		object, until, err := c.read(ctx, key)
		if err != nil {
			return isr.Served{}, err
		}
		if object != "" && c.Clock.Now().Before(until) {
			return c.serve(ctx, object, until)
		}
		token := c.Tokens()
		switch taken, err := c.lock(ctx, key, token); {
		case err != nil:
			return isr.Served{}, err
		case taken:
			return c.renew(ctx, key, token)
		case object != "" && c.Contention == isr.ServeStale:
			return c.serve(ctx, object, until)
		}
		c.Clock.Sleep(c.Poll)
	}
	return isr.Served{}, errors.New("somebody renders it for too long")
}

func (c *cache) renew(ctx context.Context, key, token string) (isr.Served, error) {
	object, until, err := c.read(ctx, key)
	if err == nil && object != "" && c.Clock.Now().Before(until) {
		c.unlock(ctx, key, token)
		return c.serve(ctx, object, until)
	}
	at := c.Clock.Now().Unix()
	var body []byte
	if err == nil {
		body, err = c.Render(ctx, key, func(context.Context) error { return nil })
	}
	object = "pages/" + token
	if c.oneName {
		object = "pages" + key
	}
	put := func() error {
		_, err := c.s3.PutObject(ctx,
			&s3.PutObjectInput{Bucket: aws.String(bodies.Bucket), Key: &object, Body: strings.NewReader(string(body))})
		return err
	}
	if err == nil && !c.late {
		err = put()
	}
	if err == nil {
		err = c.publish(ctx, key, token, object, at)
	}
	if err == nil && c.late {
		err = put()
	}
	if err != nil {
		c.unlock(ctx, key, token)
		return isr.Served{}, err
	}
	return isr.Served{Body: body, Fresh: c.Clock.Now().Before(time.Unix(at, 0).Add(c.Revalidate))}, nil
}

func (c *cache) serve(ctx context.Context, object string, until time.Time) (isr.Served, error) {
	out, err := c.s3.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(bodies.Bucket), Key: &object})
	if err != nil {
		return isr.Served{}, err
	}
	defer out.Body.Close()
	body, err := io.ReadAll(out.Body)
	return isr.Served{Body: body, Fresh: c.Clock.Now().Before(until)}, err
}

func (c *cache) read(ctx context.Context, key string) (object string, until time.Time, err error) {
	out, err := c.Client.GetItem(ctx,
		&dynamodb.GetItemInput{TableName: &c.Table, Key: row(key, "page"), ConsistentRead: aws.Bool(true)})
	if err != nil || out.Item == nil {
		return "", until, err
	}
	at, err := strconv.ParseInt(out.Item["read_at"].(*ddb.AttributeValueMemberN).Value, 10, 64)
	return out.Item["object"].(*ddb.AttributeValueMemberS).Value, time.Unix(at, 0).Add(c.Revalidate), err
}

func (c *cache) lock(ctx context.Context, key, token string) (bool, error) {
	now := c.Clock.Now()
	until := now.Add(c.Lease + time.Second - 1).Unix()
	item := row(key, "lock")
	item["taken_by"], item["taken_until"], item["gone_at"] = text(token), number(until),
		number(until+int64(c.TTLBuffer/time.Second))
	_, err := c.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &c.Table, Item: item,
		ConditionExpression:       aws.String("attribute_not_exists(doc) OR taken_until <= :now"),
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":now": number(now.Unix())},
	})
	if _, held := errors.AsType[*ddb.ConditionalCheckFailedException](err); held {
		return false, nil
	}
	return err == nil, err
}

func (c *cache) publish(ctx context.Context, key, token, object string, at int64) error {
	page := row(key, "page")
	page["object"], page["read_at"] = text(object), number(at)
	page["gone_at"] = number(at + int64((c.Revalidate+c.Retention+c.TTLBuffer)/time.Second))
	_, err := c.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []ddb.TransactWriteItem{
		{Put: &ddb.Put{TableName: &c.Table, Item: page}},
		{Delete: &ddb.Delete{
			TableName: &c.Table, Key: row(key, "lock"),
			ConditionExpression: aws.String("taken_by = :me AND taken_until > :now"),
			ExpressionAttributeValues: map[string]ddb.AttributeValue{
				":me": text(token), ":now": number(c.Clock.Now().Unix()),
			},
		}},
	}})
	return err
}

// unlock gives the lock back early. If it fails, the lock ends by itself.
func (c *cache) unlock(ctx context.Context, key, token string) {
	_, _ = c.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &c.Table, Key: row(key, "lock"), ConditionExpression: aws.String("taken_by = :me"),
		ExpressionAttributeValues: map[string]ddb.AttributeValue{":me": text(token)},
	})
}

func row(key, part string) map[string]ddb.AttributeValue {
	return map[string]ddb.AttributeValue{"doc": text(key), "part": text(part)}
}
func text(s string) ddb.AttributeValue { return &ddb.AttributeValueMemberS{Value: s} }
func number(n int64) ddb.AttributeValue {
	return &ddb.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func (c cache) on(n property.Node) (isr.Handler, error) {
	client, err := bodies.Client(n.Config)
	c.Node, c.s3 = n, client
	return &c, err
}

// In the daytime a correct cache runs in a tenth of the worlds that a check has by default.
func init() {
	if os.Getenv(effort.LongVariable) != "" || os.Getenv(child) != "" {
		return
	}
	if err := flag.Set("rapid.checks", "10"); err != nil {
		panic(err)
	}
}

func TestACorrectCachePasses(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	property.Check{Rows: rows, Schedules: effort.Fewer(5, 3)}.Run(t, cache{}.on)
}

func TestACorrectCacheWithGoroutinesPasses(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	property.Check{Rows: rows, Schedules: 2, Goroutines: true}.Run(t, cache{}.on)
}

// child names the cache of TestChild.
const child = "ISRSIM_BODIES_CHILD"

// TestChild is the failing test. The other tests run it in a separate process.
func TestChild(t *testing.T) {
	if c, ok := broken[os.Getenv(child)]; ok {
		property.Check{Rows: rows}.Run(t, c.cache.on)
	}
}

var broken = map[string]struct {
	cache     cache
	invariant string
}{
	"pointer before body": {cache{late: true}, "no-dangling-pointer"},
	"one name":            {cache{oneName: true}, "freshness"},
}

func TestBugsAreFound(t *testing.T) {
	for name, want := range broken { //isrsim:unordered each has a process of its own
		t.Run(name, func(t *testing.T) {
			if name == "one name" {
				effort.NotShort(t)
			}
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-rapid.seed=4",
				"-rapid.shrinktime=0s") //nolint:gosec // this program
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), child+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), want.invariant+": ") {
				t.Errorf("got %v, want a violation of %s:\n%s", err, want.invariant, out)
			}
		})
	}
}

func TestOnlyASimulatedNodeHasAClient(t *testing.T) {
	if _, err := bodies.Client(isr.Config{}); err == nil {
		t.Error("got a client of nothing")
	}
}

// TestProve: each schedule of a search begins with its own objects. The code of the cache is remembered, because the
// client of S3 draws nothing.
func TestProve(t *testing.T) {
	effort.NotShort(t)
	file := filepath.Join(t.TempDir(), "two.yaml")
	const world = "name: two\ncache: {lease: 2s, revalidate: 60s, render: 0s, poll: 11s, patience: 1, attempts: 1}\n" +
		"settle: 30s\nbounds: {ticks: 1}\n" +
		"actors:\n  - {name: alice, script: [get /home]}\n  - {name: bob, script: [get /home]}\n" +
		"reach: [published, served-fresh]\n"
	if err := os.WriteFile(file, []byte(world), 0o600); err != nil {
		t.Fatal(err)
	}
	made := 0
	property.Check{Rows: rows}.Prove(t, file, func(n property.Node) (isr.Handler, error) {
		made++
		client, err := bodies.Client(n.Config)
		return &cache{Node: n, s3: client}, err
	})
	if made > 1500 { // 712 of more than 11,000 without memory
		t.Errorf("the cache was made %d times, expected to be remembered", made)
	}
}
