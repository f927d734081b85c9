package property_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/pagecache"
	"github.com/isr-sim/isr-sim/internal/race"
	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// stranger is a cache by a team that has read README.md and nothing else: its
// partition keys are not hashed, and the body is in META if it is inline. Each
// other field is a bug.
type stranger struct {
	property.Node
	inline bool

	noTTL            bool   // no row has a ttl, which is no bug
	lockedBy         string // the attribute of LOCK that says who holds it; "" is lease_token, and nobody can read another
	noSecondLook     bool   // it renders whatever was published while it took the lease
	blind            bool   // what the condition refuses is put without one
	publishInMillis  bool   // the condition of the publish compares the lease's end with milliseconds: it is never met
	leaseInMillis    bool   // the lease ends in milliseconds and is compared with seconds: it never ends
	neverRevalidates bool   // what is there is served for ever, as stale
	neverReleases    bool   // after a failure the lock stays
	neverFresh       bool   // the adapter forgets to say what is fresh
	expiryOffByOne   bool   // the lease counts as over a second early
}

// strange returns what makes such caches.
func strange(cache stranger) func(property.Node) (isr.Handler, error) {
	return func(n property.Node) (isr.Handler, error) {
		cache := cache
		cache.Node = n
		return &cache, nil
	}
}

type strangePage struct {
	body  []byte
	fresh time.Time // until then
}

func (s *stranger) serve(p *strangePage) isr.Served {
	return isr.Served{Body: p.body, Fresh: !s.neverFresh && s.Clock.Now().Before(p.fresh)}
}

// Get implements isr.Handler.
func (s *stranger) Get(ctx context.Context, key string) (isr.Served, error) {
	for range s.Patience + 1 {
		page, err := s.read(ctx, key)
		if err != nil {
			return isr.Served{}, err
		}
		if page != nil && (s.neverRevalidates || s.Clock.Now().Before(page.fresh)) {
			return s.serve(page), nil
		}
		token := s.Tokens()
		switch err := s.lock(ctx, key, token); {
		case err == nil:
			return s.make(ctx, key, token)
		case !refused(err):
			return isr.Served{}, err
		case page != nil && s.Contention == isr.ServeStale:
			return s.serve(page), nil
		}
		s.Clock.Sleep(s.Poll)
	}
	return isr.Served{}, errors.New("somebody is at it for too long")
}

// make makes the page under the lease.
func (s *stranger) make(ctx context.Context, key, token string) (isr.Served, error) {
	if !s.noSecondLook {
		page, err := s.read(ctx, key)
		if err != nil {
			s.giveUp(ctx, key, token)
			return isr.Served{}, err
		}
		if page != nil && s.Clock.Now().Before(page.fresh) {
			s.unlock(ctx, key, token)
			return s.serve(page), nil
		}
	}
	generated := s.Clock.Now().Unix()
	body, err := s.Render(ctx, key, func(context.Context) error { return nil })
	if err != nil {
		s.giveUp(ctx, key, token)
		return isr.Served{}, err
	}
	row := pagecache.Key(s.pk(key), "META")
	row["generated_at"] = number(generated)
	if !s.noTTL {
		row["ttl"] = number(generated + int64((s.Revalidate+s.Retention+s.TTLBuffer)/time.Second))
	}
	row["revalidate_seconds"] = number(int64(s.Revalidate / time.Second))
	if s.inline {
		row["html"] = &types.AttributeValueMemberS{Value: string(body)}
	} else {
		row["s3_key"] = &types.AttributeValueMemberS{Value: "pages/" + token}
		if err := s.Bodies.PutBody(ctx, "pages/"+token, body); err != nil {
			s.giveUp(ctx, key, token)
			return isr.Served{}, err
		}
	}
	page := &strangePage{body, time.Unix(generated, 0).Add(s.Revalidate)}
	if err := s.publish(ctx, key, token, row); err != nil {
		if s.blind && refused(err) {
			_, err = s.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.Table, Item: row})
		} else {
			s.giveUp(ctx, key, token)
		}
		if err != nil && !refused(err) {
			return isr.Served{}, err
		}
	}
	return s.serve(page), nil
}

func (s *stranger) holder() string { return cmp.Or(s.lockedBy, "lease_token") }

func (s *stranger) pk(key string) string { return "CACHE#" + key }

// read returns the page, nil if there is none.
func (s *stranger) read(ctx context.Context, key string) (*strangePage, error) {
	out, err := s.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.Table, Key: pagecache.Key(s.pk(key), "META"), ConsistentRead: aws.Bool(true)})
	if err != nil || out.Item == nil {
		return nil, err
	}
	generated, _ := strconv.ParseInt(out.Item["generated_at"].(*types.AttributeValueMemberN).Value, 10, 64)
	page := &strangePage{fresh: time.Unix(generated, 0).Add(s.Revalidate)}
	if s.inline {
		page.body = []byte(out.Item["html"].(*types.AttributeValueMemberS).Value)
		return page, nil
	}
	page.body, err = s.Bodies.GetBody(ctx, out.Item["s3_key"].(*types.AttributeValueMemberS).Value)
	return page, err
}

// lock takes the lease, if nobody has it.
func (s *stranger) lock(ctx context.Context, key, token string) error {
	now := s.Clock.Now()
	expires := int64(pagecache.Ceil(now.Add(s.Lease)))
	if s.leaseInMillis {
		expires = now.Add(s.Lease).UnixMilli()
	}
	by := now.Unix()
	if s.expiryOffByOne {
		by++
	}
	row := pagecache.Key(s.pk(key), "LOCK")
	if !s.leaseInMillis && !s.noTTL {
		row["ttl"] = number(expires + int64(s.TTLBuffer/time.Second))
	}
	row[s.holder()] = &types.AttributeValueMemberS{Value: token}
	row["lease_expires_at"] = number(expires)
	_, err := s.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.Table, Item: row, ConditionExpression: aws.String("attribute_not_exists(pk) OR lease_expires_at <= :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":now": number(by)},
	})
	return err
}

// publish shows the page and gives the lease back.
func (s *stranger) publish(ctx context.Context, key, token string, row map[string]types.AttributeValue) error {
	now := number(s.Clock.Now().Unix())
	if s.publishInMillis {
		now = number(s.Clock.Now().UnixMilli())
	}
	_, err := s.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: &s.Table, Item: row}},
		{Delete: &types.Delete{
			TableName: &s.Table, Key: pagecache.Key(s.pk(key), "LOCK"), ConditionExpression: aws.String(s.holder() + " = :mine AND lease_expires_at > :now"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":mine": &types.AttributeValueMemberS{Value: token}, ":now": now},
		}},
	}})
	return err
}

// giveUp ends a regeneration that has failed.
func (s *stranger) giveUp(ctx context.Context, key, token string) {
	if !s.neverReleases {
		s.unlock(ctx, key, token)
	}
}

// unlock gives the lease back, best effort.
func (s *stranger) unlock(ctx context.Context, key, token string) {
	_, _ = s.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &s.Table, Key: pagecache.Key(s.pk(key), "LOCK"), ConditionExpression: aws.String(s.holder() + " = :mine"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":mine": &types.AttributeValueMemberS{Value: token}},
	})
}

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// refused says whether a condition was not met.
func refused(err error) bool {
	_, condition := errors.AsType[*types.ConditionalCheckFailedException](err)
	_, cancelled := errors.AsType[*types.TransactionCanceledException](err)
	return condition || cancelled
}

// strangers are caches of that kind, by what is wrong with them.
func strangers() map[string]stranger {
	return map[string]stranger{
		"correct":                       {},
		"correct, inline":               {inline: true},
		"no ttl":                        {noTTL: true},
		"another LOCK":                  {lockedBy: "taken_by"},
		"no second look":                {noSecondLook: true},
		"no second look, inline":        {inline: true, noSecondLook: true},
		"blind":                         {blind: true},
		"blind, inline":                 {inline: true, blind: true},
		"expiry off by one":             {expiryOffByOne: true},
		"expiry off by one, inline":     {inline: true, expiryOffByOne: true},
		"publish in milliseconds":       {publishInMillis: true},
		"lease in milliseconds, no ttl": {leaseInMillis: true},
		"never revalidates":             {neverRevalidates: true},
		"never releases":                {neverReleases: true},
		"never says fresh":              {neverFresh: true},
	}
}

// TestStrangersPass holds that a correct cache with rows of its own passes.
func TestStrangersPass(t *testing.T) {
	for _, name := range []string{"correct", "correct, inline"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			property.Check{Schedules: race.Fewer(5, 2)}.Run(t, strange(strangers()[name]))
		})
	}
}

// strangersSeed is the first of the seeds under which TestStrangersBugsAreFound
// looks, and strangersSeeds how many there are; 0 is a few.
var (
	strangersSeed  = flag.Int("strangers.seed", 1, "")
	strangersSeeds = flag.Int("strangers.seeds", 0, "")
)

// TestStrangersBugsAreFound holds that each bug is found by a check as it comes,
// whatever rapid's seed.
func TestStrangersBugsAreFound(t *testing.T) {
	seeds := cmp.Or(*strangersSeeds, race.Fewer(3, 1))
	if testing.Short() {
		seeds = 1
	}
	for _, test := range []struct{ store, want string }{ // one of these invariants
		{"no second look", "single-flight"},
		{"no second look, inline", "single-flight"},
		{"blind", "stale-writer atomic-publish"},
		{"blind, inline", "stale-writer atomic-publish"},
		{"expiry off by one", "lock-theft"},
		{"expiry off by one, inline", "lock-theft"},
		{"publish in milliseconds", "liveness"},
		{"lease in milliseconds, no ttl", "liveness"},
		{"never revalidates", "liveness"},
		{"never releases", "liveness"},
		{"never says fresh", "liveness"},
	} {
		t.Run(test.store, func(t *testing.T) {
			t.Parallel()
			for seed := range seeds {
				c := runChild(t, t.TempDir(), test.store, []string{fmt.Sprintf("-rapid.seed=%d", *strangersSeed+seed), "-rapid.shrinktime=0s"})
				c.wantFailure(t, "violated: TestChild under store-under-test")
				if !slices.ContainsFunc(strings.Fields(test.want), func(inv string) bool { return strings.Contains(c.output, " "+inv+": ") }) {
					t.Errorf("seed %d: none of %q is said to be violated:\n%s", *strangersSeed+seed, test.want, c.output)
				}
			}
		})
	}
}

func init() {
	property.Strangers = func() []isr.Protocol {
		var all []isr.Protocol
		for _, name := range slices.Sorted(maps.Keys(strangers())) {
			newStore := strange(strangers()[name])
			all = append(all, isr.Protocol{Name: "stranger: " + name, New: func(cfg isr.Config) (isr.Handler, error) {
				client, _ := cfg.Client.(*dynamodb.Client)
				return newStore(property.Node{Config: cfg, Client: client})
			}})
		}
		return all
	}
}
