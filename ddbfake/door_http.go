package ddbfake

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"hash/crc32"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/awsjson"
	"github.com/isr-sim/isr-sim/internal/wire/httpbody"
	"github.com/isr-sim/isr-sim/internal/wire/httpdoor"
)

// Handler returns the HTTP door: the DynamoDB JSON 1.0 protocol, for clients in any language. The access key id that a
// client signs with names the actor; signatures are not checked. A fault that loses a request or a response breaks the
// connection without an answer.
//
// GET / answers the health check of the service. The handler sets no timeouts: those belong to the http.Server around
// it. The command isr-sim serve serves this handler together with a control API for tests in other languages.
func (db *DB) Handler() http.Handler { return &handler{db: db, do: db.doForWire} }

// handler is the HTTP door.
type handler struct {
	db       *DB
	do       do
	requests atomic.Uint64
}

// ServeHTTP serves one request, for net/http.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request := requestOf(r)
	out := getBuffer()
	to := httpdoor.Reply{Body: *out}
	err := h.Serve(r.Context(), &request, &to)
	defer func() { putBuffer(out, to.Body) }()
	if err != nil {
		httpdoor.Drop(w)
		return
	}
	header := w.Header()
	setHeaders(header, to.ContentType, to.RequestID, to.CRC32)
	header["Content-Length"] = []string{strconv.Itoa(len(to.Body))}
	if to.Encoding != "" {
		header[headerEncoding] = []string{to.Encoding}
	}
	if to.Close {
		header["Connection"] = []string{"close"}
	}
	w.WriteHeader(to.Status)
	// A failed write means that the caller has gone. It may or may not have read the answer, and there is no connection
	// left to report to.
	_, _ = w.Write(to.Body)
}

// requestOf takes a request of net/http apart.
func requestOf(r *http.Request) httpdoor.Request {
	request := httpdoor.Request{
		Method:          r.Method,
		Path:            r.URL.Path,
		Query:           r.URL.RawQuery,
		AcceptEncoding:  first(r.Header, "Accept-Encoding"),
		Authorization:   first(r.Header, headerAuthorization),
		ContentEncoding: first(r.Header, headerEncoding),
		ContentType:     first(r.Header, headerContentType),
		Host:            r.Host,
		Invocation:      first(r.Header, headerInvocation),
		RegionSet:       first(r.Header, headerRegionSet),
		Target:          first(r.Header, headerTarget),
		Length:          r.ContentLength,
	}
	if r.Body != nil {
		request.Body = r.Body
	}
	//isrsim:unordered a sum
	for name, values := range r.Header {
		for _, value := range values {
			request.HeaderBytes += len(name) + len(": ") + len(value) + len("\r\n")
		}
	}
	return request
}

var _ httpdoor.Door = (*handler)(nil)

// The answers of the service that are not JSON.
//
// Source: https://docs.aws.amazon.com/general/latest/gr/ddb.html (health),
// https://github.com/architect/dynalite/blob/main/test/connection.js
const (
	healthy      = "healthy: dynamodb." + DefaultRegion + ".amazonaws.com "
	unknownPlain = "<UnknownOperationException/>\n"
)

// maxHeaderBytes is the maximum size of the headers of a request. The service's text for this refusal is not known.
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

// packedFrom is the length from which the service compresses an answer, if the client accepts that. AWS does not
// document the length.
//
// Source: https://github.com/awslabs/dynamodb-cross-region-library/issues/61 and
// https://github.com/scylladb/scylladb/issues/27246
const packedFrom = 4 << 10

// gzipped compresses an answer with gzip.
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

// refusal returns the first mistake in a request that does not depend on its operation. The order is the service's:
// malformed JSON, no target, no credentials.
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

// Gated returns the same door with a gate. The gate receives each decoded call, and a function that serves it. The gate
// may block; other calls do not wait for it.
func (h *handler) Gated(
	gate func(ctx context.Context, c Call, serve func(context.Context, Call) (any, error)) (any, error),
) http.Handler {
	return &handler{db: h.db, do: func(ctx context.Context, c Call) (any, error) { return gate(ctx, c, h.do) }}
}

// Rows returns the rows that a call touches, in those of its tables that exist.
func (h *handler) Rows(c Call) []httpdoor.Row {
	db := h.db
	region := cmp.Or(c.Region, DefaultRegion)
	db.mu.Lock()
	defer db.mu.Unlock()
	var rows []httpdoor.Row
	for _, t := range db.targets(region, c.Input) {
		row := httpdoor.Row{Table: t.table}
		if table := db.state.tables[address(region, t.table)]; table != nil {
			names := []string{table.schema.hash.Name}
			if table.schema.hasSort() {
				names = append(names, table.schema.sort.Name)
			}
			for _, name := range names {
				if v := t.values[name]; v != nil {
					if row.Key == nil {
						row.Key = map[string]types.AttributeValue{}
					}
					row.Key[name] = v
				}
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// Settings serves the control API. It returns everything that a snapshot has of a table, except its rows: its
// description in the JSON of DescribeTable, which DB.Load reads; its TTL attribute, "" if TTL is off; and its tags.
func (h *handler) Settings(s *Snapshot, table string) (description []byte, ttl string, tags map[string]string) {
	t := s.state.at(table)
	if t == nil {
		return []byte("null"), "", nil
	}
	whole := awsjson.Append(nil, &dynamodb.DescribeTableOutput{Table: t.describe(types.TableStatusActive)})
	if t.ttl.enabled {
		ttl = t.ttl.attribute
	}
	return bytes.TrimSuffix(bytes.TrimPrefix(whole, []byte(`{"Table":`)), []byte("}")), ttl, t.tags
}

// Read serves the control API. It returns the content of a snapshot: the addresses of its tables; the rows of one
// table, sorted as by DB.Items (nil if there is no such table); the latest changes whose Seq is greater than a given
// one; and the Seq of the last change. Rows and changes are made one by one: a slow reader keeps only the snapshot and
// one row or change in memory. Nothing else may use the snapshot meanwhile.
func (h *handler) Read(s *Snapshot) (
	tables []string, rows func(table string) iter.Seq[attr.Item],
	changes func(seq, latest int) iter.Seq[Change], last int,
) {
	rows = func(table string) iter.Seq[attr.Item] {
		t := s.state.at(table)
		if t == nil {
			return nil
		}
		return func(yield func(attr.Item) bool) {
			t.rows.Scan(func(r *row) bool { return yield(r.passing()) })
		}
	}
	log := &s.state.log
	changes = func(seq, latest int) iter.Seq[Change] {
		start := max(seq-log.dropped, log.length-latest, 0)
		return func(yield func(Change) bool) {
			for i, e := range log.from(start) {
				if !yield(e.passing(log.dropped + i + 1)) {
					return
				}
			}
		}
	}
	return s.state.addresses(), rows, changes, log.lastSeq()
}
