package control_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/server/control"
	"github.com/isr-sim/isr-sim/s3fake"
)

func TestS3(t *testing.T) {
	store := s3fake.New(s3fake.Options{Buckets: []string{"pages"}})
	handler := control.Handler(ddbfake.New(ddbfake.Options{}), control.Options{S3: store})
	ask := func(method, path, body string, want int, holds string) {
		t.Helper()
		r := httptest.NewRequest(method, control.Prefix+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != want || !strings.Contains(w.Body.String(), holds) {
			t.Errorf("%s %s %s: got %d %s, want %d and %s", method, path, body, w.Code, w.Body, want, holds)
		}
	}
	do := func(method, path, body string, want int) {
		t.Helper()
		w := httptest.NewRecorder()
		store.Handler().ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
		if w.Code != want {
			t.Errorf("%s %s: got %d %s, want %d", method, path, w.Code, w.Body, want)
		}
	}
	ask("GET", "/s3/faults", "", http.StatusOK, `"faults": []`)
	ask("POST", "/s3/faults", `{"faults":["throttled op=PutObject","nonsense"]}`, http.StatusBadRequest, "want a kind")
	ask("POST", "/s3/faults", `{"faults":["throttled op=PutItem"]}`, http.StatusBadRequest, "PutObject")
	ask("POST", "/s3/faults", `{"faults":7}`, http.StatusBadRequest, "no list of strings")
	ask("GET", "/s3/faults", "", http.StatusOK, `"faults": []`)
	ask("POST", "/s3/faults", `{"faults":["throttled op=PutObject"]}`, http.StatusOK, "throttled op=PutObject")
	ask("GET", "/faults", "", http.StatusOK, `"faults": []`)
	do("PUT", "/pages/home", "Hello", http.StatusServiceUnavailable)
	do("PUT", "/pages/home", "Hello", http.StatusOK)
	ask("POST", "/s3/faults", `{"faults":["throttled times=always"]}`, http.StatusOK, "always")
	ask("DELETE", "/s3/faults", "", http.StatusOK, `"faults": []`)

	// A snapshot holds the objects, too.
	ask("POST", "/snapshot", `{"name":"one"}`, http.StatusOK, "one")
	do("DELETE", "/pages/home", "", http.StatusNoContent)
	do("GET", "/pages/home", "", http.StatusNotFound)
	ask("POST", "/restore", `{"name":"one"}`, http.StatusOK, "one")
	do("GET", "/pages/home", "", http.StatusOK)
	ask("DELETE", "/snapshot", "", http.StatusOK, "[]")

	alone := control.Handler(ddbfake.New(ddbfake.Options{}), control.Options{})
	for method, body := range map[string]string{"GET": "", "POST": `{"faults":["throttled"]}`, "DELETE": ""} {
		r := httptest.NewRequest(method, control.Prefix+"/s3/faults", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		alone.ServeHTTP(w, r)
		if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "isr-sim serve --s3") {
			t.Errorf("without S3: got %d %s", w.Code, w.Body)
		}
	}
}
