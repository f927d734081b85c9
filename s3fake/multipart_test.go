package s3fake

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

const megabyte = 1 << 20

// An upload in parts through the SDK: parts in any order and twice, checksums of each kind, copies of ranges, and the
// object's ETag, checksum and parts.
func TestMultipart(t *testing.T) {
	effort.Long(t)
	for name, kind := range map[types.ChecksumAlgorithm]types.ChecksumType{
		types.ChecksumAlgorithmSha256: types.ChecksumTypeComposite,
		types.ChecksumAlgorithmCrc32:  types.ChecksumTypeFullObject, "": "",
	} {
		s := New(Options{Buckets: []string{"pages"}})
		for door, client := range clients(t, s) {
			t.Run(door+string(name), func(t *testing.T) {
				ctx, bucket, key := t.Context(), aws.String("pages"), aws.String("large é")
				must.Done(t)(client.PutObject(ctx, put("source", strings.Repeat("s", 6*megabyte))))
				begun, err := client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
					Bucket: bucket, Key: key, ChecksumAlgorithm: name, ChecksumType: kind,
					ContentType: aws.String("text/html"), Metadata: map[string]string{"generation": "7"},
				})
				must.OK(t, err)
				part := func(n int32, body string) types.CompletedPart {
					out, err := client.UploadPart(ctx, &s3.UploadPartInput{
						Bucket: bucket, Key: key, UploadId: begun.UploadId, PartNumber: aws.Int32(n),
						Body: strings.NewReader(body), ChecksumAlgorithm: name,
					})
					must.OK(t, err)
					return types.CompletedPart{PartNumber: aws.Int32(n), ETag: out.ETag,
						ChecksumSHA256: out.ChecksumSHA256, ChecksumCRC32: out.ChecksumCRC32}
				}
				last := part(30, "end")
				part(1, "overwritten")
				first := part(1, strings.Repeat("a", 5*megabyte))
				part(7, "left out")
				copied, err := client.UploadPartCopy(ctx, &s3.UploadPartCopyInput{
					Bucket: bucket, Key: key, UploadId: begun.UploadId, PartNumber: aws.Int32(2),
					CopySource:      aws.String("pages/source"),
					CopySourceRange: aws.String(fmt.Sprintf("bytes=1-%d", 5*megabyte)),
				})
				must.OK(t, err)
				middle := types.CompletedPart{
					PartNumber: aws.Int32(2), ETag: copied.CopyPartResult.ETag,
					ChecksumSHA256: copied.CopyPartResult.ChecksumSHA256,
					ChecksumCRC32:  copied.CopyPartResult.ChecksumCRC32,
				}
				parts := s3.NewListPartsPaginator(client,
					&s3.ListPartsInput{Bucket: bucket, Key: key, UploadId: begun.UploadId, MaxParts: aws.Int32(3)})
				var numbers []int32
				for parts.HasMorePages() {
					page := must.Of(parts.NextPage(ctx))(t)
					for _, p := range page.Parts {
						numbers = append(numbers, aws.ToInt32(p.PartNumber))
					}
				}
				if got := fmt.Sprint(numbers); got != "[1 2 7 30]" {
					t.Errorf("got the parts %s, want 1, 2, 7 and 30", got)
				}
				if _, ok := s.Object("pages", *key); ok {
					t.Error("the object was there before its upload was complete")
				}
				whole := &s3.CompleteMultipartUploadInput{
					Bucket: bucket, Key: key, UploadId: begun.UploadId, IfNoneMatch: aws.String("*"),
					MultipartUpload: &types.CompletedMultipartUpload{Parts: []types.CompletedPart{first, middle, last}},
				}
				done, err := client.CompleteMultipartUpload(ctx, whole)
				must.OK(t, err)
				if !strings.HasSuffix(aws.ToString(done.ETag), `-3"`) || kind != "" && done.ChecksumType != kind {
					t.Errorf("got %+v", done)
				}
				again, err := client.CompleteMultipartUpload(ctx, whole)
				must.OK(t, err)
				if aws.ToString(again.ETag) != aws.ToString(done.ETag) {
					t.Errorf("completed again: got the ETag %v, want %v", aws.ToString(again.ETag),
						aws.ToString(done.ETag))
				}
				_, err = client.AbortMultipartUpload(ctx,
					&s3.AbortMultipartUploadInput{Bucket: bucket, Key: key, UploadId: begun.UploadId})
				wantCode(t, err, "NoSuchUpload")
				want := strings.Repeat("a", 5*megabyte) + strings.Repeat("s", 5*megabyte) + "end"
				if got := bodyOf(t, client, *key); got != want {
					t.Errorf("got %d bytes, want %d, the same", len(got), len(want))
				}
				third := get(*key)
				third.PartNumber = aws.Int32(3)
				out, err := client.GetObject(ctx, third)
				must.OK(t, err)
				body, err := io.ReadAll(out.Body)
				must.OK(t, err)
				if string(body) != "end" || aws.ToInt32(out.PartsCount) != 3 || out.Metadata["generation"] != "7" {
					t.Errorf("part 3: got %q of %d parts, %v", body, aws.ToInt32(out.PartsCount), out.Metadata)
				}
				// A copied object has no parts, so its ETag is the MD5.
				copy, err := client.CopyObject(ctx, &s3.CopyObjectInput{
					Bucket: bucket, Key: aws.String("copy"), CopySource: aws.String("pages/large%20%C3%A9"),
				})
				must.OK(t, err)
				if strings.Contains(aws.ToString(copy.CopyObjectResult.ETag), "-") ||
					bodyOf(t, client, "copy") != want {
					t.Errorf("got the copy %+v", copy.CopyObjectResult)
				}
				for _, key := range []string{*key, "copy", "source"} {
					_, err := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: aws.String(key)})
					must.OK(t, err)
				}
			})
		}
	}
}

// If an upload was begun with a checksum algorithm, it refuses a part without such a checksum, and a completion without
// the parts' checksums.
func TestMultipartChecksums(t *testing.T) {
	client := clientOf(New(Options{Buckets: []string{"pages"}}).Do, "alice")
	bucket, key := aws.String("pages"), aws.String("sums")
	begun, err := client.CreateMultipartUpload(t.Context(),
		&s3.CreateMultipartUploadInput{Bucket: bucket, Key: key, ChecksumAlgorithm: types.ChecksumAlgorithmSha256})
	must.OK(t, err)
	in := func(a types.ChecksumAlgorithm) *s3.UploadPartInput {
		return &s3.UploadPartInput{Bucket: bucket, Key: key, UploadId: begun.UploadId, PartNumber: aws.Int32(1),
			Body: strings.NewReader("x"), ChecksumAlgorithm: a}
	}
	_, err = client.UploadPart(t.Context(), in(types.ChecksumAlgorithmCrc32))
	wantCode(t, err, "InvalidRequest")
	if err == nil || !strings.Contains(err.Error(), "expected checksum Type: sha256, actual checksum Type: crc32") {
		t.Errorf("got %v, want the two types", err)
	}
	made, err := client.UploadPart(t.Context(), in(types.ChecksumAlgorithmSha256))
	must.OK(t, err)
	_, err = client.CompleteMultipartUpload(t.Context(), &s3.CompleteMultipartUploadInput{
		Bucket: bucket, Key: key, UploadId: begun.UploadId,
		MultipartUpload: &types.CompletedMultipartUpload{
			Parts: []types.CompletedPart{{PartNumber: aws.Int32(1), ETag: made.ETag}},
		},
	})
	wantCode(t, err, "InvalidRequest")
}

// Uploads are listed in pages, sorted by key, then by the time at which they began. Aborted uploads are gone, but a
// restored snapshot has them again.
func TestListUploads(t *testing.T) {
	s := New(Options{Buckets: []string{"pages"}})
	client := clientOf(s.Do, "alice")
	bucket := aws.String("pages")
	var first *s3.CreateMultipartUploadOutput
	for _, key := range []string{"b", "a", "a", "c"} {
		begun, err := client.CreateMultipartUpload(t.Context(),
			&s3.CreateMultipartUploadInput{Bucket: bucket, Key: aws.String(key)})
		must.OK(t, err)
		if first == nil {
			first = begun
		}
	}
	list := func() string {
		var got []string
		pages := s3.NewListMultipartUploadsPaginator(client,
			&s3.ListMultipartUploadsInput{Bucket: bucket, MaxUploads: aws.Int32(1)})
		for pages.HasMorePages() {
			page := must.Of(pages.NextPage(t.Context()))(t)
			for _, u := range page.Uploads {
				got = append(got, aws.ToString(u.Key)+strings.TrimLeft(aws.ToString(u.UploadId), "0"))
			}
		}
		return strings.Join(got, " ")
	}
	if got := list(); got != "a2 a3 b1 c4" {
		t.Errorf("got %s", got)
	}
	kept := s.Snapshot()
	_, err := client.AbortMultipartUpload(t.Context(),
		&s3.AbortMultipartUploadInput{Bucket: bucket, Key: aws.String("b"), UploadId: first.UploadId})
	must.OK(t, err)
	if got := list(); got != "a2 a3 c4" {
		t.Errorf("after the abort: got %s", got)
	}
	if s.Restore(kept); list() != "a2 a3 b1 c4" {
		t.Errorf("restored: got %s", list())
	}
}

// If the answer to a completion is lost, its retry succeeds. Nor does the first attempt of a conditional completion
// make its retry fail.
func TestCompleteLost(t *testing.T) {
	s := New(Options{Buckets: []string{"pages"}})
	client := clientOf(s.Do, "alice")
	bucket, key := aws.String("pages"), aws.String("large")
	begun, err := client.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: bucket, Key: key})
	must.OK(t, err)
	made, err := client.UploadPart(t.Context(), &s3.UploadPartInput{
		Bucket: bucket, Key: key, UploadId: begun.UploadId, PartNumber: aws.Int32(1), Body: strings.NewReader("x"),
	})
	must.OK(t, err)
	s.Inject(Fault{Kind: ddbfake.FaultResponseLost, Op: "CompleteMultipartUpload"})
	_, err = client.CompleteMultipartUpload(t.Context(), &s3.CompleteMultipartUploadInput{
		Bucket: bucket, Key: key, UploadId: begun.UploadId, IfNoneMatch: aws.String("*"),
		MultipartUpload: &types.CompletedMultipartUpload{
			Parts: []types.CompletedPart{{PartNumber: aws.Int32(1), ETag: made.ETag}},
		},
	})
	if err != nil {
		t.Errorf("got %v, want the answer of the first attempt", err)
	}
}

// A presigned PUT of the SDK uses the body that was sent and the headers that were signed.
func TestPresignedPut(t *testing.T) {
	s := New(Options{Buckets: []string{"pages"}, LogRequests: 1})
	client := clients(t, s)["over HTTP"]
	in := put("home", "")
	in.Body, in.ContentType = nil, aws.String("text/html")
	signed, err := s3.NewPresignClient(client).PresignPutObject(t.Context(), in)
	must.OK(t, err)
	r, err := http.NewRequestWithContext(t.Context(), signed.Method, signed.URL, bytes.NewReader([]byte("Hello")))
	must.OK(t, err)
	r.Header = signed.SignedHeader
	response, err := http.DefaultClient.Do(r)
	must.OK(t, err)
	response.Body.Close()
	if body, _ := s.Object("pages", "home"); string(body) != "Hello" || s.Requests()[0].Actor != "alice" {
		t.Errorf("got %s %q and %s, want Hello by alice", response.Status, body, s.Requests()[0])
	}
}

// A CompleteMultipartUpload whose condition holds still conflicts if the key has changed since the upload began.
func TestOvertakenUploads(t *testing.T) {
	const world = `"f5a7924e621e84c9280a9a27e1bcb7f6"` // the ETag of World
	type step struct{ method, body string }
	put, remove := step{http.MethodPut, "World"}, step{http.MethodDelete, ""}
	for _, test := range []struct {
		name          string
		before, after []step
		header, value string
		want          int
		code          string
	}{
		{"never there", nil, nil, "If-None-Match", "*", 200, ""},
		{"deleted before", []step{put, remove}, nil, "If-None-Match", "*", 200, ""},
		{"there", []step{put}, nil, "If-Match", world, 200, ""},
		{"deleted after", []step{put}, []step{remove}, "If-None-Match", "*", 409, "ConditionalRequestConflict"},
		{"put and deleted after", nil, []step{put, remove}, "If-None-Match", "*", 409, "ConditionalRequestConflict"},
		{"put after", nil, []step{put}, "If-Match", world, 409, "ConditionalRequestConflict"},
		{"put again after", []step{put}, []step{put}, "If-Match", world, 409, "ConditionalRequestConflict"},
		{"there after", nil, []step{put}, "If-None-Match", "*", 412, "PreconditionFailed"},
		{"gone after", []step{put}, []step{remove}, "If-Match", world, 404, "NoSuchKey"},
		{"a delete of nothing", nil, []step{remove}, "If-None-Match", "*", 200, ""},
		{"without a condition", nil, []step{put}, "", "", 200, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := New(Options{Buckets: []string{"pages"}})
			send := func(method, path, body, header, value string) answered {
				r := httptest.NewRequest(method, path, strings.NewReader(body))
				if header != "" {
					r.Header.Set(header, value)
				}
				return must.Of(roundTrip(s.Do, r))(t)
			}
			run := func(steps []step) {
				for _, step := range steps {
					send(step.method, "/pages/parts", step.body, "", "")
				}
			}
			run(test.before)
			send(http.MethodPost, "/pages/parts?uploads", "", "", "")
			send(http.MethodPut, thePart(1), "Hello", "", "")
			run(test.after)
			s.Restore(s.Snapshot())
			got := send(http.MethodPost, theUpload,
				"<CompleteMultipartUpload>"+partHello+"</CompleteMultipartUpload>", test.header, test.value)
			if got.status != test.want || !strings.Contains(got.body, test.code) {
				t.Errorf("got %d and %s, want %d and %s", got.status, got.body, test.want, test.code)
			}
		})
	}
}
