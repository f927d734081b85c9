package differential

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Store is a DynamoDB behind its wire, so that the compared answers are those that every client gets.
type Store struct {
	// Name is its name in reports.
	Name string
	// Send sends a request: an http.Client's Do, or a function that serves in process.
	Send func(*http.Request) (*http.Response, error)
	// Endpoint is its address.
	Endpoint string
	// Delayed means that tables take a while to be created, and that indexes lag behind their tables.
	Delayed bool
	// Sign adds the caller's credentials.
	Sign func(r *http.Request, body []byte) error

	seen seen
}

// InProcess returns a store behind a handler, without a socket.
func InProcess(name string, h http.Handler) Store {
	return Store{Name: name, Endpoint: "http://in-process", Sign: Unsigned("differential"),
		Send: func(r *http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w.Result(), nil
		}}
}

// Unsigned names an access key id and signs nothing: neither the fake nor DynamoDB Local checks signatures.
func Unsigned(accessKeyID string) func(*http.Request, []byte) error {
	header := "AWS4-HMAC-SHA256 Credential=" + accessKeyID +
		"/20400101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none"
	return func(r *http.Request, _ []byte) error {
		r.Header.Set("Authorization", header)
		return nil
	}
}

// answer is a store's answer to a request.
type answer struct {
	status int
	// code and message are the code and the message of an error.
	code, message string
	body          object
}

func (a answer) failed() bool { return a.status != http.StatusOK }

// class returns the exception of an error, with the codes of a cancelled transaction, or "ok".
func (a answer) class() string {
	text := a.code
	switch {
	case !a.failed():
		return "ok"
	case a.status != http.StatusBadRequest:
		text = fmt.Sprintf("%d %s", a.status, a.code)
	}
	for _, reason := range list(a.body, "CancellationReasons") {
		text += fmt.Sprintf(" %v", reason["Code"])
	}
	return text
}

// detailed returns the class of an error with its messages, or "ok".
func (a answer) detailed() string {
	if !a.failed() {
		return "ok"
	}
	text := a.class() + ": " + a.message
	for _, reason := range list(a.body, "CancellationReasons") {
		if reason["Message"] != nil {
			text += fmt.Sprintf(" - %v: %v", reason["Code"], reason["Message"])
		}
	}
	return text
}

// do sends a request and reads the answer. It returns an error if the infrastructure fails, or if the answer is not
// well-formed. An error of the store is part of the answer.
func (s Store) do(ctx context.Context, operation string, body []byte) (answer, error) {
	body = s.named(body)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Endpoint+"/", bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	api := "DynamoDB_20120810."
	if contains(onStreams, operation) {
		api = "DynamoDBStreams_20120810."
	}
	r.Header.Set("X-Amz-Target", api+operation)
	if err := s.Sign(r, body); err != nil {
		return answer{}, fmt.Errorf("%s: sign: %w", s.Name, err)
	}
	response, err := s.Send(r)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %s: %w", s.Name, operation, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %s: %w", s.Name, operation, err)
	}
	a := answer{status: response.StatusCode}
	if err := a.read(response.Header, text); err != nil {
		return answer{}, fmt.Errorf("%s: %s: %w in status %d %q", s.Name, operation, err, a.status, text)
	}
	return a, nil
}

// read takes an answer apart, and checks the headers that clients check.
func (a *answer) read(h http.Header, text []byte) error {
	if want := h.Get("X-Amz-Crc32"); want != "" && want != strconv.FormatUint(uint64(crc32.ChecksumIEEE(text)), 10) {
		return fmt.Errorf("a wrong X-Amz-Crc32 %s", want)
	}
	if h.Get("X-Amzn-Requestid") == "" {
		return fmt.Errorf("no x-amzn-RequestId")
	}
	if kind := h.Get("Content-Type"); kind != "application/x-amz-json-1.0" {
		return fmt.Errorf("content type %q", kind)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&a.body); err != nil {
		return fmt.Errorf("no JSON object: %w", err)
	}
	if !a.failed() {
		return nil
	}
	kind, _ := a.body["__type"].(string)
	a.code = kind[strings.LastIndexByte(kind, '#')+1:]
	for _, name := range []string{"message", "Message"} { // clients take both
		if text, ok := a.body[name].(string); ok {
			a.message = text
		}
		delete(a.body, name)
	}
	delete(a.body, "__type")
	if a.code == "" {
		return fmt.Errorf("no __type")
	}
	return nil
}

// AWSEnv is the environment variable that makes tests use DynamoDB itself when it is "1". It costs money: see the
// package's documentation.
const AWSEnv = "ISRSIM_AWS"

// ErrNoCredentials is the error of AWS if the environment names no region or has no credentials.
var ErrNoCredentials = errors.New(
	"DynamoDB itself needs AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment",
)

// Account returns the region and the credentials that the environment names. It reads no files, so that the user's
// default account is not used by accident.
func Account() (region string, c aws.Credentials, err error) {
	region = os.Getenv("AWS_REGION")
	c = aws.Credentials{
		AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken: os.Getenv("AWS_SESSION_TOKEN"),
	}
	if region == "" || !c.HasKeys() {
		return "", c, ErrNoCredentials
	}
	return region, c, nil
}

// AWS returns DynamoDB itself, in the account that the environment names.
func AWS(ctx context.Context) (Store, error) {
	region, credentials, err := Account()
	if err != nil {
		return Store{}, err
	}
	signer := v4.NewSigner()
	return Store{
		Name:     "aws",
		Endpoint: "https://dynamodb." + region + ".amazonaws.com",
		Send:     (&http.Client{}).Do,
		Delayed:  true,
		Sign: func(r *http.Request, body []byte) error {
			hash := sha256.Sum256(body)
			now := time.Now() //nolint:forbidigo // a signature contains the time
			return signer.SignHTTP(ctx, credentials, r, hex.EncodeToString(hash[:]), "dynamodb", region, now)
		},
	}, nil
}

// The tables of every sequence have few keys, so that operations collide, and every kind of key and of index.
var tables = []table{
	{
		name: "differential-rows",
		key:  []attribute{{"pk", "S"}, {"sk", "S"}},
		indexes: []index{
			{name: "byGroup", hash: []attribute{{"g", "S"}}, sort: []attribute{{"n", "N"}}, projection: "ALL"},
			{name: "byHeight", hash: []attribute{{"h", "N"}}, projection: "KEYS_ONLY"},
			{
				name: "byBoth", hash: []attribute{{"g", "S"}, {"h", "N"}}, sort: []attribute{{"n", "N"}, {"b", "B"}},
				projection: "INCLUDE", include: []any{"x", "m"},
			},
			{name: "localNumber", local: true, hash: []attribute{{"pk", "S"}},
				sort: []attribute{{"n", "N"}}, projection: "ALL"},
			{
				name: "localBytes", local: true, hash: []attribute{{"pk", "S"}}, sort: []attribute{{"b", "B"}},
				projection: "INCLUDE", include: []any{"x", "l"},
			},
		},
	},
	{name: "differential-numbers", key: []attribute{{"id", "N"}}},
	{name: "differential-bytes", key: []attribute{{"pk", "B"}, {"sk", "N"}}},
}

// attribute is a key attribute and its type.
type attribute struct{ name, kind string }

type table struct {
	name    string
	key     []attribute
	indexes []index
}

type index struct {
	name       string
	local      bool
	hash, sort []attribute
	projection string
	include    []any
}

func (x index) attributes() []attribute { return append(x.hash[:len(x.hash):len(x.hash)], x.sort...) }

// isKey reports whether an attribute belongs to the table's own key.
func (t table) isKey(name string) bool {
	for _, a := range t.key {
		if a.name == name {
			return true
		}
	}
	return false
}

// indexed returns the type that an attribute must have for an index, or "" for any type.
func (t table) indexed(name string) string {
	for _, x := range t.indexes {
		for _, a := range x.attributes() {
			if a.name == name {
				return a.kind
			}
		}
	}
	return ""
}

func (t table) create() Request {
	defined := object{}
	define := func(list []attribute) {
		for _, a := range list {
			defined[a.name] = a.kind
		}
	}
	define(t.key)
	body := object{"TableName": t.name, "BillingMode": "PAY_PER_REQUEST", "KeySchema": keySchema(t.key[:1], t.key[1:])}
	var global, local []any
	for _, x := range t.indexes {
		define(x.attributes())
		projection := object{"ProjectionType": x.projection}
		if x.include != nil {
			projection["NonKeyAttributes"] = x.include
		}
		made := object{"IndexName": x.name, "KeySchema": keySchema(x.hash, x.sort), "Projection": projection}
		if x.local {
			local = append(local, made)
		} else {
			global = append(global, made)
		}
	}
	if global != nil {
		body["GlobalSecondaryIndexes"] = global
	}
	if local != nil {
		body["LocalSecondaryIndexes"] = local
	}
	var definitions []any
	for _, name := range sortedKeys(defined) {
		definitions = append(definitions, object{"AttributeName": name, "AttributeType": defined[name]})
	}
	body["AttributeDefinitions"] = definitions
	return Request{Operation: "CreateTable", Body: body}
}

func keySchema(hash, sort []attribute) []any {
	var elements []any
	for _, a := range hash {
		elements = append(elements, object{"AttributeName": a.name, "KeyType": "HASH"})
	}
	for _, a := range sort {
		elements = append(elements, object{"AttributeName": a.name, "KeyType": "RANGE"})
	}
	return elements
}

func tableNamed(name string) (table, bool) {
	for _, t := range tables {
		if t.name == name || strings.HasSuffix(name, ":table/"+t.name) {
			return t, true
		}
	}
	return table{}, false
}
