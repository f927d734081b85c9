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
	// Fake and Local are patterns of the two answers: "Exception: message" for an error, or "ok".
	Fake, Local string
	// When, if not nil, must be true of the request.
	When func(Request) bool
	// If, if not nil, must be true of both texts too.
	If func(fake, local string) bool
	// Silent, if not nil, selects the requests whose answers agree while the rows differ: Diverges then holds.
	Silent func(Request) bool
	// Diverges says that the two then have other rows.
	Diverges bool
	// FakeIsWrong says that the other store answers as the service does.
	FakeIsWrong bool
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

// known returns the listed difference that fits, nil if there is none. One that is listed for all operations need not
// have the envelope of those that write one item.
func known(list []*Known, r Request, d disparity) *Known {
	if k := fitting(list, r, d); k != nil {
		return k
	}
	if bare := withoutEnvelope(d.left); bare != d.left && contains(writesOfOne, r.Operation) {
		d.left = bare
		return fitting(list, r, d)
	}
	return nil
}

func fitting(list []*Known, r Request, d disparity) *Known {
	for _, k := range list {
		if k.Silent == nil && (k.Operations == "" || contains(k.Operations, r.Operation)) &&
			k.path.MatchString(d.path) && k.fake.MatchString(d.left) && k.local.MatchString(d.right) &&
			(k.When == nil || k.When(r)) && (k.If == nil || k.If(d.left, d.right)) {
			return k
		}
	}
	return nil
}

// The service puts an envelope before the texts of some operations about requests that no table could serve.
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/captures/cross-region-latest.json
const (
	writesOfOne = "PutItem UpdateItem DeleteItem"
	envelope    = "1 validation error detected: "
)

func withoutEnvelope(outcome string) string { return strings.Replace(outcome, v+envelope, v, 1) }

func sameButEnvelope(fake, local string) bool { return withoutEnvelope(fake) == local }

// sameButKey says that the real store's text is the fake's, but says which of an expression's values it is about.
func sameButKey(fake, local string) bool {
	text, _, _ := strings.Cut(local, " for key :")
	return withoutEnvelope(fake) == strings.Replace(text, v+ofValues, v, 1)
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
