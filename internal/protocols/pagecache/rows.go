package pagecache

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// The names of the rows' attributes, and the prefixes of the sort keys other than [isr.SortMeta] and [isr.SortLock].
const (
	attrPK                = "pk"
	attrSK                = "sk"
	attrS3Key             = "s3_key"
	attrGeneratedAt       = "generated_at"
	attrRevalidateSeconds = "revalidate_seconds"
	attrETag              = "etag"
	attrTTL               = "ttl"
	attrRenderMillis      = "render_ms"
	attrCurrentSK         = "current_sk"
	attrVersion           = "version"
	attrInvalidated       = "invalidated_version"
	attrRequestHash       = "request_hash"
	attrStatus            = "status"
	attrResultS3Key       = "result_s3_key"
	attrLeaseToken        = "lease_token"
	attrLeaseExpiresAt    = "lease_expires_at"

	SortVersion = "VER#" // recipe B: begins the sort key of a version
	SortRequest = "REQ#" // begins the sort key of a requested regeneration
)

// EpochSeconds is an instant in the form of the rows. It is a separate type, so that milliseconds cannot slip in.
type EpochSeconds int64

// Floor is the last whole second not after t. The present time is rounded like this.
func Floor(t time.Time) EpochSeconds { return EpochSeconds(t.Unix()) }

// Ceil is the first whole second not before t. An expiry is rounded like this.
func Ceil(t time.Time) EpochSeconds {
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	return EpochSeconds(s)
}

// Time returns the instant.
func (e EpochSeconds) Time() time.Time { return time.Unix(int64(e), 0).UTC() }

func (e EpochSeconds) attribute() types.AttributeValue { return number(int64(e)) }

// Meta is the META row of a key: the page itself in recipe A, and the pointer to the page's version in recipe B. Recipe
// B's Read returns both in one Meta.
//
// An invalidation of a missing page leaves a row without S3Key and CurrentSK: the row has only a Version.
type Meta struct {
	PK                string
	S3Key             string
	CurrentSK         string // recipe B: the sort key of the version
	GeneratedAt       EpochSeconds
	RevalidateSeconds int64
	ETag              string
	Version           int64 // counts publishes and invalidations under guard.Version; 0 means none
	Invalidated       int64 // the version that the last invalidation made; 0 means none
	RenderMillis      int64 // how long it took to make the page; 0 if not measured
	TTL               EpochSeconds
}

// FreshUntil is the first second at which the page is stale.
func (m Meta) FreshUntil() EpochSeconds { return m.GeneratedAt + EpochSeconds(m.RevalidateSeconds) }

// Item is the row as DynamoDB stores it.
func (m Meta) Item() map[string]types.AttributeValue {
	item := map[string]types.AttributeValue{
		attrPK:                text(m.PK),
		attrSK:                textMeta,
		attrGeneratedAt:       m.GeneratedAt.attribute(),
		attrRevalidateSeconds: number(m.RevalidateSeconds),
	}
	setText(item, attrS3Key, m.S3Key)
	setText(item, attrCurrentSK, m.CurrentSK)
	setText(item, attrETag, m.ETag)
	setNumber(item, attrVersion, m.Version)
	setNumber(item, attrInvalidated, m.Invalidated)
	setNumber(item, attrRenderMillis, m.RenderMillis)
	setNumber(item, attrTTL, int64(m.TTL))
	return item
}

// ParseMeta reads a META row. For any other row, such as another team's, the error names the wrong attribute.
func ParseMeta(item map[string]types.AttributeValue) (Meta, error) {
	r := reader{item: item}
	m := Meta{
		PK:          r.text(attrPK),
		CurrentSK:   r.maybeText(attrCurrentSK),
		ETag:        r.maybeText(attrETag),
		Version:     r.maybeNumber(attrVersion),
		Invalidated: r.maybeNumber(attrInvalidated),
		TTL:         EpochSeconds(r.maybeNumber(attrTTL)),

		RenderMillis: r.maybeNumber(attrRenderMillis),
	}
	if m.CurrentSK != "" || m.Version == 0 || item[attrS3Key] != nil || item[attrGeneratedAt] != nil {
		m.GeneratedAt, m.RevalidateSeconds = EpochSeconds(r.number(attrGeneratedAt)), r.number(attrRevalidateSeconds)
		if m.S3Key = r.maybeText(attrS3Key); m.CurrentSK == "" {
			m.S3Key = r.text(attrS3Key)
		}
	}
	if r.err != nil {
		return Meta{}, fmt.Errorf("META row: %w", r.err)
	}
	return m, nil
}

// hasPage reports whether the row leads to a page.
func (m Meta) hasPage() bool { return m.S3Key != "" || m.CurrentSK != "" }

// Version is a VER# row of recipe B: one generation of a page.
type Version struct {
	PK                string
	SK                string // VER# and the lease token of its maker
	S3Key             string
	GeneratedAt       EpochSeconds
	RevalidateSeconds int64
	ETag              string
	Version           int64 // the version of META at its publish, under guard.Version; 0 means none
	TTL               EpochSeconds
}

// Item is the row as DynamoDB stores it.
func (v Version) Item() map[string]types.AttributeValue {
	item := map[string]types.AttributeValue{
		attrPK:                text(v.PK),
		attrSK:                text(v.SK),
		attrS3Key:             text(v.S3Key),
		attrGeneratedAt:       v.GeneratedAt.attribute(),
		attrRevalidateSeconds: number(v.RevalidateSeconds),
	}
	setText(item, attrETag, v.ETag)
	setNumber(item, attrVersion, v.Version)
	setNumber(item, attrTTL, int64(v.TTL))
	return item
}

// ParseVersion reads a VER# row. For any other row, the error names the wrong attribute.
func ParseVersion(item map[string]types.AttributeValue) (Version, error) {
	r := reader{item: item}
	v := Version{
		PK:                r.text(attrPK),
		SK:                r.text(attrSK),
		S3Key:             r.text(attrS3Key),
		GeneratedAt:       EpochSeconds(r.number(attrGeneratedAt)),
		RevalidateSeconds: r.number(attrRevalidateSeconds),
		ETag:              r.maybeText(attrETag),
		Version:           r.maybeNumber(attrVersion),
		TTL:               EpochSeconds(r.maybeNumber(attrTTL)),
	}
	if r.err != nil {
		return Version{}, fmt.Errorf("VER# row: %w", r.err)
	}
	return v, nil
}

// Lock is the LOCK row of a key.
type Lock struct {
	PK             string
	LeaseToken     string
	LeaseExpiresAt EpochSeconds
	TTL            EpochSeconds
}

// Item is the row as DynamoDB stores it.
func (l Lock) Item() map[string]types.AttributeValue {
	item := map[string]types.AttributeValue{
		attrPK:             text(l.PK),
		attrSK:             textLock,
		attrLeaseToken:     text(l.LeaseToken),
		attrLeaseExpiresAt: l.LeaseExpiresAt.attribute(),
	}
	setNumber(item, attrTTL, int64(l.TTL))
	return item
}

// Key returns the primary key of the row with the given sort key.
func Key(pk, sk string) map[string]types.AttributeValue {
	key := map[string]types.AttributeValue{attrPK: text(pk)}
	switch sk {
	case isr.SortMeta:
		key[attrSK] = textMeta
	case isr.SortLock:
		key[attrSK] = textLock
	default:
		key[attrSK] = text(sk)
	}
	return key
}

// These values of sort keys are made once, because values are only read.
var textMeta, textLock = text(isr.SortMeta), text(isr.SortLock)

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// setText and setNumber add an optional attribute unless it is empty.
func setText(item map[string]types.AttributeValue, name, s string) {
	if s != "" {
		item[name] = text(s)
	}
}

func setNumber(item map[string]types.AttributeValue, name string, n int64) {
	if n != 0 {
		item[name] = number(n)
	}
}

// reader takes attributes out of a row and keeps the first error.
type reader struct {
	item map[string]types.AttributeValue
	err  error
}

func (r *reader) text(name string) string {
	s, ok := r.item[name].(*types.AttributeValueMemberS)
	if !ok {
		r.fail(name, "a string (S)")
		return ""
	}
	return s.Value
}

func (r *reader) number(name string) int64 {
	n, ok := r.item[name].(*types.AttributeValueMemberN)
	if !ok {
		r.fail(name, "a number (N)")
		return 0
	}
	v, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil {
		r.fail(name, "a whole number")
	}
	return v
}

// maybeText and maybeNumber read attributes that may be missing.
func (r *reader) maybeText(name string) string {
	if _, ok := r.item[name]; !ok {
		return ""
	}
	return r.text(name)
}

func (r *reader) maybeNumber(name string) int64 {
	if _, ok := r.item[name]; !ok {
		return 0
	}
	return r.number(name)
}

func (r *reader) fail(name, expected string) {
	if r.err == nil {
		r.err = errors.New("attribute " + name + ": found " + describe(r.item[name]) + ", expected " + expected)
	}
}

func describe(v types.AttributeValue) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case *types.AttributeValueMemberS:
		return strconv.Quote(v.Value) + " (S)"
	case *types.AttributeValueMemberN:
		return v.Value + " (N)"
	default:
		return fmt.Sprintf("%T", v)
	}
}
