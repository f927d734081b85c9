package s3fake

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// The addresses of the sources of the rules in the table.
const (
	apiPut        = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html"
	apiGet        = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html"
	apiHead       = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadObject.html"
	apiDelete     = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObject.html"
	apiDeletes    = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html"
	apiList       = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html"
	apiCreate     = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html"
	apiBuckets    = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListBuckets.html"
	apiErrors     = "https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html"
	writes        = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html"
	deletes       = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-deletes.html"
	keys          = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html"
	metadataOf    = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingMetadata.html"
	integrity     = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html"
	streaming     = "https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html"
	hosting       = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html"
	apiCopy       = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html"
	apiUpload     = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateMultipartUpload.html"
	apiPart       = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPart.html"
	apiPartCopy   = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPartCopy.html"
	apiComplete   = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html"
	apiAbort      = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_AbortMultipartUpload.html"
	apiParts      = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListParts.html"
	apiUploads    = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html"
	apiVersions   = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectVersions.html"
	apiListOld    = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjects.html"
	apiLocation   = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLocation.html"
	apiTags       = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectTagging.html"
	quickFacts    = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html"
	presigned     = "https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html"
	streamTail    = "https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html"
	apiVersioning = "https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketVersioning.html"
	// Its tests compare answers that were recorded at the service.
	provider = "https://github.com/localstack/localstack/blob/main/localstack-core/localstack/services/s3/provider.py"
	naming   = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html"
)

// In the world of each case, the bucket pages has the objects home, which was written at 00:00:10.9, a/1, a/2, b/1 and
// "c d&é".
const (
	homeETag  = `"8b1a9953c4611296a827abf8c47804d7"` // the ETag of Hello
	otherETag = `"00000000000000000000000000000000"`
	written   = "Sun, 01 Jan 2040 00:00:10 GMT"
	before    = "Sun, 01 Jan 2040 00:00:09 GMT"
)

// The upload that is under way in the world of each case, and its parts.
const (
	theUpload = "/pages/parts?uploadId=0000000000000001"
	partHello = "<Part><PartNumber>1</PartNumber><ETag>" + homeETag + "</ETag></Part>"
	partWorld = `<Part><PartNumber>3</PartNumber><ETag>"f5a7924e621e84c9280a9a27e1bcb7f6"</ETag></Part>`
)

// thePart is the path of a part of this upload.
func thePart(n int) string { return theUpload + "&partNumber=" + strconv.Itoa(n) }

// located is the body of a CreateBucket.
func located(region string) string {
	return "<CreateBucketConfiguration><LocationConstraint>" + region +
		"</LocationConstraint></CreateBucketConfiguration>"
}

var eightKB = strings.Repeat("8", 8<<10)

// inChunks are the headers of a body in chunks.
func inChunks(size int) map[string]string {
	return map[string]string{"x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
		"x-amz-decoded-content-length": strconv.Itoa(size)}
}

type conformanceCase struct {
	name, source string
	method, path string
	header       map[string]string
	body         string

	status int
	code   string            // the code of the error in the body, which is XML
	answer map[string]string // headers; "" for a header that must be absent
	want   string            // the body of a success, if it is not XML
	holds  []string          // texts that the body has
	lacks  []string          // texts that it does not have
	after  map[string]string // the bodies of objects afterwards; "-" for an object that must be absent
}

var conformance = []conformanceCase{
	// GetObject and HeadObject.
	{name: "get", source: apiGet, method: "GET", path: "/pages/home", status: 200, want: "Hello",
		answer: map[string]string{
			"Etag": homeETag, "Last-Modified": written, "Content-Type": "text/html", "Content-Length": "5",
			"Accept-Ranges": "bytes", "X-Amz-Meta-Generation": "7", "Cache-Control": "max-age=60",
			"X-Amz-Server-Side-Encryption": "AES256", "X-Amz-Checksum-Crc64nvme": "",
		}},
	{name: "get, no type was given", source: apiGet, method: "GET", path: "/pages/b/1", status: 200, want: "b1",
		answer: map[string]string{"Content-Type": "binary/octet-stream"}},
	{name: "get what is not there", source: apiErrors, method: "GET", path: "/pages/none", status: 404,
		code: "NoSuchKey", holds: []string{
			"<Message>The specified key does not exist.</Message>", "<Key>none</Key>", "<RequestId>"}},
	{name: "get from no bucket", source: apiErrors, method: "GET", path: "/nobucket/home", status: 404,
		code: "NoSuchBucket", holds: []string{"<BucketName>nobucket</BucketName>"}},
	{name: "get a key that must be escaped", source: keys, method: "GET", path: "/pages/c%20d&%C3%A9",
		status: 200, want: "escaped"},
	{name: "a plus is a plus in a path", source: keys, method: "GET", path: "/pages/c+d&%C3%A9",
		status: 404, code: "NoSuchKey"},
	{name: "get with checksum", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"x-amz-checksum-mode": "ENABLED"}, status: 200, want: "Hello",
		answer: map[string]string{
			"X-Amz-Checksum-Crc64nvme": "bgPua0coiu0=", "X-Amz-Checksum-Type": "FULL_OBJECT"}},
	{name: "get with other headers", source: apiGet, method: "GET",
		path: "/pages/home?response-content-type=text%2Fplain&response-cache-control=no-store", status: 200,
		want: "Hello", answer: map[string]string{"Content-Type": "text/plain", "Cache-Control": "no-store"}},
	{name: "head", source: apiHead, method: "HEAD", path: "/pages/home", status: 200,
		answer: map[string]string{"Etag": homeETag, "Content-Length": "5", "Last-Modified": written}},
	{name: "head what is not there", source: apiHead, method: "HEAD", path: "/pages/none", status: 404},
	{name: "head from no bucket", source: apiHead, method: "HEAD", path: "/nobucket/home", status: 404},

	// Ranges.
	{name: "range", source: apiGet, method: "GET", path: "/pages/home", header: map[string]string{"Range": "bytes=1-3"},
		status: 206, want: "ell", answer: map[string]string{"Content-Range": "bytes 1-3/5", "Content-Length": "3"}},
	{name: "range, open", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"Range": "bytes=4-"}, status: 206, want: "o",
		answer: map[string]string{"Content-Range": "bytes 4-4/5"}},
	{name: "range, past the end", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"Range": "bytes=3-99999999999999999999"}, status: 206, want: "lo",
		answer: map[string]string{"Content-Range": "bytes 3-4/5"}},
	{name: "range, the last bytes", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"Range": "bytes=-2"}, status: 206, want: "lo"},
	{name: "range, more than there are", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"Range": "bytes=-9"}, status: 206, want: "Hello"},
	{name: "range after the end", source: apiErrors, method: "GET", path: "/pages/home",
		header: map[string]string{"Range": "bytes=5-"}, status: 416, code: "InvalidRange",
		holds: []string{"<RangeRequested>bytes=5-</RangeRequested>", "<ActualObjectSize>5</ActualObjectSize>"}},
	{name: "range of no bytes", source: apiErrors, method: "GET", path: "/pages/home",
		header: map[string]string{"Range": "bytes=-0"}, status: 416, code: "InvalidRange"},
	{name: "two ranges", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"Range": "bytes=0-1,3-4"}, status: 200, want: "Hello"},
	{name: "range backwards", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"Range": "bytes=3-1"}, status: 200, want: "Hello"},
	{name: "range of lines", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"Range": "lines=1-2"}, status: 200, want: "Hello"},
	{name: "head of a range", source: apiHead, method: "HEAD", path: "/pages/home",
		header: map[string]string{"Range": "bytes=1-3"}, status: 206, answer: map[string]string{"Content-Length": "3"}},

	// Conditional reads.
	{name: "if-match holds", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"If-Match": homeETag}, status: 200, want: "Hello"},
	{name: "if-match without quotes", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"If-Match": strings.Trim(homeETag, `"`)}, status: 200, want: "Hello"},
	{name: "if-match does not hold", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"If-Match": otherETag}, status: 412, code: "PreconditionFailed",
		holds: []string{"<Condition>If-Match</Condition>"}},
	{name: "if-none-match holds", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"If-None-Match": otherETag}, status: 200, want: "Hello"},
	{name: "if-none-match does not hold", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"If-None-Match": homeETag}, status: 304,
		answer: map[string]string{"Etag": homeETag, "Last-Modified": written}},
	{name: "if-none-match, a list", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"If-None-Match": otherETag + ", W/" + homeETag}, status: 304},
	{name: "if-none-match, any", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"If-None-Match": "*"}, status: 304},
	{name: "if-modified-since holds", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"If-Modified-Since": before}, status: 200, want: "Hello"},
	{name: "if-modified-since does not hold", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"If-Modified-Since": written}, status: 304},
	{name: "if-modified-since no time", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"If-Modified-Since": "yesterday"}, status: 200, want: "Hello"},
	{name: "get if-modified-since the future", source: provider, method: "GET", path: "/pages/home",
		header: map[string]string{"If-Modified-Since": "Sun, 01 Jan 2040 01:00:11 GMT"}, status: 200, want: "Hello"},
	{name: "get if-modified-since now", source: provider, method: "GET", path: "/pages/home",
		header: map[string]string{"If-Modified-Since": "Sun, 01 Jan 2040 01:00:10 GMT"}, status: 304},
	{name: "if-unmodified-since holds", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"If-Unmodified-Since": written}, status: 200, want: "Hello"},
	{name: "if-unmodified-since does not hold", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"If-Unmodified-Since": before}, status: 412, code: "PreconditionFailed"},
	{name: "if-match wins over if-unmodified-since", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"If-Match": homeETag, "If-Unmodified-Since": before}, status: 200, want: "Hello"},
	{name: "if-none-match wins over if-modified-since", source: apiGet, method: "GET", path: "/pages/home",
		header: map[string]string{"If-None-Match": homeETag, "If-Modified-Since": before}, status: 304},
	{name: "head, if-match", source: apiHead, method: "HEAD", path: "/pages/home",
		header: map[string]string{"If-Match": otherETag}, status: 412},
	{name: "head, if-none-match", source: apiHead, method: "HEAD", path: "/pages/home",
		header: map[string]string{"If-None-Match": homeETag}, status: 304},
	{name: "a condition on what is not there", source: apiGet, method: "GET", path: "/pages/none",
		header: map[string]string{"If-None-Match": "*"}, status: 404, code: "NoSuchKey"},

	// PutObject.
	{name: "put", source: apiPut, method: "PUT", path: "/pages/new", body: "Hello", status: 200,
		answer: map[string]string{"Etag": homeETag, "X-Amz-Checksum-Crc64nvme": "bgPua0coiu0="},
		after:  map[string]string{"new": "Hello"}},
	{name: "put over", source: apiPut, method: "PUT", path: "/pages/home", body: "new", status: 200,
		after: map[string]string{"home": "new"}},
	{name: "put nothing", source: apiPut, method: "PUT", path: "/pages/new", status: 200,
		answer: map[string]string{"Etag": `"d41d8cd98f00b204e9800998ecf8427e"`}, after: map[string]string{"new": ""}},
	{name: "put into no bucket", source: apiErrors, method: "PUT", path: "/nobucket/new", body: "x",
		status: 404, code: "NoSuchBucket"},
	{name: "put the longest key", source: keys, method: "PUT", path: "/pages/" + strings.Repeat("k", 1024),
		body: "x", status: 200},
	{name: "put a longer key", source: keys, method: "PUT", path: "/pages/" + strings.Repeat("k", 1025), body: "x",
		status: 400, code: "KeyTooLongError", holds: []string{"<Size>1025</Size>",
			"<MaxSizeAllowed>1024</MaxSizeAllowed>"}},
	{name: "keys are counted in bytes", source: keys, method: "PUT", path: "/pages/" + strings.Repeat("%C3%A9", 513),
		body: "x", status: 400, code: "KeyTooLongError"},
	{name: "put a key that is no UTF-8", source: keys, method: "PUT", path: "/pages/%ff", body: "x",
		status: 400, code: "InvalidURI"},
	{name: "put a key with dots and slashes", source: keys, method: "PUT", path: "/pages//a/../b//", body: "x",
		status: 200, after: map[string]string{"/a/../b//": "x"}},
	{name: "put 2 KB of metadata", source: metadataOf, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-meta-abcd": strings.Repeat("m", 2044)}, status: 200},
	{name: "put more", source: metadataOf, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-meta-abcd": strings.Repeat("m", 2045)}, status: 400, code: "MetadataTooLarge",
		after: map[string]string{"new": "-"}},

	// Conditional writes.
	{name: "put if-none-match holds", source: writes, method: "PUT", path: "/pages/new",
		header: map[string]string{"If-None-Match": "*"}, body: "x", status: 200, after: map[string]string{"new": "x"}},
	{name: "put if-none-match does not hold", source: writes, method: "PUT", path: "/pages/home",
		header: map[string]string{"If-None-Match": "*"}, body: "x", status: 412, code: "PreconditionFailed",
		holds: []string{
			"<Condition>If-None-Match</Condition>", "At least one of the pre-conditions you specified did not hold",
		}, after: map[string]string{"home": "Hello"}},
	{name: "put if-none-match of an ETag", source: apiPut, method: "PUT", path: "/pages/home",
		header: map[string]string{"If-None-Match": otherETag}, body: "x", status: 501, code: "NotImplemented",
		after: map[string]string{"home": "Hello"}},
	{name: "put if-match holds", source: writes, method: "PUT", path: "/pages/home",
		header: map[string]string{"If-Match": homeETag}, body: "x", status: 200, after: map[string]string{"home": "x"}},
	{name: "put if-match does not hold", source: writes, method: "PUT", path: "/pages/home",
		header: map[string]string{"If-Match": otherETag}, body: "x", status: 412, code: "PreconditionFailed",
		after: map[string]string{"home": "Hello"}},
	{name: "put if-match of what is not there", source: writes, method: "PUT", path: "/pages/none",
		header: map[string]string{"If-Match": homeETag}, body: "x", status: 404, code: "NoSuchKey",
		after: map[string]string{"none": "-"}},
	{name: "put if-match of any", source: apiPut, method: "PUT", path: "/pages/home",
		header: map[string]string{"If-Match": "*"}, body: "x", status: 501, code: "NotImplemented",
		after: map[string]string{"home": "Hello"}},
	{name: "put with both", source: apiPut, method: "PUT", path: "/pages/home",
		header: map[string]string{"If-Match": homeETag, "If-None-Match": "*"}, body: "x", status: 501,
		code: "NotImplemented", after: map[string]string{"home": "Hello"}},

	// Integrity.
	{name: "put with its MD5", source: integrity, method: "PUT", path: "/pages/new",
		header: map[string]string{"Content-MD5": "ixqZU8RhEpaoJ6v4xHgE1w=="}, body: "Hello", status: 200},
	{name: "put with another MD5", source: apiErrors, method: "PUT", path: "/pages/new",
		header: map[string]string{"Content-MD5": "AAAAAAAAAAAAAAAAAAAAAA=="}, body: "Hello", status: 400,
		code: "BadDigest", after: map[string]string{"new": "-"}},
	{name: "put with no MD5", source: apiErrors, method: "PUT", path: "/pages/new",
		header: map[string]string{"Content-MD5": "short"}, body: "Hello", status: 400, code: "InvalidDigest",
		after: map[string]string{"new": "-"}},
	{name: "put with CRC32", source: integrity, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-checksum-crc32": "9+Jjdw==", "x-amz-sdk-checksum-algorithm": "CRC32"},
		body:   "Hello", status: 400, code: "BadDigest"},
	{name: "put with its CRC32", source: integrity, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-checksum-crc32": "99GJgg=="}, body: "Hello", status: 200,
		answer: map[string]string{"X-Amz-Checksum-Crc32": "99GJgg=="}},
	{name: "put with a checksum that is none", source: integrity, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-checksum-crc32": "99"}, body: "Hello", status: 400, code: "InvalidRequest"},
	{name: "put with two checksums", source: integrity, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-checksum-crc32": "99GJgg==", "x-amz-checksum-sha1": "x"}, body: "Hello",
		status: 400, code: "InvalidRequest"},
	{name: "put with another SHA-256", source: apiErrors, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-content-sha256": strings.Repeat("0", 64)}, body: "Hello", status: 400,
		code: "XAmzContentSHA256Mismatch"},
	{name: "put in chunks", source: streaming, method: "PUT", path: "/pages/new", header: map[string]string{
		"x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "Content-Encoding": "aws-chunked",
		"x-amz-decoded-content-length": "5", "x-amz-trailer": "x-amz-checksum-crc32"},
		body: "5\r\nHello\r\n0\r\nx-amz-checksum-crc32:99GJgg==\r\n\r\n", status: 200,
		answer: map[string]string{"Etag": homeETag}, after: map[string]string{"new": "Hello"}},
	{name: "put in two chunks", source: streaming, method: "PUT", path: "/pages/new", header: inChunks(8194),
		body: "2000\r\n" + eightKB + "\r\n2\r\nHe\r\n0\r\n\r\n", status: 200,
		after: map[string]string{"new": eightKB + "He"}},
	{name: "put in chunks of which one is short", source: streaming, method: "PUT", path: "/pages/new",
		header: inChunks(5), body: "2\r\nHe\r\n3\r\nllo\r\n0\r\n\r\n", status: 403, code: "InvalidChunkSizeError",
		holds: []string{"Only the last chunk is allowed to have a size less than 8192 bytes",
			"<Chunk>2</Chunk><BadChunkSize>2</BadChunkSize>"}, after: map[string]string{"new": "-"}},
	{name: "put in signed chunks", source: streaming, method: "PUT", path: "/pages/new", header: map[string]string{
		"x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "x-amz-decoded-content-length": "5"},
		body: "5;chunk-signature=0\r\nHello\r\n0;chunk-signature=0\r\n\r\n", status: 200,
		after: map[string]string{"new": "Hello"}},
	{name: "put in chunks with another sum", source: streaming, method: "PUT", path: "/pages/new", header: inChunks(5),
		body: "5\r\nHello\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n", status: 400, code: "BadDigest",
		after: map[string]string{"new": "-"}},
	{name: "put in chunks without the trailer", source: streamTail, method: "PUT", path: "/pages/new",
		header: map[string]string{
			"x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "x-amz-decoded-content-length": "5",
			"x-amz-trailer": "x-amz-checksum-crc32"},
		body: "5\r\nHello\r\n0\r\n\r\n", status: 400, code: "MalformedTrailerError",
		after: map[string]string{"new": "-"}},
	{name: "put half a chunk", source: streaming, method: "PUT", path: "/pages/new", header: inChunks(5),
		body: "5\r\nHel", status: 400, code: "IncompleteBody", after: map[string]string{"new": "-"}},
	{name: "put a chunk that is none", source: streaming, method: "PUT", path: "/pages/new", header: inChunks(5),
		body: "-1\r\nHello\r\n0\r\n\r\n", status: 400, code: "IncompleteBody", after: map[string]string{"new": "-"}},
	{name: "put chunks of another length", source: streaming, method: "PUT", path: "/pages/new", header: inChunks(6),
		body: "5\r\nHello\r\n0\r\n\r\n", status: 400, code: "IncompleteBody"},
	{name: "put chunks of no length", source: streaming, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER"},
		body:   "5\r\nHello\r\n0\r\n\r\n", status: 411, code: "MissingContentLength",
		after: map[string]string{"new": "-"}},

	// Presigned requests: their headers are in the query.
	{name: "presigned get", source: presigned, method: "GET",
		path:   "/pages/home?x-amz-checksum-mode=ENABLED&X-Amz-Credential=alice%2F20400101%2Feu-west-1%2Fs3%2Faws4_request&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=0",
		status: 200, want: "Hello", answer: map[string]string{"X-Amz-Checksum-Crc64nvme": "bgPua0coiu0="}},
	{name: "presigned put, with the sum of an empty body", source: presigned, method: "PUT",
		path: "/pages/new?x-amz-checksum-crc32=AAAAAA%3D%3D&x-amz-sdk-checksum-algorithm=CRC32&X-Amz-Content-Sha256=UNSIGNED-PAYLOAD",
		body: "Hello", status: 200, after: map[string]string{"new": "Hello"}},
	{name: "presigned put, with metadata", source: presigned, method: "PUT",
		path: "/pages/new?x-amz-meta-a=" + strings.Repeat("m", 2048), status: 400, code: "MetadataTooLarge"},
	{name: "presigned put, with what the fake does not have", source: presigned, method: "PUT",
		path: "/pages/new?x-amz-tagging=a", status: 501, code: "NotImplemented", holds: []string{"x-amz-tagging"}},

	// CopyObject.
	{name: "copy", source: apiCopy, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-copy-source": "pages/home"}, status: 200,
		holds: []string{
			"<CopyObjectResult",
			"<LastModified>2040-01-01T01:00:10.000Z</LastModified><ETag>&#34;8b1a9953c4611296a827abf8c47804d7&#34;</ETag><ChecksumCRC64NVME>bgPua0coiu0=</ChecksumCRC64NVME>",
		}, after: map[string]string{"new": "Hello"}},
	{name: "copy of a key that must be escaped", source: apiCopy, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-copy-source": "/pages/c%20d&%C3%A9"}, status: 200,
		after: map[string]string{"new": "escaped"}},
	{name: "copy with another algorithm", source: apiCopy, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-copy-source": "pages/home", "x-amz-checksum-algorithm": "CRC32"}, status: 200,
		holds: []string{"<ChecksumCRC32>99GJgg==</ChecksumCRC32>"}},
	{name: "copy with an algorithm that is none", source: apiCopy, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-copy-source": "pages/home", "x-amz-checksum-algorithm": "MD4"}, status: 400,
		code: "InvalidRequest"},
	{name: "copy to itself", source: apiCopy, method: "PUT", path: "/pages/home",
		header: map[string]string{"x-amz-copy-source": "pages/home"}, status: 400, code: "InvalidRequest"},
	{name: "copy to itself with metadata", source: apiCopy, method: "PUT", path: "/pages/home",
		header: map[string]string{
			"x-amz-copy-source": "pages/home", "x-amz-metadata-directive": "REPLACE", "x-amz-meta-generation": "8",
		}, status: 200, after: map[string]string{"home": "Hello"}},
	{name: "copy with a directive that is none", source: apiCopy, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-copy-source": "pages/home", "x-amz-metadata-directive": "MOVE"}, status: 400,
		code: "InvalidArgument"},
	{name: "copy what is not there", source: apiCopy, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-copy-source": "pages/none"}, status: 404, code: "NoSuchKey",
		after: map[string]string{"new": "-"}},
	{name: "copy from no bucket", source: apiCopy, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-copy-source": "nobucket/home"}, status: 404, code: "NoSuchBucket"},
	{name: "copy of nothing", source: apiCopy, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-copy-source": "pages"}, status: 400, code: "InvalidArgument"},
	{name: "copy of a version", source: apiCopy, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-copy-source": "pages/home?versionId=3"}, status: 501, code: "NotImplemented"},
	{name: "copy if-match holds", source: apiCopy, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-copy-source": "pages/home", "x-amz-copy-source-if-match": homeETag,
			"x-amz-copy-source-if-unmodified-since": before}, status: 200},
	{name: "copy if-match does not hold", source: apiCopy, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-copy-source": "pages/home", "x-amz-copy-source-if-match": otherETag},
		status: 412, code: "PreconditionFailed",
		holds: []string{"<Condition>x-amz-copy-source-If-Match</Condition>"}, after: map[string]string{"new": "-"}},
	{name: "copy if-none-match does not hold", source: apiCopy, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-copy-source": "pages/home", "x-amz-copy-source-if-none-match": homeETag},
		status: 412, code: "PreconditionFailed"},
	{name: "copy if-modified-since does not hold", source: apiCopy, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-copy-source": "pages/home", "x-amz-copy-source-if-modified-since": written},
		status: 412, code: "PreconditionFailed"},
	{name: "copy to what is there", source: apiCopy, method: "PUT", path: "/pages/a/1",
		header: map[string]string{"x-amz-copy-source": "pages/home", "If-None-Match": "*"}, status: 412,
		code: "PreconditionFailed", after: map[string]string{"a/1": "a1"}},
	{name: "copy tags", source: apiCopy, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-copy-source": "pages/home", "x-amz-tagging-directive": "REPLACE"}, status: 501,
		code: "NotImplemented"},

	// Uploads in parts: an upload of the key parts is under way. Its part 1 is Hello, and its part 3 is World.
	{name: "begin an upload", source: apiUpload, method: "POST", path: "/pages/big?uploads",
		header: map[string]string{"x-amz-checksum-algorithm": "CRC32"}, status: 200,
		holds: []string{"<InitiateMultipartUploadResult",
			"<Bucket>pages</Bucket><Key>big</Key><UploadId>0000000000000002</UploadId>"},
		answer: map[string]string{"X-Amz-Checksum-Algorithm": "CRC32", "X-Amz-Checksum-Type": "COMPOSITE"},
		after:  map[string]string{"big": "-"}},
	{name: "begin an upload of another kind", source: integrity, method: "POST", path: "/pages/big?uploads",
		header: map[string]string{"x-amz-checksum-algorithm": "SHA256", "x-amz-checksum-type": "FULL_OBJECT"},
		status: 400, code: "InvalidRequest"},
	{name: "begin an upload of a kind without algorithm", source: integrity, method: "POST", path: "/pages/big?uploads",
		header: map[string]string{"x-amz-checksum-type": "FULL_OBJECT"}, status: 400, code: "InvalidRequest"},
	{name: "begin an upload of a kind that is none", source: integrity, method: "POST", path: "/pages/big?uploads",
		header: map[string]string{"x-amz-checksum-algorithm": "CRC32", "x-amz-checksum-type": "HALF"}, status: 400,
		code: "InvalidRequest"},
	{name: "begin an upload into no bucket", source: apiUpload, method: "POST", path: "/nobucket/big?uploads",
		status: 404, code: "NoSuchBucket"},
	{name: "upload a part", source: apiPart, method: "PUT", path: thePart(2), body: "Hello", status: 200,
		answer: map[string]string{"Etag": homeETag}},
	{name: "upload a part of another sum", source: apiPart, method: "PUT", path: thePart(2),
		header: map[string]string{"x-amz-checksum-crc32": "AAAAAA=="}, body: "Hello", status: 400, code: "BadDigest"},
	{name: "upload part 10,000", source: quickFacts, method: "PUT", path: thePart(10_000), body: "x", status: 200},
	{name: "upload part 10,001", source: quickFacts, method: "PUT", path: thePart(10_001), body: "x", status: 400,
		code: "InvalidArgument", holds: []string{"Part number must be an integer between 1 and 10000, inclusive"}},
	{name: "upload part 0", source: quickFacts, method: "PUT", path: thePart(0), body: "x", status: 400,
		code: "InvalidArgument"},
	{name: "upload a part of nothing", source: apiPart, method: "PUT",
		path: "/pages/home?partNumber=1&uploadId=0000000000000001", body: "x", status: 404, code: "NoSuchUpload",
		holds: []string{"<UploadId>0000000000000001</UploadId>"}},
	{name: "upload a part without an upload", source: apiPart, method: "PUT", path: "/pages/home?partNumber=1",
		body: "x", status: 501, code: "NotImplemented", holds: []string{"partNumber"},
		after: map[string]string{"home": "Hello"}},
	{name: "upload a copy as a part", source: apiPartCopy, method: "PUT", path: thePart(2),
		header: map[string]string{"x-amz-copy-source": "pages/home"}, status: 200,
		holds: []string{"<CopyPartResult", "&#34;8b1a9953c4611296a827abf8c47804d7&#34;"}},
	{name: "upload a copy of what is not there", source: apiPartCopy, method: "PUT", path: thePart(2),
		header: map[string]string{"x-amz-copy-source": "pages/none"}, status: 404, code: "NoSuchKey"},
	{name: "upload a copy of a part of a small object", source: apiPartCopy, method: "PUT", path: thePart(2),
		header: map[string]string{"x-amz-copy-source": "pages/home", "x-amz-copy-source-range": "bytes=0-1"},
		status: 400, code: "InvalidRequest"},
	{name: "upload a copy of a range that is none", source: apiPartCopy, method: "PUT", path: thePart(2),
		header: map[string]string{"x-amz-copy-source": "pages/home", "x-amz-copy-source-range": "bytes=1-"},
		status: 400, code: "InvalidArgument"},
	{name: "list parts", source: apiParts, method: "GET", path: theUpload, status: 200,
		holds: []string{"<Key>parts</Key><UploadId>0000000000000001</UploadId>",
			"<MaxParts>1000</MaxParts><IsTruncated>false</IsTruncated>",
			"<Part><PartNumber>1</PartNumber><LastModified>2040-01-01T00:00:10.000Z</LastModified><ETag>" +
				strings.ReplaceAll(homeETag, `"`, "&#34;") + "</ETag><Size>5</Size>", "<PartNumber>3</PartNumber>"}},
	{name: "list one part", source: apiParts, method: "GET", path: theUpload + "&max-parts=1", status: 200,
		holds: []string{
			"<NextPartNumberMarker>1</NextPartNumberMarker><MaxParts>1</MaxParts><IsTruncated>true</IsTruncated>",
		}, lacks: []string{"<PartNumber>3</PartNumber>"}},
	{name: "list the parts after one", source: apiParts, method: "GET", path: theUpload + "&part-number-marker=1",
		status: 200, holds: []string{"<PartNumberMarker>1</PartNumberMarker>", "<PartNumber>3</PartNumber>"},
		lacks: []string{"<PartNumber>1</PartNumber>"}},
	{name: "list the parts of nothing", source: apiParts, method: "GET", path: "/pages/parts?uploadId=2",
		status: 404, code: "NoSuchUpload"},
	{name: "list uploads", source: apiUploads, method: "GET", path: "/pages?uploads", status: 200,
		holds: []string{"<Upload><Key>parts</Key><UploadId>0000000000000001</UploadId>",
			"<Initiated>2040-01-01T00:00:10.000Z</Initiated>", "<IsTruncated>false</IsTruncated>"}},
	{name: "list uploads of another prefix", source: apiUploads, method: "GET", path: "/pages?uploads&prefix=x",
		status: 200, lacks: []string{"<Upload>"}},
	{name: "list uploads after one", source: apiUploads, method: "GET",
		path: "/pages?uploads&key-marker=parts&upload-id-marker=0000000000000001", status: 200,
		lacks: []string{"<Upload>"}},
	{name: "list uploads after a key", source: apiUploads, method: "GET", path: "/pages?uploads&key-marker=parts",
		status: 200, lacks: []string{"<Upload>"}},
	{name: "list uploads by folders", source: provider, method: "GET", path: "/pages?uploads&delimiter=a", status: 200,
		holds: []string{"<Delimiter>a</Delimiter>", "<CommonPrefixes><Prefix>pa</Prefix></CommonPrefixes>"},
		lacks: []string{"<Upload>", "NextKeyMarker"}},
	{name: "list uploads after a folder", source: provider, method: "GET",
		path: "/pages?uploads&delimiter=a&key-marker=pa", status: 200, lacks: []string{"<Upload>", "<CommonPrefixes>"}},
	{name: "list uploads of no bucket", source: apiUploads, method: "GET", path: "/nobucket?uploads",
		status: 404, code: "NoSuchBucket"},
	{name: "list no uploads", source: apiUploads, method: "GET", path: "/pages?uploads&max-uploads=-1", status: 400,
		code: "InvalidArgument"},
	{name: "complete an upload", source: apiComplete, method: "POST", path: theUpload,
		body: "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" +
			homeETag + "</ETag></Part></CompleteMultipartUpload>", status: 200,
		holds: []string{"<CompleteMultipartUploadResult",
			"<Key>parts</Key><ETag>&#34;49c24cf3c5af9ba03cec39ee4aac4f77-1&#34;</ETag>",
			"<ChecksumType>FULL_OBJECT</ChecksumType>"}, after: map[string]string{"parts": "Hello"}},
	{name: "complete an upload of small parts", source: quickFacts, method: "POST", path: theUpload,
		body: "<CompleteMultipartUpload>" + partHello + partWorld + "</CompleteMultipartUpload>", status: 400,
		code: "EntityTooSmall",
		holds: []string{
			"<ProposedSize>5</ProposedSize><MinSizeAllowed>5242880</MinSizeAllowed><PartNumber>1</PartNumber>",
		}, after: map[string]string{"parts": "-"}},
	{name: "complete an upload backwards", source: apiComplete, method: "POST", path: theUpload,
		body: "<CompleteMultipartUpload>" + partWorld + partHello + "</CompleteMultipartUpload>", status: 400,
		code: "InvalidPartOrder"},
	{name: "complete an upload with a part that is none", source: apiComplete, method: "POST", path: theUpload,
		body: "<CompleteMultipartUpload><Part><PartNumber>2</PartNumber><ETag>x</ETag></Part></CompleteMultipartUpload>", status: 400, code: "InvalidPart", holds: []string{"<PartNumber>2</PartNumber>"}},
	{name: "complete an upload with another part", source: apiComplete, method: "POST", path: theUpload,
		body: "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" +
			otherETag + "</ETag></Part></CompleteMultipartUpload>", status: 400, code: "InvalidPart"},
	{name: "complete an upload with another sum", source: apiComplete, method: "POST", path: theUpload,
		body: "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>" +
			homeETag + "</ETag><ChecksumCRC64NVME>AAAAAAAAAAA=</ChecksumCRC64NVME></Part></CompleteMultipartUpload>",
		status: 400, code: "InvalidPart"},
	{name: "complete an upload of another size", source: apiComplete, method: "POST", path: theUpload,
		header: map[string]string{"x-amz-mp-object-size": "6"}, body: "<CompleteMultipartUpload>" +
			partHello + "</CompleteMultipartUpload>", status: 400, code: "InvalidRequest"},
	{name: "complete an upload with another checksum", source: apiComplete, method: "POST", path: theUpload,
		header: map[string]string{"x-amz-checksum-crc64nvme": "AAAAAAAAAAA="}, body: "<CompleteMultipartUpload>" +
			partHello + "</CompleteMultipartUpload>", status: 400, code: "BadDigest"},
	{name: "complete an upload of another type", source: apiComplete, method: "POST", path: theUpload,
		header: map[string]string{"x-amz-checksum-type": "COMPOSITE"}, body: "<CompleteMultipartUpload>" +
			partHello + "</CompleteMultipartUpload>", status: 400, code: "InvalidRequest"},
	{name: "complete an upload if-match", source: writes, method: "POST", path: theUpload,
		header: map[string]string{"If-Match": homeETag},
		body:   "<CompleteMultipartUpload>" + partHello + "</CompleteMultipartUpload>", status: 404, code: "NoSuchKey"},
	{name: "complete an upload of no parts", source: apiComplete, method: "POST", path: theUpload,
		body: "<CompleteMultipartUpload/>", status: 400, code: "MalformedXML"},
	{name: "complete nothing", source: apiComplete, method: "POST", path: "/pages/parts?uploadId=2",
		body:   "<CompleteMultipartUpload>" + partHello + "</CompleteMultipartUpload>",
		status: 404, code: "NoSuchUpload"},
	{name: "abort an upload", source: apiAbort, method: "DELETE", path: theUpload, status: 204,
		after: map[string]string{"parts": "-"}},
	{name: "abort nothing", source: apiAbort, method: "DELETE", path: "/pages/parts?uploadId=2",
		status: 404, code: "NoSuchUpload"},
	{name: "get the first part of an object that has none", source: apiGet, method: "GET",
		path: "/pages/home?partNumber=1", status: 206, want: "Hello",
		answer: map[string]string{"Content-Range": "bytes 0-4/5", "X-Amz-Mp-Parts-Count": ""}},
	{name: "get the second part of an object that has none", source: apiErrors, method: "GET",
		path: "/pages/home?partNumber=2", status: 416, code: "InvalidPartNumber"},
	{name: "get a part and a range", source: apiErrors, method: "GET", path: "/pages/home?partNumber=1",
		header: map[string]string{"Range": "bytes=0-1"}, status: 400, code: "InvalidRequest"},
	{name: "get tags", source: apiTags, method: "GET", path: "/pages/home?tagging", status: 200,
		holds: []string{"<TagSet></TagSet>"}},
	{name: "get tags of what is not there", source: apiTags, method: "GET", path: "/pages/none?tagging",
		status: 404, code: "NoSuchKey"},

	// DeleteObject.
	{name: "delete", source: apiDelete, method: "DELETE", path: "/pages/home", status: 204,
		after: map[string]string{"home": "-"}},
	{name: "delete what is not there", source: apiDelete, method: "DELETE", path: "/pages/none", status: 204},
	{name: "delete from no bucket", source: apiErrors, method: "DELETE", path: "/nobucket/home",
		status: 404, code: "NoSuchBucket"},
	{name: "delete if-match holds", source: deletes, method: "DELETE", path: "/pages/home",
		header: map[string]string{"If-Match": homeETag}, status: 204, after: map[string]string{"home": "-"}},
	{name: "delete if-match does not hold", source: deletes, method: "DELETE", path: "/pages/home",
		header: map[string]string{"If-Match": otherETag}, status: 412, code: "PreconditionFailed",
		after: map[string]string{"home": "Hello"}},
	{name: "delete if-match of any", source: deletes, method: "DELETE", path: "/pages/home",
		header: map[string]string{"If-Match": "*"}, status: 204, after: map[string]string{"home": "-"}},
	{name: "delete if-match of what is not there", source: deletes, method: "DELETE", path: "/pages/none",
		header: map[string]string{"If-Match": homeETag}, status: 404, code: "NoSuchKey"},
	{name: "delete if-match of any, and there is none", source: deletes, method: "DELETE", path: "/pages/none",
		header: map[string]string{"If-Match": "*"}, status: 412, code: "PreconditionFailed"},
	{name: "delete if-none-match", source: deletes, method: "DELETE", path: "/pages/home",
		header: map[string]string{"If-None-Match": "*"}, status: 501, code: "NotImplemented",
		after: map[string]string{"home": "Hello"}},

	// DeleteObjects.
	{name: "delete two", source: apiDeletes, method: "POST", path: "/pages?delete",
		body: "<Delete><Object><Key>a/1</Key></Object><Object><Key>none</Key></Object></Delete>", status: 200,
		holds: []string{"<DeleteResult " +
			"xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Deleted><Key>a/1</Key></Deleted><Deleted><Key>none</Key></Deleted>"}, after: map[string]string{"a/1": "-", "a/2": "a2"}},
	{name: "delete, quietly", source: apiDeletes, method: "POST", path: "/pages?delete",
		body: `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Object><Key>a/1</Key></Object><Quiet>true</Quiet></Delete>`, status: 200,
		lacks: []string{"<Deleted>"}, after: map[string]string{"a/1": "-"}},
	{name: "delete by ETags", source: deletes, method: "POST", path: "/pages?delete",
		body: "<Delete><Object><Key>a/1</Key><ETag>nope</ETag></Object><Object><Key>home</Key><ETag>" +
			homeETag + "</ETag></Object></Delete>", status: 200,
		holds: []string{"<Deleted><Key>home</Key></Deleted>", "<Error><Key>a/1</Key><Code>PreconditionFailed</Code>"},
		after: map[string]string{"a/1": "a1", "home": "-"}},
	{name: "delete no keys", source: apiErrors, method: "POST", path: "/pages?delete", body: "<Delete></Delete>",
		status: 400, code: "MalformedXML"},
	{name: "delete 1,000 keys", source: apiDeletes, method: "POST", path: "/pages?delete",
		body: "<Delete>" + strings.Repeat("<Object><Key>k</Key></Object>", 1000) + "</Delete>", status: 200},
	{name: "delete 1,001 keys", source: apiDeletes, method: "POST", path: "/pages?delete",
		body: "<Delete>" + strings.Repeat("<Object><Key>home</Key></Object>", 1001) + "</Delete>", status: 400,
		code: "MalformedXML", after: map[string]string{"home": "Hello"}},
	{name: "delete in bad XML", source: apiErrors, method: "POST", path: "/pages?delete", body: "<Delete><Object>",
		status: 400, code: "MalformedXML"},
	{name: "delete in another language", source: apiErrors, method: "POST", path: "/pages?delete",
		body: `{"Objects":[{"Key":"home"}]}`, status: 400, code: "MalformedXML"},
	{name: "delete in two documents", source: apiErrors, method: "POST", path: "/pages?delete",
		body: "<Delete><Object><Key>home</Key></Object></Delete><Delete/>", status: 400, code: "MalformedXML",
		after: map[string]string{"home": "Hello"}},
	{name: "delete without integrity", source: apiDeletes, method: "POST", path: "/pages?delete",
		header: map[string]string{"Content-MD5": ""}, body: "<Delete><Object><Key>home</Key></Object></Delete>",
		status: 400, code: "InvalidRequest", after: map[string]string{"home": "Hello"}},
	{name: "delete an entity", source: apiErrors, method: "POST", path: "/pages?delete",
		body:   `<!DOCTYPE d [<!ENTITY e SYSTEM "file:///etc/passwd">]><Delete><Object><Key>&e;</Key></Object></Delete>`,
		status: 400, code: "MalformedXML"},

	// ListObjectsV2.
	{name: "list", source: apiList, method: "GET", path: "/pages?list-type=2", status: 200, holds: []string{
		"<Name>pages</Name>", "<KeyCount>5</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>",
		"<Key>home</Key><LastModified>2040-01-01T00:00:10.000Z</LastModified><ETag>&#34;8b1a9953c4611296a827abf8c47804d7&#34;</ETag>", "<Size>5</Size>", "<StorageClass>STANDARD</StorageClass>", "<Key>c d&amp;é</Key>"},
		lacks: []string{"<Owner>", "NextContinuationToken"}},
	{name: "list a prefix", source: apiList, method: "GET", path: "/pages?list-type=2&prefix=a%2F", status: 200,
		holds: []string{"<KeyCount>2</KeyCount>", "<Prefix>a/</Prefix>", "a/1", "a/2"}, lacks: []string{"home"}},
	{name: "list folders", source: apiList, method: "GET", path: "/pages?list-type=2&delimiter=%2F",
		status: 200, holds: []string{
			"<KeyCount>4</KeyCount>",
			"<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes><CommonPrefixes><Prefix>b/</Prefix></CommonPrefixes>",
			"<Key>home</Key>"}, lacks: []string{"<Key>a/1"}},
	{name: "list after", source: apiList, method: "GET", path: "/pages?list-type=2&start-after=b%2F1", status: 200,
		holds: []string{"<KeyCount>2</KeyCount>", "<StartAfter>b/1</StartAfter>", "home"}, lacks: []string{"<Key>b/1"}},
	{name: "list owners", source: apiList, method: "GET", path: "/pages?list-type=2&fetch-owner=true", status: 200,
		holds: []string{"<Owner><ID>"}},
	{name: "list in URL encoding", source: apiList, method: "GET",
		path: "/pages?list-type=2&encoding-type=url&prefix=c", status: 200,
		holds: []string{"<Key>c+d%26%C3%A9</Key>", "<EncodingType>url</EncodingType>"}},
	{name: "list in another encoding", source: apiErrors, method: "GET", path: "/pages?list-type=2&encoding-type=rot13",
		status: 400, code: "InvalidArgument"},
	{name: "list none", source: apiList, method: "GET", path: "/pages?list-type=2&max-keys=0", status: 200,
		holds: []string{"<KeyCount>0</KeyCount><MaxKeys>0</MaxKeys><IsTruncated>false</IsTruncated>"}},
	{name: "list fewer than none", source: apiErrors, method: "GET", path: "/pages?list-type=2&max-keys=-1",
		status: 400, code: "InvalidArgument", holds: []string{"<ArgumentName>maxKeys</ArgumentName>"}},
	{name: "list too many", source: apiList, method: "GET", path: "/pages?list-type=2&max-keys=2147483647", status: 200,
		holds: []string{"<MaxKeys>1000</MaxKeys>"}},
	{name: "list on from nowhere", source: apiErrors, method: "GET",
		path: "/pages?list-type=2&continuation-token=nowhere", status: 400, code: "InvalidArgument"},
	{name: "list no bucket", source: apiErrors, method: "GET", path: "/nobucket?list-type=2",
		status: 404, code: "NoSuchBucket"},
	{name: "list in the third version", source: apiErrors, method: "GET", path: "/pages?list-type=3", status: 400,
		code: "InvalidArgument"},

	// ListObjects.
	{name: "list, the old way", source: apiListOld, method: "GET", path: "/pages", status: 200, holds: []string{
		"<Name>pages</Name><Prefix></Prefix><Marker></Marker><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>",
		"<Key>home</Key>", "<Owner><ID>"}, lacks: []string{"<KeyCount>"}},
	{name: "list after a marker", source: apiListOld, method: "GET", path: "/pages?marker=b%2F1", status: 200,
		holds: []string{"<Marker>b/1</Marker>", "<Key>home</Key>"}, lacks: []string{"<Key>b/1", "NextMarker"}},
	{name: "list the first of many", source: apiListOld, method: "GET", path: "/pages?max-keys=1", status: 200,
		holds: []string{"<IsTruncated>true</IsTruncated>", "<Key>a/1</Key>"},
		lacks: []string{"NextMarker", "<Key>a/2"}},
	{name: "list the first of many folders", source: apiListOld, method: "GET", path: "/pages?max-keys=1&delimiter=%2F",
		status: 200, holds: []string{"<NextMarker>a/</NextMarker>",
			"<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>"}},
	{name: "list after a folder", source: apiListOld, method: "GET", path: "/pages?marker=a%2F&delimiter=%2F",
		status: 200, holds: []string{"<CommonPrefixes><Prefix>b/</Prefix></CommonPrefixes>"},
		lacks: []string{"<Prefix>a/</Prefix>"}},
	{name: "list after a key in a folder", source: provider, method: "GET",
		path: "/pages?marker=a%2F1&delimiter=%2F", status: 200,
		holds: []string{"<CommonPrefixes><Prefix>b/</Prefix></CommonPrefixes>"},
		lacks: []string{"<Prefix>a/</Prefix>"}},
	{name: "list no bucket, the old way", source: apiErrors, method: "GET", path: "/nobucket",
		status: 404, code: "NoSuchBucket"},

	// ListObjectVersions, of objects without versions.
	{name: "list versions", source: apiVersions, method: "GET", path: "/pages?versions", status: 200, holds: []string{
		"<Name>pages</Name><Prefix></Prefix><KeyMarker></KeyMarker><VersionIdMarker></VersionIdMarker><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>",
		"<Key>home</Key>", "<VersionId>null</VersionId><IsLatest>true</IsLatest>", "<Owner><ID>"},
		lacks: []string{"NextKeyMarker", "<Contents>", "DeleteMarker"}},
	{name: "list the first version", source: apiVersions, method: "GET", path: "/pages?versions&max-keys=1",
		status: 200, holds: []string{
			"<NextKeyMarker>a/1</NextKeyMarker><NextVersionIdMarker>null</NextVersionIdMarker>", "<Key>a/1</Key>"},
		lacks: []string{"<Key>a/2"}},
	{name: "list versions after one", source: apiVersions, method: "GET",
		path: "/pages?versions&key-marker=b%2F1&version-id-marker=null", status: 200, holds: []string{
			"<KeyMarker>b/1</KeyMarker><VersionIdMarker>null</VersionIdMarker>", "<Key>home</Key>"},
		lacks: []string{"<Key>b/1"}},
	{name: "list versions by folders", source: apiVersions, method: "GET",
		path: "/pages?versions&delimiter=%2F&key-marker=a%2F&encoding-type=url", status: 200,
		holds: []string{"<CommonPrefixes><Prefix>b/</Prefix></CommonPrefixes>"},
		lacks: []string{"<Prefix>a/</Prefix>"}},
	{name: "list versions after a key in a folder", source: provider, method: "GET",
		path: "/pages?versions&delimiter=%2F&key-marker=a%2F1", status: 200,
		holds: []string{"<CommonPrefixes><Prefix>b/</Prefix></CommonPrefixes>"},
		lacks: []string{"<Prefix>a/</Prefix>"}},
	{name: "list versions after the version of no key", source: apiErrors, method: "GET",
		path: "/pages?versions&version-id-marker=null", status: 400, code: "InvalidArgument"},
	{name: "list versions of no bucket", source: apiErrors, method: "GET", path: "/nobucket?versions",
		status: 404, code: "NoSuchBucket"},

	// Buckets.
	{name: "create a bucket", source: apiCreate, method: "PUT", path: "/another", status: 200,
		answer: map[string]string{"Location": "/another"}},
	{name: "create what is there", source: apiCreate, method: "PUT", path: "/pages", status: 200,
		after: map[string]string{"home": "Hello"}},
	{name: "create what is there, elsewhere", source: apiCreate, method: "PUT", path: "/pages",
		body: located("eu-west-1"), status: 409, code: "BucketAlreadyOwnedByYou"},
	{name: "create at us-east-1, said twice", source: provider, method: "PUT", path: "/another",
		body: located("us-east-1"), status: 400, code: "InvalidLocationConstraint",
		holds: []string{"<LocationConstraint>us-east-1<"}},
	{name: "create nowhere", source: provider, method: "PUT", path: "/another",
		body: located("mars"), status: 400, code: "InvalidLocationConstraint"},
	{name: "create elsewhere", source: apiCreate, method: "PUT", path: "/another", status: 200,
		body: located("eu-west-1")},
	{name: "versions of a bucket", source: apiVersioning, method: "GET", path: "/pages?versioning", status: 200,
		holds: []string{`<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></VersioningConfiguration>`}},
	{name: "versions of no bucket", source: apiVersioning, method: "GET", path: "/nobucket?versioning", status: 404,
		code: "NoSuchBucket"},
	{name: "create a bad name", source: naming, method: "PUT", path: "/No_Bucket", status: 400,
		code: "InvalidBucketName"},
	{name: "create in bad XML", source: apiErrors, method: "PUT", path: "/another", body: "<",
		status: 400, code: "MalformedXML"},
	{name: "head a bucket", source: apiBuckets, method: "HEAD", path: "/pages", status: 200,
		answer: map[string]string{"X-Amz-Bucket-Region": "us-east-1"}},
	{name: "where a bucket is", source: apiLocation, method: "GET", path: "/pages?location", status: 200,
		holds: []string{`<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></LocationConstraint>`}},
	{name: "where no bucket is", source: apiLocation, method: "GET", path: "/nobucket?location",
		status: 404, code: "NoSuchBucket"},
	{name: "head no bucket", source: apiBuckets, method: "HEAD", path: "/nobucket", status: 404},
	{name: "delete a bucket that is not empty", source: apiErrors, method: "DELETE", path: "/pages", status: 409,
		code: "BucketNotEmpty"},
	{name: "list buckets", source: apiBuckets, method: "GET", path: "/", status: 200,
		holds: []string{"<Bucket><Name>pages</Name><CreationDate>2040-01-01T00:00:00.000Z</CreationDate>"}},
	{name: "a bucket in the host", source: hosting, method: "GET", path: "/home",
		header: map[string]string{"Host": "pages.s3.eu-west-1.amazonaws.com"}, status: 200, want: "Hello"},
	{name: "a bucket in the host, here", source: hosting, method: "GET", path: "/home",
		header: map[string]string{"Host": "pages.localhost:8000"}, status: 200, want: "Hello"},
	{name: "a bucket in the path, by name", source: hosting, method: "GET", path: "/pages/home",
		header: map[string]string{"Host": "s3.localhost"}, status: 200, want: "Hello"},

	// Features that the fake does not have are refused, and never ignored.
	{name: "a method that is none", source: apiErrors, method: "PATCH", path: "/pages/home", status: 405,
		code: "MethodNotAllowed"},
	{name: "delete the service", source: apiErrors, method: "DELETE", path: "/", status: 405, code: "MethodNotAllowed"},
	{name: "tags", source: apiPut, method: "PUT", path: "/pages/new", header: map[string]string{"x-amz-tagging": "a=b"},
		status: 501, code: "NotImplemented", after: map[string]string{"new": "-"}},
	{name: "encryption by KMS", source: apiPut, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-server-side-encryption": "aws:kms"}, status: 501, code: "NotImplemented",
		holds: []string{"aws:kms"}, after: map[string]string{"new": "-"}},
	{name: "the default encryption", source: apiPut, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-server-side-encryption": "AES256"}, body: "x", status: 200,
		after: map[string]string{"new": "x"}},
	{name: "a public object", source: apiPut, method: "PUT", path: "/pages/new",
		header: map[string]string{"x-amz-acl": "public-read"}, status: 501, code: "NotImplemented",
		after: map[string]string{"new": "-"}},
	{name: "a version", source: apiGet, method: "GET", path: "/pages/home?versionId=3", status: 501,
		code: "NotImplemented"},
	{name: "the only version", source: apiGet, method: "GET", path: "/pages/home?versionId=null",
		status: 200, want: "Hello"},
	{name: "a policy", source: apiList, method: "GET", path: "/pages?policy", status: 501, code: "NotImplemented",
		holds: []string{"the operation GetBucketPolicy<"}},
	{name: "versions", source: apiVersioning, method: "PUT", path: "/pages?versioning", status: 501,
		code: "NotImplemented", holds: []string{"the operation PutBucketVersioning<"}},
	{name: "reports", source: apiList, method: "GET", path: "/pages?inventory", status: 501, code: "NotImplemented",
		holds: []string{"the operation ListBucketInventoryConfigurations<"}},
	{name: "tags of an object", source: apiTags, method: "DELETE", path: "/pages/home?tagging", status: 501,
		code: "NotImplemented", holds: []string{"the operation DeleteObjectTagging<"},
		after: map[string]string{"home": "Hello"}},
	{name: "a form", source: apiPut, method: "POST", path: "/pages", body: "x", status: 501, code: "NotImplemented"},
	{name: "a query that is none", source: apiErrors, method: "GET", path: "/pages/home?%zz",
		status: 400, code: "InvalidURI"},
}

// answered is an answer that has been read.
type answered struct {
	status int
	header http.Header
	body   string
}

// read reads an answer, and closes it.
func read(response *http.Response) (answered, error) {
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	return answered{response.StatusCode, response.Header, string(body)}, err
}

// roundTrip sends a request in the process.
func roundTrip(do func(context.Context, Call) (*Answer, error), r *http.Request) (answered, error) {
	response, err := Transport(do).RoundTrip(r)
	if err != nil {
		return answered{}, err
	}
	return read(response)
}

func newWorld(t *testing.T) *Store {
	t.Helper()
	clock := fakeclock.New(fakeclock.Epoch)
	s := New(Options{Clock: clock, Buckets: []string{"pages"}})
	clock.Advance(10*time.Second + 900*time.Millisecond)
	for _, o := range []struct{ path, body string }{{"home", "Hello"}, {"a/1", "a1"}, {"a/2", "a2"}, {"b/1", "b1"},
		{"c%20d&%C3%A9", "escaped"}} {
		r := httptest.NewRequest(http.MethodPut, "/pages/"+o.path, strings.NewReader(o.body))
		if o.path == "home" {
			r.Header = http.Header{
				"Content-Type": {"text/html"}, "Cache-Control": {"max-age=60"}, "X-Amz-Meta-Generation": {"7"},
			}
		}
		if got, err := roundTrip(s.Do, r); err != nil || got.status != http.StatusOK {
			t.Fatalf("%s: %v and %v", o.path, got, err)
		}
	}
	for _, r := range []*http.Request{
		httptest.NewRequest(http.MethodPost, "/pages/parts?uploads", nil),
		httptest.NewRequest(http.MethodPut, thePart(1), strings.NewReader("Hello")),
		httptest.NewRequest(http.MethodPut, thePart(3), strings.NewReader("World")),
	} {
		if got, err := roundTrip(s.Do, r); err != nil || got.status != http.StatusOK {
			t.Fatalf("%s: %v and %v", r.URL, got, err)
		}
	}
	clock.Advance(time.Hour)
	return s
}

// request makes the request of a case, for a server at an address.
func (c *conformanceCase) request(t *testing.T, at string) *http.Request {
	t.Helper()
	r := must.Of(http.NewRequestWithContext(t.Context(), c.method, at+c.path, strings.NewReader(c.body)))(t)
	if strings.HasSuffix(c.path, "?delete") {
		sum := md5.Sum([]byte(c.body))
		r.Header.Set("Content-MD5", base64.StdEncoding.EncodeToString(sum[:]))
	}
	for name, value := range c.header {
		switch {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	return r
}

// check compares an answer with that of a case.
func (c *conformanceCase) check(t *testing.T, s *Store, got answered) {
	t.Helper()
	text := got.body
	if got.status != c.status {
		t.Fatalf("got status %d, want %d: %s", got.status, c.status, text)
	}
	if c.code != "" && !strings.Contains(text, "<Error><Code>"+c.code+"</Code>") {
		t.Errorf("got %s, want the code %s", text, c.code)
	}
	if (c.want != "" || c.method == http.MethodHead) && text != c.want {
		t.Errorf("got body %q, want %q", text, c.want)
	}
	for name, want := range c.answer {
		if have := got.header.Get(name); have != want {
			t.Errorf("got %s %q, want %q", name, have, want)
		}
	}
	for _, want := range c.holds {
		if !strings.Contains(text, want) {
			t.Errorf("got %s, want %s in it", text, want)
		}
	}
	for _, not := range c.lacks {
		if strings.Contains(text, not) {
			t.Errorf("got %s, want no %s in it", text, not)
		}
	}
	for key, want := range c.after {
		o, ok := s.buckets["pages"].objects.Get(key)
		if !ok && want != "-" || ok && string(o.body) != want {
			t.Errorf("afterwards: got %v %v at %s, want %s", ok, o, key, want)
		}
	}
}

// Both doors keep every rule of the table.
func TestConformance(t *testing.T) {
	for _, c := range conformance {
		t.Run(c.name, func(t *testing.T) {
			if !strings.HasPrefix(c.source, "https://docs.aws.amazon.com/") && c.source != provider {
				t.Errorf("the source is %q", c.source)
			}
			s := newWorld(t)
			got, err := roundTrip(s.Do, c.request(t, "https://s3.us-east-1.isr-sim.invalid"))
			must.OK(t, err)
			c.check(t, s, got)

			s = newWorld(t)
			server := httptest.NewServer(s.Handler())
			defer server.Close()
			response, err := server.Client().Do(c.request(t, server.URL))
			must.OK(t, err)
			if got, err = read(response); err != nil {
				t.Fatal(err)
			}
			c.check(t, s, got)
		})
	}
}

// The table has a success and a refusal of each operation.
func TestConformanceIsWhole(t *testing.T) {
	seen := map[string]map[bool]bool{}
	for _, c := range conformance {
		s := newWorld(t)
		do := func(ctx context.Context, call Call) (*Answer, error) {
			a, err := s.Do(ctx, call)
			if seen[call.Operation] == nil {
				seen[call.Operation] = map[bool]bool{}
			}
			seen[call.Operation][a.Code == ""] = true
			return a, err
		}
		must.Done(t)(roundTrip(do, c.request(t, "https://s3.us-east-1.isr-sim.invalid")))
	}
	for _, op := range operationNames() {
		if !seen[op][true] && op != "DeleteBucket" || !seen[op][false] && op != "ListBuckets" {
			t.Errorf("%s: got %v, want a success and a refusal in the table", op, slices.Collect(maps.Keys(seen[op])))
		}
	}
}

// Pages of every size, with and without delimiter, have every key and common prefix once, in order.
func TestListPages(t *testing.T) {
	s := New(Options{Buckets: []string{"pages"}})
	for _, key := range []string{"a", "a/", "a/1", "a/2/3", "ab", "b/1", "b/2", "c", "é", "\U0001F600"} {
		s.buckets["pages"].objects.Set(key, &object{checksum: checksum{algorithm: algorithms[0]}})
	}
	for _, q := range []string{"", "&delimiter=%2F", "&prefix=a", "&prefix=a%2F&delimiter=%2F",
		"&delimiter=%2F&start-after=a%2F1", "&delimiter=b"} {
		want := listed(t, s, q, "1000")
		for _, size := range []string{"1", "2", "3", "7"} {
			if got := listed(t, s, q, size); !slices.Equal(got, want) {
				t.Errorf("%s in pages of %s: got %q, want %q", q, size, got, want)
			}
		}
	}
}

func listed(t *testing.T, s *Store, query, size string) (names []string) {
	t.Helper()
	token := ""
	for range 20 {
		r := httptest.NewRequest(http.MethodGet, "/pages?list-type=2&max-keys="+size+query+token, nil)
		got := must.Of(roundTrip(s.Do, r))(t)
		for piece := range strings.SplitSeq(got.body, "<") {
			for _, tag := range []string{"Key>", "Prefix>"} {
				if rest, ok := strings.CutPrefix(piece, tag); ok {
					names = append(names, rest)
				}
			}
		}
		names = slices.DeleteFunc(names, func(n string) bool { return n == "" })
		_, rest, more := strings.Cut(got.body, "<NextContinuationToken>")
		if !more {
			// Each page also has the prefix of the request as an element, once.
			own := r.URL.Query().Get("prefix")
			names = slices.DeleteFunc(names, func(n string) bool { return n == own })
			slices.Sort(names)
			return names
		}
		next, _, _ := strings.Cut(rest, "<")
		token = "&continuation-token=" + next
	}
	t.Fatalf("%s in pages of %s does not end", query, size)
	return nil
}

// An object without a given checksum gets CRC-64/NVME; the value is the check value of the catalogue.
//
// Source: https://reveng.sourceforge.io/crc-catalogue/all.htm#crc.cat.crc-64-nvme
func TestNVME(t *testing.T) {
	h := algorithms[len(algorithms)-1].new()
	h.Write([]byte("123456789"))
	if got := hex.EncodeToString(h.Sum(nil)); got != "ae8b14860a799888" {
		t.Errorf("got %s, want ae8b14860a799888", got)
	}
}
