package differential

import (
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
)

// Known is a known difference between the fake and DynamoDB Local. It is as narrow as possible: any other difference is
// a failure.
type Known struct {
	// Operations are the operations whose answers differ in this way, separated by spaces; empty: any.
	Operations string
	// Path is a pattern of the place in the answer: "error" for the outcome, or the members that lead there.
	Path string
	// Fake and Local are patterns of the two values; of an error, of "Exception: message" and of Local's "Exception".
	// An exception may have the reasons of a cancelled transaction; a success is "ok".
	Fake, Local string
	// When, if not nil, must be true of the request.
	When func(Request) bool
	// If, if not nil, must be true of both texts too.
	If func(fake, local string) bool
	// Silent, if not nil, selects the requests whose answers agree while the rows differ: Diverges then holds.
	Silent func(Request) bool
	// Diverges says that the two then have other rows.
	Diverges bool
	// Reason says why.
	Reason string
	// Source is the place that says so.
	Source string

	path, fake, local *regexp.Regexp
	met               atomic.Int64
}

var compiling sync.Mutex

// compile makes the patterns that a list has not yet. A test that only draws requests, which property/gen does, does
// not wait for them as it starts.
func compile(list []*Known) {
	compiling.Lock()
	defer compiling.Unlock()
	for _, k := range list {
		if k.path == nil {
			k.path, k.fake, k.local = whole(k.Path), whole(k.Fake), whole(k.Local)
		}
	}
}

// whole is a pattern that matches whole texts.
func whole(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?s)\A(?:` + pattern + `)\z`) }

// known returns the listed difference that fits, nil if there is none.
func known(list []*Known, r Request, d disparity) *Known {
	bare := withoutEnvelope(d.left)
	for _, k := range list {
		if k.Silent == nil && (k.Operations == "" || contains(k.Operations, r.Operation)) &&
			k.path.MatchString(d.path) && k.local.MatchString(d.right) &&
			(k.fake.MatchString(d.left) || k.fake.MatchString(bare)) &&
			(k.When == nil || k.When(r)) && (k.If == nil || k.If(d.left, d.right)) {
			return k
		}
	}
	return nil
}

// withoutEnvelope takes the envelope from the text of an error about a request that no table could serve.
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/captures/cross-region-latest.json
func withoutEnvelope(outcome string) string {
	return strings.Replace(outcome, v+"1 validation error detected: ", v, 1)
}

func contains(words, word string) bool { return strings.Contains(" "+words+" ", " "+word+" ") }

// String describes the difference.
func (k *Known) String() string {
	if k.Silent != nil {
		return k.Reason
	}
	return strings.TrimSpace(k.Operations+" "+k.Path) + ": the fake says " + k.Fake + ", Local " + k.Local + " (" +
		k.Reason + ")"
}

// Met returns how often the difference was met.
func (k *Known) Met() int64 { return k.met.Load() }

var (
	indexInPath = regexp.MustCompile(`\[[0-9]+\]`)
	quoted      = regexp.MustCompile(`'[^']*'|"[^"]*"|\[[^\]]*\]|[:#][A-Za-z0-9_]+|\b[0-9]+\b`)
)

// general is a message without the parts that come from the request.
func general(message string) string { return quoted.ReplaceAllString(message, "…") }
