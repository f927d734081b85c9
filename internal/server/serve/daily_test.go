package serve

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// On the wall clock TTL deletes by itself, on a manual one when it is told to, and who switches it on is told so.
func TestTTLByItself(t *testing.T) {
	for clock, want := range map[string]string{
		"wall": "rows whose ttl is past are deleted after a lag: uniform 1s 30s (--ttl-lag)", "manual": "rows whose ttl is past stay until the control API sweeps them",
	} {
		var log bytes.Buffer
		s, err := New(t.Context(), Settings{Listen: "127.0.0.1:0", Clock: clock, Log: &log})
		if err != nil {
			t.Fatal(err)
		}
		db := s.options.DB
		create(t, db)
		in := &dynamodb.UpdateTimeToLiveInput{TableName: aws.String("cache"), TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ttl"), Enabled: aws.Bool(true)}}
		if _, err := db.As("alice").UpdateTimeToLive(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		sayLag(&log, db, in)
		sayLag(&log, db, &dynamodb.DescribeTimeToLiveInput{})
		if !strings.Contains(log.String(), "TTL of cache is on; "+want) || strings.Count(log.String(), "\n") != 1 {
			t.Errorf("%s: got %q, want %s", clock, log.String(), want)
		}
		number, err := attr.ParseNumber(strconv.FormatInt(s.options.Control.Clock.Now().Unix()-10, 10))
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Put("cache", attr.Item{"pk": attr.S("a"), "ttl": attr.N{Number: number}}); err != nil {
			t.Fatal(err)
		}
		s.options.Control.Clock.Advance(31 * time.Second)
		if gone := len(db.Items("cache")) == 0; gone != (clock == "wall") {
			t.Errorf("%s: the row is gone: %t", clock, gone)
		}
		s.Close()
	}
}

// The pages of an origin that is allowed may ask, and others may not; a program needs no origin.
func TestCORS(t *testing.T) {
	handler := newTestHandler(t, []string{"http://console.example:5173"})
	for _, c := range []struct {
		name, method, origin string
		more                 map[string]string
		status               int
		allowed              string
	}{
		{"asked before", "OPTIONS", "http://console.example:5173", map[string]string{"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-amz-target"}, 204, "http://console.example:5173"},
		{"allowed", "GET", "http://console.example:5173", map[string]string{"Sec-Fetch-Site": "cross-site"}, 200, "http://console.example:5173"},
		{"another port", "GET", "http://console.example", nil, 403, ""},
		{"another origin, asked before", "OPTIONS", "http://evil.example", map[string]string{"Access-Control-Request-Method": "POST"}, 403, ""},
		{"no page", "GET", "", nil, 200, ""},
	} {
		r := httptest.NewRequest(c.method, "http://127.0.0.1:8000/_isr-sim/tables", nil)
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		for name, value := range c.more {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != c.status || w.Header().Get("Access-Control-Allow-Origin") != c.allowed {
			t.Errorf("%s: got %d %v, want %d %q", c.name, w.Code, w.Header(), c.status, c.allowed)
		}
	}
	for _, bad := range []string{"*", "localhost:5173", "http://localhost:5173/", "http://"} {
		if _, err := New(t.Context(), Settings{Listen: "127.0.0.1:0", Clock: "wall", CORS: []string{bad}, Log: new(bytes.Buffer)}); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func newTestHandler(t *testing.T, origins []string) http.Handler {
	t.Helper()
	s, err := New(t.Context(), Settings{Listen: "127.0.0.1:0", Clock: "wall", CORS: origins, Log: new(bytes.Buffer)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return netHTTP(s.options.DB.Handler(), s.options)
}

// With --allow-remote, other machines call the server by the names of their network; the names that others own do not
// lead here, and without the flag none does.
func TestNamesOfTheNetwork(t *testing.T) {
	for _, remote := range []bool{true, false} {
		s, err := New(t.Context(), Settings{Listen: "127.0.0.1:0", Clock: "wall", AllowRemote: remote, Log: new(bytes.Buffer)})
		if err != nil {
			t.Fatal(err)
		}
		handler := netHTTP(s.options.DB.Handler(), s.options)
		for host, known := range map[string]bool{"dynamodb:8000": remote, "host.docker.internal:8000": remote, "evil.example:8000": false, "127.0.0.1:8000": true} {
			r := httptest.NewRequest(http.MethodGet, "http://"+host+"/_isr-sim/tables", nil)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if (w.Code == http.StatusOK) != known {
				t.Errorf("--allow-remote %t: %s: got %d", remote, host, w.Code)
			}
		}
		s.Close()
	}
}
