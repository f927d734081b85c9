package control

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/base/suggest"
)

// maxBodyBytes is the maximum size of a request's body in this API.
const maxBodyBytes = 1 << 20

// jsonOptions are the options of answers. They are indented, because people read them as well.
var jsonOptions = json.JoinOptions(json.Deterministic(true), json.FormatNilMapAsNull(true),
	jsontext.AllowInvalidUTF8(true), jsontext.WithIndent("  "))

// answer sends v as JSON.
func answer(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v, jsonOptions)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// A failed write means that the caller is gone.
	_, _ = w.Write(append(body, '\n'))
}

// body is the JSON object of a request. Its members are not parsed yet.
type body map[string]jsontext.Value

// members reads a body that is one JSON object without unexpected members.
func members(w http.ResponseWriter, r *http.Request, expected ...string) (body, error) {
	if _, err := parameters(r); err != nil {
		return nil, err
	}
	object := "a JSON object: one of " + strings.Join(expected, ", ")
	text, err := jsonText(w, r, object, `{"`+strings.Join(expected, `": ..., "`)+`": ...}`)
	if err != nil {
		return nil, err
	}
	var found body
	if err := json.Unmarshal(text, &found); err != nil || found == nil {
		return nil, badRequest("the body is no JSON object", excerpt(text), object, "")
	}
	return found, only(found, "the body has", expected)
}

// only refuses unexpected members. subject begins the text of the error.
func only(found body, subject string, expected []string) error {
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if !slices.Contains(expected, name) {
			return badRequest(subject+" an unknown member", name, strings.Join(expected, ", "),
				suggest.Hint(name, expected, ""))
		}
	}
	return nil
}

// jsonText reads a body that is not empty and has a JSON Content-Type.
func jsonText(w http.ResponseWriter, r *http.Request, expected, example string) ([]byte, error) {
	text, err := read(w, r)
	if err != nil {
		return nil, err
	}
	if len(text) == 0 {
		return nil, badRequest("the request has no body", "nothing", expected, "with curl: --json '"+example+"'")
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, &failure{
			status:   http.StatusUnsupportedMediaType,
			Message:  "the body does not call itself JSON",
			Found:    "Content-Type: " + r.Header.Get("Content-Type"),
			Expected: "Content-Type: application/json",
			Hint:     "with curl: --json, or -H 'Content-Type: application/json'",
		}
	}
	return text, nil
}

// read reads a body, without white space around it.
func read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	return readUpTo(w, r, maxBodyBytes)
}

func readUpTo(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, &failure{
			status:   http.StatusRequestEntityTooLarge,
			Message:  "the body is too large",
			Found:    fmt.Sprintf("more than %d bytes", most),
			Expected: fmt.Sprintf("at most %d bytes", most),
		}
	}
	if err != nil {
		return nil, badRequest("the body broke off", err.Error(), "a whole body", "")
	}
	return bytes.TrimSpace(text), nil
}

// nothing refuses a request with parameters, or with a body other than {}, because its resource would ignore them.
func nothing(w http.ResponseWriter, r *http.Request) error {
	if _, err := parameters(r); err != nil {
		return err
	}
	text, err := read(w, r)
	if err == nil && len(text) > 0 && string(text) != "{}" {
		return badRequest("this request takes no body", excerpt(text), "nothing, or {}", "")
	}
	return err
}

// str reads a member that is a string. The hint of an error shows the example.
func str(found body, name, example string) (string, error) {
	raw, ok := found[name]
	hint := fmt.Sprintf("for example {%q:%q}", name, example)
	if !ok {
		return "", badRequest("the body lacks a member", "{}", name, hint)
	}
	var s string
	if raw.Kind() != '"' || json.Unmarshal(raw, &s) != nil {
		return "", badRequest(name+" is no string", excerpt(raw), "a string", hint)
	}
	return s, nil
}

// excerpt returns the beginning of a body, for errors.
func excerpt(b []byte) string {
	const most = 80
	text := strings.ToValidUTF8(string(b[:min(len(b), 4*most)]), "\uFFFD")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

// itemJSON returns an item in DynamoDB JSON, nil for no item.
func itemJSON(it attr.Item) map[string]any {
	if it == nil {
		return nil
	}
	return mapJSON(it)
}

func mapJSON(m map[string]attr.Value) map[string]any {
	out := make(map[string]any, len(m))
	//isrsim:unordered a map goes into a map; it is sorted when it is written
	for name, v := range m {
		out[name] = valueJSON(v)
	}
	return out
}

// valueJSON returns a value in DynamoDB JSON: {"S":"text"}. Kinds have the service's names, and bytes are base64.
func valueJSON(v attr.Value) map[string]any {
	var content any
	switch v := v.(type) {
	case attr.S:
		content = string(v)
	case attr.N:
		content = v.String()
	case attr.B:
		content = []byte(v)
	case attr.BOOL:
		content = bool(v)
	case attr.NULL:
		content = true
	case attr.M:
		content = mapJSON(v)
	case attr.L:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = valueJSON(e)
		}
		content = list
	case attr.SS:
		content = []string(v)
	case attr.NS:
		numbers := make([]string, len(v))
		for i, n := range v {
			numbers[i] = n.String()
		}
		content = numbers
	case attr.BS:
		content = [][]byte(v)
	}
	return map[string]any{string(attr.KindOf(v)): content}
}
