package attr

import (
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func sdkS(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func sdkN(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

func TestFromSDKAndBack(t *testing.T) {
	tests := []struct {
		in   types.AttributeValue
		want Value
		back types.AttributeValue // if not in
	}{
		{in: sdkS(""), want: S("")},
		{in: sdkN("1.50"), want: num(t, "1.5"), back: sdkN("1.5")},
		{in: &types.AttributeValueMemberB{Value: []byte{}}, want: B{}},
		{in: &types.AttributeValueMemberBOOL{Value: true}, want: BOOL(true)},
		{in: &types.AttributeValueMemberNULL{Value: true}, want: NULL{}},
		{
			in: &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
				"a": &types.AttributeValueMemberL{Value: []types.AttributeValue{sdkN("1")}},
			}},
			want: M{"a": L{Int(1)}},
		},
		{in: &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}}, want: M{}},
		{in: &types.AttributeValueMemberL{Value: []types.AttributeValue{}}, want: L{}},
		{
			in: &types.AttributeValueMemberSS{Value: []string{"b", "", "a"}}, want: SS{"", "a", "b"},
			back: &types.AttributeValueMemberSS{Value: []string{"", "a", "b"}},
		},
		{
			in: &types.AttributeValueMemberNS{Value: []string{"10", "9.0"}}, want: NS{fromInt64(9), fromInt64(10)},
			back: &types.AttributeValueMemberNS{Value: []string{"9", "10"}},
		},
		{in: &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2}}}, want: BS{{1}, {2}}},
	}
	for _, tt := range tests {
		got, err := FromSDK(tt.in)
		if err != nil || !Equal(got, tt.want) {
			t.Errorf("FromSDK(%#v) = %v, %v; want %v", tt.in, got, err, tt.want)
			continue
		}
		want := tt.in
		if tt.back != nil {
			want = tt.back
		}
		if back := ToSDK(got); !reflect.DeepEqual(back, want) {
			t.Errorf("ToSDK(%v) = %#v, want %#v", got, back, want)
		}
	}
}

func nested(levels int) types.AttributeValue {
	v := sdkS("x")
	for i := 1; i < levels; i++ {
		if i%2 == 0 {
			v = &types.AttributeValueMemberL{Value: []types.AttributeValue{v}}
		} else {
			v = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"a": v}}
		}
	}
	return v
}

// The texts are the service's, as its public test suites have captured them.
// Source: https://github.com/nubo-db/dynamodb-conformance
// Source: https://github.com/architect/dynalite (test/updateItem.js)
func TestFromSDKRefuses(t *testing.T) {
	const invalid = "One or more parameter values were invalid: "
	const noType = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
	inMap := func(v types.AttributeValue) types.AttributeValue {
		return &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"a": v}}
	}
	tests := []struct {
		in   types.AttributeValue
		want string
	}{
		{nil, noType},
		{(*types.AttributeValueMemberS)(nil), noType},
		{&types.UnknownUnionMember{Tag: "X"}, noType},
		{inMap(nil), noType},
		{&types.AttributeValueMemberL{Value: []types.AttributeValue{nil}}, noType},
		{&types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"": sdkS("x")}}, "Empty attribute name"},
		{&types.AttributeValueMemberSS{}, invalid + "An string set  may not be empty"},
		{&types.AttributeValueMemberNS{}, invalid + "An number set  may not be empty"},
		{&types.AttributeValueMemberBS{}, invalid + "Binary sets should not be empty"},
		{&types.AttributeValueMemberSS{Value: []string{"a", "b", "a"}},
			invalid + `Input collection ["a", "b", "a"] contains duplicates.`},
		{&types.AttributeValueMemberSS{Value: []string{"b", "a", "b", "a"}},
			invalid + `Input collection ["a", "b", "b", "a"] contains duplicates.`},
		{&types.AttributeValueMemberNS{Value: []string{"1", "1.0"}}, invalid + "Input collection contains duplicates."},
		{&types.AttributeValueMemberBS{Value: [][]byte{{'b'}, {'b'}}},
			invalid + `Input collection ["Yg==","Yg=="]of type BS contains duplicates.`},
		{&types.AttributeValueMemberBS{Value: [][]byte{{0xff}, {0}, {0}}},
			invalid + `Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.`},
		{&types.AttributeValueMemberNULL{Value: false},
			invalid + "Null attribute value types must have the value of true"},
		{sdkN("abc"), "The parameter cannot be converted to a numeric value: abc"},
		{&types.AttributeValueMemberNS{Value: []string{"1", ""}},
			"The parameter cannot be converted to a numeric value: "},
		{inMap(sdkN("1E126")),
			"Number overflow. Attempting to store a number with magnitude larger than supported range"},
		{nested(33),
			"Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond " +
				"supported limit"},
	}
	for _, tt := range tests {
		if got, err := FromSDK(tt.in); err == nil || err.Error() != tt.want {
			t.Errorf("FromSDK(%#v) = %v, %v; want the error %q", tt.in, got, err, tt.want)
		}
	}
	if _, err := FromSDK(nested(MaxDepth)); err != nil {
		t.Errorf("%d levels: %v; want them accepted", MaxDepth, err)
	}
}

func TestItemFromSDK(t *testing.T) {
	if it, err := ItemFromSDK(nil); it != nil || err != nil {
		t.Errorf("ItemFromSDK(nil) = %v, %v", it, err)
	}
	it, err := ItemFromSDK(map[string]types.AttributeValue{"a": sdkN("1")})
	if err != nil || !it.Equal(Item{"a": Int(1)}) {
		t.Errorf("got %v, %v", it, err)
	}
	for range 20 { // of several errors, the first by name is reported
		_, err := ItemFromSDK(map[string]types.AttributeValue{"c": nil, "b": sdkN("x"), "d": sdkN("y")})
		if want := "The parameter cannot be converted to a numeric value: x"; err == nil || err.Error() != want {
			t.Fatalf("error %v, want %q", err, want)
		}
	}
}

func TestConversionsCopy(t *testing.T) {
	in := &types.AttributeValueMemberB{Value: []byte{1}}
	v, _ := FromSDK(in)
	in.Value[0] = 9
	if !Equal(v, B{1}) {
		t.Errorf("FromSDK shares memory: %v", v)
	}
	ToSDK(v).(*types.AttributeValueMemberB).Value[0] = 9
	if !Equal(v, B{1}) {
		t.Errorf("ToSDK shares memory: %v", v)
	}
	set := SS{"a"}
	ToSDK(set).(*types.AttributeValueMemberSS).Value[0] = "z"
	if set[0] != "a" {
		t.Error("ToSDK shares a set")
	}
}
