package control_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/server/control"
)

// row writes a row as alice.
func (f *fake) row(item map[string]types.AttributeValue) {
	f.t.Helper()
	table := "cache"
	if _, err := f.db.As("alice").PutItem(f.t.Context(),
		&dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
		f.t.Fatal(err)
	}
}

func text(v string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: v} }
func digits(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }

func TestTables(t *testing.T) {
	f := newFake(t)
	createTable(t, f.db.As("alice").In("eu-west-1"))
	f.row(map[string]types.AttributeValue{"pk": text("a")})
	_, got := f.ask("GET", "/tables", "")
	var answer struct {
		Tables []struct {
			Address, Region, Name, TTL string
			Keys                       []string
			Rows                       int
		}
	}
	if err := json.Unmarshal([]byte(got), &answer); err != nil || len(answer.Tables) != 2 {
		t.Fatalf("got %s, want two tables", got)
	}
	far, near := answer.Tables[0], answer.Tables[1]
	if far.Region != "eu-west-1" || !strings.HasPrefix(far.Address, "arn:") || far.TTL != "" || far.Rows != 0 {
		t.Errorf("in eu-west-1 there is %+v", far)
	}
	if near.Address != "cache" || near.TTL != "ttl" || near.Rows != 1 || !cmp.Equal(near.Keys, []string{"pk"}) {
		t.Errorf("in the default region there is %+v", near)
	}
}

func TestRowsHaveTheirFate(t *testing.T) {
	f := newFake(t)
	f.db.SetLag(ddbfake.LagFixed(10 * time.Minute))
	f.row(map[string]types.AttributeValue{"pk": text("a"), "ttl": digits("2208988830")})
	f.row(map[string]types.AttributeValue{"pk": text("b"), "note": text("Keep")})
	f.row(map[string]types.AttributeValue{"pk": text("c"), "note": text("drop")})
	type row struct{ Due, Deletion string }
	type rows struct {
		Found int
		Rows  []row
	}
	read := func(query string) rows {
		t.Helper()
		status, text := f.ask("GET", "/rows"+query, "")
		var out rows
		if err := json.Unmarshal([]byte(text), &out); err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %s", query, status, text)
		}
		return out
	}
	want := rows{3, []row{{"2040-01-01T00:00:30Z", "2040-01-01T00:10:31Z"}, {}, {}}}
	if diff := cmp.Diff(want, read("?table=cache")); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(rows{1, []row{{}}}, read("?table=cache&contains=keep")); diff != "" {
		t.Errorf("rows with keep (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(rows{3, want.Rows[:2]}, read("?table=cache&limit=2")); diff != "" {
		t.Errorf("the first two rows (-want +got):\n%s", diff)
	}
	for query, want := range map[string]int{
		"": 404, "?table=stash": 404, "?table=cache&limit=0": 400, "?table=cache&limit=1001": 400, "?limt=1": 400,
	} {
		if status, text := f.ask("GET", "/rows"+query, ""); status != want {
			t.Errorf("/rows%s: %d %s, want %d", query, status, text, want)
		}
	}
	if n := len(f.db.Changes()); n != 3 {
		t.Errorf("%d changes, want 3: looking is no call", n)
	}
}

func TestTheLatestChanges(t *testing.T) {
	f := newFake(t)
	for _, pk := range []string{"a", "b", "c"} {
		f.row(map[string]types.AttributeValue{"pk": text(pk)})
	}
	for query, want := range map[string][]int{
		"?latest=2": {2, 3}, "?latest=9": {1, 2, 3}, "?since=2&latest=2": {3}, "?since=3&latest=1": nil,
	} {
		_, got := f.ask("GET", "/changes"+query, "")
		var answer struct {
			Changes []struct{ Seq int }
			Last    int
		}
		if err := json.Unmarshal([]byte(got), &answer); err != nil {
			t.Fatalf("%s: %s", query, got)
		}
		var seqs []int
		for _, c := range answer.Changes {
			seqs = append(seqs, c.Seq)
		}
		if !cmp.Equal(seqs, want) || answer.Last != 3 {
			t.Errorf("%s: changes %v up to %d, want %v up to 3", query, seqs, answer.Last, want)
		}
	}
	if status, _ := f.ask("GET", "/changes?latest=0", ""); status != http.StatusBadRequest {
		t.Errorf("latest=0: status %d, want 400", status)
	}
}

// Browsers get the page, with a policy that lets it run nothing else; curl and SDKs get the list of resources.
func TestPageIsForBrowsers(t *testing.T) {
	f := newFake(t)
	get := func(path, accept string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", control.Prefix+path, nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		f.api.ServeHTTP(w, r)
		return w
	}
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for _, path := range []string{"", "/"} {
		w := get(path, browser)
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.HasPrefix(w.Body.String(), "<!doctype html>") || !strings.Contains(policy, "default-src 'none'") ||
			!strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") ||
			w.Header().Get("Vary") != "Accept" {
			t.Errorf("%q: %d %v %.60s", path, w.Code, w.Header(), w.Body)
		}
	}
	for _, w := range []*httptest.ResponseRecorder{get("/", "*/*"), get("/clock", browser)} {
		if got := w.Header().Get("Content-Type"); got != "application/json" {
			t.Errorf("Content-Type %s, want application/json", got)
		}
	}
}

// The server's page may use the control API, and nothing else of the server. Other web pages may use nothing.
func TestOnlyTheOwnPageIsAClient(t *testing.T) {
	guarded := control.Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), "fake.test")
	for _, test := range []struct {
		path, host string
		origin     []string
		want       int
	}{
		{control.Prefix + "/clock", "127.0.0.1:8000", []string{"http://127.0.0.1:8000"}, 200},
		{control.Prefix + "/clock", "localhost:8000", []string{"https://localhost:8000"}, 200},
		{control.Prefix + "/clock", "fake.test:8000", []string{"http://fake.test:8000"}, 200},
		{"/", "127.0.0.1:8000", []string{"http://127.0.0.1:8000"}, 403},
		{control.Prefix + "x", "127.0.0.1:8000", []string{"http://127.0.0.1:8000"}, 403},
		{control.Prefix + "/clock", "127.0.0.1:8000", []string{"http://127.0.0.1:8001"}, 403},
		{control.Prefix + "/clock", "127.0.0.1:8000", []string{"http://localhost:8000"}, 403},
		{control.Prefix + "/clock", "127.0.0.1:8000", []string{"null"}, 403},
		{control.Prefix + "/clock", "127.0.0.1:8000", []string{""}, 403},
		{control.Prefix + "/clock", "127.0.0.1:8000", []string{"http://127.0.0.1:8000", "http://evil.example"}, 403},
		{control.Prefix + "/clock", "127.0.0.1:8000", []string{"http://127.0.0.1:8000.evil.example"}, 403},
		{control.Prefix + "/clock", "evil.example", []string{"http://evil.example"}, 403},
		{control.Prefix + "/clock", "", []string{"http://"}, 403},
	} {
		r := httptest.NewRequest("POST", test.path, nil)
		r.Host, r.Header["Origin"] = test.host, test.origin
		w := httptest.NewRecorder()
		guarded.ServeHTTP(w, r)
		if w.Code != test.want {
			t.Errorf("%s of %s by a page of %q: %d, want %d", test.path, test.host, test.origin, w.Code, test.want)
		}
	}
}
