package gen_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/property/gen"
)

var rows = gen.Table{Name: "rows", Partition: "pk", Sort: "sk"}

// examples is the number of examples that are drawn. Together they must contain everything that can be drawn. The seeds
// are fixed, so the outcome is always the same.
const examples = 400

// newDB returns a fake with the table.
func newDB(t interface{ Fatal(...any) }, o ddbfake.Options) *ddbfake.DB {
	db := ddbfake.New(o)
	if _, err := db.As("setup").CreateTable(context.Background(), rows.Create()); err != nil {
		t.Fatal(err)
	}
	return db
}

func TestModelAgreesWithTheFake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		db, model := newDB(t, ddbfake.Options{}), gen.NewModel(rows)
		c, last := db.As("alice"), attr.Item(nil)
		for range rapid.IntRange(1, 20).Draw(t, "operations") {
			if rapid.Bool().Draw(t, "delete") {
				key := rows.Keys().Draw(t, "key")
				if _, err := c.DeleteItem(t.Context(),
					&dynamodb.DeleteItemInput{TableName: &rows.Name, Key: key.ToSDK()}); err != nil {
					t.Fatal(err)
				}
				model.Delete(key)
				last = nil
				continue
			}
			last = rows.Rows().Draw(t, "row")
			if _, err := c.PutItem(t.Context(),
				&dynamodb.PutItemInput{TableName: &rows.Name, Item: last.ToSDK()}); err != nil {
				t.Fatal(err)
			}
			model.Put(last)
		}
		if diff := model.Diff(db); diff != "" {
			t.Fatal(diff)
		}
		want := db.Items(rows.Name)
		if got := model.Rows(); !slices.EqualFunc(got, want, attr.Item.Equal) {
			t.Fatalf("rows %v, want %v", got, want)
		}
		for _, row := range want {
			if !model.Get(row).Equal(row) {
				t.Fatalf("got %v, want %v", model.Get(row), row)
			}
			pk, _ := row.Str("pk")
			if !slices.ContainsFunc(model.Query(pk), row.Equal) {
				t.Fatalf("the partition %q lacks %v: %v", pk, row, model.Query(pk))
			}
		}
		if last == nil {
			return
		}
		// Diff reports each kind of difference.
		model.Delete(last)
		if diff := model.Diff(db); !strings.Contains(diff, "want none") {
			t.Fatalf("a row too many: %q", diff)
		}
		model.Put(attr.Item{"pk": last["pk"], "sk": last["sk"], "other": attr.BOOL(true)})
		if diff := model.Diff(db); !strings.Contains(diff, `want {other: true`) {
			t.Fatalf("another row: %q", diff)
		}
		model.Put(last)
		model.Put(attr.Item{"pk": attr.S("more"), "sk": attr.S("more")})
		if diff := model.Diff(db); !strings.Contains(diff, "got none") {
			t.Fatalf("a row too few: %q", diff)
		}
	})
}

func TestValuesAreAccepted(t *testing.T) {
	kinds := map[attr.Kind]bool{}
	for seed := range examples {
		v := gen.Values().Example(seed)
		kinds[attr.KindOf(v)] = true
		row := attr.Item{"pk": attr.S("a"), "sk": attr.S("b"), "value": v}
		db := newDB(t, ddbfake.Options{})
		must.OK(t, db.Put(rows.Name, row))
		if got := db.Items(rows.Name); !got[0].Equal(row) {
			t.Fatalf("got %v, want %v", got, row)
		}
	}
	if len(kinds) != 10 {
		t.Errorf("only these of ten types were drawn: %v", kinds)
	}
}

// Faults strike, have a text form that can be read back, and end.
func TestFaultsEnd(t *testing.T) {
	struck := map[ddbfake.FaultKind]bool{}
	for seed := range examples {
		f := rows.Faults().Example(seed)
		parsed, err := ddbfake.ParseFault(f.String())
		if err != nil || parsed.String() != f.String() {
			t.Fatalf("%s parses as %s, %v", f, parsed, err)
		}
		db := newDB(t, ddbfake.Options{OnFault: func(f ddbfake.Fault) { struck[f.Kind] = true }})
		db.Inject(f)
		c, key := db.As("alice"), attr.Item{"pk": attr.S("a"), "sk": attr.S("b")}.ToSDK()
		for range 4 {
			_, _ = c.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &rows.Name, Item: key})
			_, _ = c.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: &rows.Name, Key: key})
			_, _ = c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &rows.Name, Key: key})
			_, _ = c.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &rows.Name, Key: key})
			_, _ = c.BatchGetItem(t.Context(),
				&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
					rows.Name: {Keys: []map[string]types.AttributeValue{key}},
				}})
			_, _ = c.BatchWriteItem(t.Context(),
				&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
					rows.Name: {{PutRequest: &types.PutRequest{Item: key}}},
				}})
			another := attr.Item{"pk": attr.S("a"), "sk": attr.S("c")} // two rows may come in two pages
			must.OK(t, db.Put(rows.Name, another))
			_, _ = c.Scan(t.Context(), &dynamodb.ScanInput{TableName: &rows.Name})
			_, _ = c.Query(t.Context(), &dynamodb.QueryInput{
				TableName: &rows.Name, KeyConditionExpression: aws.String("pk = :pk"),
				ExpressionAttributeValues: map[string]types.AttributeValue{":pk": key["pk"]},
			})
		}
		if left := db.Injected(); len(left) > 0 {
			t.Fatalf("%v has not ended", left)
		}
	}
	if len(struck) != len(ddbfake.FaultKinds()) {
		t.Errorf("only these kinds of fault were drawn: %v", struck)
	}
}

func TestClocksKeepTheirBound(t *testing.T) {
	const bound, length = 2 * time.Second, 10 * time.Minute
	wrong := 0
	for seed := range examples {
		clock := fakeclock.New(fakeclock.Epoch)
		d := gen.Drifts(bound, length).Example(seed)
		if d.PPM < -fakeclock.MaxPPM || d.PPM > fakeclock.MaxPPM {
			t.Fatalf("%v is more than a clock can drift", d)
		}
		node := clock.Node(d)
		for range 10 {
			if off := node.Now().Sub(clock.Now()).Abs(); off > bound {
				t.Fatalf("%v: %s off", d, off)
			} else if off > 0 {
				wrong++
			}
			clock.Advance(length / 10)
		}
	}
	if wrong == 0 {
		t.Error("all clocks were right")
	}
}

func TestMovesMeetTheBoundaries(t *testing.T) {
	met := map[time.Duration]bool{}
	for seed := range examples {
		d := gen.Moves(time.Minute).Example(seed)
		if d < 0 {
			t.Fatal(d)
		}
		met[d] = true
	}
	for _, d := range []time.Duration{0, time.Minute - 1, time.Minute, time.Minute + 1, time.Minute - time.Second,
		time.Minute + time.Second} {
		if !met[d] {
			t.Errorf("%s was not drawn: %v", d, met)
		}
	}
}

// TTL may delete a row before it can be read, long after, or never: each of these is drawn.
func TestLagsAreOfEveryKind(t *testing.T) {
	met := map[string]bool{}
	for seed := range examples {
		kind, _, _ := strings.Cut(gen.Lags().Example(seed).String(), " ")
		met[kind] = true
	}
	if len(met) != 5 {
		t.Errorf("%v were drawn, want five kinds", met)
	}
}

// A table with bad keys is refused.
func TestATableOfBadKeysIsRefused(t *testing.T) {
	for _, table := range []gen.Table{{Name: "t"}, {Name: "t", Partition: "pk", Sort: "pk"},
		{Name: "t", Partition: "status"}} {
		func() {
			defer func() {
				if r := recover(); !strings.Contains(fmt.Sprint(r), `the Table "t" has `) {
					t.Errorf("%+v: %v", table, r)
				}
			}()
			table.Keys().Example(1)
		}()
	}
}
