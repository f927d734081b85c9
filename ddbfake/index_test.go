package ddbfake_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// indexedWorld has a table (pk S, sk S) with a global index named many and a local index on a. The key of many has four
// attributes: (h S, i S) and (a S, b N).
func indexedWorld(t *testing.T) (*ddbfake.DB, *ddbfake.Door, *fakeclock.Clock) {
	t.Helper()
	clock := fakeclock.New(fakeclock.Epoch)
	db := ddbfake.New(ddbfake.Options{Clock: clock})
	door := db.As("alice")
	in := tableInput("rows", "pk", "S", "sk", "S")
	in.GlobalSecondaryIndexes = []types.GlobalSecondaryIndex{{
		IndexName: aws.String("many"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		KeySchema: []types.KeySchemaElement{keyElement("h", "HASH"), keyElement("i", "HASH"), keyElement("a", "RANGE"),
			keyElement("b", "RANGE")},
	}}
	in.LocalSecondaryIndexes = []types.LocalSecondaryIndex{{
		IndexName: aws.String("local"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly},
		KeySchema: []types.KeySchemaElement{keyElement("pk", "HASH"), keyElement("a", "RANGE")},
	}}
	in.AttributeDefinitions = append(in.AttributeDefinitions,
		definition("h", "S"), definition("i", "S"), definition("a", "S"), definition("b", "N"))
	must.Done(t)(door.CreateTable(t.Context(), in))
	return db, door, clock
}

// inIndex computes, from all rows, the ordered result that a query must have.
func inIndex(db *ddbfake.DB, match func(attr.Item) bool, names ...string) []string {
	items := slices.DeleteFunc(db.Items("rows"), func(item attr.Item) bool {
		for _, name := range names {
			if _, ok := item[name]; !ok {
				return true
			}
		}
		return !match(item)
	})
	slices.SortStableFunc(items, func(x, y attr.Item) int {
		for _, name := range names {
			if c, _ := attr.Compare(x[name], y[name]); c != 0 {
				return c
			}
		}
		return 0
	})
	var keys []string
	for _, item := range items {
		pk, _ := item.Str("pk")
		sk, _ := item.Str("sk")
		keys = append(keys, pk+"/"+sk)
	}
	return keys
}

// queried reads an index in pages of two.
func queried(t *testing.T, door *ddbfake.Door, in *dynamodb.QueryInput) []string {
	t.Helper()
	in.TableName, in.Limit = aws.String("rows"), aws.Int32(2)
	var keys []string
	for {
		out := must.Of(door.Query(t.Context(), in))(t)
		for _, item := range out.Items {
			pk, sk := item["pk"].(*types.AttributeValueMemberS), item["sk"].(*types.AttributeValueMemberS)
			keys = append(keys, pk.Value+"/"+sk.Value)
		}
		if out.LastEvaluatedKey == nil {
			return keys
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// compareIndexes runs every kind of query and compares it with the rows.
func compareIndexes(t *testing.T, db *ddbfake.DB, door *ddbfake.Door, random *rand.Rand) {
	t.Helper()
	text := func() string { return awkward[random.IntN(len(awkward))] }
	is := func(item attr.Item, name, want string) bool {
		got, _ := item.Str(name)
		return got == want
	}
	h, i, a, n := text(), text(), text(), int64(random.IntN(7)-3)
	partition := func(item attr.Item) bool { return is(item, "h", h) && is(item, "i", i) }
	str := func(item attr.Item, name string) string { s, _ := item.Str(name); return s }
	for _, q := range []struct {
		keys  string
		match func(attr.Item) bool
	}{
		{"", func(attr.Item) bool { return true }},
		{" AND a = :a", func(item attr.Item) bool { return is(item, "a", a) }},
		{" AND a < :a", func(item attr.Item) bool { return str(item, "a") < a }},
		{" AND a >= :a", func(item attr.Item) bool { return str(item, "a") >= a }},
		{" AND begins_with(a, :a)", func(item attr.Item) bool { return strings.HasPrefix(str(item, "a"), a) }},
		{" AND a = :a AND b > :n",
			func(item attr.Item) bool { b, _ := item.Int("b"); return is(item, "a", a) && b > n }},
		{" AND a = :a AND b <= :n",
			func(item attr.Item) bool { b, _ := item.Int("b"); return is(item, "a", a) && b <= n }},
		{" AND b = :n AND a = :a",
			func(item attr.Item) bool { b, _ := item.Int("b"); return is(item, "a", a) && b == n }},
	} {
		args := map[string]types.AttributeValue{":h": s(h), ":i": s(i)}
		if strings.Contains(q.keys, ":a") {
			args[":a"] = s(a)
		}
		if strings.Contains(q.keys, ":n") {
			args[":n"] = &types.AttributeValueMemberN{Value: fmt.Sprint(n)}
		}
		want := inIndex(db, func(item attr.Item) bool { return partition(item) && q.match(item) }, "h", "i", "a", "b")
		for _, forward := range []bool{true, false} {
			got := queried(t, door, &dynamodb.QueryInput{
				IndexName: aws.String("many"), KeyConditionExpression: aws.String("h = :h AND i = :i" + q.keys),
				ExpressionAttributeValues: args, ScanIndexForward: aws.Bool(forward),
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("h = %q AND i = %q%s, a = %q, n = %d, forward %t (-want +got):\n%s", h, i, q.keys, a, n,
					forward, diff)
			}
			slices.Reverse(want)
		}
	}
	pk := awkward[random.IntN(3)]
	want := inIndex(db, func(item attr.Item) bool { return is(item, "pk", pk) }, "pk", "a")
	got := queried(t, door, &dynamodb.QueryInput{
		IndexName: aws.String("local"), KeyConditionExpression: aws.String("pk = :p"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":p": s(pk)},
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("local index, pk = %q (-want +got):\n%s", pk, diff)
	}
}

// awkward are texts that an encoding of tuples could confuse.
var awkward = []string{"a", "a\x00", "a\x00\x01", "\x00", "\x01", "ab", "\x00\xc3\xbf", "b"}

// After any writes, a query of an index finds the same rows as a search of all rows, in index order. After a restore,
// later writes are gone from the index.
func TestIndexFollowsRows(t *testing.T) {
	db, door, clock := indexedWorld(t)
	must.Done(t)(door.UpdateTimeToLive(t.Context(), ttlOn("rows")))
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	snapshot := db.Snapshot()
	for step := range 600 {
		item := map[string]types.AttributeValue{
			"pk": s(awkward[random.IntN(3)]), "sk": s(awkward[random.IntN(len(awkward))]),
		}
		if random.IntN(5) == 0 {
			must.Done(t)(door.DeleteItem(t.Context(),
				&dynamodb.DeleteItemInput{TableName: aws.String("rows"), Key: item}))
		} else {
			for _, name := range []string{"h", "i", "a"} {
				if random.IntN(12) > 0 {
					item[name] = s(awkward[random.IntN(3)])
				}
			}
			item["b"] = &types.AttributeValueMemberN{Value: fmt.Sprint(random.IntN(7) - 3)}
			if random.IntN(4) == 0 {
				item["ttl"] = &types.AttributeValueMemberN{
					Value: fmt.Sprint(clock.Now().Unix() + int64(random.IntN(20))),
				}
			}
			must.Done(t)(door.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("rows"), Item: item}))
		}
		switch random.IntN(40) {
		case 0:
			clock.Advance(10 * time.Second)
			db.SweepExpired()
		case 1:
			snapshot = db.Snapshot()
		case 2:
			db.Restore(snapshot)
		}
		if step%5 == 0 {
			compareIndexes(t, db, door, random)
		}
	}
}

// The content of an index follows from the rows; its existence is part of the state.
func TestIndexIsHashed(t *testing.T) {
	db, door, _ := indexedWorld(t)
	with := db.Hash()
	snapshot := db.Snapshot()
	must.Done(t)(door.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
		TableName: aws.String("rows"),
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{
			{Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String("many")}},
		},
	}))
	if db.Hash() == with {
		t.Error("the hash does not tell a table with an index from one without")
	}
	db.Restore(snapshot)
	if db.Hash() != with {
		t.Error("the index did not come back with the snapshot")
	}
	if got := queried(t, door, &dynamodb.QueryInput{
		IndexName: aws.String("many"), KeyConditionExpression: aws.String("h = :h AND i = :h"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":h": s("a")},
	}); got != nil {
		t.Errorf("got %v, want nothing", got)
	}
}

// The answers of UpdateTable show a change that would still be in progress at the service.
func TestUpdateTableStatuses(t *testing.T) {
	_, door, _ := indexedWorld(t)
	update := func(change types.GlobalSecondaryIndexUpdate) *types.TableDescription {
		t.Helper()
		out, err := door.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{
			TableName: aws.String("rows"),
			AttributeDefinitions: []types.AttributeDefinition{
				{AttributeName: aws.String("x"), AttributeType: "S"},
			},
			GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{change},
		})
		must.OK(t, err)
		return out.TableDescription
	}
	statuses := func(d *types.TableDescription) string {
		text := string(d.TableStatus)
		for _, x := range d.GlobalSecondaryIndexes {
			text += fmt.Sprintf(" %s:%s", *x.IndexName, x.IndexStatus)
		}
		return text
	}
	for _, step := range []struct {
		change types.GlobalSecondaryIndexUpdate
		answer string
		after  string
		kinds  int // attribute definitions
	}{
		{types.GlobalSecondaryIndexUpdate{Create: &types.CreateGlobalSecondaryIndexAction{
			IndexName: aws.String("byX"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("x"), KeyType: types.KeyTypeHash}},
		}}, "UPDATING many:ACTIVE byX:CREATING", "ACTIVE many:ACTIVE byX:ACTIVE", 7},
		{types.GlobalSecondaryIndexUpdate{
			Delete: &types.DeleteGlobalSecondaryIndexAction{IndexName: aws.String("byX")},
		},
			"UPDATING many:ACTIVE byX:DELETING", "ACTIVE many:ACTIVE", 6},
	} {
		if got := statuses(update(step.change)); got != step.answer {
			t.Errorf("answer: got %s, want %s", got, step.answer)
		}
		out := must.Of(door.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("rows")}))(t)
		if got := statuses(out.Table); got != step.after {
			t.Errorf("afterwards: got %s, want %s", got, step.after)
		}
		if got := len(out.Table.AttributeDefinitions); got != step.kinds {
			t.Errorf("got %d attribute definitions, want %d", got, step.kinds)
		}
	}
}

// A parameter that is not supported yet is refused, not ignored.
func TestUpdateTableUnsupported(t *testing.T) {
	_, door, _ := indexedWorld(t)
	for _, in := range []*dynamodb.UpdateTableInput{
		{ReplicaUpdates: []types.ReplicationGroupUpdate{
			{Disassociate: &types.DisassociateReplicationGroupMemberAction{RegionName: aws.String("eu-west-1")}},
		}},
		{ReplicaUpdates: []types.ReplicationGroupUpdate{{Create: &types.CreateReplicationGroupMemberAction{
			RegionName:             aws.String("eu-west-1"),
			GlobalSecondaryIndexes: []types.ReplicaGlobalSecondaryIndex{{IndexName: aws.String("many")}},
		}}}},
		{GlobalTableSettingsReplicationMode: types.GlobalTableSettingsReplicationModeEnabled},
		{VectorIndexUpdates: []types.VectorIndexUpdate{}},
	} {
		in.TableName = aws.String("rows")
		_, err := door.UpdateTable(t.Context(), in)
		if got := fmt.Sprint(err); !strings.Contains(got, "ddbfake does not support the parameter ") {
			t.Errorf("got %s, want an UnsupportedError", got)
		}
	}
	_, err := door.ListTagsOfResource(t.Context(),
		&dynamodb.ListTagsOfResourceInput{ResourceArn: aws.String(rowsARN), NextToken: aws.String("x")})
	wantError(t, err, "UnknownOperationException",
		"ddbfake does not support the parameter NextToken of ListTagsOfResource")
	none := &dynamodb.UpdateTableInput{TableName: aws.String("rows"), ReplicaUpdates: []types.ReplicationGroupUpdate{},
		DeletionProtectionEnabled: aws.Bool(true)}
	if _, err := door.UpdateTable(t.Context(), none); err != nil {
		t.Errorf("no replicas to update: got %v, want the other change", err)
	}
}

// Reads of a global index are eventually consistent, so they see the index of a lagging replica.
func TestIndexReadIsStale(t *testing.T) {
	db, door, clock := indexedWorld(t)
	db.SetReplicaLag(time.Minute)
	putInto(t, door, "rows", values{"pk": s("p"), "sk": s("1"), "h": s("h"), "i": s("i"), "a": s("a"), "b": n("1")})
	check := func(when string, rows int) {
		t.Helper()
		queried := queried(t, door, &dynamodb.QueryInput{
			IndexName: aws.String("many"), KeyConditionExpression: aws.String("h = :h AND i = :i"),
			ExpressionAttributeValues: values{":h": s("h"), ":i": s("i")},
		})
		if scanned := scanIndex(t, door, "many", 0, 1); len(queried) != rows || len(scanned) != rows {
			t.Errorf("%s: got %v by a query and %v by a scan, want %d rows", when, queried, scanned, rows)
		}
	}
	check("at once", 0)
	clock.Advance(time.Minute)
	check("a minute later", 1)
}

// scanIndex reads a segment of an index page by page, and returns the sort keys of the rows.
func scanIndex(t *testing.T, door *ddbfake.Door, index string, segment, of int32) []string {
	t.Helper()
	var found []string
	in := &dynamodb.ScanInput{
		TableName: aws.String("rows"), IndexName: aws.String(index), Limit: aws.Int32(3),
		Segment: aws.Int32(segment), TotalSegments: aws.Int32(of),
	}
	for {
		out := must.Of(door.Scan(t.Context(), in))(t)
		for _, item := range out.Items {
			found = append(found, item["sk"].(*types.AttributeValueMemberS).Value)
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return found
		}
	}
}

// Together, all segments have each row once, whatever their number. A row that leaves the index is in no segment.
func TestIndexScanSegments(t *testing.T) {
	db, door, _ := indexedWorld(t)
	var want []string
	for i := range 40 {
		item := values{
			"pk": s(fmt.Sprint(i % 3)), "sk": s(fmt.Sprintf("%02d", i)),
			"h": s(fmt.Sprint("h", i%7)), "i": s(fmt.Sprint("i\x00", i%2)), "a": s("a"), "b": n(fmt.Sprint(-i)),
		}
		want = append(want, fmt.Sprintf("%02d", i))
		must.Done(t)(door.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("rows"), Item: item}))
	}
	check := func(when string, want []string) {
		for _, index := range []string{"many", "local"} {
			for _, of := range []int32{1, 2, 5} {
				var got []string
				for segment := range of {
					got = append(got, scanIndex(t, door, index, segment, of)...)
				}
				slices.Sort(got)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s in %d segments (-want +got):\n%s", when, index, of, diff)
				}
			}
		}
	}
	check("all", want)
	before := db.Snapshot()
	_, err := door.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("rows"), Key: key("0", "00"), UpdateExpression: aws.String("REMOVE a"),
	})
	must.OK(t, err)
	check("without one", want[1:])
	db.Restore(before)
	check("restored", want)
}

// collectionWorld has a table with five local indexes, so that a row takes six times its size from its collection.
func collectionWorld(t *testing.T) *ddbfake.Door {
	t.Helper()
	in := tableInput("rows", "pk", "S", "sk", "S")
	in.AttributeDefinitions = append(in.AttributeDefinitions, definition("n", "N"))
	for i := range 5 {
		in.LocalSecondaryIndexes = append(in.LocalSecondaryIndexes, types.LocalSecondaryIndex{
			IndexName: aws.String(fmt.Sprint("lsi", i)), Projection: &types.Projection{
				ProjectionType: types.ProjectionTypeAll,
			},
			KeySchema: []types.KeySchemaElement{keyElement("pk", "HASH"), keyElement("n", "RANGE")},
		})
	}
	door := ddbfake.New(ddbfake.Options{}).As("alice")
	must.Done(t)(door.CreateTable(t.Context(), in))
	return door
}

// A collection does not grow beyond 10 GB; it may shrink, and others may grow. The rows share their text, so they need
// little memory.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LSI.html#LSI.ItemCollections.SizeLimit
func TestCollectionLimit(t *testing.T) {
	door := collectionWorld(t)
	const rowBytes = 400 * 1024
	// The other 14 bytes of a row are its keys, a number and all names.
	text := s(strings.Repeat("x", rowBytes-14))
	put := func(pk string, i int, sized types.ReturnItemCollectionMetrics) (*dynamodb.PutItemOutput, error) {
		return door.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("rows"), ReturnItemCollectionMetrics: sized,
			Item: values{"pk": s(pk), "sk": s(fmt.Sprintf("%05d", i)), "n": n("7"), "v": text},
		})
	}
	const fit = 10 << 30 / (6 * rowBytes)
	for i := range fit - 1 {
		if _, err := put("p", i, ""); err != nil {
			t.Fatalf("row %d of %d: %v", i, fit, err)
		}
	}
	out, err := put("p", fit-1, types.ReturnItemCollectionMetricsSize)
	if err != nil {
		t.Fatalf("the last row that fits: %v", err)
	}
	if got := out.ItemCollectionMetrics.SizeEstimateRangeGB; len(got) != 2 || got[0] != 9 || got[1] != 10 {
		t.Errorf("got an estimate of %v, want [9 10]", got)
	}
	_, err = put("p", fit, "")
	var large *types.ItemCollectionSizeLimitExceededException
	if !errors.As(err, &large) || large.ErrorMessage() != "Collection size exceeded." {
		t.Fatalf("one row more: got %v, want that the collection is too large", err)
	}
	_, err = door.TransactWriteItems(t.Context(),
		&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{
			Put: &types.Put{
				TableName: aws.String("rows"), Item: values{"pk": s("p"), "sk": s("more"), "n": n("7"), "v": text},
			},
		}}})
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || *cancelled.CancellationReasons[0].Code != "ItemCollectionSizeLimitExceeded" {
		t.Errorf("one row more in a transaction: got %v, want a reason of that name", err)
	}
	if _, err := put("q", 0, ""); err != nil {
		t.Errorf("another collection: %v", err)
	}
	if _, err := put("p", 0, ""); err != nil {
		t.Errorf("a row that does not grow: %v", err)
	}
	_, err = door.DeleteItem(t.Context(),
		&dynamodb.DeleteItemInput{TableName: aws.String("rows"), Key: key("p", "00000")})
	if err != nil {
		t.Errorf("a row less: %v", err)
	}
	if _, err := put("p", fit, ""); err != nil {
		t.Errorf("a row in its place: %v", err)
	}
}
