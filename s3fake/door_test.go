package s3fake

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

func put(key, body string) *s3.PutObjectInput {
	return &s3.PutObjectInput{Bucket: aws.String("pages"), Key: aws.String(key), Body: strings.NewReader(body)}
}

func get(key string) *s3.GetObjectInput {
	return &s3.GetObjectInput{Bucket: aws.String("pages"), Key: aws.String(key)}
}

func bodyOf(t *testing.T, client *s3.Client, key string) string {
	t.Helper()
	out, err := client.GetObject(t.Context(), get(key))
	must.OK(t, err)
	body, err := io.ReadAll(out.Body)
	must.OK(t, err)
	return string(body)
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if api, ok := errors.AsType[smithy.APIError](err); !ok || api.ErrorCode() != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

// clientOf returns a client of package sdk, which cannot be imported here.
func clientOf(
	do func(context.Context, Call) (*Answer, error), actor string, optFns ...func(*s3.Options),
) *s3.Client {
	return s3.New(s3.Options{
		Region: ddbfake.DefaultRegion, BaseEndpoint: aws.String("https://s3.isr-sim.invalid"), UsePathStyle: true,
		HTTPClient: &transport{do: do}, Retryer: ddbfake.Retryer(3),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: actor, SecretAccessKey: "none"}, nil
		}),
	}, optFns...)
}

// clients returns real clients of the SDK: an in-process one, and one over a socket with the SDK's own signature.
func clients(t *testing.T, s *Store) map[string]*s3.Client {
	t.Helper()
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return map[string]*s3.Client{
		"in process": clientOf(s.Do, "alice"),
		"over HTTP": s3.New(s3.Options{
			Region: "eu-west-1", BaseEndpoint: aws.String(server.URL),
			Credentials: credentials.NewStaticCredentialsProvider("alice", "none", ""),
			Retryer:     ddbfake.Retryer(3), HTTPClient: server.Client(),
		}),
	}
}

// Every operation works through the SDK, which itself changes inputs and outputs: checksums, chunks, encodings, typed
// errors.
func TestSDK(t *testing.T) {
	clock := fakeclock.New(fakeclock.Epoch)
	s := New(Options{Clock: clock, LogRequests: 100})
	for door, client := range clients(t, s) {
		t.Run(door, func(t *testing.T) {
			ctx := t.Context()
			_, err := client.PutObject(ctx, put("home", "x"))
			wantCode(t, err, "NoSuchBucket")
			_, err = client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String("pages")})
			must.OK(t, err)
			in := put("home & garden/é", "Hello")
			in.IfNoneMatch, in.ContentType, in.Metadata = aws.String("*"), aws.String("text/html"), map[string]string{
				"generation": "7",
			}
			made, err := client.PutObject(ctx, in)
			must.OK(t, err)
			if aws.ToString(made.ETag) != homeETag {
				t.Errorf("got ETag %s, want %s", aws.ToString(made.ETag), homeETag)
			}
			in.Body = strings.NewReader("other")
			_, err = client.PutObject(ctx, in)
			wantCode(t, err, "PreconditionFailed")
			if call := s.Requests()[len(s.Requests())-1]; call.Actor != "alice" || call.Status != 412 {
				t.Errorf("got %s, want a refused request of alice", call)
			}

			out, err := client.GetObject(ctx, get("home & garden/é"))
			must.OK(t, err)
			body, err := io.ReadAll(out.Body) // it checks the checksum
			must.OK(t, err)
			if string(body) != "Hello" || out.Metadata["generation"] != "7" ||
				aws.ToString(out.ContentType) != "text/html" ||
				!out.LastModified.Equal(fakeclock.Epoch) || aws.ToInt64(out.ContentLength) != 5 {
				t.Errorf("got %s and %+v", body, out)
			}
			head, err := client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: in.Bucket, Key: in.Key})
			must.OK(t, err)
			if aws.ToInt64(head.ContentLength) != 5 || aws.ToString(head.ETag) != homeETag {
				t.Errorf("got %+v", head)
			}
			_, err = client.GetObject(ctx, get("none"))
			if missing := (*types.NoSuchKey)(nil); !errors.As(err, &missing) {
				t.Errorf("got %v, want the SDK's NoSuchKey", err)
			}
			_, err = client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: in.Bucket, Key: aws.String("none")})
			if missing := (*types.NotFound)(nil); !errors.As(err, &missing) {
				t.Errorf("got %v, want the SDK's NotFound", err)
			}
			cond := get("home & garden/é")
			cond.IfNoneMatch = aws.String(homeETag)
			_, err = client.GetObject(ctx, cond)
			wantCode(t, err, "NotModified")

			for _, algorithm := range []types.ChecksumAlgorithm{
				types.ChecksumAlgorithmCrc32, types.ChecksumAlgorithmCrc32c, types.ChecksumAlgorithmSha1,
				types.ChecksumAlgorithmSha256,
			} {
				in := put("sum/"+string(algorithm), "Hello")
				in.ChecksumAlgorithm = algorithm
				_, err := client.PutObject(ctx, in)
				must.OK(t, err)
				if got := bodyOf(t, client, "sum/"+string(algorithm)); got != "Hello" { // the SDK checks the sum
					t.Errorf("%s: got %q", algorithm, got)
				}
			}

			page, err := client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{
				Bucket: in.Bucket, Delimiter: aws.String("/"), EncodingType: types.EncodingTypeUrl,
			})
			must.OK(t, err)
			if len(page.CommonPrefixes) != 2 || aws.ToInt32(page.KeyCount) != 2 {
				t.Errorf("got %+v", page)
			}
			var ids []types.ObjectIdentifier
			all := s3.NewListObjectsV2Paginator(client,
				&s3.ListObjectsV2Input{Bucket: in.Bucket, MaxKeys: aws.Int32(2)})
			for all.HasMorePages() {
				page := must.Of(all.NextPage(ctx))(t)
				for _, o := range page.Contents {
					ids = append(ids, types.ObjectIdentifier{Key: o.Key})
				}
			}
			if len(ids) != 5 {
				t.Errorf("got %d keys, want 5", len(ids))
			}
			gone, err := client.DeleteObjects(ctx,
				&s3.DeleteObjectsInput{Bucket: in.Bucket, Delete: &types.Delete{Objects: ids}})
			must.OK(t, err)
			if len(gone.Deleted) != len(ids) || len(gone.Errors) != 0 {
				t.Errorf("got %+v", gone)
			}
			_, err = client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: in.Bucket, Key: in.Key})
			must.OK(t, err)
			_, err = client.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: in.Bucket})
			must.OK(t, err)
			list, err := client.ListBuckets(ctx, &s3.ListBucketsInput{})
			must.OK(t, err)
			if len(list.Buckets) != 0 {
				t.Errorf("got %+v, want no buckets", list.Buckets)
			}
		})
	}
}

// A stream whose length is known is sent in chunks with a trailer.
func TestSDKStream(t *testing.T) {
	s := New(Options{Buckets: []string{"pages"}})
	client := clientOf(s.Do, "alice")
	in := put("stream", "")
	in.Body, in.ContentLength = io.MultiReader(strings.NewReader("Hel"), strings.NewReader("lo")), aws.Int64(5)
	must.Done(t)(client.PutObject(t.Context(), in))
	if got := bodyOf(t, client, "stream"); got != "Hello" {
		t.Errorf("got %q, want Hello", got)
	}
}

// A presigned request names its signer in the query.
func TestPresigned(t *testing.T) {
	s := New(Options{Buckets: []string{"pages"}, LogRequests: 1})
	client := clients(t, s)["over HTTP"]
	must.Done(t)(client.PutObject(t.Context(), put("home", "Hello")))
	signed, err := s3.NewPresignClient(client).PresignGetObject(t.Context(), get("home"))
	must.OK(t, err)
	response, err := http.Get(signed.URL)
	must.OK(t, err)
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	if string(body) != "Hello" || s.Requests()[0].Actor != "alice" {
		t.Errorf("got %q and %s, want Hello for alice", body, s.Requests()[0])
	}
}

// A function in front of Do can see each request, delay it, and make a fault strike it. The simulator uses this.
// Delayed requests of several goroutines take effect in the order in which they are released, not in the order in which
// they came.
func TestSeam(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Buckets: []string{"pages"}})
		type held struct {
			call Call
			free chan *Fault
		}
		var mu sync.Mutex
		parked := map[string]held{}
		do := func(ctx context.Context, c Call) (*Answer, error) {
			h := held{c, make(chan *Fault)}
			mu.Lock()
			parked[c.Actor] = h
			mu.Unlock()
			c.Fault = <-h.free
			return s.Do(ctx, c)
		}
		errs := make([]error, 2)
		var both sync.WaitGroup
		for i, actor := range []string{"alice", "bob"} {
			client := clientOf(do, actor)
			both.Go(func() {
				in := put("home", actor)
				in.IfNoneMatch = aws.String("*")
				_, errs[i] = client.PutObject(context.Background(), in)
			})
		}
		release := func(actor string, f *Fault) string {
			synctest.Wait()
			mu.Lock()
			h := parked[actor]
			delete(parked, actor)
			mu.Unlock()
			h.free <- f
			return h.call.String()
		}
		if got, want := release("bob", &Fault{Kind: ddbfake.FaultResponseLost}),
			"PutObject pages/home if-none-match=*"; got != want {
			t.Errorf("got the call %q, want %q", got, want)
		}
		release("alice", nil)
		release("bob", nil) // the SDK's own retry finds its own commit
		both.Wait()
		for _, err := range errs {
			wantCode(t, err, "PreconditionFailed")
		}
		if got := string(objectAt(s, "home").body); got != "bob" {
			t.Errorf("got the body of %s, want bob's", got)
		}
	})
}

func objectAt(s *Store, key string) *object {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, _ := s.buckets["pages"].objects.Get(key)
	return o
}

func TestSnapshot(t *testing.T) {
	clock := fakeclock.New(fakeclock.Epoch)
	s := New(Options{Clock: clock, Buckets: []string{"pages"}})
	client := clientOf(s.Do, "alice")
	ctx := t.Context()
	for _, key := range []string{"a", "b"} {
		must.Done(t)(client.PutObject(ctx, put(key, "first")))
	}
	kept := s.Snapshot()
	for range 2 {
		must.Done(t)(client.PutObject(ctx, put("a", "second")))
		must.Done(t)(client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: aws.String("pages"), Key: aws.String("b")}))
		s.Restore(kept)
		if a, b := bodyOf(t, client, "a"), bodyOf(t, client, "b"); a != "first" || b != "first" {
			t.Errorf("got %s and %s, want the first bodies", a, b)
		}
	}
}

func TestNewRefusesBadBuckets(t *testing.T) {
	for _, name := range []string{"", "ab", "Pages", "a..b", "-ab", "192.168.0.1", strings.Repeat("b", 64)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("New took a bucket called %q", name)
				}
			}()
			New(Options{Buckets: []string{name}})
		}()
	}
}

// The store does not share slices with a test.
func TestBodiesAreCopies(t *testing.T) {
	s := New(Options{Buckets: []string{"pages"}})
	client := clientOf(s.Do, "alice")
	body := []byte("Hello")
	in := put("home", "")
	in.Body = bytes.NewReader(body)
	must.Done(t)(client.PutObject(t.Context(), in))
	body[0] = 'J'
	if got := bodyOf(t, client, "home"); got != "Hello" {
		t.Errorf("got %s, want Hello", got)
	}
}

// The same calls give the same bytes.
func TestDeterminism(t *testing.T) {
	run := func() string {
		var all bytes.Buffer
		s := New(Options{Buckets: []string{"pages", "others"}, LogRequests: 100})
		for i := range conformance {
			got := must.Of(roundTrip(s.Do, conformance[i].request(t, "https://s3.us-east-1.isr-sim.invalid")))(t)
			_ = got.header.Write(&all)
			all.WriteString(got.body)
		}
		for _, r := range s.Requests() {
			all.WriteString(r.String() + "\n")
		}
		return all.String()
	}
	first := run()
	for range 3 {
		if again := run(); again != first {
			t.Fatal("two runs differ")
		}
	}
	if !strings.Contains(first, " PutObject pages/new: 200\n") {
		t.Errorf("the log of requests is not in %s", first)
	}
}

// boto3 keeps the names of metadata exactly as the server sends them.
func TestHeaderNames(t *testing.T) {
	s := newWorld(t)
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/pages/home", nil))
	for _, name := range []string{"x-amz-meta-generation", "ETag", "x-amz-request-id", "Last-Modified"} {
		if len(w.Header()[name]) != 1 {
			t.Errorf("got the headers %v, want %s in this case", w.Header(), name)
		}
	}
}
