package shared

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"

	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
)

// bucketScheme begins the addresses of buckets.
const bucketScheme = "s3://"

// atOnce is the number of requests to a bucket at one time.
const atOnce = 16

// bucket keeps files as objects below a prefix. A conditional PutObject has the first of a name stay.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
type bucket struct {
	client       *s3.Client
	name, prefix string // the prefix is empty, or ends with a slash
}

// newBucket reads s3://BUCKET/PREFIX. Credentials, region and endpoint are those of the AWS SDKs: variables
// (AWS_ENDPOINT_URL_S3 for other services than AWS), shared files, roles.
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
	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
		// few others serve a host for each bucket
		o.UsePathStyle = os.Getenv("AWS_ENDPOINT_URL_S3")+os.Getenv("AWS_ENDPOINT_URL") != ""
	})
	return &bucket{client, name, prefix}, nil
}

// Pull implements Place.
func (b *bucket) Pull(ctx context.Context, folder string) error {
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &b.prefix})
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	found := false
	var failed error
	for pages.HasMorePages() && within.Err() == nil {
		page, err := pages.NextPage(within)
		if err != nil {
			failed = fmt.Errorf("found no list of its objects, expected one: %w", err)
			break
		}
		for _, object := range page.Contents {
			name := strings.TrimPrefix(aws.ToString(object.Key), b.prefix)
			found = true
			if !isFile(name) {
				continue // not of a corpus
			}
			file := filepath.Join(folder, name)
			if _, err := os.Stat(file); err == nil {
				continue // it never changes
			}
			group.Go(func() error { return b.get(within, name, file) })
		}
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
	answer, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: aws.String(b.prefix + name)})
	if code(err) == "NoSuchKey" {
		return nil // it was removed since it was listed
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
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
		if _, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: aws.String(b.prefix +
			name)}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// put creates an object, unless it is there.
func (b *bucket) put(ctx context.Context, name string, data []byte) error {
	for n := 1; ; n++ {
		_, err := b.client.PutObject(ctx, &s3.PutObjectInput{
			Bucket: &b.name, Key: aws.String(b.prefix + name), Body: bytes.NewReader(data),
			IfNoneMatch: aws.String("*"),
		})
		switch code(err) {
		case "PreconditionFailed":
			return nil // somebody's, or our own of a request whose answer was lost
		case "ConditionalRequestConflict": // S3 asks to send it again
			if err := wait(ctx, n); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// code is the code of an error of S3; "" for no error, and for others.
func code(err error) string {
	if e, ok := errors.AsType[smithy.APIError](err); ok {
		return e.ErrorCode()
	}
	return ""
}
