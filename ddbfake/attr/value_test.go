package attr

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func num(t testing.TB, text string) N { return N{mustParse(t, text)} }

func TestCompareAndEqual(t *testing.T) {
	const unordered = 2
	tests := []struct {
		name  string
		a, b  Value
		order int // the result of Compare; unordered: not comparable
		equal bool
	}{
		{"numbers by value", Int(9), Int(10), -1, false},
		{"1 and 1.0", Int(1), num(t, "1.0"), 0, true},
		{"strings by bytes", S("10"), S("9"), -1, false},
		{"UTF-8 bytes, not UTF-16 units", S("\uFFFF"), S("\U0001F600"), -1, false},
		{"empty string first", S(""), S("a"), -1, false},
		{"binaries unsigned", B{0x7F}, B{0x80}, -1, false},
		{"binary prefix first", B{1}, B{1, 0}, -1, false},
		{"equal binaries", B{1, 2}, B{1, 2}, 0, true},
		{"S and N", S("1"), Int(1), unordered, false},
		{"S and B", S("a"), B("a"), unordered, false},
		{"booleans", BOOL(false), BOOL(true), unordered, false},
		{"same boolean", BOOL(true), BOOL(true), unordered, true},
		{"nulls", NULL{}, NULL{}, unordered, true},
		{"sets in any order", SS{"a", "b"}, SS{"b", "a"}, unordered, true},
		{"sets of other size", SS{"a"}, SS{"b", "a"}, unordered, false},
		{"number sets by value", NS{fromInt64(1), fromInt64(2)}, NS{fromInt64(2), mustParse(t, "1.0")}, unordered,
			true},
		{"binary sets", BS{{1}, {2}}, BS{{2}, {1}}, unordered, true},
		{"sets of other types", SS{"1"}, NS{fromInt64(1)}, unordered, false},
		{"lists in order", L{Int(1), Int(2)}, L{Int(2), Int(1)}, unordered, false},
		{"deep", M{"a": L{M{"b": SS{"x", "y"}}}}, M{"a": L{M{"b": SS{"y", "x"}}}}, unordered, true},
		{"map with another key", M{"a": Int(1)}, M{"b": Int(1)}, unordered, false},
		{"list and map", L{}, M{}, unordered, false},
		{"missing and null", nil, NULL{}, unordered, false},
		{"missing twice", nil, nil, unordered, true},
	}
	for _, tt := range tests {
		order, ok := Compare(tt.a, tt.b)
		if ok != (tt.order != unordered) || ok && order != tt.order {
			t.Errorf("%s: Compare = %d, %v; want %d", tt.name, order, ok, tt.order)
		}
		back, _ := Compare(tt.b, tt.a)
		if ok && back != -tt.order {
			t.Errorf("%s: the other way Compare = %d, want %d", tt.name, back, -tt.order)
		}
		if got := Equal(tt.a, tt.b); got != tt.equal || Equal(tt.b, tt.a) != tt.equal {
			t.Errorf("%s: Equal = %v, want %v both ways", tt.name, got, tt.equal)
		}
	}
}

func TestEqualLeavesSetsAlone(t *testing.T) {
	a := SS{"b", "a"}
	if !Equal(a, SS{"a", "b"}) || a[0] != "b" {
		t.Errorf("Equal sorted its argument: %v", []string(a))
	}
	if a.String() != `<<"a", "b">>` || a[0] != "b" {
		t.Errorf("String sorted its argument: %v", []string(a))
	}
}

func TestItemEqual(t *testing.T) {
	if (Item{}).Equal(nil) || !(Item(nil)).Equal(nil) {
		t.Error("an absent row equals an empty one")
	}
	if !(Item{"a": Int(1)}).Equal(Item{"a": num(t, "1.0")}) {
		t.Error("1 and 1.0 differ")
	}
}

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
func TestSize(t *testing.T) {
	tests := []struct {
		v    Value
		want int
	}{
		{S(""), 0}, {S("abc"), 3}, {S("é"), 2}, {B{1, 2}, 2},
		{BOOL(true), 1}, {NULL{}, 1},
		{SS{"a", "bc"}, 3}, {BS{{1}, {2, 3}}, 3}, {NS{fromInt64(1), fromInt64(123)}, 5},
		{L{}, 3}, {L{S("ab"), NULL{}}, 3 + 2 + 2 + 1},
		{M{}, 3}, {M{"ab": S("c")}, 3 + 1 + 2 + 1},
		{L{L{}}, 3 + 1 + 3},
	}
	for _, tt := range tests {
		if got := Size(tt.v); got != tt.want {
			t.Errorf("Size(%v) = %d, want %d", tt.v, got, tt.want)
		}
	}
	if got, want := (Item{"pk": S("abc"), "n": Int(12)}).Size(), 2+3+1+2; got != want {
		t.Errorf("Item.Size() = %d, want %d", got, want)
	}
}

// The sizes were measured on the service.
// Source: https://github.com/nubo-db/dynamodb-conformance/blob/main/src/item-size.ts
func TestNumberSize(t *testing.T) {
	tests := []struct {
		in   string
		want int
	}{
		{"0", 1}, {"-0", 1}, {"1", 2}, {"12", 2}, {"123", 3}, {"1234", 3}, {"123456", 4},
		{"12345678901234567890123456789012345678", 20},
		{"0042", 2}, {"100", 2}, {"1010", 3}, {"-42", 3}, {"15", 2}, {"1.5", 3}, {"1.2", 3}, {"1.200", 3},
		{"1.234", 4}, {"3.14159", 5}, {"100.5", 4}, {"0.15", 2}, {"0.0000001", 2}, {"1E125", 2}, {"1E-100", 2},
		{"2208988800", 5}, {"9223372036854775800", 10},
	}
	for _, tt := range tests {
		if got := Size(num(t, tt.in)); got != tt.want {
			t.Errorf("Size(%s) = %d, want %d", tt.in, got, tt.want)
		}
	}
}

func TestStringIsDeterministic(t *testing.T) {
	row := Item{
		"pk": S("CACHE#1"), "n": Int(12), "f": num(t, "-1.50"), "bin": B{0, 0xFF}, "yes": BOOL(true), "none": NULL{},
		"list": L{Int(1), S("a\n"), L{}}, "map": M{"b": Int(2), "a b": Int(1), "": Int(0)},
		"tags": SS{"b", "a"}, "nums": NS{fromInt64(10), fromInt64(9)}, "bins": BS{{2}, {1}},
	}
	want :=
		`{bin: 0x00ff, bins: <<0x01, 0x02>>, f: -1.5, list: [1, "a\n", []], map: {"": 0, "a b": 1, b: 2}, n: 12, none: null, nums: <<9, 10>>, pk: "CACHE#1", tags: <<"a", "b">>, yes: true}`
	for range 20 {
		if got := row.String(); got != want {
			t.Fatalf("String() = %s\nwant %s", got, want)
		}
	}
	if got := Item(nil).String(); got != "absent" {
		t.Errorf("an absent row prints as %q", got)
	}
	if got := (Item{"a": nil}).String(); !strings.Contains(got, "missing") {
		t.Errorf("a missing value prints as %q", got)
	}
}

func TestAccessors(t *testing.T) {
	row := Item{"s": S("x"), "n": Int(5), "f": num(t, "1.5"), "z": NULL{}}
	if s, ok := row.Str("s"); s != "x" || !ok {
		t.Errorf("Str(s) = %q, %v", s, ok)
	}
	if n, ok := row.Int("n"); n != 5 || !ok {
		t.Errorf("Int(n) = %d, %v", n, ok)
	}
	for _, name := range []string{"n", "z", "missing"} {
		if s, ok := row.Str(name); ok {
			t.Errorf("Str(%s) = %q, want none", name, s)
		}
	}
	for _, name := range []string{"s", "f", "z", "missing"} {
		if n, ok := row.Int(name); ok {
			t.Errorf("Int(%s) = %d, want none", name, n)
		}
	}
	if _, ok := Item(nil).Int("n"); ok {
		t.Error("an absent row has an attribute")
	}
}

func TestKinds(t *testing.T) {
	for v, want := range map[Value]Kind{S(""): "S", N{}: "N", BOOL(false): "BOOL", NULL{}: "NULL"} {
		if got := KindOf(v); got != want {
			t.Errorf("KindOf(%v) = %q, want %q", v, got, want)
		}
	}
	for _, v := range []Value{B{}, M{}, L{}, SS{}, NS{}, BS{}} {
		if want := strings.TrimPrefix(fmt.Sprintf("%T", v), "attr."); string(KindOf(v)) != want {
			t.Errorf("KindOf(%v) = %q, want %q", v, KindOf(v), want)
		}
	}
}

func mustParse(t testing.TB, text string) Number {
	t.Helper()
	n, err := ParseNumber(text)
	if err != nil {
		t.Fatalf("ParseNumber(%q): %v", text, err)
	}
	return n
}

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

// The texts are the service's, as captured by its public test suites.
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
