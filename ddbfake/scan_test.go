package ddbfake_test

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// scanned returns the partition keys that a Scan of the table "ids" returns.
func scanned(t *testing.T, db *ddbfake.DB, in dynamodb.ScanInput) (keys []string, last values) {
	t.Helper()
	in.TableName = aws.String("ids")
	out := must.Of(db.As("test").Scan(t.Context(), &in))(t)
	for _, item := range out.Items {
		keys = append(keys, fmt.Sprint(fromSDK(t, item)["id"]))
	}
	return keys, out.LastEvaluatedKey
}

func fill(t *testing.T, db *ddbfake.DB, ids ...types.AttributeValue) {
	t.Helper()
	for _, id := range ids {
		in := &dynamodb.PutItemInput{TableName: aws.String("ids"), Item: values{"id": id}}
		must.Done(t)(db.As("test").PutItem(t.Context(), in))
	}
}

// These orders and segments are the service's answers.
//
// Source: https://github.com/architect/dynalite/blob/main/test/scan.js
func TestScanOrder(t *testing.T) {
	t.Run("strings", func(t *testing.T) {
		db := ddbfake.New(ddbfake.Options{})
		table(t, db, "ids", "id", "S", "", "")
		want := []string{"2", "8", "9", "1", "6", "hello", "0", "5", "4", "äáöü", "aardman", "7", "3", "zapf"}
		for _, id := range slices.Sorted(slices.Values(want)) {
			fill(t, db, s(id))
		}
		got, _ := scanned(t, db, dynamodb.ScanInput{})
		for i := range got {
			got[i], _ = strconv.Unquote(got[i])
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
	t.Run("numbers", func(t *testing.T) {
		db := ddbfake.New(ddbfake.Options{})
		table(t, db, "ids", "id", "N", "", "")
		want := []string{"7", "999.9", "8", "3", "2", "-999.9", "9", "4", "-0.09", "6", "1", "0", "0.012345", "5"}
		for _, id := range slices.Sorted(slices.Values(want)) {
			fill(t, db, n(id))
		}
		if got, _ := scanned(t, db, dynamodb.ScanInput{}); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
	for _, tc := range []struct {
		kind    types.ScalarAttributeType
		segment int32
		ids     []types.AttributeValue
	}{
		{"S", 0, []types.AttributeValue{s("3635"), s("228")}},
		{"S", 1, []types.AttributeValue{s("1668")}},
		{"S", 4, []types.AttributeValue{s("3435")}},
		{"N", 1, []types.AttributeValue{n("251")}},
		{"N", 4095, []types.AttributeValue{n("2388")}},
	} {
		t.Run(fmt.Sprintf("segment %d of %s", tc.segment, tc.kind), func(t *testing.T) {
			db := ddbfake.New(ddbfake.Options{})
			table(t, db, "ids", "id", tc.kind, "", "")
			fill(t, db, tc.ids...)
			got, _ := scanned(t, db, dynamodb.ScanInput{Segment: aws.Int32(tc.segment), TotalSegments: aws.Int32(4096)})
			if len(got) != len(tc.ids) {
				t.Errorf("got %v, want all %d", got, len(tc.ids))
			}
		})
	}
}

// pages scans to the end, in pages of limit rows.
func pages(t *testing.T, db *ddbfake.DB, in dynamodb.ScanInput, limit int32) (keys []string) {
	t.Helper()
	in.Limit = aws.Int32(limit)
	for {
		page, last := scanned(t, db, in)
		keys = append(keys, page...)
		if last == nil {
			return keys
		}
		in.ExclusiveStartKey = last
	}
}

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Scan.html#Scan.ParallelScan
func TestScanSegments(t *testing.T) {
	for _, kind := range []types.ScalarAttributeType{"S", "N", "B"} {
		db := ddbfake.New(ddbfake.Options{})
		table(t, db, "ids", "id", kind, "", "")
		for i := range 200 {
			id := map[types.ScalarAttributeType]types.AttributeValue{
				"S": s(fmt.Sprint("key-", i)), "N": n(strconv.FormatFloat(float64(i-100)/7, 'g', 9, 64)),
				"B": b(fmt.Sprint("\x00", i)),
			}[kind]
			fill(t, db, id)
		}
		all, _ := scanned(t, db, dynamodb.ScanInput{})
		if len(all) != 200 {
			t.Fatalf("%s: got %d rows, want 200", kind, len(all))
		}
		halves := map[string]int32{}
		for _, total := range []int32{1, 2, 3, 4, 17, 1_000_000} {
			var joined []string
			empty := 0
			for number := range min(total, 50) {
				in := dynamodb.ScanInput{Segment: aws.Int32(number), TotalSegments: aws.Int32(total)}
				part := pages(t, db, in, 7)
				if len(part) == 0 {
					empty++
				}
				for _, key := range part {
					if total == 2 {
						halves[key] = number
					} else if total == 4 && halves[key] != number/2 {
						t.Errorf("%s: %s is in half %d and quarter %d", kind, key, halves[key], number)
					}
				}
				joined = append(joined, part...)
			}
			if total <= 50 && !slices.Equal(joined, all) {
				t.Errorf("%s: %d segments in turn: got %v, want all rows in the order of a whole scan, %v", kind, total,
					joined, all)
			}
			if total <= 4 && empty > 0 {
				t.Errorf("%s: %d of %d segments are empty", kind, empty, total)
			}
		}
	}
}

func TestScanStartsInItsSegment(t *testing.T) {
	db := ddbfake.New(ddbfake.Options{})
	table(t, db, "ids", "id", "S", "", "")
	_, err := db.As("test").Scan(t.Context(), &dynamodb.ScanInput{
		TableName: aws.String("ids"), Segment: aws.Int32(1), TotalSegments: aws.Int32(4096), ExclusiveStartKey: values{
			"id": s("228"),
		},
	})
	wantError(t, err, validation, "The provided starting key is invalid: Invalid ExclusiveStartKey. "+
		"Please use ExclusiveStartKey with correct Segment. TotalSegments: 4096 Segment: 1")
	if got, _ := scanned(t, db, dynamodb.ScanInput{
		Segment: aws.Int32(0), TotalSegments: aws.Int32(4096), ExclusiveStartKey: values{"id": s("228")},
	}); len(got) > 0 {
		t.Errorf("got %v, want nothing", got)
	}
}

// A continued scan sees the rows that were written meanwhile at later places. This holds for restored states, too.
func TestScanOfAChangingTable(t *testing.T) {
	db := ddbfake.New(ddbfake.Options{})
	table(t, db, "ids", "id", "S", "", "")
	fill(t, db, s("2"), s("9"), s("4")) // in this order
	if got, _ := scanned(t, db, dynamodb.ScanInput{}); strings.Join(got, " ") != `"2" "9" "4"` {
		t.Fatalf("got %v", got)
	}
	before := db.Snapshot()
	_, last := scanned(t, db, dynamodb.ScanInput{Limit: aws.Int32(2)})
	fill(t, db, s("8"), s("3")) // between 2 and 9, and last
	rest := dynamodb.ScanInput{ExclusiveStartKey: last}
	if got, _ := scanned(t, db, rest); strings.Join(got, " ") != `"4" "3"` {
		t.Errorf("after two new rows: got %v", got)
	}
	must.Done(t)(db.As("test").DeleteItem(t.Context(),
		&dynamodb.DeleteItemInput{TableName: aws.String("ids"), Key: values{"id": s("4")}}))
	if got, _ := scanned(t, db, rest); strings.Join(got, " ") != `"3"` {
		t.Errorf("after a deletion: got %v", got)
	}
	db.Restore(before)
	if got, _ := scanned(t, db, dynamodb.ScanInput{}); strings.Join(got, " ") != `"2" "9" "4"` {
		t.Errorf("restored: got %v", got)
	}
}

// pagedWorld is indexedWorld with three rows of the key a and one of the key b, all in one partition of the index many.
func pagedWorld(t *testing.T) (*ddbfake.DB, *ddbfake.Door) {
	t.Helper()
	db, door, _ := indexedWorld(t)
	for i, at := range [][2]string{{"a", "1"}, {"a", "2"}, {"a", "3"}, {"b", "1"}} {
		n := int64(i)
		row := attr.Item{
			"pk": attr.S(at[0]), "sk": attr.S(at[1]), "h": attr.S("h"), "i": attr.S("i"),
			"a": attr.S(fmt.Sprint(9 - i)), "b": attr.Int(n), "n": attr.Int(n),
		}
		must.OK(t, db.Put("rows", row))
	}
	return db, door
}

// A page that ends early equals the page with a Limit of one row, in rows, counts and units, and in where the next page
// begins.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.Pagination.html
func TestFaultShortPage(t *testing.T) {
	db, door := pagedWorld(t)
	query := func(changes ...func(*dynamodb.QueryInput)) any {
		in := &dynamodb.QueryInput{
			TableName: aws.String("rows"), KeyConditionExpression: aws.String("pk = :pk"),
			ExpressionAttributeValues: values{":pk": s("a")},
			ReturnConsumedCapacity:    types.ReturnConsumedCapacityIndexes,
		}
		for _, change := range changes {
			change(in)
		}
		return in
	}
	partition := func(pk string) func(*dynamodb.QueryInput) {
		return func(in *dynamodb.QueryInput) { in.ExpressionAttributeValues[":pk"] = s(pk) }
	}
	filter := func(in *dynamodb.QueryInput) {
		in.FilterExpression, in.ExpressionAttributeValues[":n"] = aws.String("n > :n"), &types.AttributeValueMemberN{
			Value: "1",
		}
	}
	limit := func(n int32) func(*dynamodb.QueryInput) { return func(in *dynamodb.QueryInput) { in.Limit = &n } }
	scan := func(changes ...func(*dynamodb.ScanInput)) any {
		in := &dynamodb.ScanInput{
			TableName: aws.String("rows"), ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
		}
		for _, change := range changes {
			change(in)
		}
		return in
	}
	statement := func(text string) any {
		return &dynamodb.ExecuteStatementInput{
			Statement: &text, ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes,
		}
	}
	for name, in := range map[string]any{
		"query":     query(),
		"backwards": query(func(in *dynamodb.QueryInput) { in.ScanIndexForward = aws.Bool(false) }),
		"after a row": query(func(in *dynamodb.QueryInput) {
			in.ExclusiveStartKey = values{"pk": s("a"), "sk": s("1")}
		}),
		"consistent":  query(func(in *dynamodb.QueryInput) { in.ConsistentRead = aws.Bool(true) }),
		"filter":      query(filter),
		"count":       query(filter, func(in *dynamodb.QueryInput) { in.Select = types.SelectCount }),
		"projection":  query(func(in *dynamodb.QueryInput) { in.ProjectionExpression = aws.String("n") }),
		"a limit":     query(limit(3)),
		"local index": query(func(in *dynamodb.QueryInput) { in.IndexName = aws.String("local") }),
		"fetching rows": query(func(in *dynamodb.QueryInput) {
			in.IndexName, in.Select = aws.String("local"), types.SelectAllAttributes
		}),
		"global index": query(func(in *dynamodb.QueryInput) {
			in.IndexName, in.KeyConditionExpression = aws.String("many"), aws.String("h = :h AND i = :i")
			in.ExpressionAttributeValues = values{":h": s("h"), ":i": s("i")}
		}),
		"old parameters": &dynamodb.QueryInput{
			TableName: aws.String("rows"), KeyConditions: map[string]types.Condition{
				"pk": {ComparisonOperator: types.ComparisonOperatorEq,
					AttributeValueList: []types.AttributeValue{s("a")}},
			},
		},
		"scan": scan(),
		"segment": scan(
			func(in *dynamodb.ScanInput) { in.Segment, in.TotalSegments = aws.Int32(0), aws.Int32(1) },
		),
		"scan of an index": scan(func(in *dynamodb.ScanInput) { in.IndexName = aws.String("many") }),
		"select":           statement(`SELECT * FROM "rows" WHERE pk = 'a'`),
		"select by an or":  statement(`SELECT * FROM "rows" WHERE pk IN ['b', 'a']`),
		"one row for each": statement(`SELECT * FROM "rows" WHERE pk IN ['a', 'b'] AND sk = '1'`),
		"select of all":    statement(`SELECT n FROM "rows"`),
		"select by index":  statement(`SELECT pk FROM "rows"."local" WHERE pk = 'a' AND a > '1'`),
	} {
		db.Inject(ddbfake.Fault{Kind: ddbfake.FaultShortPage, Table: "rows"})
		got := pagesOf(t, door, in, 0)
		if waits := db.Injected(); len(waits) > 0 {
			t.Errorf("%s: the fault has not struck", name)
		}
		db.ClearFaults()
		limited, whole := pagesOf(t, door, in, 1), pagesOf(t, door, in, 0)
		if _, token := got[0].next.(*string); token { // one position between two rows has two tokens
			limited[0].next = got[0].next
		}
		if !reflect.DeepEqual(limited[0], got[0]) {
			t.Errorf("%s: got %+v, want the page of a limit, %+v", name, got[0], limited[0])
		}
		if got[0].next == nil || fmt.Sprint(rowsIn(got)) != fmt.Sprint(rowsIn(whole)) {
			t.Errorf("%s: got %v in %d pages, want %v", name, rowsIn(got), len(got), rowsIn(whole))
		}
		// Each page may end early, except the last, which thus shows that it is the last.
		db.Inject(ddbfake.Fault{Kind: ddbfake.FaultShortPage, Times: ddbfake.Always})
		if got := pagesOf(t, door, in, 0); int32(len(got)) != scannedIn(whole) ||
			fmt.Sprint(rowsIn(got)) != fmt.Sprint(rowsIn(whole)) {
			t.Errorf("%s: got %v in %d pages, want a page for each of %v", name, rowsIn(got), len(got), rowsIn(whole))
		}
		db.ClearFaults()
	}

	for name, in := range map[string]any{
		"a limit of one row": query(limit(1)),
		"one row":            query(partition("b")),
		"no row":             query(partition("c")),
		"not valid":          query(func(in *dynamodb.QueryInput) { in.KeyConditionExpression = aws.String("pk") }),
		"no input":           (*dynamodb.QueryInput)(nil),
		"no statement":       (*dynamodb.ExecuteStatementInput)(nil),
		"a row by its key":   statement(`SELECT * FROM "rows" WHERE pk = 'a' AND sk = '1'`),
		"a write":            statement(`INSERT INTO "rows" VALUE {'pk': 'x', 'sk': '1'}`),
		"rows by their keys": &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{"rows": {Keys: []values{key("a", "1"), key("a", "2")}}},
		},
		"what lists no rows":  &dynamodb.ListTablesInput{},
		"a table that is not": &dynamodb.ScanInput{TableName: aws.String("absent")},
	} {
		fault := ddbfake.Fault{Kind: ddbfake.FaultShortPage}
		db.Inject(fault)
		_, _ = db.Do(t.Context(), ddbfake.Call{Input: in, Actor: "alice"})
		if waits := db.Injected(); len(waits) != 1 {
			t.Errorf("%s: the fault has struck", name)
		}
		db.ClearFaults()
	}
	if got := len(db.Items("rows")); got != 5 {
		t.Errorf("got %d rows, want the four and that of the write, which was made once", got)
	}
}

// The engine reads to find out whether the fault can strike a call. That takes no units, and counts as no request.
func TestToLookForAShortPageCostsNothing(t *testing.T) {
	metrics := func(faults ...ddbfake.Fault) []ddbfake.Metrics {
		db, door := pagedWorld(t)
		db.Inject(faults...)
		if got := pagesOf(t, door, &dynamodb.ScanInput{TableName: aws.String("rows")}, 0); len(got) != 1 {
			t.Fatalf("got %d pages, want one", len(got))
		}
		return db.Metrics()
	}
	if d := cmp.Diff(metrics(), metrics(ddbfake.Fault{Kind: ddbfake.FaultShortPage, Nth: 2})); d != "" {
		t.Errorf("without the fault (-) and while it waits (+):\n%s", d)
	}
}

// pageOf is an answer to a Query, a Scan or a SELECT.
type pageOf struct {
	rows           []values
	count, scanned int32
	units          *types.ConsumedCapacity
	next           any
}

func rowsIn(pages []pageOf) (rows []attr.Item) {
	for _, p := range pages {
		for _, row := range p.rows {
			item, _ := attr.ItemFromSDK(row)
			rows = append(rows, item)
		}
		if p.rows == nil {
			rows = append(rows, make([]attr.Item, p.count)...)
		}
	}
	return rows
}

func scannedIn(pages []pageOf) (scanned int32) {
	for _, p := range pages {
		scanned += p.scanned
	}
	return scanned
}

// pagesOf reads all pages. A positive limit is the limit of the first one.
func pagesOf(t *testing.T, door *ddbfake.Door, in any, limit int32) (pages []pageOf) {
	t.Helper()
	limitOf := func(asked *int32) *int32 {
		if limit > 0 && pages == nil {
			return &limit
		}
		return asked
	}
	var from values // for a Query or a Scan
	var token *string
	for {
		var p pageOf
		switch asked := in.(type) {
		case *dynamodb.QueryInput:
			page := *asked
			page.Limit, page.ExclusiveStartKey = limitOf(page.Limit), from
			out := must.Of(door.Query(t.Context(), &page))(t)
			p, from = pageOf{out.Items, out.Count, out.ScannedCount, out.ConsumedCapacity, nil}, out.LastEvaluatedKey
		case *dynamodb.ScanInput:
			page := *asked
			page.Limit, page.ExclusiveStartKey = limitOf(page.Limit), from
			out := must.Of(door.Scan(t.Context(), &page))(t)
			p, from = pageOf{out.Items, out.Count, out.ScannedCount, out.ConsumedCapacity, nil}, out.LastEvaluatedKey
		case *dynamodb.ExecuteStatementInput:
			page := *asked
			page.Limit, page.NextToken = limitOf(page.Limit), token
			out := must.Of(door.ExecuteStatement(t.Context(), &page))(t)
			p, token = pageOf{out.Items, int32(len(out.Items)), int32(len(out.Items)), out.ConsumedCapacity, nil},
				out.NextToken
		}
		switch {
		case from != nil:
			p.next = from
		case token != nil:
			p.next = token
		}
		if pages = append(pages, p); p.next == nil {
			return pages
		}
	}
}
