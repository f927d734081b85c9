//go:build unix

package nodes_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
)

// questions are requests to every service that answers a node: method, path, and for DynamoDB the operation and its
// body. Some are refused, and some are not valid.
var questions = [][4]string{
	{"POST", "/", "PutItem", `{"TableName":"TABLE","Item":{"pk":{"S":"a"},"sk":{"S":"b"}}}`},
	{"POST", "/", "PutItem",
		`{"TableName":"TABLE","Item":{"pk":{"S":"a"},"sk":{"S":"b"}},"ConditionExpression":"attribute_not_exists(pk)"}`},
	{"POST", "/", "GetItem", `{"TableName":"none","Key":{"pk":{"S":"a"},"sk":{"S":"b"}}}`},
	{"POST", "/", "GetItem", `nonsense`},
	{"POST", "/", "NoSuchOperation", `{}`},
	{"POST", "/_isr-sim/sleep?ms=90000", "", ""},
	{"POST", "/_isr-sim/sleep?ms=x", "", ""},
	{"GET", "/_isr-sim/time", "", ""},
	{"GET", "/_isr-sim/origin?key=/a", "", ""},
	{"PUT", "/_isr-sim/bodies/a", "", "body"},
	{"GET", "/_isr-sim/bodies/a", "", ""},
	{"GET", "/_isr-sim/bodies/none", "", ""},
	{"PATCH", "/_isr-sim/bodies/a", "", ""},
	{"GET", "/_isr-sim/none?%zz", "", ""},
	{"GET", "/_isr-sim/none", "", ""},
	{"PUT", "/bodies/one", "", "body"},
	{"GET", "/bodies/one", "", ""},
	{"HEAD", "/bodies/one", "", ""},
	{"GET", "/bodies/none", "", ""},
	{"GET", "/none/one", "", ""},
	{"OPTIONS", "*", "", ""},
}

// askDates prints, for each question, the Date of its answer, the node's time, and other dates in it.
func askDates(c *clock, table string) {
	for _, q := range questions {
		r, err := http.NewRequest(q[0], c.endpoint, strings.NewReader(strings.ReplaceAll(q[3], "TABLE", table)))
		if err != nil {
			panic(err)
		}
		r.URL.Opaque = q[1]
		if path, query, has := strings.Cut(q[1], "?"); has || path != "*" {
			r.URL.Opaque, r.URL.Path, r.URL.RawQuery = "", path, query
		}
		if q[2] != "" {
			r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+q[2])
			r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			panic(err)
		}
		_ = answer.Body.Close()
		fmt.Fprintf(os.Stderr, "%s %s|%d|%s|%s|%s\n", q[0], q[1], answer.StatusCode,
			answer.Header.Get("X-Isr-Sim-Time"), answer.Header.Get("Last-Modified"),
			strings.Join(answer.Header.Values("Date"), " and "))
	}
}

// TestDateIsTheNodes: every answer to a node, including errors, has exactly one Date, the node's own time. An SDK that
// sees another Date corrects its clock, and asks again.
func TestDateIsTheNodes(t *testing.T) {
	s := scenariotest.Parsed(t,
		"name: one\nabout: one\nactors: [{name: alice, script: [get /home], clock: {offset: 3m}}]\n")
	p := program(t, "dates", 0)
	var said bytes.Buffer
	p.Stderr = &said
	must.Done(t)(kernel.Run{Scenario: s, Protocol: p.Protocol()}.Do(t.Context()))
	p.Close() // all of its output has arrived
	var statuses []string
	for line := range strings.Lines(said.String()) {
		field := strings.Split(strings.TrimSpace(line), "|")
		if len(field) != 5 {
			t.Fatalf("the node printed %q", line)
		}
		statuses = append(statuses, field[1])
		ms, err := strconv.ParseInt(field[2], 10, 64)
		if want := time.UnixMilli(ms).UTC().Format(http.TimeFormat); err != nil || field[4] != want {
			t.Errorf("%s: got Date %q, want %q, which is the node's time %s", field[0], field[4], want, field[2])
		}
		if field[3] != "" && !strings.Contains(field[3], field[4][8:16]) {
			t.Errorf("%s: got Last-Modified %q, want the month of %q", field[0], field[3], field[4])
		}
	}
	if len(statuses) != len(questions) || !slices.Contains(statuses, "200") || !slices.Contains(statuses, "400") ||
		!slices.Contains(statuses, "404") {
		t.Errorf("got answers %v, want %d, those refused among them", statuses, len(questions))
	}
}
