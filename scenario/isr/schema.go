package isr

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// Schema says how a cache keeps its pages and locks in DynamoDB, if not in the rows META and LOCK that the package's
// documentation describes. A checker translates the rows of such a cache into META and LOCK, judges these, and reports
// its findings in the cache's own names. The zero Schema describes META and LOCK: nothing is translated.
//
//	isr.Schema{Rows: []isr.Row{{
//		Partition: "id = page#{key}", // one row per page, with the lock in it
//		Body:      "html", Generated: "updated_at ms",
//		Token:     "locked_by", Expires: "locked_until ms",
//	}}}
//
// Scenario files have the same under the key rows.
type Schema struct {
	// Name is the name of a ready-made Schema (see Schemas). A scenario file can use this name instead of the rows. It
	// may be empty.
	Name string
	// Rows are the kinds of rows. A row in DynamoDB may be of several kinds. The first kind that finds a page in the
	// row determines the page, and the first kind that finds a lock determines the lock.
	Rows []Row
	// Translate is for rows that Rows cannot describe. It is called with the name of a table and a row of it, once for
	// the row before a change and once for the row after it; the row may also have nothing but its key. It returns the
	// rows that the cache would have if it kept META and LOCK: with pk, sk and the attributes of META, LOCK, VER# and
	// REQ# rows. Times in them may have fractions. These rows are added to those that Rows find. The result must depend
	// only on the arguments.
	Translate func(table string, row map[string]types.AttributeValue) []map[string]types.AttributeValue
}

// Row is a kind of row: its key, and the attributes that it has if it is a page, a lock, or both.
//
// An attribute is given by its name or, if it is in a map, by its path (lock.until). A time may be followed by a space
// and its unit: s (epoch seconds, the default), ms, us, ns or iso8601 (text such as 2030-01-01T00:00:00Z, in UTC if it
// names no zone). The units of a length of time are s (the default), ms, us, ns, and duration (text such as 1m30s).
// Numbers may be of the type N or S. Leave out the attributes that the cache does not have.
//
// A kind with Expires or Lasts is a lock. A kind with an attribute of a page is a page, or, if its key has {version}, a
// version to which the page leads. A kind with Invalidated, and with no other attribute of a page or a lock, is a
// tombstone: it marks the page with the same key. A kind whose key has {request} is the row of a regeneration by
// idempotency key.
type Row struct {
	// Table is the name of the table with such rows; "" means any table. If some Row names its table, all tables belong
	// to one cache. Otherwise each table counts as a separate cache.
	Table string
	// Partition and Sort are the key: an attribute and the form of its value, such as "pk =
	// TENANT#{tenant}#PAGE#{key}". Sort is empty for a table without a sort key. In a form, {key} stands for the cache
	// key, {tenant} for the tenant, {version} and {request} for the name of a version and for an idempotency key, and
	// {*} for any text. {key} must be in one of the two forms, and must stand for the same text in the key of a page
	// and in the key of its lock. If an attribute is not a text, its type follows its name, as in "id N = {key}".
	Partition, Sort string
	// Index names the global secondary indexes that the table of such rows has in a simulation: "by-path: path, at N;
	// by-day: day" names two. After a name come the attribute of the partition key and that of the sort key, if there
	// is one, with types as above. An index has all attributes.
	Index string
	// When holds the conditions under which a row is of this kind, with spaces between them. Examples are "type=page",
	// "status!=DONE", "locked_by" (the attribute exists, and is not empty) and "!deleted".
	When string

	// Body is the attribute with the page itself, and BodyKey is the attribute with the page's name in a body store. If
	// Body, BodyKey and Current are all empty, all attributes without another meaning make up the page.
	Body, BodyKey string
	// Generated is the time at which the data of the page was read, Window is how long the page is fresh from then on,
	// and FreshUntil is the end of its freshness. A Window such as "= 60s" holds for all pages. The default is the
	// window that the world configures.
	Generated, Window, FreshUntil string
	// Current is the name or the key of the version to which the page leads.
	Current string
	// Invalidated marks a page that is not fresh, whatever its age. Without a unit, the page is marked if the attribute
	// exists and is not false, 0 or "". With a unit, it is marked if the attribute is a time that is not before
	// Generated. A Row that has no other attribute of a page or a lock is a tombstone: it marks the page with its key,
	// which is in another row. If the existence of the row is enough, let Invalidated be an attribute of its key.
	Invalidated string
	ETag        string
	Version     string // a number that counts the writes of the page

	// Token is the attribute that tells one holder of the lock from another: a token, or the holder's name. It does not
	// change while the lock is held. A lock without a token belongs to the client that set its end.
	Token string
	// Expires is the end of the lease; "never" is for locks that are held until they are given back or deleted by TTL.
	// Lasts is for locks whose rows hold only the length of the lease. The length counts from the write that last
	// changed the attribute Renews; without Renews, it counts from the last write. If the length changes but Renews
	// does not, the new length counts from that same write.
	Expires, Lasts, Renews string

	// RequestHash, RequestStatus and RequestBody are the hash of a request's inputs, its status, and the name of the
	// body that was made for it.
	RequestHash, RequestStatus, RequestBody string

	// TTL is the attribute by which DynamoDB deletes the row.
	TTL string
}
