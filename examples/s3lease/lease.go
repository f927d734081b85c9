// Package s3lease is a lease in one object of S3. A client creates the object if it is not there, renews it and takes
// it over by its ETag, and deletes it by its ETag. The object has a fencing token, which grows with each holder.
//
// The store must keep the conditions If-None-Match and If-Match of PutObject, and If-Match of DeleteObject. The clocks
// of two machines may differ by twice Skew.
package s3lease

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
)

// ErrHeld says that somebody else has the lease.
var ErrHeld = errors.New("the lease is held")

// Store is the part of a client of S3 that a lease needs.
type Store interface {
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
	DeleteObject(context.Context, *s3.DeleteObjectInput, ...func(*s3.Options)) (*s3.DeleteObjectOutput, error)
}

// Client takes leases. All fields but Skew must be set.
type Client struct {
	Store  Store
	Bucket string
	Now    func() time.Time
	Unique func() string // returns a text that no other client has
	Length time.Duration // of a lease
	Skew   time.Duration // no clock is ever further from true time
}

// tries is how often an answer may say that another request was at the object.
const tries = 8

// record is the body of the object.
type record struct {
	Owner string `json:"owner"`
	Token int64  `json:"token"` // at least the milliseconds of the owner's clock when it took the lease
	Until int64  `json:"until"` // in milliseconds; 0 if it was given back
}

// Held is a lease that was taken.
type Held struct {
	record
	of        *Client
	key, etag string
}

// Acquire takes the lease of that name, or returns ErrHeld.
func (c *Client) Acquire(ctx context.Context, name string) (*Held, error) {
	h, owner := &Held{of: c, key: name + ".lock"}, c.Unique()
	var err error
	for range tries {
		if h.record, h.etag, err = c.read(ctx, h.key); err != nil {
			return nil, err
		}
		if h.Owner == owner && h.Until != 0 { // an earlier try took effect whose answer was lost
			return h, nil
		}
		// A token must be newer than the object: others may come and go before the object is there.
		if h.etag == "" {
			err = h.write(ctx, record{Owner: owner})
		}
		now := c.Now()
		if now.Before(time.UnixMilli(h.Until).Add(2 * c.Skew)) {
			return nil, ErrHeld
		}
		if err == nil {
			err = h.write(ctx, record{owner, max(now.UnixMilli(), h.Token+1), now.Add(c.Length).UnixMilli()})
		}
		if err == nil {
			return h, nil
		}
		if !slices.Contains([]string{"PreconditionFailed", "NoSuchKey", "ConditionalRequestConflict"}, code(err)) {
			return nil, err
		}
	}
	return nil, ErrHeld
}

// StillHeld says whether the lease has not ended.
func (h *Held) StillHeld() bool { return h.of.Now().Before(time.UnixMilli(h.Until)) }

// Extend makes the lease begin anew. After an error, the lease is lost.
func (h *Held) Extend(ctx context.Context) (err error) {
	for range tries {
		err = h.write(ctx, record{h.Owner, h.Token, h.of.Now().Add(h.of.Length).UnixMilli()})
		if code(err) != "ConditionalRequestConflict" {
			return err
		}
	}
	return err
}

// Release gives the lease back, unless it is somebody else's by now.
func (h *Held) Release(ctx context.Context) (err error) {
	for range tries {
		if err = h.free(ctx); err == nil {
			return nil
		}
		seen, etag, unknown := h.of.read(ctx, h.key)
		if unknown != nil {
			return err
		}
		if seen.Owner != h.Owner || seen.Until == 0 {
			return nil
		}
		h.etag = etag // an extension took effect whose answer was lost
	}
	return err
}

// free deletes the object. Who takes the lease next takes its token from its clock, which may be behind: as long as
// that token could be too small, the object stays, with a lease that has ended.
func (h *Held) free(ctx context.Context) error {
	if h.of.Now().Add(-2*h.of.Skew).UnixMilli() <= h.Token {
		return h.write(ctx, record{Owner: h.Owner, Token: h.Token})
	}
	_, err := h.of.Store.DeleteObject(ctx,
		&s3.DeleteObjectInput{Bucket: &h.of.Bucket, Key: &h.key, IfMatch: &h.etag})
	return err
}

// read returns the object and its ETag, which is "" if there is none.
func (c *Client) read(ctx context.Context, key string) (r record, etag string, err error) {
	out, err := c.Store.GetObject(ctx, &s3.GetObjectInput{Bucket: &c.Bucket, Key: &key})
	if code(err) == "NoSuchKey" {
		return record{}, "", nil
	}
	if err != nil {
		return record{}, "", err
	}
	defer func() { _ = out.Body.Close() }()
	err = json.NewDecoder(out.Body).Decode(&r)
	return r, *out.ETag, err
}

// write replaces the object that h has seen. If it fails, an earlier attempt of the SDK may have
// taken effect, whose answer was lost: then the object is what was to be written.
func (h *Held) write(ctx context.Context, r record) error {
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	in, any := &s3.PutObjectInput{Bucket: &h.of.Bucket, Key: &h.key, Body: bytes.NewReader(body), IfMatch: &h.etag}, "*"
	if h.etag == "" {
		in.IfMatch, in.IfNoneMatch = nil, &any
	}
	out, err := h.of.Store.PutObject(ctx, in)
	if err == nil {
		h.record, h.etag = r, *out.ETag
		return nil
	}
	if seen, etag, unknown := h.of.read(ctx, h.key); unknown == nil && seen == r {
		h.record, h.etag = seen, etag
		return nil
	}
	return err
}

// code is the error code of S3.
func code(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}
