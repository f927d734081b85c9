// Package httpdoor is the interface between the HTTP door of ddbfake and servers other than net/http's: the handler
// that ddbfake.DB.Handler returns is also a Door. The command isr-sim serve uses such a server, in which a request
// costs less.
package httpdoor

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Door serves requests that a server has read and parsed.
type Door interface {
	// Serve serves one request. An error means that there is no answer: the server should break the connection, as a
	// lost request or response does.
	//
	// Serve bounds the size of the body that it reads. The server bounds the time for reading it.
	Serve(ctx context.Context, r *Request, to *Reply) error
}

// Request is a request as a server has received it. The server may reuse the memory of its strings when Serve has
// returned.
type Request struct {
	Method string
	Path   string // without the query
	Query  string // the text after the question mark

	// The headers that the service reads; "" for an absent one.
	AcceptEncoding  string // Accept-Encoding
	Authorization   string // Authorization
	ContentEncoding string // Content-Encoding
	ContentType     string // Content-Type
	Host            string // Host
	Invocation      string // Amz-Sdk-Invocation-Id
	RegionSet       string // X-Amz-Region-Set
	Target          string // X-Amz-Target
	// HeaderBytes is the size of all headers.
	HeaderBytes int

	// Body gives the body and then io.EOF; any other error means that the caller is gone. It may be nil.
	Body io.Reader
	// Length is the length of the body by its header; negative if the header has none.
	Length int64
}

// Server is the value of the Server header in each answer. The service sends the same:
// https://github.com/getmoto/moto/pull/1627
const Server = "Server"

// Reply is the answer to a request.
type Reply struct {
	Status      int
	ContentType string
	Encoding    string   // Content-Encoding, "" for none
	RequestID   [52]byte // X-Amzn-Requestid, in ASCII
	CRC32       uint32   // X-Amz-Crc32: the checksum of the body
	// Body is the whole body. Serve overwrites it and reuses its capacity.
	Body []byte
	// Close means that a part of the request's body is unread, so that the connection cannot serve another request.
	Close bool
}

// Row is a row that a request touches. If the request touches a table as a whole, Key is nil. If it touches a
// partition, Key has the partition key only.
type Row struct {
	Table string
	Key   map[string]types.AttributeValue
}

// Parking is how a server treats a request that waits at a gate. The request's context has it under ParkingKey.
type Parking interface {
	// Park is called before the wait. If the client closes its connection, the server calls gone, at most once.
	Park(gone func())
	// Unpark is called after the wait. Once Unpark has returned, gone is no longer called.
	Unpark()
}

// ParkingKey is the key of a Parking in a context.
type ParkingKey struct{}

// ParkingOf returns the Parking of a context, or nil.
func ParkingOf(ctx context.Context) Parking {
	p, _ := ctx.Value(ParkingKey{}).(Parking)
	return p
}

// Drop breaks the connection without an answer, so that the caller sees it reset.
func Drop(w http.ResponseWriter) {
	if hijacker, ok := w.(http.Hijacker); ok {
		if conn, _, err := hijacker.Hijack(); err == nil {
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0) // close with RST rather than FIN
			}
			_ = conn.Close()
			return
		}
	}
	panic(http.ErrAbortHandler)
}

// HeaderName returns the name of a header as S3 writes it, from its canonical form. Case has no meaning in HTTP, but
// boto3 keeps the names of an object's metadata exactly as they arrive, and S3 writes them in lower case.
func HeaderName(canonical string) string {
	switch {
	case canonical == "Etag":
		return "ETag"
	case strings.HasPrefix(canonical, "X-Amz-"):
		return strings.ToLower(canonical)
	}
	return canonical
}
