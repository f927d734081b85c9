package expr

import (
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

var (
	hashKey = Key{Name: "pk", Kind: "S"}
	sortKey = Key{Name: "sk", Kind: "S"}
)

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.KeyConditionExpressions.html
func TestBind(t *testing.T) {
	a, b := attr.S("a"), attr.S("b")
	tests := []struct {
		src       string
		want      Bounds
		in, notIn []attr.Value
	}{
		{"pk = :s", Bounds{Hash: a}, []attr.Value{attr.S("x"), attr.S("y")}, nil},
		{"pk = :s AND sk = :r", Bounds{Hash: a, Low: b, High: b}, []attr.Value{b}, []attr.Value{a, attr.S("ba")}},
		{"sk = :r AND pk = :s", Bounds{Hash: a, Low: b, High: b}, []attr.Value{b}, []attr.Value{a}},
		{"(pk = :s) and (sk = :r)", Bounds{Hash: a, Low: b, High: b}, []attr.Value{b}, []attr.Value{a}},
		{"(pk = :s AND (sk < :r))", Bounds{Hash: a, High: b, HighExclusive: true},
			[]attr.Value{a, attr.S("az")}, []attr.Value{b}},
		{"pk = :s AND sk <= :r", Bounds{Hash: a, High: b}, []attr.Value{a, b}, []attr.Value{attr.S("ba")}},
		{"pk = :s AND sk > :r", Bounds{Hash: a, Low: b, LowExclusive: true},
			[]attr.Value{attr.S("ba")}, []attr.Value{a, b}},
		{"pk = :s AND sk >= :r", Bounds{Hash: a, Low: b}, []attr.Value{b, attr.S("ba")}, []attr.Value{a}},
		{"pk = :s AND sk BETWEEN :s AND :r", Bounds{Hash: a, Low: a, High: b}, []attr.Value{a, attr.S("ab"), b},
			[]attr.Value{attr.S("A"), attr.S("ba")}},
		{"pk = :s AND begins_with(sk, :r)", Bounds{Hash: a, Low: b, High: attr.S("c"), HighExclusive: true},
			[]attr.Value{b, attr.S("b\U0010FFFF")}, []attr.Value{a, attr.S("c")}},
		{":s = pk AND :r >= sk", Bounds{Hash: a, High: b}, []attr.Value{a, b}, []attr.Value{attr.S("ba")}},
		{":s = pk AND :r < sk", Bounds{Hash: a, Low: b, LowExclusive: true},
			[]attr.Value{attr.S("ba")}, []attr.Value{b}},
		{"#p = :s AND #s = :r", Bounds{Hash: a, Low: b, High: b}, []attr.Value{b}, []attr.Value{a}},
	}
	for _, tt := range tests {
		k, err := ParseKeyCondition(tt.src)
		if err != nil {
			t.Errorf("%s: %v", tt.src, err)
			continue
		}
		given := args(k, map[string]string{"#p": "pk", "#s": "sk"})
		if err := k.Check(given); err != nil {
			t.Errorf("%s: Check: %v", tt.src, err)
		}
		got, err := k.Bind(given, hashKey, sortKey)
		if err != nil || !attr.Equal(got.Hash, tt.want.Hash) || !attr.Equal(got.Low, tt.want.Low) ||
			!attr.Equal(got.High, tt.want.High) ||
			got.LowExclusive != tt.want.LowExclusive || got.HighExclusive != tt.want.HighExclusive {
			t.Errorf("%s: got %v, %v; want %v", tt.src, got, err, tt.want)
		}
		for _, v := range tt.in {
			if !got.Contains(v) {
				t.Errorf("%s does not contain %v", tt.src, v)
			}
		}
		for _, v := range tt.notIn {
			if got.Contains(v) {
				t.Errorf("%s contains %v", tt.src, v)
			}
		}
	}
}

func TestPrefixes(t *testing.T) {
	tests := []struct{ prefix, want attr.Value }{
		{attr.S("a"), attr.S("b")},
		{attr.S("a\x7F"), attr.S("a\x80")},
		{attr.B{1, 0xFF}, attr.B{2}},
		{attr.B{0xFF, 0xFF}, nil},
		{attr.B{0}, attr.B{1}},
	}
	for _, tt := range tests {
		if got := afterPrefix(tt.prefix); !attr.Equal(got, tt.want) {
			t.Errorf("after all with the prefix %v: %v, want %v", tt.prefix, got, tt.want)
		}
	}
	prefix := attr.B{0xFF}
	if afterPrefix(prefix); prefix[0] != 0xFF {
		t.Error("the prefix was changed")
	}
}

// The texts are the service's, as public test suites captured them, or those of DynamoDB Local 3.3.1.
//
// Source: https://github.com/architect/dynalite (test/query.js)
// Source: https://github.com/nubo-db/dynamodb-conformance (tests/tier1/query)
func TestRefusedKeyConditions(t *testing.T) {
	const (
		operator = "Invalid operator used in KeyConditionExpression: "
		multiple = "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"
		noKey    = "Invalid condition in KeyConditionExpression: No key attribute specified"
		perKey   = "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key"
		nested   = "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes"
		inner    = "KeyConditionExpressions cannot contain nested operations"
		prefix   = "Invalid KeyConditionExpression: "
	)
	tests := []struct{ src, want string }{
		{"pk = :s OR sk = :r", operator + "OR"},
		{"pk = :s AND (sk = :r OR sk = :s)", operator + "OR"},
		{"NOT pk = :s", operator + "NOT"},
		{"pk <> :s", operator + "<>"},
		{"pk IN (:s)", operator + "IN"},
		{"attribute_exists(pk)", operator + "attribute_exists"},
		{"contains(sk.d, :r) AND pk = :s", operator + "contains"},
		{"attribute_type(sk, :type)", operator + "attribute_type"},
		{"begins_with(:r, sk) AND pk = :s",
			"Invalid condition in KeyConditionExpression: begins_with operator must have the key attribute as its " +
				"first operand"},
		{":s BETWEEN size(pk) AND size(sk)",
			"Invalid condition in KeyConditionExpression: BETWEEN operator must have the key attribute as its " +
				"first operand"},
		{"pk = :s AND size(sk) = :n", inner},
		{"pk BETWEEN size(sk) AND size(x)", inner},
		{"pk = sk", multiple},
		{"pk BETWEEN sk AND size(x)", multiple},
		{"begins_with(pk, sk)", multiple},
		{"pk = :s AND sk.a = :r", nested},
		{"sk[0] > a", nested},
		{":s = :r", noKey},
		{"pk = :s AND pk = :r", perKey},
		{"pk = :s AND sk > :s AND sk < :r", perKey},
		{"pk = :s AND #p = :r", perKey},
		{"pk = :x", prefix + "An expression attribute value used in expression is not defined; attribute value: :x"},
		{"pk = :s AND sk BETWEEN :r AND :s", prefix +
			"The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound " +
			"operand: AttributeValue: {S:b}, upper bound operand: AttributeValue: {S:a}"},
		{"pk = :s AND begins_with(sk, :n)", prefix +
			"Incorrect operand type for operator or function; operator or function: begins_with, operand type: N"},
		{"pk = pk",
			prefix +
				"The first operand must be distinct from the remaining operands for this operator or function; " +
				"operator: =, first operand: [pk]"},
		{"((pk = :s)) AND ((sk = :r))", prefix + "The expression has redundant parentheses;"},
		{"pk = :s AND status = :r", prefix + "Attribute name is a reserved keyword; reserved keyword: status"},
		{"pk = :s AND foo(sk)", prefix + "Invalid function name; function: foo"},
	}
	for _, tt := range tests {
		if got := refusal(t, "KeyConditionExpression", tt.src, map[string]string{"#p": "pk"}); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.src, got, tt.want)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	const (
		missed       = "Query condition missed key schema element: "
		notSupported = "Query key condition not supported"
		tooMany      = "The number of query conditions "
		otherType    = "One or more parameter values were invalid: Condition parameter type does not match schema type"
		emptyKey     = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot " +
			"contain an empty "
	)
	none := Key{}
	tests := []struct {
		src        string
		hash, sort Key
		want       string
	}{
		{"sk = :s", hashKey, sortKey, missed + "pk"},
		{"x = :s AND y = :r", hashKey, sortKey, missed + "pk"},
		{"pk = :s AND x = :r", hashKey, sortKey, missed + "sk"},
		{"pk > :s", hashKey, sortKey, notSupported},
		{"begins_with(pk, :s)", hashKey, sortKey, notSupported},
		{"pk > :s AND x = :r", hashKey, sortKey, notSupported},
		{"pk = :s AND sk = :r", hashKey, none, tooMany + "(2) exceeds the number of key attributes defined in the " +
			"schema (1)"},
		{"x = :s AND y = :r AND z = :s", hashKey, sortKey, tooMany + "(3) exceeds the number of key attributes " +
			"defined in the schema (2)"},
		{"pk = :n", hashKey, sortKey, otherType},
		{"pk = :n AND x = :s", hashKey, sortKey, otherType},
		{"pk = :s AND sk = :n", hashKey, sortKey, otherType},
		{"pk = :s AND begins_with(sk, :b)", hashKey, sortKey, otherType},
		{"pk = :t", hashKey, sortKey, otherType},
		{"pk = :e", hashKey, sortKey, emptyKey + "string value. Key: pk"},
		{"pk = :s AND begins_with(sk, :e)", hashKey, sortKey, emptyKey + "string value. Key: sk"},
		{"pk = :n AND sk BETWEEN :n AND :m", Key{"pk", "N"}, Key{"sk", "N"}, ""},
		{"pk = :b AND begins_with(sk, :b)", Key{"pk", "B"}, Key{"sk", "B"}, ""},
	}
	for _, tt := range tests {
		k, err := ParseKeyCondition(tt.src)
		if err != nil {
			t.Errorf("%s: %v", tt.src, err)
			continue
		}
		_, err = k.Bind(args(k, nil), tt.hash, tt.sort)
		if got := text(t, err); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.src, got, tt.want)
		}
	}
}
