package serve

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/wire/hostname"
)

// secure starts a server with TLS, and makes a client that trusts its certificate and connects to it under any name.
func secure(t *testing.T, l limits, names ...string) (*served, *http.Client, *tls.Config) {
	t.Helper()
	certificate, text, err := NewCertificate(names)
	must.OK(t, err)
	s := startWith(t, l, func(o *Options) { o.Certificate, o.Hosts = certificate, []string{hostname.OfService} })
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(text) {
		t.Fatalf("no certificate: %s", text)
	}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: trusted},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, network, s.address)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return s, &http.Client{Transport: transport, Timeout: patience}, transport.TLSClientConfig
}

// The SDK calls the server over https, by the host name that it takes for the service's.
func TestTheSDKOverTLS(t *testing.T) {
	s, client, _ := secure(t, serveLimits)
	sdk := dynamodb.New(dynamodb.Options{
		Region: "eu-central-1", HTTPClient: client,
		Credentials: credentials.NewStaticCredentialsProvider("alice", "any", ""),
	})
	must.Done(t)(sdk.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("pages"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"),
			AttributeType: types.ScalarAttributeTypeS}},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	}))
	long := strings.Repeat("x", 300_000)
	for range 3 {
		must.Done(t)(sdk.PutItem(t.Context(),
			&dynamodb.PutItemInput{TableName: aws.String("pages"), Item: map[string]types.AttributeValue{
				"pk": &types.AttributeValueMemberS{Value: "a"}, "html": &types.AttributeValueMemberS{Value: long},
			}}))
	}
	out, err := sdk.GetItem(t.Context(),
		&dynamodb.GetItemInput{TableName: aws.String("pages"), Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "a"},
		}})
	must.OK(t, err)
	if html, _ := out.Item["html"].(*types.AttributeValueMemberS); html == nil || html.Value != long {
		t.Error("the row came back as another one")
	}
	if log := s.db.Changes(); len(log) != 1 || log[0].Actor != "alice" {
		t.Errorf("the log has %d changes", len(log))
	}
}

// The certificate and the guard accept exactly the same names.
func TestHostNamesOverTLS(t *testing.T) {
	_, client, config := secure(t, serveLimits, "dynamodb", "10.1.2.3", "host.example:8000")
	for _, test := range []struct {
		host              string
		certified, served bool
	}{
		{"localhost", true, true},
		{"127.0.0.1", true, true},
		{"[::1]", true, true},
		{"10.1.2.3", true, true},
		{"10.9.9.9", false, true},
		{"dynamodb.us-east-1.amazonaws.com", true, true},
		{"dynamodb.cn-north-1.amazonaws.com.cn", true, true},
		{"streams.dynamodb.eu-west-3.amazonaws.com", true, true},
		{"123456789012.ddb.us-west-2.amazonaws.com", true, true},
		{"dynamodb-fips.us-gov-west-1.amazonaws.com", true, true},
		{"dynamodb.us-east-9.amazonaws.com", false, true}, // a future region
		{"amazonaws.com", false, false},
		{"evil.dynamodb.us-east-1.amazonaws.com", true, false},
		{"my-bucket.s3.amazonaws.com", false, false},
		{"my-alb-1.us-east-1.elb.amazonaws.com", false, false},
		{"dynamodb.us-east-1.amazonaws.com.evil.example", false, false},
		{"dynamodbxus-east-1.amazonaws.com", false, false},
		{"evil.example", false, false},
	} {
		for _, path := range []string{"/_isr-sim/clock", "/"} {
			config.InsecureSkipVerify = false
			client.CloseIdleConnections()
			response, err := client.Get("https://" + test.host + path)
			if certified := err == nil; certified != test.certified {
				t.Errorf("%s: got %v, certified: want %v", test.host, err, test.certified)
			}
			if err != nil {
				config.InsecureSkipVerify = true
				client.CloseIdleConnections()
				if response, err = client.Get("https://" + test.host + path); err != nil {
					t.Fatal(err)
				}
			}
			_, _ = io.Copy(io.Discard, response.Body)
			response.Body.Close()
			if served := response.StatusCode != http.StatusForbidden; served != test.served {
				t.Errorf("%s%s: got %s, served: want %v", test.host, path, response.Status, test.served)
			}
		}
	}
	config.InsecureSkipVerify = false
	for origin, want := range map[string]int{
		"https://localhost": http.StatusOK, "https://evil.example": http.StatusForbidden,
		"https://dynamodb.us-east-1.amazonaws.com": http.StatusForbidden,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://localhost/_isr-sim/clock", nil)
		must.OK(t, err)
		request.Header.Set("Origin", origin)
		response, err := client.Do(request)
		must.OK(t, err)
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("a page of %s: got %s, want %d", origin, response.Status, want)
		}
	}
}

// Without TLS, the server refuses requests for the service's own host names.
func TestServiceNamesNeedTLS(t *testing.T) {
	s := startServer(t, serveLimits)
	conn := s.dial()
	send(t, conn, "GET /_isr-sim/clock HTTP/1.1\r\nHost: dynamodb.us-east-1.amazonaws.com\r\n\r\n")
	if got := statusOf(t, bufio.NewReader(conn)); got != http.StatusForbidden {
		t.Errorf("got %d, want 403", got)
	}
}

// Clients that do not speak TLS, or stop during the handshake, are dropped, and delay no other client.
func TestBrokenHandshakes(t *testing.T) {
	l := serveLimits
	l.header = 300 * time.Millisecond
	s, client, _ := secure(t, l)
	plain := s.dial()
	send(t, plain, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	silent := s.dial()
	half := s.dial()
	send(t, half, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
	response, err := client.Get("https://localhost/_isr-sim/clock")
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v", response, err)
	}
	response.Body.Close()
	for name, conn := range map[string]net.Conn{"plain": plain, "silent": silent, "half": half} {
		must.OK(t, conn.SetReadDeadline(time.Now().Add(patience)))
		if text, err := io.ReadAll(conn); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: %q and %v, want the end of the connection", name, text, err)
		}
	}
}

// A request is not served if its client closes the connection in good order before the end of the body.
func TestABodyThatEndsEarlyOverTLS(t *testing.T) {
	s, _, config := secure(t, serveLimits)
	config.ServerName = "localhost"
	conn := tls.Client(s.dial(), config)
	send(t, conn, head(len(putA)+1)+putA)
	must.OK(t, conn.CloseWrite())
	if text, _ := io.ReadAll(conn); strings.Contains(string(text), "200 OK") {
		t.Errorf("got %q", text)
	}
	if n := len(s.db.Items("cache")); n != 0 {
		t.Errorf("%d rows were written", n)
	}

	whole := tls.Client(s.dial(), config)
	send(t, whole, head(len(putA), "Connection: close\r\n")+putA)
	if text, _ := io.ReadAll(whole); !strings.Contains(string(text), "200 OK") {
		t.Errorf("a whole body: got %q", text)
	}
}

// at8443 is a listener on port 8443.
type at8443 struct{ net.Listener }

// Addr returns its address.
func (at8443) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8443} }

// Without a file name, the certificate goes into the user's cache folder, in a file named after the server's port.
func TestCertificateFile(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache) // where the cache folder is elsewhere
	c := &Settings{TLS: AutoTLS}
	for range 2 { // the file of an earlier run may exist
		certificate, file, err := c.certificate([]net.Listener{at8443{}})
		if err != nil || certificate == nil {
			t.Fatal(err)
		}
		within, err := filepath.Rel(cache, file)
		if err != nil || filepath.Base(file) != "serve-8443.pem" || !filepath.IsLocal(within) {
			t.Errorf("got %s in %s, %v", file, cache, err)
		}
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if certificate, file, err := new(Settings).certificate(nil); certificate != nil || file != "" || err != nil {
		t.Errorf("without --tls: got %v, %q, %v", certificate, file, err)
	}
}
