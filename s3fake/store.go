package s3fake

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/tidwall/btree"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/faults"
	"github.com/isr-sim/isr-sim/internal/wire/hostname"
)

// Options configure a Store. The zero value works.
type Options struct {
	// Clock is the service's clock, from which LastModified comes. If it is nil, the store has a fakeclock that stands
	// at fakeclock.Epoch.
	Clock ddbfake.Clock
	// Buckets are the buckets that exist from the start. Clients can create others. New panics if a bucket may not have
	// one of the names: see ValidBucket.
	Buckets []string
	// LogRequests is the number of latest requests that Requests returns. Zero keeps none.
	LogRequests int
}

// Store is an object store in memory. It may be used by several goroutines at once; requests take effect one at a time.
type Store struct {
	clock ddbfake.Clock

	mu       sync.Mutex
	buckets  map[string]*bucket
	injected faults.Waiting[Fault]
	served   faults.Ring[Request]
	calls    int // how many there ever were
	uploads  int // how many ever began
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

// set stores an object.
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

// now is the service's time in whole seconds, the form that answers have.
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

// Object returns the present body of an object. It does not count as a request of a client: it is not logged, and no
// fault strikes it. The caller must not change it.
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

// attempt runs an operation.
func (s *Store) attempt(op *operation, c *Call) *Answer {
	b := s.buckets[c.Bucket]
	if b == nil && op.needsBucket {
		return refused(noSuchBucket(c.Bucket))
	}
	answer, err := op.serve(s, b, c)
	if err != nil {
		return refused(err)
	}
	return answer
}

// Snapshot is a state of a Store: its buckets and objects. It never changes.
type Snapshot struct{ buckets map[string]*bucket }

// Snapshot returns the present state. It costs a few words for each bucket.
func (s *Store) Snapshot() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Snapshot{copyOf(s.buckets)}
}

// Restore sets the store back to a state. Faults and the log of requests do not change.
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
