package serve

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	managertypes "github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/s3fake"
	"github.com/isr-sim/isr-sim/s3fake/sdk"
)

// startS3 runs a server of both services, with the bucket pages, and returns the address of S3 and its store.
func startS3(t *testing.T) (address string, store *s3fake.Store) {
	t.Helper()
	return startSecureS3(t, nil)
}

func startSecureS3(t *testing.T, certificate *tls.Certificate) (address string, store *s3fake.Store) {
	t.Helper()
	clock := fakeclock.New(fakeclock.Epoch)
	store = s3fake.New(s3fake.Options{Clock: clock, Buckets: []string{"pages"}, LogRequests: 10})
	socket := must.Of(net.Listen("tcp", "127.0.0.1:0"))(t)
	running(t, Options{
		DB: ddbfake.New(ddbfake.Options{Clock: clock}), Control: manual(clock), Log: io.Discard, S3: store,
		S3Socket: socket, Certificate: certificate,
	})
	return socket.Addr().String(), store
}

// The SDK's client, which signs its requests, writes and reads small and large bodies.
func TestS3Client(t *testing.T) {
	t.Parallel()
	address, store := startS3(t)
	client := s3.New(s3.Options{Region: "eu-west-1", BaseEndpoint: aws.String("http://" +
		address), Retryer: ddbfake.Retryer(1)}, sdk.WithActor("alice"))
	for _, size := range []int{0, 1, 20 << 10, 3 << 20} {
		body := strings.Repeat("x", size)
		key := aws.String(fmt.Sprintf("a b/%d é", size))
		must.Done(t)(client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("pages"), Key: key,
			Body: strings.NewReader(body), Metadata: map[string]string{"size": fmt.Sprint(size)}}))
		head, err := client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String("pages"), Key: key})
		if err != nil || aws.ToInt64(head.ContentLength) != int64(size) {
			t.Errorf("%d bytes: got %+v and %v", size, head, err)
		}
	}
	for _, size := range []int{0, 1, 20 << 10, 3 << 20} { // by now other requests have reused the server's memory
		out, err := client.GetObject(t.Context(),
			&s3.GetObjectInput{Bucket: aws.String("pages"), Key: aws.String(fmt.Sprintf("a b/%d é", size))})
		must.OK(t, err)
		got, err := io.ReadAll(out.Body)
		if err != nil || string(got) != strings.Repeat("x", size) || out.Metadata["size"] != fmt.Sprint(size) {
			t.Errorf("%d bytes: got %d, %v and %v", size, len(got), out.Metadata, err)
		}
	}
	if r := store.Requests()[0]; r.Actor != "alice" {
		t.Errorf("got %s, want a request of alice", r)
	}
	store.Inject(s3fake.Fault{Kind: ddbfake.FaultResponseLost})
	if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: aws.String("pages"), Key: aws.String("lost"), Body: strings.NewReader("x"),
	}); err == nil {
		t.Error("the lost answer came")
	}
	if _, err := client.GetObject(t.Context(),
		&s3.GetObjectInput{Bucket: aws.String("pages"), Key: aws.String("lost")}); err != nil {
		t.Errorf("the object of a lost answer: %v", err)
	}
}

// With a certificate, S3 speaks TLS, too, and nothing else.
func TestS3OverTLS(t *testing.T) {
	t.Parallel()
	certificate, text, err := NewCertificate(nil)
	must.OK(t, err)
	address, store := startSecureS3(t, certificate)
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(text)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}
	t.Cleanup(transport.CloseIdleConnections)
	client := s3.New(s3.Options{
		Region: "eu-west-1", BaseEndpoint: aws.String("https://" + address), UsePathStyle: true,
		Retryer: ddbfake.Retryer(1), HTTPClient: &http.Client{Transport: transport, Timeout: patience},
	}, sdk.WithActor("alice"))
	body := strings.Repeat("x", 3<<20)
	must.Done(t)(client.PutObject(t.Context(),
		&s3.PutObjectInput{Bucket: aws.String("pages"), Key: aws.String("home"), Body: strings.NewReader(body)}))
	out, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("pages"), Key: aws.String("home")})
	must.OK(t, err)
	if got, err := io.ReadAll(out.Body); err != nil || string(got) != body {
		t.Errorf("got %d bytes and %v", len(got), err)
	}
	conn := dial(t, address, time.Now().Add(patience))
	send(t, conn, "GET /pages/home HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	if text, _ := io.ReadAll(conn); strings.Contains(string(text), "200 OK") || len(store.Requests()) != 2 {
		t.Errorf("in clear text: got %.100q and %d requests", text, len(store.Requests()))
	}
}

// A request with a mistake is refused, and the next one is served.
func TestS3Refuses(t *testing.T) {
	t.Parallel()
	address, _ := startS3(t)
	put := func(more string) string {
		return "PUT /pages/home HTTP/1.1\r\nHost: 127.0.0.1\r\n" + more + "\r\n"
	}
	for _, test := range []struct {
		name, text string
		want       int
	}{
		{"no HTTP", "\x16\x03\x01\r\n\r\n", 400},
		{"a length and chunks", put("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n", 400},
		{"a body of unknown length", put("Transfer-Encoding: chunked\r\n") + "5\r\nHello\r\n0\r\n\r\n", 501},
		{"a body of 17 MB, of which little is sent", put(fmt.Sprintf("Content-Length: %d\r\n", 17<<20)) + "x", 400},
		{"a body in chunks of AWS's, of unknown length",
			put("Transfer-Encoding: chunked\r\nx-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER\r\n") +
				"f\r\n5\r\nHello\r\n0\r\n\r\n\r\n0\r\n\r\n", 411},
		{"a body in chunks of AWS's", put(
			"Transfer-Encoding: chunked\r\nx-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER\r\n"+
				"x-amz-decoded-content-length: 5\r\n",
		) +
			"f\r\n5\r\nHello\r\n0\r\n\r\n\r\n0\r\n\r\n", 200},
		{"a question before a body of 17 MB",
			put(fmt.Sprintf("Content-Length: %d\r\nExpect: 100-continue\r\n", 17<<20)), 400},
		{"a browser", put("Origin: http://evil.example\r\nContent-Length: 0\r\n"), 403},
		{"a page of another site, without an Origin",
			"GET /pages/home HTTP/1.1\r\nHost: 127.0.0.1\r\nSec-Fetch-Site: cross-site\r\n\r\n", 403},
		{"a foreign name", "GET /pages/home HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403},
		{"a proxy's", "CONNECT 127.0.0.1:443 HTTP/1.1\r\nHost: 127.0.0.1:443\r\n\r\n", 405},
		{"a path that is none", "GET /%zz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 400},
		{"an unknown operation, with a body",
			"PUT /pages/home?tagging HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n" +
				strings.Repeat("x", 100_000), 501},
		{"a wrong method", "PATCH /pages/home HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n", 405},
		{"what is right, unsigned", put("Content-Length: 5\r\n") + "Hello", 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn := dial(t, address, time.Now().Add(patience))
			go func() { _, _ = io.WriteString(conn, test.text) }()
			if got := statusOf(t, bufio.NewReader(conn)); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
	// A key is stored exactly as it was sent, and two requests share a connection.
	for _, key := range []string{"//a/../b", "a%20b", "home"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut,
			"http://"+address+"/pages/"+key, strings.NewReader("x"))
		must.OK(t, err)
		response, err := http.DefaultClient.Do(r)
		must.OK(t, err)
		response.Body.Close()
	}
	response, err := http.Get("http://" + address + "/pages?list-type=2")
	must.OK(t, err)
	defer response.Body.Close()
	list, _ := io.ReadAll(response.Body)
	for _, key := range []string{"//a/../b", "a b", "home"} {
		if !strings.Contains(string(list), "<Key>"+key+"</Key>") {
			t.Errorf("got %s, want the key %s", list, key)
		}
	}
}

// A client that asks before it sends too many bytes learns why they are refused.
func TestS3TooLarge(t *testing.T) {
	t.Parallel()
	address, _ := startS3(t)
	conn := dial(t, address, time.Now().Add(patience))
	send(t, conn, fmt.Sprintf(
		"PUT /pages/home HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", 17<<20,
	))
	if text, _ := io.ReadAll(conn); !strings.Contains(string(text), "<Code>EntityTooLarge</Code>") {
		t.Errorf("got %s, want EntityTooLarge", text)
	}
}

// The SDK's transfer manager sends 20 MB in parts, from a stream, and reads them by their numbers and by ranges.
func TestS3TransferManager(t *testing.T) {
	t.Parallel()
	address, store := startS3(t)
	client := s3.New(s3.Options{Region: "eu-west-1", BaseEndpoint: aws.String("http://" +
		address), Retryer: ddbfake.Retryer(1)}, sdk.WithActor("alice"))
	body := bytes.Repeat([]byte("0123456789"), 2<<20)
	up := transfermanager.New(client)
	made, err := up.UploadObject(t.Context(), &transfermanager.UploadObjectInput{
		Bucket: aws.String("pages"), Key: aws.String("large"), Body: io.MultiReader(bytes.NewReader(body)),
	})
	must.OK(t, err)
	if kept, _ := store.Object("pages", "large"); !bytes.Equal(kept, body) ||
		!strings.HasSuffix(aws.ToString(made.ETag), `-3"`) {
		t.Errorf("got %d bytes and %s, want %d in three parts", len(kept), aws.ToString(made.ETag), len(body))
	}
	for _, kind := range []managertypes.GetObjectType{managertypes.GetObjectParts, managertypes.GetObjectRanges} {
		down := transfermanager.New(client, func(o *transfermanager.Options) { o.GetObjectType = kind })
		got := managertypes.NewWriteAtBuffer(make([]byte, len(body))) // otherwise it copies everything for each piece
		must.Done(t)(down.DownloadObject(t.Context(),
			&transfermanager.DownloadObjectInput{Bucket: aws.String("pages"), Key: aws.String("large"), WriterAt: got}))
		if !bytes.Equal(got.Bytes(), body) {
			t.Errorf("by %s: got %d bytes, want %d", kind, len(got.Bytes()), len(body))
		}
	}
}
