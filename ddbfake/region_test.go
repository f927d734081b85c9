package ddbfake_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

const (
	ireland    = "eu-west-1"
	irelandARN = "arn:aws:dynamodb:eu-west-1:000000000000:table/cache"
	defaultARN = "arn:aws:dynamodb:us-east-1:000000000000:table/cache"
)

// client has the door methods that these tests need.
type client interface {
	CreateTable(
		context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options),
	) (*dynamodb.CreateTableOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	ListTables(
		context.Context, *dynamodb.ListTablesInput, ...func(*dynamodb.Options),
	) (*dynamodb.ListTablesOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	TransactGetItems(
		context.Context, *dynamodb.TransactGetItemsInput, ...func(*dynamodb.Options),
	) (*dynamodb.TransactGetItemsOutput, error)
	TransactWriteItems(
		context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options),
	) (*dynamodb.TransactWriteItemsOutput, error)
	UpdateItem(
		context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options),
	) (*dynamodb.UpdateItemOutput, error)
}

// createCache creates the table "cache" (pk S, sk S).
func createCache(t testing.TB, c client) *types.TableDescription {
	t.Helper()
	out := must.Of(c.CreateTable(t.Context(), tableInput("cache", "pk", "S", "sk", "S")))(t)
	return out.TableDescription
}

func putInto(t testing.TB, c client, nameOrARN string, item values) {
	t.Helper()
	must.Done(t)(c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &nameOrARN, Item: item}))
}

// doors are the ways to a DB. Each has another way to name the region and the caller.
var doors = []struct {
	name string
	open func(t *testing.T, db *ddbfake.DB) func(actor, region string) client
}{
	{"Go", func(_ *testing.T, db *ddbfake.DB) func(string, string) client {
		return func(actor, region string) client { return db.As(actor).In(region) }
	}},
	{"SDK", func(_ *testing.T, db *ddbfake.DB) func(string, string) client {
		return func(actor, region string) client {
			return db.Client(ddbfake.WithActor(actor), func(o *dynamodb.Options) { o.Region = region })
		}
	}},
	{"SDK, anonymous", func(_ *testing.T, db *ddbfake.DB) func(string, string) client {
		regions := map[string]client{}
		// one client for all callers, as in real programs
		for _, region := range []string{ddbfake.DefaultRegion, ireland} {
			regions[region] = db.Client(func(o *dynamodb.Options) { o.Region = region })
		}
		return func(_, region string) client { return regions[region] }
	}},
	{"HTTP", func(t *testing.T, db *ddbfake.DB) func(string, string) client {
		server := httptest.NewServer(db.Handler())
		t.Cleanup(server.Close)
		wire := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: hammers}}
		t.Cleanup(wire.CloseIdleConnections)
		return func(actor, region string) client {
			return dynamodb.New(dynamodb.Options{
				Region:       region,
				BaseEndpoint: &server.URL,
				Credentials:  credentials.NewStaticCredentialsProvider(actor, "secret", ""),
				HTTPClient:   wire,
			})
		}
	}},
}

// No region sees the tables of another.
func TestRegionsAreSeparate(t *testing.T) {
	for _, door := range doors {
		t.Run(door.name, func(t *testing.T) {
			db := ddbfake.New(ddbfake.Options{})
			in := door.open(t, db)
			here, there := in("alice", ddbfake.DefaultRegion), in("alice", ireland)
			if got := *createCache(t, here).TableArn; got != defaultARN {
				t.Errorf("got %s, want %s", got, defaultARN)
			}
			_, err := there.GetItem(t.Context(),
				&dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "META")})
			wantError(t, err, "ResourceNotFoundException", "Requested resource not found")
			if got := *createCache(t, there).TableArn; got != irelandARN {
				t.Errorf("got %s, want %s", got, irelandARN)
			}
			putInto(t, here, "cache", key("a", "HERE"))
			putInto(t, there, irelandARN, key("a", "THERE"))

			for name, want := range map[string]string{"cache": "HERE", defaultARN: "HERE", irelandARN: "THERE"} {
				items := db.Items(name)
				if len(items) != 1 || !attr.Equal(items[0]["sk"], attr.S(want)) {
					t.Errorf("%s holds %v, want the row %s", name, items, want)
				}
			}
			if diff := cmp.Diff([]string{irelandARN, "cache"}, db.Tables()); diff != "" {
				t.Errorf("tables (-want +got):\n%s", diff)
			}
			for _, c := range []client{here, there} {
				out, err := c.ListTables(t.Context(), &dynamodb.ListTablesInput{})
				if err != nil || !slices.Equal(out.TableNames, []string{"cache"}) {
					t.Errorf("listed %v, %v, want cache alone", out, err)
				}
			}
			log := db.Changes()
			if len(log) != 2 || log[0].Region != ddbfake.DefaultRegion || log[1].Region != ireland ||
				log[1].Table != "cache" {
				t.Errorf("got changes %+v", log)
			}
		})
	}
}

// A request reaches only its own region, whatever region an ARN names.
func TestARNOfAnotherRegion(t *testing.T) {
	db := ddbfake.New(ddbfake.Options{})
	here, there := db.As("alice"), db.As("alice").In(ireland)
	createCache(t, here)
	createCache(t, there)
	type calls struct {
		door    *ddbfake.Door
		foreign string
	}
	for _, c := range []calls{{here, irelandARN}, {there, defaultARN}} {
		name, row := &c.foreign, key("a", "b")
		_, get := c.door.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: name, Key: row})
		_, put := c.door.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name, Item: row})
		_, query := c.door.Query(t.Context(),
			&dynamodb.QueryInput{TableName: name, KeyConditionExpression: aws.String("pk = :a"),
				ExpressionAttributeValues: values{":a": s("a")}})
		_, scan := c.door.Scan(t.Context(), &dynamodb.ScanInput{TableName: name})
		_, batch := c.door.BatchWriteItem(t.Context(),
			&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
				*name: {{PutRequest: &types.PutRequest{Item: row}}}}})
		_, batchGet := c.door.BatchGetItem(t.Context(),
			&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
				*name: {Keys: []map[string]types.AttributeValue{row}}}})
		_, transact := c.door.TransactWriteItems(t.Context(),
			&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{TableName: name, Item: row}}}})
		_, describe := c.door.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: name})
		_, backups := c.door.DescribeContinuousBackups(t.Context(),
			&dynamodb.DescribeContinuousBackupsInput{TableName: name})
		_, ttl := c.door.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: name})
		_, remove := c.door.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: name})
		for _, err := range []error{get, put, query, scan, batch, batchGet, transact, describe, backups, ttl, remove} {
			wantError(t, err, "ValidationException", "1 validation error detected: Invalid AWS region in '"+*name+"'")
		}
		_, tags := c.door.ListTagsOfResource(t.Context(), &dynamodb.ListTagsOfResourceInput{ResourceArn: name})
		wantError(t, tags, "ValidationException", "Invalid TableArn: Invalid ResourceArn provided as input "+*name)
	}
	if len(db.Changes()) != 0 || len(db.Tables()) != 2 {
		t.Error("a refused call took effect")
	}
}

// A token belongs to its region.
func TestTokensOfRegions(t *testing.T) {
	db := ddbfake.New(ddbfake.Options{})
	for _, region := range []string{"", ireland} {
		door := db.As("alice").In(region)
		createCache(t, door)
		for range 2 {
			must.Done(t)(door.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{
				ClientRequestToken: aws.String("once"),
				TransactItems: []types.TransactWriteItem{
					{Put: &types.Put{TableName: aws.String("cache"), Item: key(region+"x", "b")}},
				},
			}))
		}
	}
	if n := len(db.Changes()); n != 2 {
		t.Errorf("%d transactions took effect, want one a region", n)
	}
}

// Methods that read or change a whole DB cover every region.
func TestRegionsFromOutside(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.enableTTL()
	there := w.db.As("alice").In(ireland)
	createCache(t, there)
	must.Done(t)(there.UpdateTimeToLive(t.Context(), ttlOn("cache")))
	must.OK(t, w.db.Put("cache", fromSDK(t, with(key("a", "b"), "ttl", due(0)))))
	before, kept := w.db.Hash(), w.db.Snapshot()
	must.OK(t, w.db.Put(irelandARN, fromSDK(t, with(key("a", "b"), "ttl", due(0)))))
	if w.db.Hash() == before {
		t.Error("a row elsewhere does not change the hash")
	}
	w.clock.Advance(time.Second)
	rows := w.db.Expired()
	if len(rows) != 2 || rows[0].Region != ireland || rows[1].Region != ddbfake.DefaultRegion {
		t.Fatalf("expired are %+v, want one row a region", rows)
	}
	if !w.db.Sweep(rows[0]) || len(w.db.Items(irelandARN)) != 0 || len(w.db.Items("cache")) != 1 {
		t.Error("the sweep of one region deleted another row, or none")
	}
	if !w.db.Sweep(ddbfake.Row{Table: "cache", Key: rows[1].Key}) {
		t.Error("a row without a region is not one of the default region")
	}
	w.db.Restore(kept)
	if w.db.Hash() != before || len(w.db.Items("cache")) != 1 || len(w.db.Items(irelandARN)) != 0 {
		t.Error("the snapshot was not that of both regions")
	}
}

// A name in a fault means the tables of that name in all regions, and an ARN means one table.
func TestFaultsOfRegions(t *testing.T) {
	for _, c := range []struct {
		fault       string
		here, there bool
	}{
		{"throttled table=cache times=always", true, true},
		{"throttled table=cache key=a times=always", true, true},
		{"throttled table=" + irelandARN + " times=always", false, true},
		{"throttled table=" + defaultARN + " times=always", true, false},
	} {
		db := ddbfake.New(ddbfake.Options{})
		here, there := db.As("alice"), db.As("alice").In(ireland)
		createCache(t, here)
		createCache(t, there)
		f, err := ddbfake.ParseFault(c.fault)
		if err != nil || f.String() != c.fault {
			t.Fatalf("%s: %v, %v", c.fault, f, err)
		}
		db.Inject(f)
		for door, want := range map[*ddbfake.Door]bool{here: c.here, there: c.there} {
			_, err := door.GetItem(t.Context(),
				&dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "b")})
			if hit := err != nil; hit != want {
				t.Errorf("%s: got %v, want hit %t", c.fault, err, want)
			}
		}
	}
}

// Any name that could be a region is allowed.
func TestRegionNames(t *testing.T) {
	db := ddbfake.New(ddbfake.Options{})
	for region, want := range map[string]string{
		"local":         "arn:aws:dynamodb:local:000000000000:table/cache",
		"cn-north-1":    "arn:aws-cn:dynamodb:cn-north-1:000000000000:table/cache",
		"us-gov-west-1": "arn:aws-us-gov:dynamodb:us-gov-west-1:000000000000:table/cache",
	} {
		if got := *createCache(t, db.As("").In(region)).TableArn; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for _, region := range []string{"eu:west", "eu west 1", "a/b", "é"} {
		_, err := db.As("").In(region).ListTables(t.Context(), &dynamodb.ListTablesInput{})
		wantError(t, err, "InvalidSignatureException",
			"Credential should be scoped to a valid region, not '"+region+"'. ")
	}
}
