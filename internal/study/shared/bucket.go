package shared

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/encoding/httpbinding"
	"golang.org/x/sync/errgroup"

	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
)

// bucketScheme begins the addresses of buckets.
const bucketScheme = "s3://"

// atOnce is the number of requests to a bucket at one time.
const atOnce = 16

// attempts is how often a request is sent if S3 does not answer or cannot serve it.
const attempts = 5

// bucket keeps files as objects below a prefix. A conditional PutObject keeps the first file of a name. Four operations
// do not justify the SDK of S3, which takes longer to compile than everything that would use it here.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
type bucket struct {
	credentials    aws.CredentialsProvider
	signer         *v4.Signer // it caches the keys that it derives
	region         string
	endpoint, name string
	prefix         string // empty, or ends with a slash
}

// newBucket reads s3://BUCKET/PREFIX. Credentials, region and endpoint come from where the AWS SDKs take them:
// variables (AWS_ENDPOINT_URL_S3 for services other than AWS), shared files, roles.
func newBucket(ctx context.Context, address string) (Place, error) {
	name, prefix, _ := strings.Cut(strings.TrimPrefix(address, bucketScheme), "/")
	if name == "" {
		return nil, fmt.Errorf("%s: found no bucket, expected s3://BUCKET or s3://BUCKET/PREFIX", address)
	}
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		prefix = path.Clean(prefix) + "/"
	}
	cfg, err := config.LoadDefaultConfig(ctx, config.WithDefaultRegion("us-east-1"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	domain := "amazonaws.com"
	if strings.HasPrefix(cfg.Region, "cn-") {
		domain += ".cn"
	}
	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), aws.ToString(cfg.BaseEndpoint),
		"https://s3."+cfg.Region+"."+domain)
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	return &bucket{cfg.Credentials, signer, cfg.Region, strings.TrimSuffix(endpoint, "/"), name, prefix}, nil
}

// refusal is an error that S3 returned.
type refusal struct{ Code, Message string }

func (r *refusal) Error() string { return r.Code + ": " + r.Message }

// ask sends a request for an object, or for the bucket if name is empty, and returns the body of the answer. A request
// that S3 did not answer, or could not serve, is sent again.
func (b *bucket) ask(ctx context.Context, method, name, query, ifNoneMatch string, body []byte) ([]byte, error) {
	for n := 1; ; n++ {
		data, again, err := b.send(ctx, method, name, query, ifNoneMatch, body)
		if err == nil || !again || n == attempts || wait(ctx, 10*n) != nil {
			return data, err
		}
	}
}

func (b *bucket) send(ctx context.Context, method, name, query, ifNoneMatch string, body []byte) (
	data []byte, again bool, err error,
) {
	key := b.name
	if name != "" {
		key += "/" + b.prefix + name
	}
	r, err := http.NewRequestWithContext(ctx, method, b.endpoint+"/"+httpbinding.EscapePath(key, false)+query,
		bytes.NewReader(body))
	if err != nil {
		return nil, false, err
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	r.Header.Set("X-Amz-Content-Sha256", hash)
	if ifNoneMatch != "" {
		r.Header.Set("If-None-Match", ifNoneMatch)
	}
	keys, err := b.credentials.Retrieve(ctx)
	if err != nil {
		return nil, false, err
	}
	now := time.Now() //nolint:forbidigo // a signature says when it was made
	if err := b.signer.SignHTTP(ctx, keys, r, hash, "s3", b.region, now); err != nil {
		return nil, false, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, true, err
	}
	defer answer.Body.Close()
	if data, err = io.ReadAll(answer.Body); err != nil || answer.StatusCode < 300 {
		return data, true, err
	}
	refused := &refusal{}
	if xml.Unmarshal(data, refused) != nil || refused.Code == "" {
		refused = &refusal{answer.Status, "found no error of S3 in the answer"}
	}
	return nil, answer.StatusCode >= 500, refused
}

// Pull implements Place.
func (b *bucket) Pull(ctx context.Context, folder string) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	found := false
	var failed error
	query := url.Values{"list-type": {"2"}, "prefix": {b.prefix}}
	for within.Err() == nil {
		data, err := b.ask(within, http.MethodGet, "", "?"+query.Encode(), "", nil)
		var page struct {
			Contents              []struct{ Key string }
			NextContinuationToken string
		}
		if err == nil {
			err = xml.Unmarshal(data, &page)
		}
		if err != nil {
			failed = fmt.Errorf("found no list of its objects, expected one: %w", err)
			break
		}
		for _, object := range page.Contents {
			name := strings.TrimPrefix(object.Key, b.prefix)
			found = true
			if !isFile(name) {
				continue // not a file of a corpus
			}
			file := filepath.Join(folder, name)
			if _, err := os.Stat(file); err == nil {
				continue // a file never changes
			}
			group.Go(func() error { return b.get(within, name, file) })
		}
		if page.NextContinuationToken == "" {
			break
		}
		query.Set("continuation-token", page.NextContinuationToken)
	}
	switch err := group.Wait(); {
	case err != nil:
		return err
	case failed != nil:
		return failed
	case !found:
		return ErrMissing
	}
	return nil
}

func (b *bucket) get(ctx context.Context, name, file string) error {
	data, err := b.ask(ctx, http.MethodGet, name, "", "", nil)
	if code(err) == "NoSuchKey" {
		return nil // it was removed after it was listed
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return atomicfile.Write(file, data, 0o644)
}

// Push implements Place.
func (b *bucket) Push(ctx context.Context, folder string, add, remove []string) error {
	data, err := files(folder, add)
	if err != nil {
		return err
	}
	for _, name := range add {
		if err := b.put(ctx, name, data[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, name := range remove {
		if _, err := b.ask(ctx, http.MethodDelete, name, "", "", nil); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// put creates an object, unless it exists.
func (b *bucket) put(ctx context.Context, name string, data []byte) error {
	for n := 1; ; n++ {
		_, err := b.ask(ctx, http.MethodPut, name, "", "*", data)
		switch code(err) {
		case "PreconditionFailed":
			return nil // another writer's, or our own if the answer was lost
		case "ConditionalRequestConflict": // S3 asks to send it again
			if err := wait(ctx, n); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// code is the code of an error of S3; "" for no error and for other errors.
func code(err error) string {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.Code
	}
	return ""
}
