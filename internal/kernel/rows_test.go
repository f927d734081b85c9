package kernel_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// own is a cache with its locks in a separate table.
type own struct {
	isr.Config
	unfenced bool
}

func (c own) Get(ctx context.Context, key string) (isr.Served, error) {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	instant := func(t time.Time) types.AttributeValue { return text(t.UTC().Format(time.RFC3339Nano)) }
	now, me := c.Clock.Now(), c.Tokens()
	lock := map[string]types.AttributeValue{
		"name": text("lock/" + key), "owner": text(me), "until": instant(now.Add(c.Lease)),
	}
	_, err := c.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String("locks"), Item: lock,
		ConditionExpression:       aws.String("attribute_not_exists(#n) OR #u <= :now"),
		ExpressionAttributeNames:  map[string]string{"#n": "name", "#u": "until"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":now": instant(now)},
	})
	if err != nil {
		return isr.Served{}, err
	}
	body, err := c.Render(ctx, key, func(context.Context) error { return nil })
	if err != nil {
		return isr.Served{}, err
	}
	put := &types.Put{TableName: aws.String("pages"), Item: map[string]types.AttributeValue{
		"path": text(key), "html": text(string(body)), "until": instant(now.Add(c.Revalidate)),
	}}
	release := &types.Delete{
		TableName: aws.String("locks"), Key: map[string]types.AttributeValue{"name": lock["name"]},
		ConditionExpression: aws.String("#o = :me AND #u > :now"), ExpressionAttributeNames: map[string]string{
			"#o": "owner", "#u": "until",
		},
		ExpressionAttributeValues: map[string]types.AttributeValue{":me": text(me), ":now": instant(c.Clock.Now())},
	}
	items := []types.TransactWriteItem{{Put: put}, {Delete: release}}
	if c.unfenced {
		items = items[:1]
	}
	_, err = c.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
	return isr.Served{Body: body, Fresh: c.Clock.Now().Before(now.Add(c.Revalidate))}, err
}

func ownProtocol(unfenced bool) isr.Protocol {
	return isr.Protocol{Name: "own", New: func(cfg isr.Config) (isr.Handler, error) { return own{cfg, unfenced}, nil }}
}

// ownWorld is a scenario of such caches, with more lines.
func ownWorld(t *testing.T, more string) *spec.Scenario {
	t.Helper()
	s, err := spec.Parse("own.yaml", []byte(`name: own
protocol: own
rows:
  - table: pages
    partition: path = {key}
    body: html
    fresh-until: until iso8601
  - table: locks
    partition: name = lock/{key}
    token: owner
    expires: until iso8601
actors:
  - name: alice
    script: [get /home, sleep 2m, get /home]
`+more), isr.Protocol{Name: "own"})
	must.OK(t, err)
	return s
}

func do(t *testing.T, s *spec.Scenario, p isr.Protocol, trace *strings.Builder) *kernel.Outcome {
	t.Helper()
	r := kernel.Run{Scenario: s, Protocol: p, Seed: 1}
	if trace != nil {
		r.Trace = trace
	}
	return must.Of(r.Do(t.Context()))(t)
}

func TestOwnRows(t *testing.T) {
	s := ownWorld(t, "")
	var trace strings.Builder
	o := do(t, s, ownProtocol(false), &trace)
	if o.Verdict != invariant.OK || o.Misfit != "" || !slices.Contains(o.Marks, mark.Published) {
		t.Errorf("%s%s\n%v", o.Explain("own", "own"), trace.String(), o.Marks)
	}
	for _, part := range []string{`PutItem lock//home in locks {owner: "alice-1", until: +10s}`,
		`row     /home in pages: absent => {html: "/home@0#alice-render-1", until: +1m0s}`} {
		if !strings.Contains(trace.String(), part) {
			t.Errorf("the trace lacks %s:\n%s", part, trace.String())
		}
	}
	if o = do(t, s, ownProtocol(true), nil); o.Verdict != invariant.OK { // nobody is harmed
		t.Errorf("%s", o.Explain("own", "own"))
	}
	s.Promise.Recipe = true
	o = do(t, s, ownProtocol(true), nil)
	if o.Verdict != invariant.Violated || !strings.Contains(o.Violation.Why, "alice published and kept its lock") {
		t.Errorf("%s", o.Explain("own", "own"))
	}
}

type getter func(ctx context.Context, key string) (isr.Served, error)

func (g getter) Get(ctx context.Context, key string) (isr.Served, error) { return g(ctx, key) }

// Partial batches: a fault of META or LOCK leaves the rows of that role undone. A fault that names no rows, and that
// the schedule may choose, leaves any one row undone.
func TestBatchesOfOwnRowsInPart(t *testing.T) {
	for fault, want := range map[string]string{
		"unprocessed key=META": "pages", "unprocessed key=LOCK": "locks", "maybe unprocessed": " locks pages",
		"maybe unprocessed table=pages": " pages",
	} {
		left := map[string]bool{}
		reads := isr.Protocol{Name: "own", SDK: true, New: func(cfg isr.Config) (isr.Handler, error) {
			return getter(func(ctx context.Context, key string) (isr.Served, error) {
				row := func(name, value string) types.KeysAndAttributes {
					return types.KeysAndAttributes{
						Keys: []map[string]types.AttributeValue{{name: &types.AttributeValueMemberS{Value: value}}},
					}
				}
				out, err := cfg.Client.(*dynamodb.Client).BatchGetItem(ctx,
					&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
						"pages": row("path", key), "locks": row("name", "lock/"+key),
					}})
				if err == nil {
					left[strings.Join(slices.Sorted(maps.Keys(out.UnprocessedKeys)), "+")] = true
				}
				return isr.Served{}, err
			}), nil
		}}
		wantLeft(t, fault, reads, left, want)
	}
}

// Two rows always fit into one page of a Query, so a page and its lock come together. Rows of other kinds need not,
// because two of them may stand for many.
func TestAPageAndItsLockAreReadTogether(t *testing.T) {
	for rows, want := range map[string]bool{
		"LOCK META": false, "META TAG#a": true, "TAG#a TAG#b": true, "LOCK META TAG#a": true,
	} {
		short := false
		reads := isr.Protocol{Name: "own", SDK: true, New: func(cfg isr.Config) (isr.Handler, error) {
			return getter(func(ctx context.Context, key string) (isr.Served, error) {
				client, pk := cfg.Client.(*dynamodb.Client), &types.AttributeValueMemberS{Value: key}
				for _, sk := range strings.Fields(rows) {
					row := map[string]types.AttributeValue{"pk": pk, "sk": &types.AttributeValueMemberS{Value: sk}}
					if _, err := client.PutItem(ctx,
						&dynamodb.PutItemInput{TableName: &cfg.Table, Item: row}); err != nil {
						return isr.Served{}, err
					}
				}
				out, err := client.Query(ctx, &dynamodb.QueryInput{
					TableName: &cfg.Table, KeyConditionExpression: aws.String("pk = :pk"),
					ExpressionAttributeValues: map[string]types.AttributeValue{":pk": pk},
				})
				short = err == nil && out.LastEvaluatedKey != nil
				return isr.Served{}, err
			}), nil
		}}
		s, err := spec.Parse("together.yaml",
			[]byte("name: together\nfaults: [short-page]\nactors:\n  - {name: alice, script: [get /home]}\n"))
		must.OK(t, err)
		if _, err := (kernel.Run{
			Scenario: s, Protocol: reads, Options: kernel.Options{SDK: true},
		}).Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		if short != want {
			t.Errorf("%s: read in pages: %v, want %v", rows, short, want)
		}
	}
}

// wantLeft runs the first command of a world with a fault under twenty seeds. The protocol notes in left what was left
// undone.
func wantLeft(t *testing.T, fault string, protocol isr.Protocol, left map[string]bool, want string) {
	t.Helper()
	s := ownWorld(t, "faults: ["+fault+"]\n")
	s.Actors[0].Script = s.Actors[0].Script[:1]
	for seed := range uint64(20) {
		if _, err := (kernel.Run{
			Scenario: s, Protocol: protocol, Seed: seed, Options: kernel.Options{SDK: true},
		}).Do(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(slices.Sorted(maps.Keys(left)), " "); got != want {
		t.Errorf("%s: left undone: %q, want %q", fault, got, want)
	}
}

// A batch of statements may be partial, too: the responses of the statements left undone say so.
func TestBatchesOfStatementsInPart(t *testing.T) {
	for fault, want := range map[string]string{
		"unprocessed key=META": "pages", "unprocessed key=LOCK": "locks", "maybe unprocessed": " locks pages",
		"unprocessed": "locks+pages", "conflict key=META": "pages", "conflict key=LOCK": "locks",
		"maybe conflict": " locks pages", "conflict": "locks+pages",
	} {
		statement, code := `SELECT * FROM "%s" WHERE %s = '%s'`, types.BatchStatementErrorCodeEnumThrottlingError
		if strings.Contains(fault, "conflict") {
			statement, code = `UPDATE "%s" SET other = 1 WHERE %s = '%s'`,
				types.BatchStatementErrorCodeEnumTransactionConflict
		}
		left := map[string]bool{}
		reads := isr.Protocol{Name: "own", SDK: true, New: func(cfg isr.Config) (isr.Handler, error) {
			return getter(func(ctx context.Context, key string) (isr.Served, error) {
				row := func(table, name, value string) types.BatchStatementRequest {
					return types.BatchStatementRequest{
						Statement: aws.String(fmt.Sprintf(statement, table, name, value)),
					}
				}
				out, err := cfg.Client.(*dynamodb.Client).BatchExecuteStatement(ctx,
					&dynamodb.BatchExecuteStatementInput{
						Statements: []types.BatchStatementRequest{row("locks", "name", "lock/"+key),
							row("pages", "path", key)},
					})
				if err != nil {
					return isr.Served{}, err
				}
				var names []string
				for _, r := range out.Responses {
					if r.Error != nil && r.Error.Code == code {
						names = append(names, *r.TableName)
					}
				}
				left[strings.Join(names, "+")] = true
				return isr.Served{}, nil
			}), nil
		}}
		wantLeft(t, fault, reads, left, want)
	}
}

// Only the read of a row whose ttl is over counts as one of an expired row.
func TestReadsOfExpiredRows(t *testing.T) {
	for _, left := range []time.Duration{-time.Hour, time.Hour} {
		p := isr.Protocol{Name: "own", New: func(cfg isr.Config) (isr.Handler, error) {
			return getter(func(ctx context.Context, _ string) (isr.Served, error) {
				ttl := fmt.Sprint(cfg.Clock.Now().Add(left).Unix())
				key := map[string]types.AttributeValue{
					"pk": &types.AttributeValueMemberS{Value: "a"}, "sk": &types.AttributeValueMemberS{Value: "META"},
				}
				item := maps.Clone(key)
				item["ttl"] = &types.AttributeValueMemberN{Value: ttl}
				_, _ = cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &cfg.Table, Item: item})
				_, err := cfg.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &cfg.Table, Key: key})
				return isr.Served{}, err
			}), nil
		}}
		var trace strings.Builder
		s := scenariotest.Parsed(t, "name: expired\nttl-lag: never\nactors: [{name: alice, script: [get /home]}]\n")
		if got := slices.Contains(do(t, s, p, &trace).Marks, mark.ExpiredRowRead); got != (left < 0) {
			t.Errorf("a row with a ttl in %v: read as expired %t\n%s", left, got, trace.String())
		}
	}
}

// A refused statement of PartiQL reaches the marks of the request that it stands for.
func TestStatementsThatAreRefused(t *testing.T) {
	const key = `pk = 'a' AND sk = `
	lock := map[string]types.AttributeValue{"name": &types.AttributeValueMemberS{Value: "lock//home"}}
	for _, test := range []struct {
		own       bool
		statement string
		want      []spec.Mark
	}{
		{true, `INSERT INTO "locks" VALUE {'name': 'lock//home', 'owner': 'a'}`, []spec.Mark{mark.LockRefused}},
		{true, `UPDATE "locks" SET "owner" = 'b' WHERE "name" = 'lock//out'`, []spec.Mark{mark.LockRefused}},
		{true, `UPDATE "pages" SET html = 'b' WHERE path = '/out'`, []spec.Mark{mark.PublishRefused}},
		{true, `DELETE FROM "locks" WHERE "name" = 'lock//home' AND "owner" = 'b'`, nil},
		{false, `UPDATE "isr-cache" SET lease_token = 'a' WHERE ` + key + `'LOCK'`, []spec.Mark{mark.LockRefused}},
		{false, `UPDATE "isr-cache" SET s3_key = 'a' WHERE ` + key + `'META'`, []spec.Mark{mark.PublishRefused}},
		{false, `DELETE FROM "isr-cache" WHERE ` + key + `'LOCK' AND lease_token = 'a'`, nil},
	} {
		s := scenariotest.Parsed(t, "name: refused\nactors: [{name: alice, script: [get /home]}]\n")
		other := `DELETE FROM "isr-cache" WHERE pk = 'b' AND sk = 'META'`
		if test.own {
			s, other = ownWorld(t, ""), `DELETE FROM "locks" WHERE "name" = 'lock//other'`
		}
		batch := false
		p := isr.Protocol{Name: "own", SDK: true, New: func(cfg isr.Config) (isr.Handler, error) {
			return getter(func(ctx context.Context, _ string) (isr.Served, error) {
				_, _ = cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("locks"), Item: lock})
				client := cfg.Client.(*dynamodb.Client)
				if batch {
					_, err := client.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{
						Statements: []types.BatchStatementRequest{{Statement: &other}, {Statement: &test.statement}},
					})
					return isr.Served{}, err
				}
				_, err := client.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{Statement: &test.statement})
				return isr.Served{}, err
			}), nil
		}}
		if !test.own {
			p.Name = s.Protocol
		}
		for _, batch = range []bool{false, true} {
			var trace strings.Builder
			got := slices.DeleteFunc(do(t, s, p, &trace).Marks, func(m spec.Mark) bool {
				return m != mark.LockRefused && m != mark.PublishRefused
			})
			if !slices.Equal(got, test.want) {
				t.Errorf("%s, in a batch %v: reached %v, want %v\n%s", test.statement, batch, got, test.want,
					trace.String())
			}
		}
	}
}

// Faults of META and LOCK mean the rows of pages and of locks.
func TestFaultsOfOwnRows(t *testing.T) {
	for _, test := range []struct {
		fault string
		want  string // in the trace
		not   string
	}{
		{"response-lost key=LOCK op=PutItem times=1", "PutItem lock//home in locks {", ""},
		{"throttled key=META nth=2 times=1", "TransactionCanceledException", ""},
		{"maybe throttled key=META", "", ""},
		{"throttled key=nothing times=always", "", "Throttling"},
	} {
		s := ownWorld(t, "faults: ["+test.fault+"]\n")
		var trace strings.Builder
		o := do(t, s, ownProtocol(false), &trace)
		if unmet := test.not != ""; (len(o.Unmet) > 0) != unmet {
			t.Errorf("%s: unmet %v\n%s", test.fault, o.Unmet, trace.String())
		}
		if !strings.Contains(trace.String(), test.want) ||
			test.not != "" && strings.Contains(trace.String(), test.not) {
			t.Errorf("%s: the trace should say %q, and not %q:\n%s", test.fault, test.want, test.not, trace.String())
		}
	}
	counted := ownWorld(t, "faults: [throttled key=LOCK nth=3 times=1]\n") // put, transaction, put
	var trace strings.Builder
	do(t, counted, ownProtocol(false), &trace)
	lines := strings.Split(trace.String(), "\n")
	i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "ThrottlingException") })
	if i < 0 || !strings.Contains(lines[i], "PutItem lock//home") || !strings.Contains(lines[i], "+2m") {
		t.Errorf("the third call of a lock was not struck:\n%s", trace.String())
	}
}

// If the rows do not fit, the verdict is neither a violation nor ok.
func TestOwnRowsThatDoNotFit(t *testing.T) {
	s := ownWorld(t, "")
	for i := range s.Rows.Rows {
		s.Rows.Rows[i].Partition = strings.Replace(s.Rows.Rows[i].Partition, "{key}", "p/{key}", 1)
	}
	o := do(t, s, ownProtocol(true), nil)
	if o.Verdict == invariant.Violated || !strings.Contains(o.Misfit,
		`pages {path: "/home"}, with html, until: path is not of the form p/{key}`) {
		t.Errorf("%s\n%s", o.Explain("own", "own"), o.Misfit)
	}
	if slices.Contains(o.Marks, mark.Published) {
		t.Error("a page was published that was not recognised")
	}
	// The locks may fit where the pages do not: such a run is judged by its locks.
	for i := range s.Rows.Rows {
		if s.Rows.Rows[i].Token != "" {
			s.Rows.Rows[i].Partition = strings.Replace(s.Rows.Rows[i].Partition, "p/{key}", "{key}", 1)
		}
	}
	o = do(t, s, ownProtocol(false), nil)
	if want := "the row mapping finds no page in the rows that were written:\n  " +
		`pages {path: "/home"}, with html, until: path is not of the form p/{key}`; o.Verdict != invariant.OK ||
		o.Pageless != want {
		t.Errorf("%s\n%s\nwant\n%s", o.Explain("own", "own"), o.Pageless, want)
	}
	for i := range s.Rows.Rows { // in place
		s.Rows.Rows[i].Partition = strings.Replace(s.Rows.Rows[i].Partition, "p/{key}", "{key}", 1)
	}
	if o := do(t, s, ownProtocol(false), nil); o.Verdict != invariant.OK ||
		o.Misfit+o.Pageless != "" {
		t.Errorf("%s\n%s", o.Explain("own", "own"), o.Misfit)
	}
}

// unnamed is a cache that asks for the page, and may keep its locks and pages in rows that need a mapping.
type unnamed struct {
	isr.Config
	writes bool
}

func (c unnamed) Get(ctx context.Context, key string) (isr.Served, error) {
	row := func(sk string) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: isr.PartitionKey("", key)},
			"sk": &types.AttributeValueMemberS{Value: sk},
		}
	}
	if _, err := c.Client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(c.Table), Key: row(isr.SortMeta)}); err != nil {
		return isr.Served{}, err
	}
	body, err := c.Render(ctx, key, func(context.Context) error { return nil })
	if err == nil && c.writes {
		_, err = c.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(c.Table), Item: row("PAGE")})
	}
	return isr.Served{Body: body, Fresh: true}, err
}

// Without a mapping, the rows of a cache with other rows or another table are not known to be missing.
func TestRowsWithoutAMapping(t *testing.T) {
	for _, test := range []struct {
		table, region string
		writes        bool
		want          invariant.Verdict
		why           string
	}{
		{hooks.TableName, "", true, invariant.Unknown, ", META or LOCK:\n  isr-cache {pk: \"CACHE#"},
		{hooks.TableName, "", false, invariant.Violated, ""},
		{"pages", "", true, invariant.Unknown, "nothing was written, and a request was about a table that is not " +
			"there (ResourceNotFoundException): it asked for the table pages; the world has isr-cache\nhint: use the "},
		{hooks.TableName, "eu-west-1", true, invariant.Unknown, "nothing was written, and a request went to another " +
			"region (ResourceNotFoundException): it asked for the table isr-cache in eu-west-1; the world has " +
			"isr-cache in us-east-1\nhint: leave the region "},
	} {
		text := "name: own\nprotocol: own\nsettle: 30s\npromise: {recipe: true}\n" +
			"actors:\n  - {name: alice, script: [get /home]}\n"
		s := must.Of(spec.Parse("own.yaml", []byte(text), isr.Protocol{Name: "own"}))(t)
		o := do(t, s, isr.Protocol{Name: "own", SDK: true, New: func(c isr.Config) (isr.Handler, error) {
			if c.Table = test.table; test.region != "" {
				o := c.Client.(*dynamodb.Client).Options()
				o.Region = test.region
				c.Client = dynamodb.New(o)
			}
			return unnamed{c, test.writes}, nil
		}}, nil)
		if o.Verdict != test.want || !strings.Contains(o.Why, test.why) {
			t.Errorf("expected %v, got %s", test.want, o.Explain("own", "own"))
		}
	}
}

func TestRowsAreReadAndPrinted(t *testing.T) {
	s := ownWorld(t, "")
	text, err := s.YAML()
	must.OK(t, err)
	again, err := spec.Parse("again.yaml", text, isr.Protocol{Name: "own"})
	must.OK(t, err)
	if diff := cmp.Diff(s.Rows, again.Rows); diff != "" {
		t.Errorf("printed and read (-want +got):\n%s", diff)
	}
	s.Rows, _ = isr.SchemaNamed("dynamolock")
	if text, err = s.YAML(); err != nil || !strings.Contains(string(text), "\nrows: dynamolock\n") {
		t.Errorf("%v\n%s", err, text)
	}
	s.Rows.Translate = func(string, map[string]types.AttributeValue) []map[string]types.AttributeValue { return nil }
	if text, err = s.YAML(); err != nil || strings.Contains(string(text), "\nrows:") {
		t.Errorf("%v\n%s", err, text)
	}
}

// asked is a cache that finds its page by an index.
type asked struct{ isr.Config }

func (c asked) Get(ctx context.Context, key string) (isr.Served, error) {
	page, at := &types.AttributeValueMemberS{Value: key}, &types.AttributeValueMemberN{Value: "7"}
	_, err := c.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("tags"),
		Item: map[string]types.AttributeValue{"tag": page, "path": page, "at": at}})
	if err != nil {
		return isr.Served{}, err
	}
	out, err := c.Client.Query(ctx, &dynamodb.QueryInput{TableName: aws.String("tags"),
		IndexName: aws.String("revalidate"), KeyConditionExpression: aws.String("#p = :p AND #a > :a"),
		ExpressionAttributeNames: map[string]string{"#p": "path", "#a": "at"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":p": page, ":a": &types.AttributeValueMemberN{Value: "6"},
		}})
	if err != nil || out.Count != 1 {
		return isr.Served{}, fmt.Errorf("found %v, %w", out, err)
	}
	return isr.Served{Body: []byte("found"), Fresh: true}, nil
}

func TestIndexesOfOwnTables(t *testing.T) {
	s := must.Of(spec.Parse("x.yaml", []byte(`name: x
protocol: asked
rows:
  - table: tags
    partition: "tag = {*}"
    sort: "path = {key}"
    index: "revalidate: path, at N; by-day: day"
    generated: at ms
    window: "= 60s"
actors:
  - {name: alice, script: [get /home]}
`), isr.Protocol{Name: "asked"}))(t)
	p := isr.Protocol{Name: "asked", New: func(c isr.Config) (isr.Handler, error) { return asked{c}, nil }}
	var trace strings.Builder
	if do(t, s, p, &trace); !strings.Contains(trace.String(), "served /home as fresh body found") {
		t.Error(trace.String())
	}
}

// If a mapping gives every row, key and attribute another name, every scenario has the same schedule, the same marks
// and the same verdict as without it. That holds under its own protocol and under the mutants that it catches.
func TestRenamedRowsAreJudgedAlike(t *testing.T) {
	effort.OneAtATime(t)
	runs, violated := 0, map[string]bool{}
	for _, file := range append(fixtures.Names(), fixtures.Museum()...) {
		data, err := fixtures.Read(file)
		must.OK(t, err)
		s, err := spec.Parse(file, data)
		must.OK(t, err)
		for _, name := range append([]string{s.Protocol}, s.Catches...) {
			p := scenariotest.Protocol(t, name)
			for seed := range uint64(effort.Fewer(3, 1)) {
				native := alike(t, s, p, seed)
				other := *s
				other.Rows = scenariotest.RenamedRows
				for i := range other.Faults {
					if strings.HasPrefix(other.Faults[i].Key, "VER#") ||
						strings.HasPrefix(other.Faults[i].Key, "REQ#") ||
						strings.HasPrefix(other.Faults[i].Key, "CACHE#") {
						t.Fatalf("%s: a fault of %s", s.Name, other.Faults[i].Key)
					}
				}
				// its refused extension of a page counts as a refused publish only if the names are unknown
				if name == "policy-sliding" {
					native.Marks = slices.DeleteFunc(native.Marks,
						func(m spec.Mark) bool { return m == mark.PublishRefused })
				}
				if diff := cmp.Diff(native, alike(t, &other, scenariotest.Renamed(p), seed)); diff != "" {
					t.Errorf("%s under %s, seed %d (-META and LOCK, +renamed):\n%s", s.Name, name, seed, diff)
				}
				runs++
				for _, inv := range native.Broken {
					violated[inv] = true
				}
			}
		}
	}
	t.Logf("%d runs, which violate %d invariants", runs, len(violated))
}

// judgedRun has the results that must be equal.
type judgedRun struct {
	Verdict string
	Broken  []string
	Steps   int
	Choices string
	Marks   []spec.Mark
	Misfit  string
}

func alike(t *testing.T, s *spec.Scenario, p isr.Protocol, seed uint64) judgedRun {
	t.Helper()
	o, err := kernel.Run{
		Scenario: s, Protocol: p, Seed: seed, Strategy: strategy.PCT(3), ExpectedSteps: 200,
	}.Do(t.Context())
	if err != nil {
		t.Fatalf("%s under %s: %v", s.Name, p.Name, err)
	}
	return judgedRun{fmt.Sprint(o.Verdict), o.Broken, o.Result.Steps, o.Result.Choices.String(),
		o.Marks, o.Misfit}
}

const twoTenants = `
name: two-tenants
actors:
  - {name: alice, tenant: t1, script: [get /home]}
  - {name: bob, tenant: t2, script: [sleep 10s, get /home]}
settle: 30s
`

// tenantless is a protocol that ignores the tenant of a page.
var tenantless = isr.Protocol{Name: "recipe-a", New: func(cfg isr.Config) (isr.Handler, error) {
	cfg.Tenant = ""
	return pagecache.AsHandler(pagecache.New(cfg))
}}

func TestTenantsHavePagesAndOriginsOfTheirOwn(t *testing.T) {
	s := scenariotest.Parsed(t, twoTenants)
	text, _ := scenariotest.Trace(t,
		kernel.Run{Scenario: s, Protocol: recipe.Reference(), Strategy: strategy.DelayBound(0)})
	for _, want := range []string{
		"META of t1/home: absent", "META of t2/home: absent",
		"bob served /home as fresh body t2/home@0#bob-render-1",
		"visitor served /home as fresh body t1/home@0#alice-render-1",
		"visitor served /home as fresh body t2/home@0#bob-render-1",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the trace does not say %q:\n%s", want, text)
		}
	}
	text, _ = scenariotest.Trace(t, kernel.Run{Scenario: s, Protocol: tenantless, Strategy: strategy.DelayBound(0)})
	for _, want := range []string{"META of /home: absent", "bob served /home as fresh body t1/home@0#alice-render-1"} {
		if !strings.Contains(text, want) {
			t.Errorf("without tenants in keys, the trace does not say %q:\n%s", want, text)
		}
	}
}

func TestTenantsDoNotStandInEachOthersWay(t *testing.T) {
	r := scenariotest.Ran(t, campaign.Campaign{Scenario: scenariotest.Parsed(t, `
name: neighbours
actors:
  - {name: alice, tenant: t1, script: [get /home, sleep 61s, get /home]}
  - {name: bob, tenant: t2, script: [change /home, get /home, sleep 61s, get /home]}
  - {name: carol, script: [get /home]}
settle: 30s
bounds: {schedules: 200}
`), Seed: 1})
	if !r.Passed() {
		t.Error(prose.Report(r, "isr-sim", "neighbours.yaml"))
	}
	for _, m := range r.Reached() {
		if m == mark.LockRefused {
			t.Error("a lease was refused, although each tenant has one writer")
		}
	}
	scenariotest.SameAfterPrinting(t, r.Scenario)
}

// locker takes a lock. If the put is refused, it gets the row for which it was refused only if values says so.
type locker struct {
	isr.Config
	values types.ReturnValuesOnConditionCheckFailure
}

func (l locker) Get(ctx context.Context, key string) (isr.Served, error) {
	row := pagecache.Key(isr.PartitionKey("", key), isr.SortLock)
	row["lease_token"] = &types.AttributeValueMemberS{Value: l.Tokens()}
	row["lease_expires_at"] = &types.AttributeValueMemberN{Value: "99999999999"}
	_, err := l.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &l.Table, Item: row, ConditionExpression: aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: l.values,
	})
	return isr.Served{}, err
}

// If a put of a lock is sent again after a lost response, it is refused for its own row, whether or not it asks for
// that row. The mark is not reached if a put is refused for the row of another node, or if the put's first attempt had
// no effect.
func TestALockMeetsItsOwnRow(t *testing.T) {
	for _, test := range []struct {
		name, fault, script string
		want                bool
	}{
		{"its response was lost", "response-lost op=PutItem", "get /home", true},
		{"its request was lost", "request-lost op=PutItem", "get /home", false},
		{"the row is of another put", "request-lost op=PutItem nth=2", "get /home, get /home", false},
	} {
		for _, values := range []types.ReturnValuesOnConditionCheckFailure{"",
			types.ReturnValuesOnConditionCheckFailureAllOld} {
			s := scenariotest.Parsed(t, "name: own\ncache: {attempts: 2}\nactors: [{name: alice, script: ["+test.script+
				"]}]\nfaults: ["+test.fault+"]\n")
			p := isr.Protocol{
				Name: "locker", New: func(cfg isr.Config) (isr.Handler, error) { return locker{cfg, values}, nil },
			}
			text, o := scenariotest.Trace(t, kernel.Run{Scenario: s, Protocol: p, Seed: 1})
			if got := slices.Contains(o.Marks, mark.OwnCommitMet); got != test.want {
				t.Errorf("%s, it asks for %q: own-commit-met %v, want %v\n%s", test.name, values, got, test.want, text)
			}
		}
	}
}

// A mapping without the cache's lock accuses nobody of a publish without a lease: the lock may be in the rows that it
// leaves out.
func TestAMappingWithoutTheLock(t *testing.T) {
	page := isr.Row{Partition: "pk = {key}", Sort: "sk = META", BodyKey: "s3_key", Generated: "generated_at",
		Window: "revalidate_seconds", ETag: "etag", TTL: "ttl"}
	lock := isr.Row{Partition: "pk = {key}", Sort: "sk = LOCK", Token: "lease_token", Expires: "lease_expires_at",
		TTL: "ttl"}
	for _, test := range []struct {
		rows []isr.Row
		want invariant.Verdict
		why  string
	}{
		{[]isr.Row{page, lock}, invariant.OK, ""},
		{[]isr.Row{page}, invariant.Unknown, "stale-writer: the row mapping has no lock, and other rows or attributes"},
	} {
		s := scenariotest.Parsed(t,
			"{name: own, protocol: recipe-a, bounds: {ticks: 0}, actors: [{name: alice, script: [get /home]}]}")
		s.Rows.Rows = test.rows
		o := do(t, s, scenariotest.Protocol(t, "recipe-a"), nil)
		if o.Verdict != test.want || !strings.Contains(o.Why, test.why) {
			t.Errorf("%d rows: expected %v, got %s", len(test.rows), test.want, o.Explain("own", "recipe-a"))
		}
	}
}
