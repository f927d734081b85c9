package ddbfake

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"hash/crc32"
	"net/http"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/ddbfake/internal/awsjson"
	"github.com/isr-sim/isr-sim/internal/wire/httpbody"
	"github.com/isr-sim/isr-sim/internal/wire/httpdoor"
)

var _ httpdoor.Door = (*handler)(nil)

// The answers of the service that are not JSON.
//
// Source: https://docs.aws.amazon.com/general/latest/gr/ddb.html (health),
// https://github.com/architect/dynalite/blob/main/test/connection.js
const (
	healthy      = "healthy: dynamodb." + DefaultRegion + ".amazonaws.com "
	unknownPlain = "<UnknownOperationException/>\n"
)

// maxHeaderBytes is the largest size of the headers of a request. The text of the refusal is not known.
//
// Source: https://github.com/scylladb/scylladb/issues/23438
const maxHeaderBytes = 16 << 10

var errMissingToken = &smithy.GenericAPIError{
	Code:    "MissingAuthenticationTokenException",
	Message: "Request is missing Authentication Token",
	Fault:   smithy.FaultClient,
}

// Serve serves one request, for servers other than net/http's.
func (h *handler) Serve(ctx context.Context, r *httpdoor.Request, to *httpdoor.Reply) error {
	*to = httpdoor.Reply{
		RequestID: awsjson.RequestID(h.requests.Add(1)), ContentType: awsjson.ContentType, Body: to.Body[:0],
	}
	body, err := httpbody.Read(r.Body, r.Length, r.ContentEncoding)
	malformed := errors.Is(err, httpbody.ErrNotPacked)
	if malformed {
		err = nil // it is answered below, like other mistakes
	}
	switch {
	case errors.Is(err, httpbody.ErrTooLarge):
		to.Status, to.Close, err = http.StatusRequestEntityTooLarge, true, nil
	case err != nil:
		return err
	case r.HeaderBytes > maxHeaderBytes:
		plain(to, http.StatusBadRequest, "text/plain", "the headers are larger than 16 KB\n")
	case r.Method == http.MethodGet && r.Path == "/":
		plain(to, http.StatusOK, "text/plain", healthy)
	case r.Method != http.MethodPost || !isJSON(r.ContentType):
		plain(to, http.StatusNotFound, "text/xml", unknownPlain)
	case malformed:
		to.Body, to.Status, err = encodeError(to.Body, awsjson.ErrMalformed)
	default:
		err = h.serve(ctx, r, body, to)
	}
	if err != nil {
		return err
	}
	if len(to.Body) > packedFrom && acceptsGzip(r.AcceptEncoding) {
		to.Body, to.Encoding = gzipped(to.Body), "gzip"
	}
	to.CRC32 = crc32.ChecksumIEEE(to.Body)
	return nil
}

// packedFrom is the length from which the service packs an answer, for a client that accepts that. AWS does not
// document the length.
//
// Source: https://github.com/awslabs/dynamodb-cross-region-library/issues/61 and
// https://github.com/scylladb/scylladb/issues/27246
const packedFrom = 4 << 10

// gzipped packs an answer with gzip.
func gzipped(body []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// acceptsGzip reads an Accept-Encoding.
//
// Source: https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3
func acceptsGzip(accepted string) bool {
	for one := range strings.SplitSeq(accepted, ",") {
		name, weight, _ := strings.Cut(one, ";")
		weight = strings.ReplaceAll(weight, " ", "")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return strings.Trim(strings.TrimPrefix(weight, "q="), "0.") != "" || !strings.HasPrefix(weight, "q=")
		}
	}
	return false
}

func plain(to *httpdoor.Reply, status int, contentType, text string) {
	to.Status, to.ContentType = status, contentType
	to.Body = append(to.Body, text...)
}

// serve serves a call.
func (h *handler) serve(ctx context.Context, r *httpdoor.Request, body []byte, to *httpdoor.Reply) error {
	signer, signed := awsjson.SignerOf(r.Authorization, r.Query, r.RegionSet)
	err := refusal(r, signed, body)
	if err != nil {
		to.Body, to.Status, err = encodeError(to.Body, err)
		return err
	}
	call := wireCall{target: r.Target, host: r.Host, signer: signer, invocation: r.Invocation, body: body}
	to.Body, to.Status, err = call.serve(ctx, h.do, to.Body)
	return err
}

// refusal returns the first mistake that is found in a request before its operation is examined. The order is the
// service's: malformed JSON, no target, no credentials.
func refusal(r *httpdoor.Request, signed bool, body []byte) error {
	_, target := awsjson.OperationIn(r.Target)
	switch {
	case target && signed:
		return nil
	case len(body) == 0 && target:
		return errMissingToken
	case !awsjson.Valid(body):
		return awsjson.ErrMalformed
	case !target:
		return errUnknownTarget
	}
	return errMissingToken
}

func isJSON(given string) bool {
	if given == awsjson.ContentType {
		return true // the form that the SDKs send
	}
	given, _, _ = strings.Cut(given, ";")
	switch strings.ToLower(strings.TrimSpace(given)) {
	case awsjson.ContentType, "application/x-amz-json-1.1", "application/json":
		return true
	}
	return false
}
