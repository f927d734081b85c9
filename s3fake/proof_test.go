package s3fake_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/nodes/objects"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/s3fake"
	"github.com/isr-sim/isr-sim/s3fake/sdk"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// These tests are of proofs. They are here, because otherwise modules that use package property would depend on S3.

var errNoPage = errors.New("it serves no page")

// refutes expects a proof to find the wrong row: a ttl of LOCK that is not a number breaks a rule of the recipe.
func refutes(t *testing.T, text string, sdk bool, newCache func(isr.Config) isr.Handler) {
	t.Helper()
	text += "promise: {recipe: true}\n"
	p := isr.Protocol{Name: "cache", New: func(cfg isr.Config) (isr.Handler, error) { return newCache(cfg), nil }}
	proof, err := campaign.Prove{
		Scenario: scenariotest.Parsed(t, text), Protocol: p, Seed: 1, Options: kernel.Options{SDK: sdk},
	}.Run(t.Context())
	if err != nil || proof.Verdict != invariant.Violated {
		t.Errorf("sdk %v: got %v, error %v; want it violated", sdk, proof, err)
	}
}

// wrongRow writes a row that no cache may write.
func wrongRow(ctx context.Context, cfg isr.Config, key string) (isr.Served, error) {
	row := pagecache.Key(isr.PartitionKey("", key), isr.SortLock)
	row["lease_token"], row["lease_expires_at"] = &types.AttributeValueMemberS{Value: "x"},
		&types.AttributeValueMemberN{Value: "1"}
	row["ttl"] = &types.AttributeValueMemberS{Value: "no number"}
	_, err := cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &cfg.Table, Item: row})
	return isr.Served{}, errors.Join(err, errNoPage)
}

// objectsOf returns an S3 client for the bodies of a node.
func objectsOf(t *testing.T, cfg isr.Config) *s3.Client {
	t.Helper()
	do, err := objects.Do(cfg.Bodies)
	if err != nil {
		t.Error(err)
	}
	return sdk.NewClient(do)
}

// oneBody is a cache with one body and one etag. The etag stands for two bodies if alice replaces bob's body after he
// has published it. She does that once he is about to publish.
type oneBody struct {
	cfg isr.Config
	put func(ctx context.Context, body string) error
}

func (h oneBody) Get(ctx context.Context, key string) (isr.Served, error) {
	pk, table, now := isr.PartitionKey("", key), &h.cfg.Table, h.cfg.Clock.Now().Unix()
	name, _, _ := strings.Cut(h.cfg.Tokens(), "-")
	number := func(n int64) types.AttributeValue {
		return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
	}
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	about := pagecache.Key(pk, "ABOUT")
	if name == "alice" {
		out, err := h.cfg.Client.GetItem(ctx,
			&dynamodb.GetItemInput{TableName: table, Key: about, ConsistentRead: aws.Bool(true)})
		if err != nil || out.Item == nil {
			return isr.Served{}, errNoPage
		}
		now++
	}
	err := h.put(ctx, "by "+name)
	if err == nil && name == "bob" {
		_, err = h.cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: about})
	}
	meta := pagecache.Key(pk, isr.SortMeta)
	meta["s3_key"], meta["etag"] = text("page"), text("v1")
	meta["generated_at"], meta["revalidate_seconds"], meta["ttl"] = number(now), number(60), number(now+3600)
	if err == nil {
		_, err = h.cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: meta})
	}
	return isr.Served{}, errors.Join(err, errNoPage)
}

// An etag stands for the body that exists when it is published, so a search distinguishes whether a body was replaced
// before or after.
func TestWhichBodyWasPublishedCounts(t *testing.T) {
	world := "name: small\ncache: {lease: 10s, render: 0s, poll: 11s, patience: 1}\nbounds: {ticks: 0}\n" +
		"invariants: [no-dangling-pointer]\nactors:\n  - {name: alice, script: [get /home]}\n" +
		"  - {name: bob, script: [get /home]}\n"
	refutes(t, world, false, func(cfg isr.Config) isr.Handler {
		return oneBody{cfg,
			func(ctx context.Context, body string) error { return cfg.Bodies.PutBody(ctx, "page", []byte(body)) }}
	})
	refutes(t, world, true, func(cfg isr.Config) isr.Handler {
		client := objectsOf(t, cfg)
		return oneBody{cfg, func(ctx context.Context, body string) error {
			_, err := client.PutObject(ctx, &s3.PutObjectInput{
				Bucket: aws.String(objects.Bucket), Key: aws.String("page"), Body: strings.NewReader(body),
			})
			return err
		}}
	})
}

// dated is a cache that looks at the date of an object in S3. If time has moved, a recent date is a mistake.
type dated struct {
	cfg isr.Config
	s3  *s3.Client
}

func (h dated) Get(ctx context.Context, key string) (isr.Served, error) {
	bucket, object := aws.String(objects.Bucket), aws.String("page")
	if strings.HasPrefix(h.cfg.Tokens(), "alice") {
		_, err := h.s3.PutObject(ctx,
			&s3.PutObjectInput{Bucket: bucket, Key: object, Body: strings.NewReader("a page")})
		return isr.Served{}, errors.Join(err, errNoPage)
	}
	out, err := h.s3.HeadObject(ctx, &s3.HeadObjectInput{Bucket: bucket, Key: object})
	if err != nil {
		return isr.Served{}, err
	}
	if now := h.cfg.Clock.Now(); now.After(fakeclock.Epoch) && out.LastModified.Equal(now) {
		return wrongRow(ctx, h.cfg, key)
	}
	return isr.Served{}, errNoPage
}

// The time at which an object was written matters even after the machine that wrote it has finished.
func TestTheDateOfAnObjectCounts(t *testing.T) {
	refutes(t, "name: small\ncache: {lease: 10s, render: 0s, poll: 11s, patience: 1}\nbounds: {ticks: 1}\nactors:\n"+
		"  - {name: alice, script: [get /home]}\n  - {name: bob, script: [get /home]}\n"+
		"  - {name: carol, script: [sleep 10s]}\n",
		true, func(cfg isr.Config) isr.Handler { return dated{cfg, objectsOf(t, cfg)} })
}

// founder is a cache in which alice makes a bucket, writes a note, and is done. Her requests may be lost. If bob finds
// the note but not the bucket, he writes a wrong row.
type founder struct {
	cfg isr.Config
	s3  *s3.Client
}

func (h founder) Get(ctx context.Context, key string) (isr.Served, error) {
	note := pagecache.Key(isr.PartitionKey("", key), "NOTE")
	out, err := h.cfg.Client.GetItem(ctx,
		&dynamodb.GetItemInput{TableName: &h.cfg.Table, Key: note, ConsistentRead: aws.Bool(true)})
	if strings.HasPrefix(h.cfg.Tokens(), "alice") {
		if err == nil {
			_, _ = h.s3.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String("own")}) // this request may be lost
		}
		_, err = h.cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &h.cfg.Table, Item: note})
		return isr.Served{}, errors.Join(err, errNoPage)
	}
	if err != nil || out.Item == nil {
		return isr.Served{}, errors.Join(err, errNoPage)
	}
	all, err := h.s3.ListBuckets(ctx, &s3.ListBucketsInput{})
	if err != nil || len(all.Buckets) > 1 {
		return isr.Served{}, errors.Join(err, errNoPage)
	}
	return wrongRow(ctx, h.cfg, key)
}

// Buckets matter even after the machine that made them is done.
func TestBucketsCount(t *testing.T) {
	refutes(t, "name: small\ncache: {lease: 10s, render: 0s, poll: 11s, patience: 1}\nbounds: {ticks: 0}\n"+
		"faults: [maybe request-lost times=always actor=alice]\nactors:\n  - {name: alice, script: [get /home]}\n"+
		"  - {name: bob, script: [get /home]}\n",
		true, func(cfg isr.Config) isr.Handler { return founder{cfg, objectsOf(t, cfg)} })
}

// onS3 keeps bodies in S3. It makes its client on first use.
type onS3 struct{ client func() *s3.Client }

func (b onS3) PutBody(ctx context.Context, name string, body []byte) error {
	_, err := b.client().PutObject(ctx,
		&s3.PutObjectInput{Bucket: aws.String(objects.Bucket), Key: &name, Body: bytes.NewReader(body)})
	return err
}

func (b onS3) GetBody(ctx context.Context, name string) ([]byte, error) {
	out, err := b.client().GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(objects.Bucket), Key: &name})
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	return io.ReadAll(out.Body)
}

// The search remembers code that uses an S3 client, and puts its objects back. It finds the same as without memory.
func TestCodeWithS3IsRemembered(t *testing.T) {
	effort.Long(t)
	const text = "name: small\ncache: {lease: 2s, revalidate: 4s, render: 0s, poll: 11s, patience: 1, attempts: 2}\n" +
		"settle: 30s\nbounds: {ticks: 1}\n" +
		"faults: [maybe body-put-lost]\nactors:\n  - {name: alice, script: [get /home], crashes: 1}\n" +
		"  - {name: bob, script: [get /home]}\n"
	whole := strings.NewReplacer("ticks: 1", "ticks: 0", "maybe body-put-lost", "", ", crashes: 1", "").Replace(text)
	for _, of := range []struct{ name, text string }{{"recipe-a", whole}, {"recipe-a", text},
		{"guard-token-alone", text}} {
		name := of.name
		search := func(forgetful bool) (*campaign.Proof, int) {
			protocol, made := scenariotest.Protocol(t, name), 0
			p := isr.Protocol{Name: name, New: func(cfg isr.Config) (isr.Handler, error) {
				made++
				bodies := cfg
				cfg.Bodies = onS3{sync.OnceValue(func() *s3.Client { return objectsOf(t, bodies) })}
				return protocol.New(cfg)
			}}
			proof, err := campaign.Prove{
				Scenario: scenariotest.Parsed(t, of.text), Protocol: p, Seed: 1, MaxSchedules: 200,
				Forgetful: forgetful, Certify: of.text == whole, Options: kernel.Options{SDK: true},
			}.Run(t.Context())
			must.OK(t, err)
			return proof, made
		}
		got, started := search(false)
		want, plainly := search(true)
		if got.Explored != want.Explored || got.Summary() != want.Summary() || started >= plainly ||
			got.Explored.Complete != (of.text == whole) || !slices.Equal(got.States, want.States) {
			t.Errorf("%s: %s, %+v, code started %d times; without memory %s, %+v, %d times", name, got.Summary(),
				got.Explored, started, want.Summary(), want.Explored, plainly)
		}
	}
}

// A search puts objects back together with the number of uploads, so that the next upload has the same id as before.
func TestObjectsArePutBack(t *testing.T) {
	store := s3fake.New(s3fake.Options{Buckets: []string{"pages"}})
	client, bucket, key := sdk.NewClient(store.Do), aws.String("pages"), aws.String("home")
	upload := func() string {
		out, err := client.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: bucket, Key: key})
		must.OK(t, err)
		return *out.UploadId
	}
	upload()
	back, before := store.Keep(), store.Fingerprint()
	first := upload()
	if store.Fingerprint() == before {
		t.Error("an upload does not count")
	}
	back()
	if store.Fingerprint() != before {
		t.Error("the upload is still there")
	}
	if again := upload(); again != first {
		t.Errorf("the upload %s is %s the second time", first, again)
	}
}

// A machine that gets the same answers again must send the same requests to S3: everything that it decides counts.
func TestAllThatIsAskedCounts(t *testing.T) {
	store := s3fake.New(s3fake.Options{Buckets: []string{"pages"}})
	asked := func(actor string, change func(*s3.PutObjectInput)) string {
		var text string
		client := sdk.NewClient(func(ctx context.Context, c s3fake.Call) (*s3fake.Answer, error) {
			text = c.Detail()
			return store.Do(ctx, c)
		}, sdk.WithActor(actor))
		in := &s3.PutObjectInput{Bucket: aws.String("pages"), Key: aws.String("home"), Body: strings.NewReader("a")}
		change(in)
		_, _ = client.PutObject(t.Context(), in) // some have no bucket
		return text
	}
	plain := func(*s3.PutObjectInput) {}
	same := asked("alice", plain)
	if again := asked("alice", plain); again != same {
		t.Errorf("%s, and %s", same, again)
	}
	for name, other := range map[string]string{
		"actor":    asked("bob", plain),
		"key":      asked("alice", func(in *s3.PutObjectInput) { in.Key = aws.String("other") }),
		"bucket":   asked("alice", func(in *s3.PutObjectInput) { in.Bucket = aws.String("other") }),
		"body":     asked("alice", func(in *s3.PutObjectInput) { in.Body = strings.NewReader("b") }),
		"metadata": asked("alice", func(in *s3.PutObjectInput) { in.Metadata = map[string]string{"a": "b"} }),
	} {
		if other == same {
			t.Errorf("the %s does not count", name)
		}
	}
}
