package isr

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// Schema says how a cache keeps its pages and locks in DynamoDB, if not in the rows META and LOCK that the package's
// documentation describes. A checker translates the rows of such a cache into those, judges them, and reports what it
// finds by the cache's own names. The zero Schema describes META and LOCK: nothing is translated.
//
//	isr.Schema{Rows: []isr.Row{{
//		Partition: "id = page#{key}", // one row a page, with the lock in it
//		Body:      "html", Generated: "updated_at ms",
//		Token:     "locked_by", Expires: "locked_until ms",
//	}}}
//
// Scenario files hold the same under rows.
type Schema struct {
	// Name is the name of a ready Schema (see Schemas), which a file then uses. It may be empty.
	Name string
	// Rows are the kinds of rows. A row in DynamoDB may be of several kinds: the first kind that finds a page in it
	// decides about its page, and likewise for its lock.
	Rows []Row
	// Translate is for rows that Rows cannot describe. It is called for each row, before and after each change, with the
	// name of its table, and returns the rows that the cache would have if it kept META and LOCK: with pk, sk and the
	// attributes of META, LOCK, VER# and REQ# rows, whose times may have fractions. It may also be called with the key
	// alone. Its rows are added to those that Rows find. Its result must depend on nothing else.
	Translate func(table string, row map[string]types.AttributeValue) []map[string]types.AttributeValue
}

// Row is a kind of row: its key, and the attributes that it has if it is a page, a lock, or both.
//
// An attribute is given by its name, or by the path to it in a map (lock.until). A time may be followed by a space and
// its unit: s (epoch seconds, the default), ms, us, ns or iso8601 (text such as 2030-01-01T00:00:00Z, in UTC if it
// names no zone). The units of a length of time are s (the default), ms, us, ns, and duration (text such as 1m30s).
// Numbers may be of the type N or S. An attribute that the cache does not have is left out.
//
// A kind with Expires or Lasts is a lock. A kind with an attribute of a page is a page, or, if the key has {version}, a
// version that the page leads to. A kind with Invalidated alone marks a page. A kind whose key has {request} is the row
// of a regeneration by idempotency key.
type Row struct {
	// Table is the name of the table that such rows are in; "" is any. If a Row names its table, all tables belong to one
	// cache; else each table is taken for a cache of its own.
	Table string
	// Partition and Sort are the key: an attribute and the form of its value, such as "pk = TENANT#{tenant}#PAGE#{key}".
	// Sort is empty for a table without a sort key. In a form, {key} stands for the cache key, {tenant} for the tenant,
	// {version} and {request} for the name of a version and for an idempotency key, and {*} for any text. {key} must be in
	// one of the two, and stand for the same text in the key of a page and of its lock. Types other than text stand after
	// the name, as in "id N = {key}".
	Partition, Sort string
	// When holds the conditions under which a row is of this kind, with spaces between them, such as "type=page",
	// "status!=DONE", "locked_by" (it is there, and not empty) and "!deleted".
	When string

	// Body is the attribute with the page itself, and BodyKey the one with its name in a body store. Without these two and
	// Current, all attributes without another meaning are taken for the page.
	Body, BodyKey string
	// Generated is when the data of the page was read, Window how long the page is fresh from then on, and FreshUntil when
	// it ceases to be fresh. A Window such as "= 60s" holds for all pages. The default is the window that the world
	// configures.
	Generated, Window, FreshUntil string
	// Current is the name, or the key, of the version that the page leads to.
	Current string
	// Invalidated marks a page that is not fresh, whatever its age: by an attribute that is there and not false, 0 or "",
	// or, with a unit, by a time that is not before Generated. A Row without any other attribute of a page or a lock is a
	// tombstone: it marks the page of its key, which is in another row. If the presence of the row suffices, Invalidated
	// is an attribute of its key.
	Invalidated string
	ETag        string
	Version     string // a number that counts the writes of the page

	// Token is the attribute that tells one holder of the lock from another: a token, or the holder's name. It does not
	// change while the lock is held. A lock without one belongs to the client that set its end.
	Token string
	// Expires is when the lease ends; "never" is for locks that are held until they are given back, or deleted by TTL.
	// Lasts is for locks whose rows hold only the length of the lease. It counts from the write that last changed the
	// attribute Renews, or, without Renews, from the last write. If the length changes and Renews does not, the new length
	// counts from the same write.
	Expires, Lasts, Renews string

	// RequestHash, RequestStatus and RequestBody are the hash of a request's inputs, its status, and the name of the body
	// that was made for it.
	RequestHash, RequestStatus, RequestBody string

	// TTL is the attribute by which DynamoDB deletes the row.
	TTL string
}
