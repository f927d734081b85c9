// Package promise has the promises of a layer that a check cannot observe.
package promise

import "time"

// LockTerms are the promises of a lock besides its lease. The zero LockTerms describe a lock that lasts for its lease
// and is extended only on request.
type LockTerms struct {
	// Heartbeats means that the lock extends itself, at least every third of its lease, until it is released.
	Heartbeats bool
	// Margin is how long before the end of its lease a lock may report its loss.
	Margin time.Duration
	// Wait is how long one call of the lock may wait by itself, although no other node can hold it.
	Wait time.Duration
	// Takeover is how long a lock may count as held after its lease, if its holder has given no sign since. The lease
	// counts from the holder's last sign.
	Takeover time.Duration
}

// OnceTerms are the promises of an idempotency layer, besides the times for which a call is in progress
// and a result is kept.
type OnceTerms struct {
	// Payload means that a call is refused if its key belongs to another payload.
	Payload bool
	// Wait and Takeover are as in LockTerms: Wait for a key with no other call, Takeover for a key whose caller has
	// died.
	Wait, Takeover time.Duration
}

// The maximum by which rows may shorten a promised time, because they store times in whole units. Invariants subtract
// it from the promise.
const (
	LeaseRounding     = time.Millisecond // of a lease, or of a call that is in progress
	RetentionRounding = time.Second      // of the time for which a result is kept
)

// Sure is the part of a promised time that is certain: clocks may differ by skew when it begins and when it ends, and
// rows may round. It is 0 or less if nothing is left of the promise.
func Sure(promised, skew, rounded time.Duration) time.Duration { return promised - 2*skew - rounded }

// Objects lists the conditions that a store with the interface of S3 ignores, each as an operation and a header.
type Objects []string

// Ignores reports whether the store ignores a condition of a request. missing means that the object does not exist.
func (o Objects) Ignores(operation, header string, missing bool) bool {
	for _, of := range o {
		if of == operation+" "+header || missing && of == operation+" "+header+" missing" {
			return true
		}
	}
	return false
}

// AWS is the store that ignores no condition.
const AWS = "aws"

// objects are the known stores, each with the source of its deviations. A newer version may have none.
var objects = []struct {
	name, source string
	ignores      Objects
}{
	{AWS, "https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-requests.html", nil},
	{"digitalocean", "https://github.com/denoland/celld/issues/137", Objects{"PutObject If-Match"}},
	{"hetzner", "https://github.com/benbjohnson/litestream/pull/1509", Objects{"DeleteObject If-Match"}},
	{"incus", "https://github.com/lxc/incus/issues/3651", Objects{"PutObject If-None-Match"}},
	{"minio", "https://github.com/minio/minio/issues/21526 and https://github.com/pgsty/silo/issues/10",
		Objects{"PutObject If-Match missing", "DeleteObject If-Match"}},
}

// ObjectStores returns the names of the known stores.
func ObjectStores() (names []string) {
	for _, o := range objects {
		names = append(names, o.name)
	}
	return names
}

// ObjectsOf returns the conditions that a store ignores, by its name; "" and unknown names are AWS.
func ObjectsOf(name string) Objects {
	for _, o := range objects {
		if o.name == name {
			return o.ignores
		}
	}
	return nil
}
