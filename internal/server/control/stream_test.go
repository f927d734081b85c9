package control_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/server/control"
)

// brokenOff is a client that takes some pieces of an answer and then goes.
type brokenOff struct {
	header  http.Header
	takes   int
	pieces  int
	longest int
}

func (b *brokenOff) Header() http.Header { return b.header }
func (b *brokenOff) WriteHeader(int)     {}
func (b *brokenOff) Flush()              {}

func (b *brokenOff) Write(p []byte) (int, error) {
	b.pieces++
	b.longest = max(b.longest, len(p))
	if b.pieces > b.takes {
		return 0, errors.New("the client has gone")
	}
	return len(p), nil
}

// room counts the bytes of an answer among those of all.
type room struct {
	taken, highest *int
	own            int
}

func (r *room) Hold(bytes int) {
	*r.taken += bytes - r.own
	r.own = bytes
	*r.highest = max(*r.highest, bytes)
}

func (r *room) Release() { r.Hold(0) }

// An answer for which there is no room is refused.
func TestAnswersWithoutRoom(t *testing.T) {
	f := newFake(t)
	f.api = control.Handler(f.db,
		control.Options{Room: func(context.Context, int) (control.Room, error) { return nil, errors.New("no room") }})
	if status, got := f.ask("GET", "/dump", ""); status != http.StatusServiceUnavailable || got != "no room" {
		t.Errorf("got %d and %q", status, got)
	}
}

// Rows and changes are sent in pieces as they are read, and the answer ends when its client has gone. Other clients
// still get their answers, unchanged.
//
// Each answer takes room before it begins, holds as much room as it needs, and gives it back.
func TestAnswersInPieces(t *testing.T) {
	f := newFake(t)
	taken, highest := 0, 0
	f.api = control.Handler(f.db, control.Options{Room: func(_ context.Context, bytes int) (control.Room, error) {
		taken += bytes
		return &room{&taken, &highest, bytes}, nil
	}})
	const rows, bytes = 60, 10_000
	for i := range rows {
		must.Done(t)(f.db.As("alice").PutItem(t.Context(),
			&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: map[string]types.AttributeValue{
				"pk":   &types.AttributeValueMemberS{Value: string(rune('a' + i))},
				"html": &types.AttributeValueMemberS{Value: strings.Repeat("x", bytes)},
			}}))
	}
	for _, path := range []string{"/dump", "/dump?table=cache", "/changes", "/rows?table=cache&limit=1000",
		"/rows?table=cache&limit=1000&contains=xx"} {
		ask := func(takes int) *brokenOff {
			to := &brokenOff{header: http.Header{}, takes: takes}
			r := must.Of(http.NewRequestWithContext(t.Context(), http.MethodGet, control.Prefix+path, nil))(t)
			f.api.ServeHTTP(to, r)
			return to
		}
		for range 20 {
			if gone := ask(2); gone.pieces > 3 || gone.longest > 100_000 {
				t.Fatalf("%s: %d pieces of up to %d bytes were made for a client that took 2", path,
					gone.pieces, gone.longest)
			}
		}
		if whole := ask(rows * bytes); whole.pieces < 8 || whole.longest > 100_000 {
			t.Errorf("%s: %d pieces of up to %d bytes, want many", path, whole.pieces, whole.longest)
		}
		if status, got := f.ask("GET", path, ""); status != http.StatusOK ||
			strings.Count(got, strings.Repeat("x", bytes)) != rows || !strings.HasSuffix(got, "}") {
			t.Errorf("%s: got %d and %d bytes", path, status, len(got))
		}
		if taken != 0 || highest < 100_000 || highest > 1_000_000 {
			t.Errorf("%s: answers that have ended hold %d bytes, and one held up to %d", path, taken, highest)
		}
		if status, got := f.ask("HEAD", path, ""); status != http.StatusOK || got != "" {
			t.Errorf("HEAD %s: got %d and %d bytes", path, status, len(got))
		}
	}
}

// A page of another site cannot make a browser send a request that is served, even one without an Origin.
func TestCrossSite(t *testing.T) {
	f := newFake(t)
	f.api = control.Guard(f.api)
	for value, want := range map[string]int{"cross-site": 403, "same-origin": 200, "same-site": 200, "none": 200} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			"http://127.0.0.1:8000"+control.Prefix+"/dump", nil)
		must.OK(t, err)
		r.Header.Set("Sec-Fetch-Site", value)
		w := httptest.NewRecorder()
		f.api.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("Sec-Fetch-Site: %s: got %d, want %d", value, w.Code, want)
		}
	}
}
