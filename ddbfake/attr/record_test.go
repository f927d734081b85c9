package attr

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// TestRecord draws changes of a record, with few attributes and with many, and compares it with an Item that is changed
// in the same way.
func TestRecord(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, most := range []int{5, 3 * few} {
		model, record := Item{}, Record{}
		for step := range 2000 {
			var names []string
			var values []Value
			before := maps.Clone(model)
			former := record
			for range rng.IntN(4) {
				name := fmt.Sprintf("a%d", rng.IntN(most))
				if slices.Contains(names, name) {
					continue
				}
				names, values = append(names, name), append(values, nil)
				if delete(model, name); rng.IntN(3) > 0 {
					model[name] = Int(int64(rng.IntN(3)))
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
				if !Equal(record.Get(name), model[name]) || number != wantNumber || ok != wantOK {
					t.Fatalf("step %d: %s is %v, %d and %t in the record of %v", step, name, record.Get(name), number, ok, model)
				}
			}
			var sorted []string
			record.All(func(name string, _ Value) bool { sorted = append(sorted, name); return true })
			if !slices.IsSorted(sorted) {
				t.Fatalf("step %d: the names come as %v", step, sorted)
			}
		}
	}
}

// A record holds the SDK's values, whatever record it is said to be like.
func TestRecordFromSDK(t *testing.T) {
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
		if r, _, err := RecordFromSDK(draw(), nil); err == nil {
			likes = append(likes, &r)
		}
	}
	refused := 0
	for range 5000 {
		m, like := draw(), likes[rng.IntN(len(likes))]
		was := like.Item()
		want, wantErr := ItemFromSDK(m)
		got, sizeBytes, err := RecordFromSDK(m, like)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("RecordFromSDK(%v) like %v: %v, want %v", m, was, err, wantErr)
		}
		if err != nil {
			refused++
			continue
		}
		if item := got.Item(); !item.Equal(want) || sizeBytes != want.Size() {
			t.Fatalf("RecordFromSDK(%v) like %v: %v of %d bytes, want %v of %d", m, was, item, sizeBytes, want, want.Size())
		}
		if now := like.Item(); !now.Equal(was) {
			t.Fatalf("what it is like has become %v, want %v", now, was)
		}
	}
	if refused == 0 {
		t.Error("no error was ever met")
	}
}
