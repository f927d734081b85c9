package ddbfake

import (
	"context"
	"errors"
	"hash/crc32"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/ddbfake/internal/awsjson"
	"github.com/isr-sim/isr-sim/internal/httpbody"
)

// HTTPDoor is the HTTP door without a server: it serves requests that some
// server has taken apart. Handler has one for net/http around it; the command
// isr-sim serve has another.
type HTTPDoor struct {
	do       do
	requests atomic.Uint64
}

// HTTPDoor returns the HTTP door, for servers other than net/http's.
func (db *DB) HTTPDoor() *HTTPDoor { return &HTTPDoor{do: db.doForWire} }

// HTTPRequest is a request as a server has received it. Its strings need to
// last no longer than until Serve returns.
type HTTPRequest struct {
	Method string
	Path   string // without the query
	Query  string // what follows the question mark

	// The headers that the service looks at, "" for one that is absent.
	Authorization   string // Authorization
	ContentEncoding string // Content-Encoding
	ContentType     string // Content-Type
	Invocation      string // Amz-Sdk-Invocation-Id
	RegionSet       string // X-Amz-Region-Set
	Target          string // X-Amz-Target

	// Body gives the body and then io.EOF; any other error means that the
	// caller has gone. It may be nil.
	Body io.Reader
	// Length is how many bytes the body says that it has; negative if it does
	// not say.
	Length int64
}

// HTTPReply is the answer to a request.
type HTTPReply struct {
	Status      int
	ContentType string
	RequestID   [52]byte // X-Amzn-Requestid, in ASCII
	CRC32       uint32   // X-Amz-Crc32: the checksum of the body
	// Body is the whole body: Serve replaces what it has, and uses its room.
	Body []byte
	// Close says that some of the request's body is unread, so that the
	// connection cannot serve another request.
	Close bool
}

// The service's answers that are no JSON.
//
// Source: https://docs.aws.amazon.com/general/latest/gr/ddb.html (health), https://github.com/architect/dynalite/blob/main/test/connection.js
const (
	healthy      = "healthy: dynamodb." + DefaultRegion + ".amazonaws.com "
	unknownPlain = "<UnknownOperationException/>\n"
)

var errMissingToken = &smithy.GenericAPIError{
	Code:    "MissingAuthenticationTokenException",
	Message: "Request is missing Authentication Token",
	Fault:   smithy.FaultClient,
}

// Serve serves one request. An error means that there is no answer: that the
// server should break the connection, as a lost request or response does.
//
// Serve bounds what it reads of a body, and the time for reading it is the
// server's to bound.
func (d *HTTPDoor) Serve(ctx context.Context, r *HTTPRequest, to *HTTPReply) error {
	*to = HTTPReply{RequestID: awsjson.RequestID(d.requests.Add(1)), ContentType: awsjson.ContentType, Body: to.Body[:0]}
	body, err := httpbody.Read(r.Body, r.Length, r.ContentEncoding)
	malformed := errors.Is(err, httpbody.ErrNotGzip)
	if malformed {
		err = nil // an answer, like any other
	}
	switch {
	case errors.Is(err, httpbody.ErrTooLarge):
		to.Status, to.Close, err = http.StatusRequestEntityTooLarge, true, nil
	case err != nil:
		return err
	case r.Method == http.MethodGet && r.Path == "/":
		to.plain(http.StatusOK, "text/plain", healthy)
	case r.Method != http.MethodPost || !isJSON(r.ContentType):
		to.plain(http.StatusNotFound, "text/xml", unknownPlain)
	case malformed:
		to.Body, to.Status, err = encodeError(to.Body, awsjson.ErrMalformed)
	default:
		err = d.serve(ctx, r, body, to)
	}
	if err != nil {
		return err
	}
	to.CRC32 = crc32.ChecksumIEEE(to.Body)
	return nil
}

func (to *HTTPReply) plain(status int, contentType, text string) {
	to.Status, to.ContentType = status, contentType
	to.Body = append(to.Body, text...)
}

// serve serves a call.
func (d *HTTPDoor) serve(ctx context.Context, r *HTTPRequest, body []byte, to *HTTPReply) error {
	signer, signed := awsjson.SignerOf(r.Authorization, r.Query, r.RegionSet)
	err := refusal(r, signed, body)
	if err != nil {
		to.Body, to.Status, err = encodeError(to.Body, err)
		return err
	}
	call := wireCall{target: r.Target, signer: signer, invocation: r.Invocation, body: body}
	to.Body, to.Status, err = call.serve(ctx, d.do, to.Body)
	return err
}

// refusal returns what is wrong with a request before its operation is looked
// at, in the service's order: malformed JSON, no target, no credentials.
func refusal(r *HTTPRequest, signed bool, body []byte) error {
	_, target := awsjson.OperationIn(r.Target)
	switch {
	case target && signed:
		return nil
	case !awsjson.Valid(body):
		return awsjson.ErrMalformed
	case !target:
		return errUnknownTarget
	}
	return errMissingToken
}

func isJSON(given string) bool {
	if given == awsjson.ContentType {
		return true // as the SDKs write it
	}
	given, _, _ = strings.Cut(given, ";")
	switch strings.ToLower(strings.TrimSpace(given)) {
	case awsjson.ContentType, "application/x-amz-json-1.1", "application/json":
		return true
	}
	return false
}
