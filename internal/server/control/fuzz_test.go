package control_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/server/control"
)

// FuzzHandler checks that every request is answered, in JSON; that a refusal has a reason and does not move the clock;
// and that nothing moves the clock back.
func FuzzHandler(f *testing.F) {
	for _, seed := range [][3]string{
		{"GET", "/", ""}, {"POST", "/clock", `{"advance":"90s"}`}, {"POST", "/clock", `{"set":"2040-01-01T01:00:00Z"}`},
		{"POST", "/ttl-lag", `{"ttlLag":"fixed 10m"}`},
		{"POST", "/faults", `{"faults":["throttled op=PutItem key=\"a b\" times=2"]}`},
		{"POST", "/snapshot", `{"name":"\ud83d\ude00"}`}, {"POST", "/restore", `{"name":"a"}`},
		{"GET", "/dump?table=a", ""}, {"GET", "/changes?since=1", ""}, {"POST", "/sweep", "{}"},
		{"POST", "/replica-lag", `{"replicaLag":"2s"}`}, {"POST", "/region-lag", `{"regionLag":"manual"}`},
		{"POST", "/replicate", "{}"}, {"DELETE", "/faults", ""},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, method, path, body string) {
		target, err := url.Parse("http://127.0.0.1" + control.Prefix + path)
		if err != nil || method == "" || strings.ContainsFunc(method, func(r rune) bool { return r < 'A' || r > 'Z' }) {
			t.Skip("no HTTP")
		}
		clock := fakeclock.New(fakeclock.Epoch)
		h := control.Handler(ddbfake.New(ddbfake.Options{Clock: clock}), control.Options{Clock: clock})
		r := httptest.NewRequest(method, "/", strings.NewReader(body))
		r.URL = target
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		var got struct{ Error string }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("got %d %q: %v", w.Code, w.Body, err)
		}
		if w.Code >= 500 || (w.Code == http.StatusOK) != (got.Error == "") {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
		if moved := clock.Now().Sub(fakeclock.Epoch); moved < 0 || moved != 0 && w.Code != http.StatusOK {
			t.Errorf("got %d %s, and the clock moved by %s", w.Code, w.Body, moved)
		}
	})
}
