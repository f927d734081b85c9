package s3fake

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/btree"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/faults"
	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/wire/hostname"
)

// Options configure a Store. The zero value works.
type Options struct {
	// Clock is the service's clock, from which LastModified comes. If it is nil, the store has a fakeclock that stands
	// at fakeclock.Epoch.
	Clock ddbfake.Clock
	// Buckets are the buckets that exist from the start. Clients can create others. New panics if one of the names is
	// not a valid name of a bucket.
	Buckets []string
	// Like is the name of a store that ignores some conditions: digitalocean, hetzner, incus or minio. The default is
	// aws, which ignores none. New panics for any other name.
	Like string
	// LogRequests is the number of latest requests that Requests returns. Zero keeps none.
	LogRequests int
}

// Store is an object store in memory. It may be used by several goroutines at once; requests take effect one at a time.
type Store struct {
	clock ddbfake.Clock
	like  promise.Objects

	mu       sync.Mutex
	buckets  map[string]*bucket
	injected faults.Waiting[Fault]
	served   faults.Ring[Request]
	calls    int // the number of calls ever made
	uploads  int // the number of uploads ever begun
}

type bucket struct {
	name, region string
	created      time.Time
	objects      btree.Map[string, *object]
	uploads      btree.Map[string, *upload] // by uploadKey
}

// object is a stored object. It is never changed.
type object struct {
	body     []byte
	etag     string // with its quotes
	modified time.Time
	header   http.Header // the headers that a GetObject returns unchanged: Content-Type, Cache-Control, X-Amz-Meta-*
	checksum checksum
	parts    []int // the sizes of its parts; nil if it was not uploaded in parts
}

func (b *bucket) set(key string, o *object) {
	b.objects.Set(key, o)
	b.overtake(key)
}

// delete deletes the object, if there is one.
func (b *bucket) delete(key string) {
	if _, was := b.objects.Delete(key); was {
		b.overtake(key)
	}
}

// New returns a store with no objects.
func New(o Options) *Store {
	s := &Store{
		clock: o.Clock, buckets: map[string]*bucket{}, served: faults.Ring[Request]{Keep: max(o.LogRequests, 0)},
		like: promise.ObjectsOf(o.Like),
	}
	if like := promise.ObjectStores(); !slices.Contains(like, cmp.Or(o.Like, promise.AWS)) {
		panic("s3fake: Options.Like: found " + o.Like + ", expected one of " + strings.Join(like, ", "))
	}
	if s.clock == nil {
		s.clock = fakeclock.New(fakeclock.Epoch)
	}
	for _, name := range o.Buckets {
		if !hostname.IsBucket(name) {
			panic("s3fake: Options.Buckets: found " + name +
				", expected a bucket's name: 3 to 63 lower-case letters, digits, dots and hyphens")
		}
		s.buckets[name] = &bucket{name: name, region: ddbfake.DefaultRegion, created: s.now()}
	}
	return s
}

// now is the service's time in whole seconds, as in answers.
func (s *Store) now() time.Time { return s.clock.Now().UTC().Truncate(time.Second) }

// Do serves one request. Every door calls it. The error is nil whenever there is an answer, even one that refuses the
// request. If a request or a response was lost, the error is a temporary net.Error, which SDKs retry. If the context
// was done before the request arrived, it is ctx.Err().
func (s *Store) Do(ctx context.Context, c Call) (*Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	op := operations[c.Operation]
	if op == nil || c.in == nil {
		return refused(unsupported("the operation " + c.Operation)), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fault, err := s.faultOf(&c)
	if err != nil {
		return nil, err
	}
	s.calls++
	entry := Request{ID: s.calls, Time: s.clock.Now(), Actor: c.Actor, Operation: c.Operation, Bucket: c.Bucket,
		Keys: c.Keys, Fault: fault}
	answer, err := s.serveFaulty(op, &c, fault)
	if answer != nil {
		entry.Status, entry.Code = answer.Status, answer.Code
	}
	s.served.Add(entry)
	return answer, err
}

// Object returns the present body of an object. This is not a client's request: it is not logged, and no fault strikes
// it. The caller must not change the body.
func (s *Store) Object(bucket, key string) (body []byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buckets[bucket]
	if b == nil {
		return nil, false
	}
	o, ok := b.objects.Get(key)
	if !ok {
		return nil, false
	}
	return o.body, true
}

func (s *Store) attempt(op *operation, c *Call) *Answer {
	b := s.buckets[c.Bucket]
	if b == nil && op.needsBucket {
		return refused(noSuchBucket(c.Bucket))
	}
	answer, err := op.serve(s, b, s.heard(b, c))
	if err != nil {
		return refused(err)
	}
	return answer
}

// heard returns the call without the conditions that this kind of store ignores.
func (s *Store) heard(b *bucket, c *Call) *Call {
	if len(s.like) == 0 || !c.conditional() {
		return c
	}
	_, there := b.objects.Get(c.Keys[0])
	in, heard := *c.in, *c
	in.header, heard.in = in.header.Clone(), &in
	for _, condition := range []string{"If-Match", "If-None-Match"} {
		if s.like.Ignores(c.Operation, condition, !there) {
			in.header.Del(condition)
		}
	}
	return &heard
}

// Snapshot is a state of a Store: its buckets and objects. It never changes.
type Snapshot struct{ buckets map[string]*bucket }

// Snapshot returns the present state. It costs a few words of memory per bucket.
func (s *Store) Snapshot() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Snapshot{copyOf(s.buckets)}
}

// Restore returns the store to a state. Faults and the log of requests do not change.
func (s *Store) Restore(to *Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buckets = copyOf(to.buckets)
}

func copyOf(buckets map[string]*bucket) map[string]*bucket {
	copied := make(map[string]*bucket, len(buckets))
	//isrsim:unordered a map goes into a map
	for name, b := range buckets {
		copied[name] = &bucket{
			name: b.name, region: b.region, created: b.created, objects: *b.objects.Copy(), uploads: *b.uploads.Copy(),
		}
	}
	return copied
}

// createBucket serves CreateBucket.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucket.html (a second request in us-east-1
// succeeds)
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

// bucketVersioning serves GetBucketVersioning: versioning was never enabled.
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

// A subresource is a part of a bucket or of an object that has operations of its own. A parameter without a value names
// it. For each, the tables have the end of its operations' names, and a letter of verbs for each operation. L says that
// a Get without an id lists.
//
// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html
var (
	verbs = map[rune]struct{ method, name string }{
		'G': {http.MethodGet, "Get"}, 'P': {http.MethodPut, "Put"}, 'D': {http.MethodDelete, "Delete"},
		'C': {http.MethodPost, "Create"}, 'U': {http.MethodPut, "Update"},
		'g': {http.MethodGet, ""}, 'p': {http.MethodPut, ""}, 'o': {http.MethodPost, ""}, // the name has no verb
	}
	bucketParts = map[string][2]string{
		"abac":                   {"BucketAbac", "GP"},
		"accelerate":             {"BucketAccelerateConfiguration", "GP"},
		"acl":                    {"BucketAcl", "GP"},
		"analytics":              {"BucketAnalyticsConfiguration", "GPDL"},
		"cors":                   {"BucketCors", "GPD"},
		"encryption":             {"BucketEncryption", "GPD"},
		"intelligent-tiering":    {"BucketIntelligentTieringConfiguration", "GPDL"},
		"inventory":              {"BucketInventoryConfiguration", "GPDL"},
		"lifecycle":              {"BucketLifecycleConfiguration", "GPD"},
		"logging":                {"BucketLogging", "GP"},
		"metadataConfiguration":  {"BucketMetadataConfiguration", "CGD"},
		"metadataInventoryTable": {"BucketMetadataInventoryTableConfiguration", "U"},
		"metadataJournalTable":   {"BucketMetadataJournalTableConfiguration", "U"},
		"metadataTable":          {"BucketMetadataTableConfiguration", "CGD"},
		"metrics":                {"BucketMetricsConfiguration", "GPDL"},
		"notification":           {"BucketNotificationConfiguration", "GP"},
		"object-lock":            {"ObjectLockConfiguration", "GP"},
		"ownershipControls":      {"BucketOwnershipControls", "GPD"},
		"policy":                 {"BucketPolicy", "GPD"},
		"policyStatus":           {"BucketPolicyStatus", "G"},
		"publicAccessBlock":      {"PublicAccessBlock", "GPD"},
		"replication":            {"BucketReplication", "GPD"},
		"requestPayment":         {"BucketRequestPayment", "GP"},
		"session":                {"CreateSession", "g"},
		"tagging":                {"BucketTagging", "GPD"},
		"versioning":             {"BucketVersioning", "GP"},
		"website":                {"BucketWebsite", "GPD"},
	}
	objectParts = map[string][2]string{
		"acl":          {"ObjectAcl", "GP"},
		"attributes":   {"ObjectAttributes", "G"},
		"encryption":   {"ObjectEncryption", "U"},
		"legal-hold":   {"ObjectLegalHold", "GP"},
		"renameObject": {"RenameObject", "p"},
		"restore":      {"RestoreObject", "o"},
		"retention":    {"ObjectRetention", "GP"},
		"select":       {"SelectObjectContent", "o"},
		"tagging":      {"ObjectTagging", "GPD"},
		"torrent":      {"ObjectTorrent", "G"},
	}
)

// subresource returns the operation on a subresource, if the request names one. An operation that the fake lacks is
// refused, with its name.
func subresource(method string, ofObject bool, in *input) (name string, refusal *apiError, ok bool) {
	parts := bucketParts
	if ofObject {
		parts = objectParts
	}
	for _, parameter := range slices.Sorted(maps.Keys(in.query)) {
		part := parts[parameter]
		letter := strings.IndexFunc(part[1], func(l rune) bool {
			verb, is := verbs[l] // L is no verb
			return is && verb.method == method
		})
		if letter < 0 {
			continue
		}
		verb := verbs[rune(part[1][letter])].name
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
