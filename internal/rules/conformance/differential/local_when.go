package differential

import (
	"regexp"
	"strconv"
	"strings"
)

// more says that the fake has the larger number.
func more(fake, local string) bool {
	f, ferr := strconv.ParseFloat(fake, 64)
	l, lerr := strconv.ParseFloat(local, 64)
	return ferr == nil && lerr == nil && f > l
}

// moreIndexes says that Local counts an index, or more for it.
func moreIndexes(fake, local string) bool { return fake == "absent" || less(fake, local) }

// emptyPage says that the fake gives a last page without rows.
func emptyPage(fake, local string) bool { return fake == strings.TrimSuffix(local, "]")+",0]" }

// filtersIndex says whether a request filters a Scan of an index which does not have everything, or asks a local one
// for more than it has.
func filtersIndex(r Request) bool {
	name := r.Body["IndexName"]
	all := r.Body["Select"] == "ALL_ATTRIBUTES" || r.Body["ProjectionExpression"] != nil
	return (name == "byHeight" || name == "byBoth" || name == "localBytes") &&
		(r.Body["FilterExpression"] != nil || all)
}

// projectsFromPart says whether a request names attributes of a local index that does not hold all of a row.
func projectsFromPart(r Request) bool {
	return r.Body["IndexName"] == "localBytes" &&
		(r.Body["ProjectionExpression"] != nil || r.Body["AttributesToGet"] != nil)
}

// projectsInto says whether a request reads paths into attributes from a local index.
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

// sameNumber says that two numbers are one, which the fake gives back in its normal form.
func sameNumber(fake, local string) bool {
	f, l := strings.Trim(fake, `"`), strings.Trim(local, `"`)
	return f == normalNumber(f) && f == normalNumber(l)
}

// onlyDeletes says whether AttributeUpdates only delete.
func onlyDeletes(updates object) bool {
	for _, name := range sortedKeys(updates) {
		if of, _ := updates[name].(object); of["Action"] != "DELETE" {
			return false
		}
	}
	return true
}

// onlyRemoves says whether a request has an update that only removes and deletes.
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

// mirrorsKey says whether a statement compares a value with a sort key, in this order.
func mirrorsKey(r Request) bool {
	text, _ := r.Body["Statement"].(string)
	return mirrored.MatchString(text)
}

// pathColumn is a path in the list of a SELECT.
var pathColumn = regexp.MustCompile(`^SELECT [^*]*[a-z]"?[.\[].* FROM`)

// ordersBackwards says whether a statement has ORDER BY with DESC.
func ordersBackwards(r Request) bool {
	text, _ := r.Body["Statement"].(string)
	return strings.Contains(text, " ORDER BY ") && strings.HasSuffix(text, " DESC")
}

// filtersFetched says whether a statement has a WHERE over an index that lacks attributes.
func filtersFetched(r Request) bool {
	text, _ := r.Body["Statement"].(string)
	return contains("byHeight localBytes", r.index()) && strings.Contains(text, " WHERE ")
}

// manyRanges is a condition that may read several ranges.
var manyRanges = regexp.MustCompile(`(?i)\) OR \(`)

func readsRanges(r Request) bool { return anyStatement(r, manyRanges.MatchString) }

// nestedChange is a path into an attribute as the target of an UPDATE that returns what it has changed.
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

// ordersOrIndexed says whether a statement has ORDER BY, or reads an index.
func ordersOrIndexed(r Request) bool {
	text, _ := r.Body["Statement"].(string)
	return strings.Contains(text, " ORDER BY ") || r.index() != ""
}

// broke says whether a request is broken on purpose.
func broke(r Request) bool { return r.Breaks != "" }

// namesEmpty says whether a statement has an empty text, or an empty parameter.
func namesEmpty(r Request) bool {
	text := string(encode(r.Body))
	return strings.Contains(text, "''") || strings.Contains(text, `:""`)
}

// addsNumbers says whether a legacy update adds to a set of numbers.
func addsNumbers(r Request) bool {
	text := string(encode(r.Body["AttributeUpdates"]))
	return strings.Contains(text, `"Action":"ADD"`) && strings.Contains(text, `"NS"`)
}
