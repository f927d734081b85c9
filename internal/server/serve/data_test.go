package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// withData returns a server that was started with a file.
func withData(t *testing.T, file string, log *bytes.Buffer) *Server {
	t.Helper()
	s, err := New(t.Context(),
		Settings{Listen: "127.0.0.1:0", Clock: "wall", Data: file, DataEvery: time.Hour, Log: log})
	must.OK(t, err)
	return s
}

// ran starts and stops a server.
func ran(t *testing.T, s *Server) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	must.OK(t, s.Run(ctx))
}

func create(t *testing.T, db *ddbfake.DB) {
	t.Helper()
	must.Done(t)(db.As("alice").CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("cache"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"),
			AttributeType: types.ScalarAttributeTypeS}},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	}))
}

// A restarted server has its tables and rows again, and the messages about the file are true.
func TestData(t *testing.T) {
	file := filepath.Join(t.TempDir(), "db.json")
	var log bytes.Buffer
	s := withData(t, file, &log)
	if want := "there is no " + file + " yet"; !strings.Contains(log.String(), want) {
		t.Errorf("got %q, want %s", log.String(), want)
	}
	create(t, s.options.DB)
	must.OK(t, s.options.DB.Put("cache", attr.Item{"pk": attr.S("a")}))
	ran(t, s)
	draft := filepath.Join(filepath.Dir(file), ".db.json.1.tmp")
	if err := os.WriteFile(draft, []byte(`{"tables": [`), 0o600); err != nil { // a server was killed while it saved
		t.Fatal(err)
	}
	log.Reset()
	s = withData(t, file, &log)
	if rows := s.options.DB.Items("cache"); len(rows) != 1 ||
		!strings.Contains(log.String(), "tables: 1, rows: 1, as of ") {
		t.Errorf("got %v, and %q", rows, log.String())
	}
	// Nothing has changed, so the file is not written.
	before, _ := os.Stat(file)
	if name, err := s.data.save(); err != nil || name != file {
		t.Errorf("got %s and %v", name, err)
	}
	if after, _ := os.Stat(file); !os.SameFile(before, after) {
		t.Error("the file was written anew, and nothing had changed")
	}
	must.OK(t, s.options.DB.Put("cache", attr.Item{"pk": attr.S("b")}))
	must.Done(t)(s.data.save())
	if _, err := os.Stat(draft); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the draft is there: %v", err)
	}
	s.Close()
}

// A damaged file is refused, and is not overwritten. The error says where it is damaged.
func TestDataDamaged(t *testing.T) {
	for text, want := range map[string]string{
		"": "", // an empty file contains nothing
		"{\"tables\": [\n{\"name\": \"cache\", \"items\": [": "line 2: found no JSON",
		"\n{\"a\": 1}": "line 2: found an object",
		`{"tables": [{"region": "us-east-1", "name": "cache", "items": [{"pk": {"S": "a"}}]}]}`: "line 1: table cache: ",
	} {
		file := filepath.Join(t.TempDir(), "db.json")
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
		s, err := New(t.Context(),
			Settings{Listen: "127.0.0.1:0", Clock: "wall", Data: file, DataEvery: time.Hour, Log: new(bytes.Buffer)})
		if s != nil {
			s.Close()
		}
		if want == "" && err == nil {
			continue
		}
		if m := (*mistake.Error)(nil); !errors.As(err, &m) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), file) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
		if kept, _ := os.ReadFile(file); string(kept) != text {
			t.Errorf("the file is now %q", kept)
		}
	}
}

// The file is complete at any time: while rows are written, and while it is saved.
func TestDataIsWhole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "db.json")
	s := withData(t, file, new(bytes.Buffer))
	create(t, s.options.DB)
	must.Done(t)(s.data.save())
	var work sync.WaitGroup
	done := make(chan struct{})
	work.Go(func() {
		defer close(done)
		for i := range 300 {
			if err := s.options.DB.Put("cache",
				attr.Item{"pk": attr.S(fmt.Sprint(i)), "body": attr.S(strings.Repeat("x", 1000))}); err != nil {
				t.Error(err)
			}
			if i%10 == 0 {
				if _, err := s.data.save(); err != nil {
					t.Error(err)
				}
			}
		}
	})
	last := 0
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		text := must.Of(os.ReadFile(file))(t)
		db := ddbfake.New(ddbfake.Options{})
		if err := db.Load("", bytes.NewReader(text)); err != nil {
			t.Fatalf("half a file: %v", err)
		}
		if n := len(db.Items("cache")); n < last {
			t.Fatalf("got %d rows, and %d before", n, last)
		} else {
			last = n
		}
	}
	work.Wait()
	s.Close()
}

// killedFile is the environment variable that turns TestKilledServer into a server. Its value is the server's file.
const killedFile = "ISRSIM_TEST_KILLED_FILE"

// A server is killed while it saves and while a client writes. The next server starts with a consistent state: it has
// everything that was saved on demand and no partial transaction, and it says what may be missing.
func TestKilled(t *testing.T) {
	effort.NotShort(t)
	file := filepath.Join(t.TempDir(), "db.json")
	sent, saved := 0, 0
	for round := range effort.Fewer(50, 8) {
		address, kill := startKilled(t, file, round > 0)
		if round == 0 {
			call(t, address, "CreateTable",
				`{"TableName":"cache","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],`+
					`"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST"}`)
			saveNow(t, address)
		} else {
			one, other := number(t, address, "one"), number(t, address, "other")
			if one != other || one < saved || one > sent {
				t.Fatalf("round %d: the rows of one transaction are %d and %d; %d was saved, and %d sent", round,
					one, other, saved, sent)
			}
		}
		for range 20 + 7*round%40 {
			sent++
			call(t, address, "TransactWriteItems", fmt.Sprintf(`{"TransactItems":[%s,%s,%s]}`, writeOf("one", sent),
				writeOf("other", sent), writeOf(fmt.Sprint(sent%500), sent)))
			if sent%17 == 0 {
				saveNow(t, address)
				saved = sent
			}
		}
		kill()
	}
}

// writeOf returns an action that puts a row of two kilobytes.
func writeOf(key string, n int) string {
	return fmt.Sprintf(`{"Put":{"TableName":"cache","Item":{"pk":{"S":"%s"},"n":{"N":"%d"},"body":{"S":"%s"}}}}`, key,
		n, strings.Repeat("x", 2000))
}

// number returns the number in a row; 0 if there is no row.
func number(t *testing.T, address, key string) int {
	t.Helper()
	response, err := http.DefaultClient.Do(asked(address, "GetItem",
		fmt.Sprintf(`{"TableName":"cache","Key":{"pk":{"S":"%s"}}}`, key)))
	must.OK(t, err)
	defer response.Body.Close()
	var got struct {
		Item struct{ N struct{ N string } }
	}
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("got %s, %v", response.Status, err)
	}
	n, _ := strconv.Atoi(got.Item.N.N)
	return n
}

func saveNow(t *testing.T, address string) {
	t.Helper()
	response, err := http.Post("http://"+address+"/_isr-sim/save", "application/json", nil)
	must.OK(t, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("save: got %s", response.Status)
	}
}

// startKilled starts this test program as a server with a file, and returns a function that kills it. A server that
// finds the file must say when the file was saved, and that later writes are missing.
func startKilled(t *testing.T, file string, found bool) (address string, kill func()) {
	t.Helper()
	server := exec.Command(os.Args[0], "-test.run", "^TestKilledServer$")
	server.Env = append(os.Environ(), killedFile+"="+file)
	var told bytes.Buffer
	server.Stderr = &told
	stdout, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	must.OK(t, err)
	over := false
	kill = func() {
		if over {
			return
		}
		over = true
		_ = server.Process.Kill()
		_ = server.Wait() // it was killed
		if says := strings.Contains(told.String(), "; what was written later is missing\n"); says != found {
			t.Errorf("it says what may be missing: %t, want %t: %s", says, found, told.String())
		}
	}
	t.Cleanup(kill)
	var printed struct{ Endpoint string }
	if err := json.NewDecoder(stdout).Decode(&printed); err != nil {
		_ = server.Wait()
		over = true
		t.Fatalf("%v; it says: %s", err, told.String())
	}
	return strings.TrimPrefix(printed.Endpoint, "http://"), kill
}

// TestKilledServer is the process that startKilled starts: a server that saves all the time.
func TestKilledServer(t *testing.T) {
	file := os.Getenv(killedFile)
	if file == "" {
		t.Skip("TestKilled runs it")
	}
	s, err := New(t.Context(),
		Settings{Listen: "127.0.0.1:0", Clock: "wall", Data: file, DataEvery: time.Millisecond, Log: os.Stderr})
	must.OK(t, err)
	line, err := s.Line()
	must.OK(t, err)
	fmt.Fprintf(os.Stdout, "%s\n", line)
	must.OK(t, s.Run(t.Context()))
}

// TTL deletes by itself on the wall clock, and on request on a manual clock. The server says so when TTL is enabled.
func TestTTLByItself(t *testing.T) {
	for clock, want := range map[string]string{
		"wall":   "rows whose ttl is past are deleted after a lag: uniform 1s 30s (--ttl-lag)",
		"manual": "rows whose ttl is past stay until the control API sweeps them",
	} {
		var log bytes.Buffer
		s, err := New(t.Context(), Settings{Listen: "127.0.0.1:0", Clock: clock, Log: &log})
		must.OK(t, err)
		db := s.options.DB
		create(t, db)
		in := &dynamodb.UpdateTimeToLiveInput{
			TableName: aws.String("cache"), TimeToLiveSpecification: &types.TimeToLiveSpecification{
				AttributeName: aws.String("ttl"), Enabled: aws.Bool(true),
			},
		}
		must.Done(t)(db.As("alice").UpdateTimeToLive(t.Context(), in))
		sayLag(&log, db, in)
		sayLag(&log, db, &dynamodb.DescribeTimeToLiveInput{})
		if !strings.Contains(log.String(), "TTL of cache is on; "+want) || strings.Count(log.String(), "\n") != 1 {
			t.Errorf("%s: got %q, want %s", clock, log.String(), want)
		}
		number, err := attr.ParseNumber(strconv.FormatInt(s.options.Control.Clock.Now().Unix()-10, 10))
		must.OK(t, err)
		must.OK(t, db.Put("cache", attr.Item{"pk": attr.S("a"), "ttl": attr.N{Number: number}}))
		s.options.Control.Clock.Advance(31 * time.Second)
		if gone := len(db.Items("cache")) == 0; gone != (clock == "wall") {
			t.Errorf("%s: the row is gone: %t", clock, gone)
		}
		s.Close()
	}
}

// Web pages of an allowed origin may send requests; those of other origins may not. A program needs no origin.
func TestCORS(t *testing.T) {
	handler := newTestHandler(t, []string{"http://console.example:5173"})
	for _, c := range []struct {
		name, method, origin string
		more                 map[string]string
		status               int
		allowed              string
	}{
		{"asked before", "OPTIONS", "http://console.example:5173",
			map[string]string{
				"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-amz-target",
			}, 204, "http://console.example:5173"},
		{"allowed", "GET", "http://console.example:5173", map[string]string{"Sec-Fetch-Site": "cross-site"}, 200,
			"http://console.example:5173"},
		{"another port", "GET", "http://console.example", nil, 403, ""},
		{"another origin, asked before", "OPTIONS", "http://evil.example",
			map[string]string{"Access-Control-Request-Method": "POST"}, 403, ""},
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
		if _, err := New(t.Context(),
			Settings{Listen: "127.0.0.1:0", Clock: "wall", CORS: []string{bad}, Log: new(bytes.Buffer)}); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func newTestHandler(t *testing.T, origins []string) http.Handler {
	t.Helper()
	s, err := New(t.Context(), Settings{Listen: "127.0.0.1:0", Clock: "wall", CORS: origins, Log: new(bytes.Buffer)})
	must.OK(t, err)
	t.Cleanup(s.Close)
	return netHTTP(s.options.DB.Handler(), s.options)
}

// With --allow-remote, other machines may call the server by names of their network. Other owners' names are refused.
// Without the flag, all of these names are refused.
func TestNamesOfTheNetwork(t *testing.T) {
	for _, remote := range []bool{true, false} {
		s, err := New(t.Context(),
			Settings{Listen: "127.0.0.1:0", Clock: "wall", AllowRemote: remote, Log: new(bytes.Buffer)})
		must.OK(t, err)
		handler := netHTTP(s.options.DB.Handler(), s.options)
		for host, known := range map[string]bool{
			"dynamodb:8000": remote, "host.docker.internal:8000": remote,
			"evil.example:8000": false, "127.0.0.1:8000": true,
		} {
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
