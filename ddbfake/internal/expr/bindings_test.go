package expr

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// Whatever the earlier requests were, bound names and values equal those of the maps. Names and values stay unbound
// only if they are many, or if Validate or the conversion of a value may refuse them.
func TestBindings(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var bound Bindings
	outcomes := map[bool]int{}
	for range 5000 {
		names, values := drawNames(rng), drawValues(rng)
		want := Args{Names: names}
		var err error
		if values != nil {
			want.Values = map[string]attr.Value{}
		}
		for key, v := range values {
			var refused error
			if want.Values[key], refused = attr.FromSDK(v); refused != nil {
				err = refused
			}
		}
		if refused := want.Validate(); refused != nil {
			err = refused
		}
		ok := bound.Bind(names, values)
		outcomes[ok]++
		if few := len(names) <= maxBindings && len(values) <= maxBindings; ok != (err == nil && few) {
			t.Fatalf("Bind(%v, %v) is %t; want an error: %v", names, values, ok, err)
		}
		if !ok {
			continue
		}
		got := Args{Bound: &bound}
		if n, v := got.Len(); n != len(names) || v != len(values) {
			t.Fatalf("Bind(%v, %v) has %d names and %d values", names, values, n, v)
		}
		size := 0
		for i := range 2 * maxBindings {
			key := fmt.Sprintf("#%d", i)
			name, defined := got.name(key)
			if wantName, wantDefined := names[key]; name != wantName || defined != wantDefined {
				t.Fatalf("%s is %q, %t in Bind(%v, %v)", key, name, defined, names, values)
			}
			key = fmt.Sprintf(":%d", i)
			v, defined := got.value(key)
			if wantValue, wantDefined := want.Values[key]; !attr.Equal(v, wantValue) || defined != wantDefined {
				t.Fatalf("%s is %v, %t in Bind(%v, %v)", key, v, defined, names, values)
			}
			size += attr.Size(v)
		}
		if got.Size() != size || want.Size() != size {
			t.Fatalf("Bind(%v, %v) has %d bytes, maps of it %d, want %d", names, values, got.Size(), want.Size(), size)
		}
	}
	if outcomes[true] == 0 || outcomes[false] == 0 {
		t.Errorf("met %v", outcomes)
	}
}

// drawNames draws mostly a few names, and seldom none, many or wrong ones.
func drawNames(rng *rand.Rand) map[string]string {
	if rng.IntN(4) == 0 {
		return nil
	}
	names := map[string]string{}
	for range drawLength(rng) {
		names[fmt.Sprintf("#%d", rng.IntN(2*maxBindings))] = []string{"a", "b"}[rng.IntN(2)]
	}
	if rng.IntN(50) == 0 {
		names["#"] = "c"
	}
	if rng.IntN(50) == 0 {
		names["#0"] = ""
	}
	return names
}

func drawValues(rng *rand.Rand) map[string]types.AttributeValue {
	if rng.IntN(4) == 0 {
		return nil
	}
	values := map[string]types.AttributeValue{}
	for range drawLength(rng) {
		var v types.AttributeValue = &types.AttributeValueMemberN{Value: fmt.Sprint(rng.IntN(3))}
		if rng.IntN(2) == 0 {
			v = &types.AttributeValueMemberS{Value: fmt.Sprint(rng.IntN(3))}
		}
		values[fmt.Sprintf(":%d", rng.IntN(2*maxBindings))] = v
	}
	if rng.IntN(50) == 0 {
		values["0"] = &types.AttributeValueMemberBOOL{}
	}
	if rng.IntN(50) == 0 {
		values[":0"] = &types.AttributeValueMemberNULL{}
	}
	return values
}

func drawLength(rng *rand.Rand) int {
	if rng.IntN(10) == 0 {
		return rng.IntN(4 * maxBindings)
	}
	return rng.IntN(3)
}
