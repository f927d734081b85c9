package property_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/base/race"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// stranger is a cache by a team that has read README.md and nothing else: its partition keys are not hashed.
type stranger struct {
	property.Node

	noTTL    bool   // no row has a ttl
	lockedBy string // the attribute of LOCK that names its holder; "" is lease_token. No check can read another one
	batches  bool   // it reads META and LOCK in one BatchGetItem

	renamed bool // its sort keys have other names, which the check must be told

	byContent bool // if a page has not changed, only its times are written

	takesUnprocessed bool // with batches: a key that comes back unprocessed counts as a missing row

	// Bugs that only liveness sees.
	neverRevalidates bool // the page in the cache is served as stale for ever
	neverReleases    bool // after a failure the lock stays
	jittersAway      bool // a jitter takes two seconds off each window
	neverFresh       bool // the adapter never says that a page is fresh
	skipsUnchanged   bool // with byContent: nothing is written if a page has not changed
}

// strange returns a function that makes such caches.
func strange(cache stranger) func(property.Node) (isr.Handler, error) {
	return func(n property.Node) (isr.Handler, error) {
		cache := cache
		cache.Node = n
		return &cache, nil
	}
}

type strangePage struct {
	body  []byte
	fresh time.Time // the end of its freshness
}

func (s *stranger) window() time.Duration {
	if s.jittersAway {
		return s.Revalidate - 2*time.Second
	}
	return s.Revalidate
}

func (s *stranger) serve(p *strangePage) isr.Served {
	return isr.Served{Body: p.body, Fresh: !s.neverFresh && s.Clock.Now().Before(p.fresh)}
}

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

// make renders and publishes the page under the lease, and gives the lease back if that fails.
func (s *stranger) make(ctx context.Context, key, token string) (_ isr.Served, err error) {
	defer func() {
		if err != nil && !s.neverReleases {
			s.unlock(ctx, key, token)
		}
	}()
	page, err := s.read(ctx, key)
	if err != nil {
		return isr.Served{}, err
	}
	if page != nil && s.Clock.Now().Before(page.fresh) {
		s.unlock(ctx, key, token)
		return s.serve(page), nil
	}
	generated := s.Clock.Now().Unix()
	body, err := s.Render(ctx, key, func(context.Context) error { return nil })
	if err != nil {
		return isr.Served{}, err
	}
	row := s.row(key, "META")
	row["generated_at"] = num(generated)
	if !s.noTTL {
		row["ttl"] = num(generated + int64((s.Revalidate+s.Retention+s.TTLBuffer)/time.Second))
	}
	row["revalidate_seconds"] = num(int64(max(s.window(), 0) / time.Second))
	row["html"] = &types.AttributeValueMemberS{Value: string(body)}
	made := &strangePage{body, time.Unix(generated, 0).Add(s.window())}
	if s.byContent && page != nil && string(page.body) == string(body) {
		if s.skipsUnchanged {
			s.unlock(ctx, key, token)
			return s.serve(made), nil
		}
		delete(row, "html")
	}
	switch err := s.publish(ctx, key, token, row); {
	case err == nil:
	case refused(err):
		s.unlock(ctx, key, token) // the refusal may be due to a conflict, and the lease still its own
	default:
		return isr.Served{}, err
	}
	return s.serve(made), nil
}

func (s *stranger) holder() string { return cmp.Or(s.lockedBy, "lease_token") }

func (s *stranger) row(key, sort string) map[string]types.AttributeValue {
	if s.renamed {
		sort += " of mine"
	}
	return pagecache.Key("CACHE#"+key, sort)
}

func (s *stranger) check() property.Check {
	if !s.renamed {
		return property.Check{}
	}
	return property.Check{Rows: isr.Schema{Rows: []isr.Row{
		{Partition: "pk = CACHE#{key}", Sort: "sk = META of mine", Body: "html", Generated: "generated_at",
			Window: "revalidate_seconds", TTL: "ttl"},
		{Partition: "pk = CACHE#{key}", Sort: "sk = LOCK of mine", Token: s.holder(),
			Expires: "lease_expires_at", TTL: "ttl"},
	}}}
}

// read returns the page, or nil.
func (s *stranger) read(ctx context.Context, key string) (*strangePage, error) {
	item, err := s.meta(ctx, key)
	if err != nil || item == nil {
		return nil, err
	}
	generated, _ := strconv.ParseInt(item["generated_at"].(*types.AttributeValueMemberN).Value, 10, 64)
	body := []byte(item["html"].(*types.AttributeValueMemberS).Value)
	return &strangePage{body, time.Unix(generated, 0).Add(s.window())}, nil
}

// meta returns the row META, or nil.
func (s *stranger) meta(ctx context.Context, key string) (map[string]types.AttributeValue, error) {
	meta, lock := s.row(key, "META"), s.row(key, "LOCK")
	if !s.batches {
		out, err := s.Client.GetItem(ctx,
			&dynamodb.GetItemInput{TableName: &s.Table, Key: meta, ConsistentRead: aws.Bool(true)})
		if err != nil {
			return nil, err
		}
		return out.Item, nil
	}
	asked := map[string]types.KeysAndAttributes{
		s.Table: {Keys: []map[string]types.AttributeValue{meta, lock}, ConsistentRead: aws.Bool(true)},
	}
	for {
		out, err := s.Client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: asked})
		if err != nil {
			return nil, err
		}
		for _, row := range out.Responses[s.Table] {
			if row["html"] != nil {
				return row, nil
			}
		}
		if len(out.UnprocessedKeys) == 0 || s.takesUnprocessed {
			return nil, nil
		}
		asked = out.UnprocessedKeys
	}
}

// lock takes the lease, if nobody has it.
func (s *stranger) lock(ctx context.Context, key, token string) error {
	now := s.Clock.Now()
	expires := int64(pagecache.Ceil(now.Add(s.Lease)))
	row := s.row(key, "LOCK")
	if !s.noTTL {
		row["ttl"] = num(expires + int64(s.TTLBuffer/time.Second))
	}
	row[s.holder()] = &types.AttributeValueMemberS{Value: token}
	row["lease_expires_at"] = num(expires)
	_, err := s.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.Table, Item: row,
		ConditionExpression:       aws.String("attribute_not_exists(pk) OR lease_expires_at <= :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":now": num(now.Unix())},
	})
	return err
}

// publish writes the page, or only the times of one that has not changed, and gives the lease back.
func (s *stranger) publish(ctx context.Context, key, token string, row map[string]types.AttributeValue) error {
	write := types.TransactWriteItem{Put: &types.Put{TableName: &s.Table, Item: row}}
	if row["html"] == nil {
		write = types.TransactWriteItem{Update: &types.Update{
			TableName: &s.Table, Key: s.row(key, "META"), ConditionExpression: aws.String("attribute_exists(pk)"),
			UpdateExpression:          aws.String("SET generated_at = :at, #ttl = :ttl"),
			ExpressionAttributeNames:  map[string]string{"#ttl": "ttl"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":at": row["generated_at"], ":ttl": row["ttl"]},
		}}
	}
	_, err := s.Client.TransactWriteItems(ctx,
		&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			write,
			{Delete: &types.Delete{
				TableName: &s.Table, Key: s.row(key, "LOCK"),
				ConditionExpression: aws.String(s.holder() + " = :mine AND lease_expires_at > :now"),
				ExpressionAttributeValues: map[string]types.AttributeValue{
					":mine": &types.AttributeValueMemberS{Value: token}, ":now": num(s.Clock.Now().Unix()),
				},
			}},
		}})
	return err
}

// unlock tries to give the lease back.
func (s *stranger) unlock(ctx context.Context, key, token string) {
	_, _ = s.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &s.Table, Key: s.row(key, "LOCK"), ConditionExpression: aws.String(s.holder() + " = :mine"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":mine": &types.AttributeValueMemberS{Value: token}},
	})
}

// refused reports whether a condition was not met.
func refused(err error) bool {
	_, condition := errors.AsType[*types.ConditionalCheckFailedException](err)
	_, cancelled := errors.AsType[*types.TransactionCanceledException](err)
	return condition || cancelled
}

// strangers are such caches, by names of their peculiarities.
var strangers = map[string]stranger{
	"stranger":          {},
	"no ttl":            {noTTL: true},
	"another LOCK":      {lockedBy: "taken_by"},
	"never revalidates": {neverRevalidates: true},
	"never releases":    {neverReleases: true},
	"never says fresh":  {neverFresh: true},
	"jitters away":      {jittersAway: true},
	"in batches":        {batches: true},
	"by content":        {byContent: true},
	"skips unchanged":   {byContent: true, skipsUnchanged: true},
	"takes unprocessed": {batches: true, takesUnprocessed: true},

	"renamed, in batches":        {batches: true, renamed: true},
	"renamed, takes unprocessed": {batches: true, renamed: true, takesUnprocessed: true},
}

// TestStrangersPass: a correct cache with its own row format passes.
func TestStrangersPass(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	for _, name := range []string{"stranger", "in batches", "by content", "renamed, in batches"} {
		store := strangers[name]
		check := store.check()
		check.Schedules = effort.Fewer(5, 2)
		check.Run(t, strange(store))
	}
}

// TestStrangersBugsAreFound: a check with default settings finds the bugs.
func TestStrangersBugsAreFound(t *testing.T) {
	effort.Long(t)
	for store, breaks := range map[string]string{
		"never revalidates": "liveness", "never releases": "liveness", "never says fresh": "liveness",
		"jitters away": "liveness", "skips unchanged": "liveness",
		"takes unprocessed": "single-flight", "renamed, takes unprocessed": "single-flight",
	} { //isrsim:unordered each has a process of its own
		t.Run(store, func(t *testing.T) {
			if strings.HasPrefix(store, "renamed") { // TestRenamedMutantsFail checks that names do not matter
				effort.Nightly(t)
			}
			t.Parallel()
			c := runChild(t, t.TempDir(), store, []string{"-rapid.seed=9", "-rapid.shrinktime=0s"}) // finds it soon
			c.wantFailure(t, "violated: TestChild under store-under-test", " "+breaks+": ")
		})
	}
}

// articles is a cache with one row per page. The row also holds the lock, and its times are in milliseconds. Each field
// except Node and slugs is a bug.
type articles struct {
	property.Node

	unfenced  bool // the publish has no condition
	tokenless bool // the condition of the publish checks the end of the lease, not its holder
	early     bool // a lease counts as over 20 ms before its end
	hopeful   bool // an error of the publish counts as a success

	slugs bool // the keys of rows lack the slash with which cache keys begin, which is not a bug
}

var articleRows = isr.Schema{Rows: []isr.Row{{
	Partition: "id = page#{key}", Body: "html", Generated: "updated_at ms", Token: "locked_by",
	Expires: "locked_until ms",
}}}

// checkArticles is a check for a cache with such rows, which have no ttl. A function for rows cannot say that, so the
// mark of TTL is then left out by hand.
func checkArticles(rows isr.Schema) property.Check {
	c := property.Check{Rows: rows}
	if rows.Translate != nil {
		c.Reach = slices.DeleteFunc(property.Reach(), func(m spec.Mark) bool { return m == mark.TTLDeletion })
	}
	return c
}

func (c *articles) Get(ctx context.Context, key string) (isr.Served, error) {
	for range c.Patience + 1 {
		out, err := c.Client.GetItem(ctx,
			&dynamodb.GetItemInput{TableName: &c.Table, Key: c.row(key), ConsistentRead: aws.Bool(true)})
		if err != nil {
			return isr.Served{}, err
		}
		page, at := c.page(out.Item)
		if page != nil && c.fresh(at) {
			return isr.Served{Body: page, Fresh: true}, nil
		}
		me := c.Tokens()
		row, err := c.lock(ctx, key, me)
		switch {
		case err == nil:
			return c.renew(ctx, key, me, row)
		case !refused(err):
			return isr.Served{}, err
		case page != nil && c.Contention == isr.ServeStale:
			return isr.Served{Body: page, Fresh: c.fresh(at)}, nil
		}
		c.Clock.Sleep(c.Poll)
	}
	return isr.Served{}, errors.New("the article is being written for too long")
}

// renew writes the article under its lock. The parameter row is the row as it was when the lock was taken.
func (c *articles) renew(ctx context.Context, key, me string, row map[string]types.AttributeValue) (isr.Served, error) {
	if page, at := c.page(row); page != nil && c.fresh(at) {
		c.unlock(ctx, key, me)
		return isr.Served{Body: page, Fresh: c.fresh(at)}, nil
	}
	at := c.Clock.Now()
	html, err := c.Render(ctx, key, func(context.Context) error { return nil })
	if err == nil {
		err = c.publish(ctx, key, me, html, at)
	}
	if err != nil && !refused(err) && (html == nil || !c.hopeful) {
		c.unlock(ctx, key, me)
		return isr.Served{}, err
	}
	return isr.Served{Body: html, Fresh: c.fresh(at)}, nil
}

func (c *articles) lock(ctx context.Context, key, me string) (map[string]types.AttributeValue, error) {
	now := c.Clock.Now()
	by := now
	if c.early {
		by = now.Add(20 * time.Millisecond)
	}
	out, err := c.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &c.Table, Key: c.row(key),
		UpdateExpression:    aws.String("SET locked_by = :me, locked_until = :until"),
		ConditionExpression: aws.String("attribute_not_exists(locked_by) OR locked_until <= :now OR locked_by = :me"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":me": &types.AttributeValueMemberS{Value: me}, ":until": millis(now.Add(c.Lease)), ":now": millis(by),
		},
		ReturnValues: types.ReturnValueAllNew,
	})
	if err != nil {
		return nil, err
	}
	return out.Attributes, nil
}

func (c *articles) publish(ctx context.Context, key, me string, html []byte, at time.Time) error {
	in := &dynamodb.UpdateItemInput{
		TableName: &c.Table, Key: c.row(key),
		UpdateExpression:    aws.String("SET html = :html, updated_at = :at REMOVE locked_by, locked_until"),
		ConditionExpression: aws.String("locked_by = :me AND locked_until > :now"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":html": &types.AttributeValueMemberS{Value: string(html)}, ":at": millis(at),
			":me": &types.AttributeValueMemberS{Value: me}, ":now": millis(c.Clock.Now()),
		},
	}
	switch {
	case c.unfenced:
		in.ConditionExpression = nil
		delete(in.ExpressionAttributeValues, ":me")
		delete(in.ExpressionAttributeValues, ":now")
	case c.tokenless:
		in.ConditionExpression = aws.String("locked_until > :now")
		delete(in.ExpressionAttributeValues, ":me")
	}
	_, err := c.Client.UpdateItem(ctx, in)
	return err
}

func (c *articles) unlock(ctx context.Context, key, me string) {
	_, _ = c.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &c.Table, Key: c.row(key), UpdateExpression: aws.String("REMOVE locked_by, locked_until"),
		ConditionExpression:       aws.String("locked_by = :me"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":me": &types.AttributeValueMemberS{Value: me}},
	})
}

// page returns the article in a row and the time at which it was read, or nil.
func (c *articles) page(row map[string]types.AttributeValue) ([]byte, time.Time) {
	html, isText := row["html"].(*types.AttributeValueMemberS)
	at, isNumber := row["updated_at"].(*types.AttributeValueMemberN)
	if !isText || !isNumber {
		return nil, time.Time{}
	}
	ms, err := strconv.ParseInt(at.Value, 10, 64)
	if err != nil {
		return nil, time.Time{}
	}
	return []byte(html.Value), time.UnixMilli(ms)
}

func (c *articles) fresh(at time.Time) bool { return c.Clock.Now().Before(at.Add(c.Revalidate)) }

func (c *articles) row(key string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "page#" + c.slug(key)}}
}

func (c *articles) slug(key string) string {
	if c.slugs {
		return strings.TrimPrefix(key, "/")
	}
	return key
}

func millis(t time.Time) types.AttributeValue { return num(t.UnixMilli()) }

// articlesWith makes such caches.
func articlesWith(cache articles) func(property.Node) (isr.Handler, error) {
	return func(n property.Node) (isr.Handler, error) {
		cache := cache
		cache.Node = n
		return &cache, nil
	}
}

// caches with rows of their own, by their bugs.
var articleCaches = map[string]articles{
	"articles": {}, "articles, slugs": {slugs: true, tokenless: true}, "articles, unfenced": {unfenced: true},
	"articles, tokenless": {tokenless: true}, "articles, early": {early: true},
	"articles, hopeful": {hopeful: true},
}

// A row's key need not contain the cache key literally: the check learns the partition of a page from the rows that the
// page's node has named. In package articles of the examples, the row's key does contain the cache key.
func TestArticlesPass(t *testing.T) {
	c := checkArticles(articleRows)
	c.Schedules = effort.Fewer(10, 2)
	c.Run(t, articlesWith(articles{slugs: true}))
}

// A function may say what rows mean, instead of a list of names.
func TestArticlesByAFunctionPass(t *testing.T) {
	if race.Enabled {
		t.Skip("TestArticlesPass has the same goroutines")
	}
	c := checkArticles(articleFunction)
	c.Schedules = effort.Fewer(5, 2)
	c.Run(t, articlesWith(articles{}))
}

var articleFunction = isr.Schema{
	Rows: []isr.Row{{Partition: "id = {key}"}},
	Translate: func(_ string, row map[string]types.AttributeValue) (rows []map[string]types.AttributeValue) {
		id, _ := row["id"].(*types.AttributeValueMemberS)
		key, ok := strings.CutPrefix(id.Value, "page#")
		if !ok {
			return nil
		}
		add := func(sk, seconds string, ms types.AttributeValue, name string, value types.AttributeValue) {
			n, isNumber := ms.(*types.AttributeValueMemberN)
			if !isNumber {
				return
			}
			at, _ := strconv.ParseInt(n.Value, 10, 64)
			rows = append(rows, map[string]types.AttributeValue{
				"pk":    &types.AttributeValueMemberS{Value: isr.PartitionKey("", key)},
				"sk":    &types.AttributeValueMemberS{Value: sk},
				seconds: &types.AttributeValueMemberN{Value: fmt.Sprintf("%d.%03d", at/1000, at%1000)}, name: value,
			})
		}
		add("META", "generated_at", row["updated_at"], "html", row["html"])
		add("LOCK", "lease_expires_at", row["locked_until"], "lease_token", row["locked_by"])
		return rows
	},
}

// In a table with one row per page and its own names, an overwrite without a condition is reported as a stale writer,
// and the report uses the table's own names.
func TestArticlesBugsAreFound(t *testing.T) {
	effort.Long(t)
	seeds := effort.Fewer(3, 1)
	for _, test := range []struct {
		store string
		want  []string
	}{
		{"articles, unfenced",
			[]string{"stale-writer: the publisher has taken the lease, and nobody else",
				"page#/home: {|page#/about: {", "locked_by: \"", "locked_until: +", "html: \"/home@|html: \"/about@"}},
		{"articles, tokenless", []string{"violated: TestChild", "stale-writer: ", "had taken the lease since"}},
		{"articles, slugs", []string{"violated: TestChild", "page#home: {|page#about: {"}},
		{"articles, early", []string{"violated: TestChild", "before the end of the lease"}},
		{"articles, hopeful", []string{"violated: TestChild", "liveness: ", "no request had found a fresh page"}},
	} {
		t.Run(test.store, func(t *testing.T) {
			t.Parallel()
			for seed := range seeds {
				c := runChild(t, t.TempDir(), test.store,
					[]string{fmt.Sprintf("-rapid.seed=%d", 1+seed), "-rapid.shrinktime=0s"})
				for _, part := range test.want {
					either := strings.Split(part, "|")
					if !slices.ContainsFunc(either,
						func(part string) bool { return strings.Contains(c.output, part) }) {
						t.Errorf("seed %d lacks %q:\n%s", seed, part, c.output)
					}
				}
				for _, part := range []string{"META", "LOCK", "lease_token", "lease_expires_at", "generated_at"} {
					if strings.Contains(c.output, part) {
						t.Errorf("seed %d says %s, which is no name of this cache:\n%s", seed, part, c.output)
					}
				}
			}
		})
	}
}

// Rows that a function reads are judged, and the file of a failure says that it
// lacks the function.
func TestArticlesByAFunctionBugIsFound(t *testing.T) {
	c := runChild(t, t.TempDir(), "articles by a function, unfenced", []string{"-rapid.seed=1", "-rapid.shrinktime=0s"})
	c.wantFailure(t, "violated: TestChild", "stale-writer: ", "page#/")
	if text := string(readFile(t, c.file())); !strings.Contains(text, "Rows are those of a function") {
		t.Errorf("the file does not say that it lacks rows:\n%s", text)
	}
}

// Mutants that name the invariant by which worlds find them are found by the same invariant if every row, key and
// attribute has another name. The file that is left replays even if the check has no mapping, because the file has it.
func TestRenamedMutantsFail(t *testing.T) {
	effort.Long(t)
	for _, m := range breakers() {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := runChild(t, dir, "renamed: "+m.Name, []string{"-rapid.seed=1", "-rapid.shrinktime=0s"})
			c.wantFailure(t, "violated: TestChild under store-under-test", m.Breaks+": ", "scenario: "+failFile)
			if strings.Contains(c.output, "lease_token") && !strings.Contains(c.output, "my_lease_token") ||
				strings.Contains(c.output, " META") {
				t.Errorf("it says names that the rows do not have:\n%s", c.output)
			}
			again := runChild(t, t.TempDir(), "renamed: "+m.Name, nil, replayEnv+"="+c.file())
			again.wantFailure(t, "effect", "violated: TestChild under store-under-test", m.Breaks+": ")
		})
	}
}

// If a mapping fits no row, the error names the rows that were seen.
func TestAMappingThatDoesNotFit(t *testing.T) {
	for name, want := range map[string][]string{
		"articles, another form": {"unknown: TestChild under store-under-test", "the row mapping fits none of the rows",
			`isr-cache {id: "page#/about"}, with locked_by, locked_until: id is not of the form article#{key}`},
		"articles, another lock": {"unknown: TestChild under store-under-test",
			"the row mapping finds no lock", "no owner"},
		"articles, no time": {"unknown: TestChild under store-under-test: monotonic-publication: change ",
			" publishes without updatd_at (ms)\n", "page#/", "{html: ", "updated_at: "},
		"articles, seconds": {"violated: TestChild under store-under-test",
			"no time of this run in s, but one in ms)\n",
			"hint: `locked_until` looks like ms: Expires: \"locked_until ms\"", "record: "},
		"articles, a mistake": {"property: Check.Rows: rows: entry 1, expires: found the unit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := runChild(t, t.TempDir(), name, []string{"-rapid.seed=1", "-rapid.shrinktime=0s", "-test.short"})
			c.wantFailure(t, want...)
		})
	}
}

// wrongRows are mappings of articles that are wrong.
var wrongRows = map[string]isr.Row{
	"articles, another form": {Partition: "id = article#{key}", Body: "html", Generated: "updated_at ms",
		Token: "locked_by", Expires: "locked_until ms"},
	"articles, another lock": {Partition: "id = page#{key}", Body: "html", Generated: "updated_at ms",
		Token: "owner", Expires: "until ms"},
	"articles, no time": {Partition: "id = page#{key}", Body: "html", Generated: "updatd_at ms", Token: "locked_by",
		Expires: "locked_until ms"},
	"articles, seconds": {Partition: "id = page#{key}", Body: "html", Generated: "updated_at ms", Token: "locked_by",
		Expires: "locked_until"},
	"articles, a mistake": {Partition: "id = page#{key}", Body: "html", Generated: "updated_at ms", Token: "locked_by",
		Expires: "locked_until millis"},
}
