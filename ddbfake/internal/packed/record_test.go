package packed

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

func sdkS(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func sdkN(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

// TestRecord draws changes of a record, with few or many attributes, and compares it with an Item that gets the same
// changes.
func TestRecord(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, most := range []int{5, 3 * few} {
		model, record := attr.Item{}, Record{}
		for step := range 2000 {
			var names []string
			var values []attr.Value
			before := maps.Clone(model)
			former := record
			for range rng.IntN(4) {
				name := fmt.Sprintf("a%d", rng.IntN(most))
				if slices.Contains(names, name) {
					continue
				}
				names, values = append(names, name), append(values, nil)
				if delete(model, name); rng.IntN(3) > 0 {
					model[name] = attr.Int(int64(rng.IntN(3)))
					values[len(values)-1] = model[name]
				}
			}
			record = record.With(names, values)
			if got := record.Item(); !got.Equal(model) || record.Len() != len(model) || record.Size() != model.Size() {
				t.Fatalf("step %d: the record is %v, want %v", step, got, model)
			}
			if got := former.Item(); !got.Equal(before) {
				t.Fatalf("step %d: the former record has become %v, want %v", step, got, before)
			}
			if got, want := record.Equal(&former), model.Equal(before); got != want {
				t.Fatalf("step %d: Equal of %v and %v is %t", step, model, before, got)
			}
			for i := range most {
				name := fmt.Sprintf("a%d", i)
				number, ok := record.Int(name)
				wantNumber, wantOK := model.Int(name)
				if !attr.Equal(record.Get(name), model[name]) || number != wantNumber || ok != wantOK {
					t.Fatalf("step %d: %s is %v, %d and %t in the record of %v", step, name, record.Get(name), number,
						ok, model)
				}
			}
			var sorted []string
			record.All(func(name string, _ attr.Value) bool { sorted = append(sorted, name); return true })
			if !slices.IsSorted(sorted) {
				t.Fatalf("step %d: the names come as %v", step, sorted)
			}
		}
	}
}

// Whatever record like is, the result has the values of the SDK's row.
func TestFromSDK(t *testing.T) {
	scalars := []types.AttributeValue{
		sdkS("x"), sdkS("y"), sdkS(""), sdkN("1"), sdkN("1.0"), sdkN("01"), sdkN("2"), sdkN("-1"), sdkN(""), sdkN("x"),
		&types.AttributeValueMemberBOOL{Value: true}, &types.AttributeValueMemberSS{Value: []string{"a"}},
		(*types.AttributeValueMemberS)(nil), (*types.AttributeValueMemberN)(nil), nil,
	}
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func() map[string]types.AttributeValue {
		m := map[string]types.AttributeValue{}
		for _, name := range []string{"a", "b", "c", ""} {
			if rng.IntN(10) < 6 && (name != "" || rng.IntN(5) == 0) {
				m[name] = scalars[rng.IntN(len(scalars)*(1+rng.IntN(2)))%len(scalars)]
			}
		}
		return m
	}
	var likes []*Record
	for range 200 {
		if r, _, err := FromSDK(draw(), nil); err == nil {
			likes = append(likes, &r)
		}
	}
	refused := 0
	for range 5000 {
		m, like := draw(), likes[rng.IntN(len(likes))]
		was := like.Item()
		want, wantErr := attr.ItemFromSDK(m)
		got, sizeBytes, err := FromSDK(m, like)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("FromSDK(%v) like %v: %v, want %v", m, was, err, wantErr)
		}
		if err != nil {
			refused++
			continue
		}
		if item := got.Item(); !item.Equal(want) || sizeBytes != want.Size() {
			t.Fatalf("FromSDK(%v) like %v: %v of %d bytes, want %v of %d", m, was, item, sizeBytes, want, want.Size())
		}
		if now := like.Item(); !now.Equal(was) {
			t.Fatalf("what it is like has become %v, want %v", now, was)
		}
	}
	if refused == 0 {
		t.Error("no error was ever met")
	}
}

// A record with values of every kind converts to the same result as the row.
func TestToSDK(t *testing.T) {
	deep := attr.M{"a": attr.L{attr.S("x"), attr.Int(1), attr.M{"b": attr.Int(2)}}, "c": attr.S("y")}
	for _, v := range []attr.Value{
		attr.S("META"), attr.Int(-7), attr.B{1, 2}, attr.BOOL(true), attr.NULL{}, deep, attr.L{deep, attr.Int(3)},
		attr.SS{"a", "b"}, attr.NS{attr.Int(1).Number, attr.Int(2).Number}, attr.BS{{1}, {2}},
	} {
		row := attr.Item{"a": v, "b": attr.S("x"), "c": attr.Int(7)}
		record := Of(row)
		for _, texts := range []*Texts{nil, record.Texts()} {
			if one, two := row.ToSDK(), record.ToSDK(texts); !reflect.DeepEqual(one, two) {
				t.Errorf("of %v ToSDK makes %#v, of its record with texts %v %#v", row, one, texts, two)
			}
		}
	}
}
