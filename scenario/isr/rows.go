package isr

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// TableEnv is the environment variable that names the cache table where a
// Config does not.
const TableEnv = "FACETHEORY_CACHE_TABLE_NAME"

// Attribute names and sort keys of the rows.
const (
	attrPK                = "pk"
	attrSK                = "sk"
	attrS3Key             = "s3_key"
	attrGeneratedAt       = "generated_at"
	attrRevalidateSeconds = "revalidate_seconds"
	attrETag              = "etag"
	attrTTL               = "ttl"
	attrVersion           = "version"
	attrLeaseToken        = "lease_token"
	attrLeaseExpiresAt    = "lease_expires_at"

	SortMeta = "META" // what was generated, and when
	SortLock = "LOCK" // who is regenerating, and until when
)

// PartitionKey is where the rows of a cache key live: CACHE#<sha256 hex>, or
// TENANT#<tenant>#CACHE#<sha256 hex> when there is a tenant. The hash keeps keys
// short and spreads common prefixes.
func PartitionKey(tenant, key string) string {
	sum := sha256.Sum256([]byte(key))
	var few [128]byte // nearly every one fits: it is made for each request
	pk := few[:0]
	if tenant != "" {
		pk = append(append(append(pk, "TENANT#"...), tenant...), '#')
	}
	return string(hex.AppendEncode(append(pk, "CACHE#"...), sum[:]))
}

// EpochSeconds is an instant as the rows hold it. Its own type keeps
// milliseconds out.
type EpochSeconds int64

// Floor is the last whole second not after t: what "now" is.
func Floor(t time.Time) EpochSeconds { return EpochSeconds(t.Unix()) }

// Ceil is the first whole second not before t: what an expiry is.
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

// Meta is the META row of a key.
type Meta struct {
	PK                string
	S3Key             string
	GeneratedAt       EpochSeconds
	RevalidateSeconds int64
	ETag              string
	Version           int64 // counts publishes and invalidations under GuardVersion; 0 is none
	TTL               EpochSeconds
}

// FreshUntil is the first second at which the page is stale.
func (m Meta) FreshUntil() EpochSeconds { return m.GeneratedAt + EpochSeconds(m.RevalidateSeconds) }

// Item is the row as DynamoDB stores it.
func (m Meta) Item() map[string]types.AttributeValue {
	item := map[string]types.AttributeValue{
		attrPK:                text(m.PK),
		attrSK:                textMeta,
		attrS3Key:             text(m.S3Key),
		attrGeneratedAt:       m.GeneratedAt.attribute(),
		attrRevalidateSeconds: number(m.RevalidateSeconds),
	}
	if m.ETag != "" {
		item[attrETag] = text(m.ETag)
	}
	if m.Version != 0 {
		item[attrVersion] = number(m.Version)
	}
	if m.TTL != 0 {
		item[attrTTL] = m.TTL.attribute()
	}
	return item
}

// ParseMeta reads a META row. A row that is not one, such as another team's, is
// an error that says which attribute is wrong.
func ParseMeta(item map[string]types.AttributeValue) (Meta, error) {
	r := reader{item: item}
	m := Meta{
		PK:                r.text(attrPK),
		S3Key:             r.text(attrS3Key),
		GeneratedAt:       EpochSeconds(r.number(attrGeneratedAt)),
		RevalidateSeconds: r.number(attrRevalidateSeconds),
	}
	if _, ok := item[attrETag]; ok {
		m.ETag = r.text(attrETag)
	}
	if _, ok := item[attrVersion]; ok {
		m.Version = r.number(attrVersion)
	}
	if _, ok := item[attrTTL]; ok {
		m.TTL = EpochSeconds(r.number(attrTTL))
	}
	if r.err != nil {
		return Meta{}, fmt.Errorf("META row: %w", r.err)
	}
	return m, nil
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
	if l.TTL != 0 {
		item[attrTTL] = l.TTL.attribute()
	}
	return item
}

// Key returns the primary key of the row with the given sort key.
func Key(pk, sk string) map[string]types.AttributeValue {
	key := map[string]types.AttributeValue{attrPK: text(pk)}
	switch sk {
	case SortMeta:
		key[attrSK] = textMeta
	case SortLock:
		key[attrSK] = textLock
	default:
		key[attrSK] = text(sk)
	}
	return key
}

// The values of sort keys, made once: values are only read.
var textMeta, textLock = text(SortMeta), text(SortLock)

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
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
