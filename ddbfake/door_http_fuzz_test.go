package ddbfake_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// httpSeeds are requests on the table of fuzzedDB, an operation and a body per line. At least one per operation works,
// and some do not.
//
//go:embed testdata/requests.txt
var httpSeeds string

// FuzzHTTP sends any request to the HTTP door. Each answer is one that the service could give: with one of its status
// codes, the right checksum and valid JSON. An error changes nothing. After any request, rows can be stored, and the
// same request in the same state has the same answer and effect.
//
// The seeds catch each of these bugs when planted: a batch that stops in the middle, an unsorted map in an answer, a
// stored item over 400 KB, a checksum of another body.
func FuzzHTTP(f *testing.F) {
	const signed = "AWS4-HMAC-SHA256 Credential=alice/20400101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, " +
		"Signature=00"
	for line := range strings.Lines(httpSeeds) {
		operation, body, _ := strings.Cut(strings.TrimSpace(line), " ")
		target := "DynamoDB_20120810."
		if strings.HasSuffix(operation, "Stream") || operation == "ListStreams" ||
			strings.Contains(operation, "Shard") || operation == "GetRecords" {
			target = "DynamoDBStreams_20120810."
		}
		f.Add("POST", target+operation, signed, "application/x-amz-json-1.0", "", []byte(body))
	}
	f.Add("POST", "DynamoDB_20120810.", signed, "application/x-amz-json-1.0", "", []byte{})
	f.Add("GET", "", "", "", "", []byte{})
	f.Add("POST", "DynamoDBStreams_20120810.ListStreams", "", "application/json; charset=utf-8",
		"identity", []byte("{}"))
	f.Add("PUT", "Kinesis_20131202.ListStreams", "AWS4-HMAC-SHA256 Credential=alice", "text/html", "", []byte("\xff"))
	f.Add("POST", "DynamoDB_20120810.ListTables", signed, "application/json", "gzip", []byte(
		"\x1f\x8b\b\x00\x00\x00\x00\x00\x00\xff\xaa\xae\x05\x04\x00\x00\xff\xff\x43\xbf\xa6\xa3\x02\x00\x00\x00",
	))

	db := fuzzedDB(f)
	start, before := db.Snapshot(), effectOf(db)
	f.Fuzz(func(t *testing.T, method, target, authorization, contentType, encoding string, body []byte) {
		send := func() (*httptest.ResponseRecorder, effect) {
			db.Restore(start)
			r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
			r.Method = method
			r.Header.Set("X-Amz-Target", target)
			r.Header.Set("Authorization", authorization)
			r.Header.Set("Content-Type", contentType)
			r.Header.Set("Content-Encoding", encoding)
			w := httptest.NewRecorder()
			db.Handler().ServeHTTP(w, r)
			return w, effectOf(db)
		}
		w, after := send()
		checkAnswer(t, w)
		if w.Code != http.StatusOK && after != before {
			t.Errorf("%d %.1000s, and something has changed: %+v, before %+v", w.Code, w.Body, after, before)
		}
		if after != before {
			checkRows(t, db)
		}
		again, same := send()
		if again.Code != w.Code || again.Body.String() != w.Body.String() || same != after {
			t.Errorf("the same request again:\ngot  %d %.1000s %+v\nwant %d %.1000s %+v", again.Code, again.Body,
				same, w.Code, w.Body, after)
		}
	})
}

// fuzzedDB has two rows in a table with an index.
func fuzzedDB(tb testing.TB) *ddbfake.DB {
	tb.Helper()
	db := ddbfake.New(ddbfake.Options{})
	for _, step := range [][2]string{
		{"CreateTable",
			`{"TableName":"cache","BillingMode":"PAY_PER_REQUEST","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_AND_OLD_IMAGES"},
			"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
			"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"},{"AttributeName":"v","AttributeType":"N"}],
			"GlobalSecondaryIndexes":[{"IndexName":"by-v","KeySchema":[{"AttributeName":"v","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]}`},
		{"PutItem",
			`{"TableName":"cache","Item":{"pk":{"S":"a"},"sk":{"N":"1"},"v":{"N":"7"},"ss":{"SS":["x","y"]},"l":{"L":[{"S":"0"},{"M":{"m":{"N":"1"}}}]}}}`},
		{"PutItem", `{"TableName":"cache","Item":{"pk":{"S":"a"},"sk":{"N":"2"},"ttl":{"N":"1"},"big":{"L":[{"S":"` +
			strings.Repeat("x", 205<<10) + `"}]}}}`},
		{"CreateBackup", `{"TableName":"cache","BackupName":"one"}`},
		{"UpdateContinuousBackups",
			`{"TableName":"cache","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}}`},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(step[1]))
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+step[0])
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=setup/20400101/us-east-1/dynamodb/aws4_request")
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if db.Handler().ServeHTTP(w, r); w.Code != http.StatusOK {
			tb.Fatalf("%s: %s", step[0], w.Body)
		}
	}
	return db
}

// effect is everything that a request can change.
type effect struct {
	hash    [32]byte
	changes int
	tables  string
}

func effectOf(db *ddbfake.DB) effect {
	return effect{db.Hash(), len(db.Changes()), strings.Join(db.Tables(), " ")}
}

func checkAnswer(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	body := w.Body.Bytes()
	switch w.Code {
	case http.StatusOK, http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge:
	default:
		t.Errorf("status %d %.1000s: no fault is injected", w.Code, body)
	}
	if got, want := w.Header().Get("X-Amz-Crc32"),
		strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10); got != want {
		t.Errorf("X-Amz-Crc32: got %s, want %s of %.1000s", got, want, body)
	}
	if len(w.Header().Get("X-Amzn-Requestid")) != 52 || w.Header().Get("Content-Length") != strconv.Itoa(len(body)) {
		t.Errorf("headers %v of %.1000s", w.Header(), body)
	}
	if w.Header().Get("Content-Type") != "application/x-amz-json-1.0" || w.Code == http.StatusRequestEntityTooLarge {
		return
	}
	var got struct {
		Type string `json:"__type"`
	}
	if err := json.Unmarshal(body, &got); err != nil || (got.Type == "") != (w.Code == http.StatusOK) {
		t.Errorf("status %d, %.1000s: %v", w.Code, body, err)
	}
}

// checkRows asserts that every stored row is a valid item.
func checkRows(t *testing.T, db *ddbfake.DB) {
	t.Helper()
	const maxItem = 400 << 10
	for _, name := range db.Tables() {
		for _, item := range db.Items(name) {
			stored, err := attr.ItemFromSDK(item.ToSDK())
			if err != nil || !reflect.DeepEqual(stored, item) {
				t.Errorf("the row %.1000s of %s is stored, and is none: %v", item, name, err)
			}
			if size := item.Size(); size > maxItem {
				t.Errorf("a row of %s has %d bytes, more than %d", name, size, maxItem)
			}
		}
	}
}
