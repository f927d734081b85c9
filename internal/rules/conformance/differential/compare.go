package differential

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// disparity is one place where two answers differ.
type disparity struct {
	// path is "error" for different outcomes, and otherwise the path of the place, such as "ConsumedCapacity.Table".
	path        string
	left, right string
}

// compare returns the places where two answers to a request differ, after sorting everything unordered. Errors are
// compared by their class and, if words is true, also by their messages.
func compare(left, right answer, words bool) []disparity {
	if left.class() != right.class() || words && left.detailed() != right.detailed() {
		return []disparity{{"error", left.detailed(), right.class()}}
	}
	var all []disparity
	walk("", inOrder(left.body), inOrder(right.body), &all)
	return slices.DeleteFunc(all, func(d disparity) bool { return !words && strings.HasSuffix(d.path, ".Message") })
}

// walk compares two JSON values, member by member.
func walk(path string, left, right any, all *[]disparity) {
	if l, ok := left.(object); ok {
		if r, ok := right.(object); ok {
			outcome, class := statementOutcome(l)
			if _, other := statementOutcome(r); class != other {
				*all = append(*all, disparity{"error", outcome, other})
				return
			}
			for _, name := range union(l, r) {
				walk(strings.TrimPrefix(path+"."+name, "."), l[name], r[name], all)
			}
			return
		}
	}
	if l, ok := left.([]any); ok {
		if r, ok := right.([]any); ok && len(l) == len(r) {
			for i := range l {
				walk(fmt.Sprintf("%s[%d]", path, i), l[i], r[i], all)
			}
			return
		}
	}
	if l, r := valueText(left), valueText(right); l != r {
		*all = append(*all, disparity{path, l, r})
	}
}

// statementOutcome returns the outcome of one statement of a batch, in the form of a request with that statement alone.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchStatementError.html
func statementOutcome(response object) (outcome, class string) {
	failed, ok := response["Error"].(object)
	code, isText := failed["Code"].(string)
	if !ok || !isText {
		return "ok", "ok"
	}
	class = strings.TrimSuffix(code, "Error") + "Exception"
	return fmt.Sprintf("%s: %v", class, failed["Message"]), class
}

// valueText returns a JSON value as text; "absent" if there is none.
func valueText(v any) string {
	if v == nil {
		return "absent"
	}
	return string(encode(v))
}

func union(a, b object) []string {
	names := sortedKeys(a)
	for _, name := range sortedKeys(b) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// inOrder sorts everything that has no order by AWS's documentation: sets, the items of a batch, the tables that
// consumed something.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
func inOrder(v any) any {
	switch v := v.(type) {
	case object:
		for name, inner := range v { //isrsim:unordered each member by itself
			v[name] = inOrder(inner)
		}
		for _, set := range []string{"SS", "BS"} {
			sortTexts(v[set])
		}
		if list, ok := v["NS"].([]any); ok {
			slices.SortStableFunc(list,
				func(a, b any) int { return strings.Compare(normalNumber(fmt.Sprint(a)), normalNumber(fmt.Sprint(b))) })
		}
		if list, ok := v["ConsumedCapacity"].([]any); ok {
			slices.SortStableFunc(list, func(a, b any) int { return strings.Compare(tableOf(a), tableOf(b)) })
		}
		if responses, ok := v["Responses"].(object); ok {
			for _, list := range responses { //isrsim:unordered each table by itself
				sortTexts(list)
			}
		}
		return v
	case []any:
		for i := range v {
			v[i] = inOrder(v[i])
		}
		return v
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return v
		}
		return json.Number(fmt.Sprint(f)) // 1.0 is 1
	}
	return v
}

// sortTexts sorts a list by the JSON of its elements, in which equal numbers have one text. Other values stay as they
// are.
func sortTexts(v any) {
	if list, ok := v.([]any); ok {
		slices.SortStableFunc(list, func(a, b any) int {
			return strings.Compare(string(encode(normal(a))), string(encode(normal(b))))
		})
	}
}

// normal returns a copy of a JSON value in which every DynamoDB number has its normal text.
func normal(v any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for name, inner := range v { //isrsim:unordered each member by itself
			switch text, isText := inner.(string); {
			case name == "N" && isText:
				out[name] = normalNumber(text)
			case name == "NS":
				numbers := []any{}
				if list, ok := inner.([]any); ok {
					for _, n := range list {
						text, _ := n.(string)
						numbers = append(numbers, normalNumber(text))
					}
				}
				sortTexts(numbers)
				out[name] = numbers
			default:
				out[name] = normal(inner)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = normal(inner)
		}
		return out
	}
	return v
}

// normalNumber returns the text in which DynamoDB returns a number.
func normalNumber(text string) string {
	n, err := attr.ParseNumber(text)
	if err != nil {
		return text
	}
	return n.String()
}

// tableOf returns the table of an element of ConsumedCapacity.
func tableOf(v any) string {
	of, _ := v.(object)
	name, _ := of["TableName"].(string)
	return name
}

// float returns a number of JSON; 0 for any other value.
func float(v any) float64 {
	n, _ := v.(json.Number)
	f, _ := n.Float64() // a text that is not a number is 0, and compared by its own member
	return f
}

// mostPages bounds how many pages of a read are followed.
const mostPages = 60

// pages sends a request and, if r.Pages is set, those for the further pages and segments. The answer then has the items
// of all of them.
func (s Store) pages(ctx context.Context, r Request, run int) (answer, error) {
	first, err := s.do(ctx, r.Operation, r.text(run))
	if err != nil || first.failed() {
		return first, err
	}
	if r.Operation == "GetRecords" {
		if first, err = s.records(ctx, first); err != nil {
			return first, err
		}
	}
	if s.plainAnswer(r.Operation, first.body); contains("CreateTable UpdateTable DeleteTable", r.Operation) {
		if err := s.settled(ctx, r.Body["TableName"], run); err != nil {
			return first, err
		}
	}
	pages := []object{first.body}
	segments, segmented := r.Body["TotalSegments"].(int)
	from, next := "ExclusiveStartKey", "LastEvaluatedKey"
	if r.Operation == "ExecuteStatement" {
		from, next = "NextToken", "NextToken"
	}
	for segment := 0; r.Pages; {
		last := pages[len(pages)-1][next]
		switch {
		case last != nil:
		case segmented && segment < segments-1:
			segment++
			r = r.with("Segment", segment)
		default:
			first.body = merged(r, pages)
			return first, nil
		}
		if len(pages) == mostPages {
			return first, fmt.Errorf("%s: %s: more than %d pages", s.Name, r, mostPages)
		}
		a, err := s.do(ctx, r.Operation, r.with(from, last).text(run))
		if err != nil || a.failed() {
			return a, err
		}
		pages = append(pages, a.body)
	}
	if r.unordered() {
		first.body = merged(r, pages)
	}
	return first, nil
}

// unordered reports whether AWS documents no order for the items of the answer: those of a Scan, and rows of an index
// that have the same key there.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Scan.html
func (r Request) unordered() bool {
	return r.Operation == "Scan" || r.index() != "" || r.Operation == "ExecuteStatement" && !r.Ordered
}

// merged returns pages as one answer, without everything that depends on an undocumented order: which item is on which
// page, and so the keys between pages and the cost of each page.
func merged(r Request, pages []object) object {
	one := maps.Clone(pages[0])
	var items, scanned []any
	count := 0.0
	for _, page := range pages {
		list, _ := page["Items"].([]any)
		items = append(items, list...)
		scanned = append(scanned, page["ScannedCount"])
		count += float(page["Count"])
	}
	if one["Items"] != nil {
		if r.unordered() {
			sortTexts(inOrder(items))
		}
		one["Items"] = items
	}
	if r.Pages {
		delete(one, "LastEvaluatedKey")
		delete(one, "NextToken")
		delete(one, "ConsumedCapacity")
	}
	if one["Count"] == nil {
		return one // a statement does not report how many rows it has read
	}
	one["Count"] = count
	if _, segmented := r.Body["TotalSegments"]; segmented {
		// The segment of an item is not documented either.
		total := 0.0
		for _, n := range scanned {
			total += float(n)
		}
		scanned = []any{total}
	}
	one["ScannedCount"] = scanned
	return one
}
