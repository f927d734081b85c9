package differential

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// object is a JSON object, as a request holds it.
type object = map[string]any

// Request is one request of a sequence, as it goes over the wire.
type Request struct {
	// Operation is its name, such as "PutItem".
	Operation string
	// Body is its JSON. The text "$RUN" in it becomes a new number for each run of the sequence: a store remembers
	// request tokens for longer than a sequence takes.
	Body object
	// Pages asks to follow LastEvaluatedKey, or NextToken, to the end.
	Pages bool
	// Ordered says that the items that a statement gives have an order.
	Ordered bool
	// Raw, if any, goes over the wire instead of Body.
	Raw string
	// Breaks names the mistake that was made on purpose, for the tally.
	Breaks string
}

// Sequence is a list of requests.
type Sequence []Request

// text returns the body that goes over the wire.
func (r Request) text(run int) []byte {
	body := []byte(r.Raw)
	if r.Raw == "" {
		body = encode(r.Body)
	}
	return bytes.ReplaceAll(body, []byte("$RUN"), fmt.Appendf(nil, "%d", run))
}

// with returns the request with one member changed; nil takes it out.
func (r Request) with(member string, value any) Request {
	r.Body = maps.Clone(r.Body)
	if value == nil {
		delete(r.Body, member)
	} else {
		r.Body[member] = value
	}
	return r
}

// String is the request for readers: a line that can be sent as it is.
func (r Request) String() string {
	text := r.Raw
	if r.Raw == "" {
		text = string(encode(r.Body))
	}
	text = r.Operation + " " + shorten(text)
	if r.Pages {
		text += " (and its further pages)"
	}
	if r.Breaks != "" {
		text += " (broken: " + r.Breaks + ")"
	}
	return text
}

// GoString is a list of the requests, one a line, for rapid to print.
func (s Sequence) GoString() string {
	lines := make([]string, len(s))
	for i, r := range s {
		lines[i] = fmt.Sprintf("%3d. %s", i+1, r)
	}
	return fmt.Sprintf("%d requests\n%s", len(s), strings.Join(lines, "\n"))
}

// shorten cuts long runs of text, which say nothing.
func shorten(text string) string {
	const most = 4000
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s ... %d bytes", text[:most], len(text))
}

// encode is JSON without the escapes that only a browser needs.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("differential: %v", err)) // objects, lists and texts only
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
