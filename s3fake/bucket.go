package s3fake

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"maps"
	"net/http"
	"regexp"
	"slices"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/wire/hostname"
)

// createBucket serves CreateBucket.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html (a second one in us-east-1 succeeds)
// Source: https://github.com/localstack/localstack/blob/main/localstack-core/localstack/services/s3/provider.py (at
// us-east-1, us-east-1 is no LocationConstraint; recorded at the service)
func (s *Store) createBucket(b *bucket, c *Call) (*Answer, *apiError) {
	if !hostname.IsBucket(c.Bucket) {
		return nil, errInvalidBucket.with("BucketName", c.Bucket)
	}
	region := cmp.Or(c.in.region, ddbfake.DefaultRegion)
	if len(bytes.TrimSpace(c.in.body)) > 0 {
		err := walkXML(c.in.body, "CreateBucketConfiguration", func(path, text string) *apiError {
			if path != "CreateBucketConfiguration/LocationConstraint" || text == "" {
				return nil
			}
			if region == ddbfake.DefaultRegion && (text == region || !isLocation(text)) {
				return errLocation.with("LocationConstraint", text)
			}
			region = text
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	switch {
	case b == nil:
		s.buckets[c.Bucket] = &bucket{name: c.Bucket, region: region, created: s.now()}
	case region != ddbfake.DefaultRegion:
		return nil, errBucketOwned.with("BucketName", c.Bucket)
	}
	return &Answer{Status: http.StatusOK, header: http.Header{"Location": {"/" + c.Bucket}}}, nil
}

// isLocation reports whether a text has the form of a region. EU is an old name of eu-west-1.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucketConfiguration.html
func isLocation(text string) bool { return text == "EU" || location.MatchString(text) }

var location = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]{1,2}$`)

// deleteBucket serves DeleteBucket.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucket.html
func (s *Store) deleteBucket(b *bucket, c *Call) (*Answer, *apiError) {
	if b.objects.Len() > 0 {
		return nil, errBucketNotEmpty.with("BucketName", c.Bucket)
	}
	delete(s.buckets, c.Bucket)
	return &Answer{Status: http.StatusNoContent, header: http.Header{}}, nil
}

// headBucket serves HeadBucket.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html
func (s *Store) headBucket(b *bucket, _ *Call) (*Answer, *apiError) {
	return &Answer{Status: http.StatusOK, header: http.Header{
		"X-Amz-Bucket-Region": {b.region}, "Content-Type": {"application/xml"},
	}}, nil
}

// listBuckets serves ListBuckets. The answer is sorted by name and has only one page.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListBuckets.html
func (s *Store) listBuckets(*bucket, *Call) (*Answer, *apiError) {
	type entry struct{ Name, CreationDate, BucketRegion string }
	out := struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListAllMyBucketsResult"`
		Owner   owner
		Buckets struct{ Bucket []entry }
	}{Owner: owner{ownerID}}
	for _, name := range slices.Sorted(maps.Keys(s.buckets)) {
		b := s.buckets[name]
		out.Buckets.Bucket = append(out.Buckets.Bucket, entry{name, b.created.Format(timeFormat), b.region})
	}
	return document(out), nil
}

// bucketVersioning serves GetBucketVersioning: versions were never enabled.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketVersioning.html
func (s *Store) bucketVersioning(*bucket, *Call) (*Answer, *apiError) {
	return document(struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ VersioningConfiguration"`
	}{}), nil
}

// bucketLocation serves GetBucketLocation. In its answer, the default region has no name.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketLocation.html
func (s *Store) bucketLocation(b *bucket, _ *Call) (*Answer, *apiError) {
	out := struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ LocationConstraint"`
		Region  string   `xml:",chardata"`
	}{Region: b.region}
	if b.region == ddbfake.DefaultRegion {
		out.Region = ""
	}
	return document(out), nil
}
