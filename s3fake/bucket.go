package s3fake

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

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

// A subresource is a part of a bucket or of an object that has operations of its own: a parameter without a value names
// it. The table has the last part of the operations' names, and the methods: G for Get, P for Put, D for Delete, and L
// for a Get without an id that lists.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html
var (
	bucketParts = map[string][2]string{
		"accelerate":          {"BucketAccelerateConfiguration", "GP"},
		"acl":                 {"BucketAcl", "GP"},
		"analytics":           {"BucketAnalyticsConfiguration", "GPDL"},
		"cors":                {"BucketCors", "GPD"},
		"encryption":          {"BucketEncryption", "GPD"},
		"intelligent-tiering": {"BucketIntelligentTieringConfiguration", "GPDL"},
		"inventory":           {"BucketInventoryConfiguration", "GPDL"},
		"lifecycle":           {"BucketLifecycleConfiguration", "GPD"},
		"logging":             {"BucketLogging", "GP"},
		"metrics":             {"BucketMetricsConfiguration", "GPDL"},
		"notification":        {"BucketNotificationConfiguration", "GP"},
		"object-lock":         {"ObjectLockConfiguration", "GP"},
		"ownershipControls":   {"BucketOwnershipControls", "GPD"},
		"policy":              {"BucketPolicy", "GPD"},
		"policyStatus":        {"BucketPolicyStatus", "G"},
		"publicAccessBlock":   {"PublicAccessBlock", "GPD"},
		"replication":         {"BucketReplication", "GPD"},
		"requestPayment":      {"BucketRequestPayment", "GP"},
		"tagging":             {"BucketTagging", "GPD"},
		"versioning":          {"BucketVersioning", "GP"},
		"website":             {"BucketWebsite", "GPD"},
	}
	objectParts = map[string][2]string{
		"acl":        {"ObjectAcl", "GP"},
		"attributes": {"ObjectAttributes", "G"},
		"legal-hold": {"ObjectLegalHold", "GP"},
		"retention":  {"ObjectRetention", "GP"},
		"tagging":    {"ObjectTagging", "GPD"},
		"torrent":    {"ObjectTorrent", "G"},
	}
)

// subresource returns the operation on a subresource, if the request names one. An operation that the fake does not
// have is refused by its name.
func subresource(method string, ofObject bool, in *input) (name string, refusal *apiError, ok bool) {
	verb := map[string]string{http.MethodGet: "Get", http.MethodPut: "Put", http.MethodDelete: "Delete"}[method]
	parts := bucketParts
	if ofObject {
		parts = objectParts
	}
	for _, parameter := range slices.Sorted(maps.Keys(in.query)) {
		part, known := parts[parameter]
		if !known || verb == "" || !strings.Contains(part[1], verb[:1]) {
			continue
		}
		name = verb + part[0]
		switch {
		case verb == "Get" && strings.HasSuffix(part[1], "L") && !in.query.Has("id"):
			name = "List" + part[0] + "s"
		case name == "DeleteBucketLifecycleConfiguration":
			name = "DeleteBucketLifecycle"
		}
		if operations[name] == nil {
			refusal = unsupported("the operation " + name)
		}
		return name, refusal, true
	}
	return "", nil, false
}
