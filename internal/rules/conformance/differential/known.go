package differential

import (
	_ "embed"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Known is a known difference between the fake and DynamoDB Local. It is as narrow as possible: any other difference is
// a failure.
type Known struct {
	// Operations are the operations whose answers differ in this way, separated by spaces; empty: any.
	Operations string
	// Path is a pattern of the place in the answer: "error" for the outcome, or the members that lead to it.
	Path string
	// Fake and Local are patterns of the two values. For an error, Fake matches "Exception: message" and Local matches
	// "Exception". An exception may have the reasons of a cancelled transaction; a success is "ok".
	Fake, Local string
	// When, if not nil, must be true of the request.
	When func(Request) bool
	// If, if not nil, must also be true of both texts.
	If func(fake, local string) bool
	// Silent, if not nil, selects the requests whose answers agree while the rows differ: Diverges then holds.
	Silent func(Request) bool
	// Diverges means that the two stores then have different rows.
	Diverges bool
	// Reason says why.
	Reason string
	// Source is the place that documents it.
	Source string

	path, fake, local *regexp.Regexp
	met               atomic.Int64
}

//go:embed known.txt
var knownText string

// Local are the known differences between DynamoDB Local 3.3.1 and the fake.
var Local = readKnown(knownText)

// readKnown reads paragraphs of lines "field value".
func readKnown(text string) (list []*Known) {
	requests := map[string]func(Request) bool{
		"onlyRemoves":      func(r Request) bool { return onlyRemoves(r.Body) },
		"isLegacy":         func(r Request) bool { return isLegacy(r.Body) },
		"ofMade":           Request.ofMade,
		"addsNumbers":      addsNumbers,
		"broke":            broke,
		"checks":           checks,
		"filtersFetched":   filtersFetched,
		"filtersIndex":     filtersIndex,
		"mirrorsKey":       mirrorsKey,
		"namesEmpty":       namesEmpty,
		"ordersBackwards":  ordersBackwards,
		"ordersOrIndexed":  ordersOrIndexed,
		"projectsFromPart": projectsFromPart,
		"projectsInto":     projectsInto,
		"readsRanges":      readsRanges,
		"returnsNested":    returnsNested,
		"selectsInto":      selectsInto,
		"updatesNested":    updatesNested,
	}
	both := map[string]func(fake, local string) bool{
		"emptyPage": emptyPage, "less": less, "more": more, "moreIndexes": moreIndexes, "sameNumber": sameNumber,
	}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if strings.HasPrefix(paragraph, "#") {
			continue
		}
		k := &Known{}
		for line := range strings.SplitSeq(strings.TrimSpace(paragraph), "\n") {
			field, value, ok := strings.Cut(line, " ")
			switch field {
			case "operations":
				k.Operations = value
			case "path":
				k.Path = value
			case "fake":
				k.Fake = value
			case "local":
				k.Local = value
			case "when":
				k.When, ok = requests[value]
			case "if":
				k.If, ok = both[value]
			case "silent":
				k.Silent, ok = requests[value]
			case "diverges":
				k.Diverges, ok = true, true
			case "reason":
				k.Reason = value
			case "source":
				k.Source = value
			default:
				ok = false
			}
			if !ok {
				panic("known.txt: " + line)
			}
		}
		list = append(list, k)
	}
	return list
}

var compiling sync.Mutex

// compile compiles the patterns of a list on first use. So a test that only draws requests, such as those of
// property/gen, does not wait for them.
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

// known returns the listed difference that matches, or nil.
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

// withoutEnvelope removes the envelope from the text of an error about a request that no table could serve.
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/captures/cross-region-latest.json
func withoutEnvelope(outcome string) string {
	return strings.Replace(outcome, "ValidationException: 1 validation error detected: ", "ValidationException: ", 1)
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

// Met returns how often the difference occurred.
func (k *Known) Met() int64 { return k.met.Load() }

var (
	indexInPath = regexp.MustCompile(`\[[0-9]+\]`)
	quoted      = regexp.MustCompile(`'[^']*'|"[^"]*"|\[[^\]]*\]|[:#][A-Za-z0-9_]+|\b[0-9]+\b`)
)

// general returns a message without the parts that come from the request.
func general(message string) string { return quoted.ReplaceAllString(message, "…") }

// more reports whether the fake has the larger number.
func more(fake, local string) bool {
	f, ferr := strconv.ParseFloat(fake, 64)
	l, lerr := strconv.ParseFloat(local, 64)
	return ferr == nil && lerr == nil && f > l
}

// moreIndexes reports whether Local counts an index that the fake does not, or counts more for it.
func moreIndexes(fake, local string) bool { return fake == "absent" || less(fake, local) }

// emptyPage reports whether the fake gives a last page without rows.
func emptyPage(fake, local string) bool { return fake == strings.TrimSuffix(local, "]")+",0]" }

// filtersIndex reports whether a request filters a Scan of an index that lacks attributes, or asks a local one for more
// than it has.
func filtersIndex(r Request) bool {
	name := r.Body["IndexName"]
	all := r.Body["Select"] == "ALL_ATTRIBUTES" || r.Body["ProjectionExpression"] != nil
	return (name == "byHeight" || name == "byBoth" || name == "localBytes") &&
		(r.Body["FilterExpression"] != nil || all)
}

// projectsFromPart reports whether a request names attributes of a local index that does not hold whole rows.
func projectsFromPart(r Request) bool {
	return r.Body["IndexName"] == "localBytes" &&
		(r.Body["ProjectionExpression"] != nil || r.Body["AttributesToGet"] != nil)
}

// projectsInto reports whether a request reads paths into attributes from a local index.
func projectsInto(r Request) bool {
	text, _ := r.Body["ProjectionExpression"].(string)
	return r.Body["IndexName"] == "localBytes" && strings.ContainsAny(text, "[.")
}

var nestedTarget = regexp.MustCompile(`(SET|REMOVE|,) #?[a-z]+[.[]`)

// updatesNested reports whether an update has a path into an attribute and asks for the updated values.
func updatesNested(r Request) bool {
	text, _ := r.Body["UpdateExpression"].(string)
	which, _ := r.Body["ReturnValues"].(string)
	return strings.HasPrefix(which, "UPDATED_") && nestedTarget.MatchString(text)
}

func less(fake, local string) bool { return more(local, fake) }

// sameNumber reports whether two numbers are equal, of which the fake returns the normal form.
func sameNumber(fake, local string) bool {
	f, l := strings.Trim(fake, `"`), strings.Trim(local, `"`)
	return f == normalNumber(f) && f == normalNumber(l)
}

// onlyDeletes reports whether AttributeUpdates only delete.
func onlyDeletes(updates object) bool {
	for _, name := range sortedKeys(updates) {
		if of, _ := updates[name].(object); of["Action"] != "DELETE" {
			return false
		}
	}
	return true
}

// onlyRemoves reports whether a request has an update that only removes and deletes.
func onlyRemoves(v any) bool {
	switch v := v.(type) {
	case object:
		if text, ok := v["UpdateExpression"].(string); ok && !strings.Contains(text, "SET ") &&
			!strings.Contains(text, "ADD ") {
			return true
		}
		if updates, ok := v["AttributeUpdates"].(object); ok && onlyDeletes(updates) {
			return true
		}
		for _, name := range sortedKeys(v) {
			if onlyRemoves(v[name]) {
				return true
			}
		}
	case []any:
		for _, inner := range v {
			if onlyRemoves(inner) {
				return true
			}
		}
	}
	return false
}

// mirrored is a value, an operator and a name.
var mirrored = regexp.MustCompile(`(\?|'[^']*'|-?[0-9][0-9.E+-]*) (<|>=) "?(pk|sk|n|b)\b`)

// mirrorsKey reports whether a statement compares a value with a sort key, in this order.
func mirrorsKey(r Request) bool {
	text, _ := r.Body["Statement"].(string)
	return mirrored.MatchString(text)
}

// pathColumn is a path in the list of a SELECT.
var pathColumn = regexp.MustCompile(`^SELECT [^*]*[a-z]"?[.\[].* FROM`)

// ordersBackwards reports whether a statement has ORDER BY with DESC.
func ordersBackwards(r Request) bool {
	text, _ := r.Body["Statement"].(string)
	return strings.Contains(text, " ORDER BY ") && strings.HasSuffix(text, " DESC")
}

// filtersFetched reports whether a statement has a WHERE over an index that lacks attributes.
func filtersFetched(r Request) bool {
	text, _ := r.Body["Statement"].(string)
	return contains("byHeight localBytes", r.index()) && strings.Contains(text, " WHERE ")
}

// manyRanges is a condition that may read several ranges.
var manyRanges = regexp.MustCompile(`(?i)\) OR \(`)

func readsRanges(r Request) bool { return anyStatement(r, manyRanges.MatchString) }

// nestedChange is a path into an attribute as the target of an UPDATE that returns its changes.
var nestedChange = regexp.MustCompile(`(SET|REMOVE|,) "?[a-z]+"?[.\[].* RETURNING MODIFIED`)

func returnsNested(r Request) bool { return anyStatement(r, nestedChange.MatchString) }

func selectsInto(r Request) bool { return anyStatement(r, pathColumn.MatchString) }

func checks(r Request) bool {
	return anyStatement(r, func(text string) bool { return strings.HasPrefix(text, "EXISTS") })
}

func anyStatement(r Request, f func(string) bool) bool {
	for _, text := range statementsOf(r) {
		if f(text) {
			return true
		}
	}
	return false
}

// ordersOrIndexed reports whether a statement has ORDER BY, or reads an index.
func ordersOrIndexed(r Request) bool {
	text, _ := r.Body["Statement"].(string)
	return strings.Contains(text, " ORDER BY ") || r.index() != ""
}

// broke reports whether a request is broken on purpose.
func broke(r Request) bool { return r.Breaks != "" }

// namesEmpty reports whether a statement has an empty text, or an empty parameter.
func namesEmpty(r Request) bool {
	text := string(encode(r.Body))
	return strings.Contains(text, "''") || strings.Contains(text, `:""`)
}

// addsNumbers reports whether a legacy update adds to a set of numbers.
func addsNumbers(r Request) bool {
	text := string(encode(r.Body["AttributeUpdates"]))
	return strings.Contains(text, `"Action":"ADD"`) && strings.Contains(text, `"NS"`)
}
