package differential

import (
	"context"
	"fmt"
	"maps"
)

// mostPages bounds how many pages of a read are followed.
const mostPages = 60

// pages sends a request and, if asked, those for the further pages and segments. The answer then has the items of all
// of them.
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

// unordered says whether AWS documents no order for the items of the answer: those of a Scan, and rows of an index that
// have the same key there.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Scan.html
func (r Request) unordered() bool {
	return r.Operation == "Scan" || r.index() != "" || r.Operation == "ExecuteStatement" && !r.Ordered
}

// merged is pages as one answer, without everything that depends on an undocumented order: which item stands on which
// page, and so the keys between them and what each page costs.
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
		return one // a statement does not say how many rows it has read
	}
	one["Count"] = count
	if _, segmented := r.Body["TotalSegments"]; segmented {
		// The segment of an item is not documented, either.
		total := 0.0
		for _, n := range scanned {
			total += float(n)
		}
		scanned = []any{total}
	}
	one["ScannedCount"] = scanned
	return one
}
