package expr

import (
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// The texts are the service's, as public suites captured them. The other texts, and the choice among several errors,
// are from DynamoDB Local 3.3.1.
//
// Source: https://github.com/nubo-db/dynamodb-conformance
// Source: https://github.com/architect/dynalite
func TestRefusedConditions(t *testing.T) {
	const (
		operandType = "Incorrect operand type for operator or function; operator or function: "
		distinct    = "The first operand must be distinct from the remaining operands for this operator or " +
			"function; operator: "
		misused = "The function is not allowed to be used this way in an expression; function: "
		count   = "Incorrect number of operands for operator or function; operator or function: "
		noName  = "An expression attribute name used in the document path is not defined; attribute name: "
		noValue = "An expression attribute value used in expression is not defined; attribute value: "
		parens  = "The expression has redundant parentheses;"
	)
	tests := []struct{ src, want string }{
		{"#x = :n", noName + "#x"},
		{"a.#x = :n", noName + "#x"},
		{"a = :x", noValue + ":x"},
		{"a IN (:n, :x)", noValue + ":x"},
		{"foo(a)", "Invalid function name; function: foo"},
		{"SIZE(a) = :n", "Invalid function name; function: SIZE"},
		{"Attribute_Exists(a)", "Invalid function name; function: Attribute_Exists"},
		{"if_not_exists(a, :n) = :n", "The function is not allowed in a condition expression; function: if_not_exists"},
		{"size(a)", misused + "size"},
		{"(size(a)) AND b = :n", misused + "size"},
		{"attribute_exists(a) = :t", misused + "attribute_exists"},
		{"a = contains(b, :s)", misused + "contains"},
		{"size(contains(a, :n)) = :n", misused + "contains"},
		{"size(a, b) = :n", count + "size, number of operands: 2"},
		{"attribute_exists(a, b)", count + "attribute_exists, number of operands: 2"},
		{"begins_with(a)", count + "begins_with, number of operands: 1"},
		{"attribute_exists(:n)",
			"Operator or function requires a document path; operator or function: attribute_exists"},
		{"attribute_not_exists(size(a))",
			"Operator or function requires a document path; operator or function: attribute_not_exists"},
		{"a = a", distinct + "=, first operand: [a]"},
		{"a.b[0] <> a.b[0]", distinct + "<>, first operand: [a, b, [0]]"},
		{"a IN (:n, a)", distinct + "IN, first operand: [a]"},
		{"a BETWEEN a AND :n", distinct + "BETWEEN, first operand: [a]"},
		{"contains(a, a)", distinct + "contains, first operand: [a]"},
		{"begins_with(a, :n)", operandType + "begins_with, operand type: N"},
		{"begins_with(:ss, :s)", operandType + "begins_with, operand type: SS"},
		{"begins_with(size(a), :s)", operandType + "begins_with, operand type: N"},
		{"size(:n) = :n", operandType + "size, operand type: N"},
		{"size(:t) = :n", operandType + "size, operand type: BOOL"},
		{"size(size(a)) = :n", operandType + "size, operand type: N"},
		{"a < :t", operandType + "<, operand type: BOOL"},
		{":l >= a", operandType + ">=, operand type: L"},
		{"a BETWEEN :n AND :z", operandType + "BETWEEN, operand type: NULL"},
		{"attribute_type(a, :n)", operandType + "attribute_type, operand type: N"},
		{"attribute_type(a, b)", operandType + "attribute_type, operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}"},
		{"attribute_type(a, :s)",
			"Invalid attribute type name found; type: a, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"},
		{"a BETWEEN :m AND :n",
			"The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound " +
				"operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}"},
		{"a BETWEEN :r AND :s",
			"The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound " +
				"operand: AttributeValue: {S:b}, upper bound operand: AttributeValue: {S:a}"},
		{"a BETWEEN :n AND :s",
			"The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: " +
				"AttributeValue: {N:1}, upper bound operand: AttributeValue: {S:a}"},
		{"((attribute_not_exists(pk)))", parens},
		{"((a)) = :n", parens},
		{"a = ((:n))", parens},
		{"NOT ((a = :n))", parens},
		{"((a = :n AND b = :n))", parens},

		// Of several errors, the first one counts in this order: parentheses, then words and functions as they occur,
		// then the number of operands of IN, then the Args.
		{"foo(a) AND ((b = :n))", parens},
		{"status = :n AND foo(a)", "Attribute name is a reserved keyword; reserved keyword: status"},
		{"foo(status)", "Invalid function name; function: foo"},
		{"size(a) AND status = :n", misused + "size"},
		{"status = :x", "Attribute name is a reserved keyword; reserved keyword: status"},
		{"#x = :n AND foo(a)", "Invalid function name; function: foo"},
		{"b = b AND #x = :n", distinct + "=, first operand: [b]"},
		{"#x = :n AND b = b", noName + "#x"},
		{"size(:n) = :x", operandType + "size, operand type: N"},
		{"begins_with(:n, size(:x))", noValue + ":x"},

		// Valid expressions.
		{"(a) = :n", ""}, {"(a = :n)", ""}, {"((a = :n) AND b = :n)", ""}, {"size((a)) = (:n)", ""},
		{"attribute_exists((a))", ""}, {"a IN (b, b)", ""}, {"size(a) = size(a)", ""}, {":n = :n", ""},
		{"contains(:s, :s)", ""}, {"a = :l", ""}, {"a IN (:ss)", ""}, {"size(a) < :s", ""},
		{"contains(size(a), :n)", ""}, {"a BETWEEN :s AND size(b)", ""},
		{"begins_with = :n OR contains = :n", ""}, {"attribute_exists (a) and a between :n AND :m", ""},
	}
	for _, tt := range tests {
		for _, parameter := range []string{"ConditionExpression", "FilterExpression"} {
			want := tt.want
			if want != "" {
				want = "Invalid " + parameter + ": " + want
			}
			if got := refusal(t, parameter, tt.src, nil); got != want {
				t.Errorf("%s:\n got %s\nwant %s", tt.src, got, want)
			}
		}
	}
	names := map[string]string{"#a": "a", "#b": "a.b"}
	if got, want := refusal(t, "ConditionExpression", "#a = a", names), "Invalid ConditionExpression: "+distinct+
		"=, first operand: [a]"; got != want {
		t.Errorf("an alias hides what it stands for: got %q, want %q", got, want)
	}
	if got := refusal(t, "ConditionExpression", "#b = a.b", names); got != "" {
		t.Errorf("a name with a dot is one name: %q", got)
	}
}

func TestRefusedUpdates(t *testing.T) {
	const (
		operandType = "Incorrect operand type for operator or function; operator or function: "
		overlap     = "Two document paths overlap with each other; must remove or rewrite one of these " +
			"paths; path one: "
		conflict  = "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: "
		noName    = "An expression attribute name used in the document path is not defined; attribute name: "
		noValue   = "An expression attribute value used in expression is not defined; attribute value: "
		count     = "Incorrect number of operands for operator or function; operator or function: "
		needsPath = "Operator or function requires a document path; operator or function: if_not_exists"
		forADD    = "Incorrect operand type for operator or function; operator: ADD, operand type: "
		forDELETE = "Incorrect operand type for operator or function; operator: DELETE, operand type: "
	)
	tests := []struct{ src, want string }{
		{"SET #x = :n", noName + "#x"},
		{"SET a = #x", noName + "#x"},
		{"SET a = :x", noValue + ":x"},
		{"ADD a :x", noValue + ":x"},
		{"SET a = :n SET b = :n", `The "SET" section can only be used once in an update expression;`},
		{"REMOVE a ADD b :n REMOVE c", `The "REMOVE" section can only be used once in an update expression;`},
		{"ADD a :n ADD b :n", `The "ADD" section can only be used once in an update expression;`},
		{"DELETE a :ss DELETE b :ss", `The "DELETE" section can only be used once in an update expression;`},
		{"SET a = :n, a = :m", overlap + "[a], path two: [a]"},
		{"SET a = :n, a.b = :m", overlap + "[a], path two: [a, b]"},
		{"SET a.b = :n REMOVE a.b.c", overlap + "[a, b], path two: [a, b, c]"},
		{"SET a[0] = :n, a[0] = :m", overlap + "[a, [0]], path two: [a, [0]]"},
		{"SET d[1] = a, d.b = a, c[1].a = a, c = if_not_exists(a)", overlap + "[c, [1], a], path two: [c]"},
		{"REMOVE c, c.a, d", overlap + "[c], path two: [c, a]"},
		{"SET a[0] = :n, a.b = :m", conflict + "[a, [0]], path two: [a, b]"},
		{"REMOVE a.c SET a[1] = d", conflict + "[a, c], path two: [a, [1]]"},
		{"SET a = foo(:n)", "Invalid function name; function: foo"},
		{"SET a = IF_NOT_EXISTS(a, :n)", "Invalid function name; function: IF_NOT_EXISTS"},
		{"SET a = size(b)", "The function is not allowed in an update expression; function: size"},
		{"SET a = list_append(:l, size(b))", "The function is not allowed in an update expression; function: size"},
		{"SET a = list_append(list_append(:l, :l), :l)",
			"The function is not allowed to be used this way in an expression; function: list_append"},
		{"SET a = list_append(:l, :l) + :n",
			"The function is not allowed to be used this way in an expression; function: list_append"},
		{"SET a = if_not_exists(a)", count + "if_not_exists, number of operands: 1"},
		{"SET a = list_append(:l, :l, :l)", count + "list_append, number of operands: 3"},
		{"SET a = if_not_exists(:n, a)", needsPath},
		{"SET a = if_not_exists(if_not_exists(a, b), c)", needsPath},
		{"SET a = if_not_exists(b, b)",
			"The first operand must be distinct from the remaining operands for this operator or function; " +
				"operator: if_not_exists, first operand: [b]"},
		{"SET a = :n + :s", operandType + "+, operand type: S"},
		{"SET a = :ss - b", operandType + "-, operand type: SS"},
		{"SET a = b + :l", operandType + "+, operand type: L"},
		{"SET a = list_append(b, :n)", operandType + "list_append, operand type: N"},
		{"SET a = list_append(:s, b)", operandType + "list_append, operand type: S"},
		{"ADD a :s", forADD + "STRING, typeSet: ALLOWED_FOR_ADD_OPERAND"},
		{"ADD a :l", forADD + "LIST, typeSet: ALLOWED_FOR_ADD_OPERAND"},
		{"ADD a :o", forADD + "MAP, typeSet: ALLOWED_FOR_ADD_OPERAND"},
		{"ADD a :b", forADD + "BINARY, typeSet: ALLOWED_FOR_ADD_OPERAND"},
		{"ADD a :t", forADD + "BOOLEAN, typeSet: ALLOWED_FOR_ADD_OPERAND"},
		{"ADD a :z", forADD + "NULL, typeSet: ALLOWED_FOR_ADD_OPERAND"},
		{"DELETE a :n", forDELETE + "NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND"},
		{"SET a = ((b))", "The expression has redundant parentheses;"},
		{"SET status = :n", "Attribute name is a reserved keyword; reserved keyword: status"},

		// Of several errors, the last one in the source counts: an update is checked from its end.
		{"SET a = :n SET b = foo(c)", "Invalid function name; function: foo"},
		{"SET a = #x SET b = :n", `The "SET" section can only be used once in an update expression;`},
		{"SET a = :x, a = :n", overlap + "[a], path two: [a]"},
		{"SET b = :x, a = #x", noName + "#x"},
		{"SET a = #x, b = :x", noValue + ":x"},
		{"SET a = :x + #x", noValue + ":x"},
		{"SET b = list_append(:s, a), c = if_not_exists(a) ADD a.b :s",
			forADD + "STRING, typeSet: ALLOWED_FOR_ADD_OPERAND"},
		{"SET c = if_not_exists(:x)", noValue + ":x"},

		// Valid expressions.
		{"SET a = (:n + :m), b = (c) - (d)", ""},
		{"SET a = if_not_exists(a, if_not_exists(b, :n)) + :n", ""},
		{"SET a = list_append(if_not_exists(a, :l), (:l))", ""},
		{"SET a[0] = :n, a[1] = :m, b.c = :n, b.d = :n", ""},
		{"SET if_not_exists = :n REMOVE list_append", ""},
		{"ADD a :n, b :ss DELETE c :ns, d :bs", ""},
	}
	for _, tt := range tests {
		want := tt.want
		if want != "" {
			want = "Invalid UpdateExpression: " + want
		}
		if got := refusal(t, "UpdateExpression", tt.src, nil); got != want {
			t.Errorf("%s:\n got %s\nwant %s", tt.src, got, want)
		}
	}
}

func TestUnused(t *testing.T) {
	cond, err := ParseCondition("#a = :a AND #b.c = :a")
	must.OK(t, err)
	update, err := ParseUpdate("SET x = :b REMOVE #c")
	must.OK(t, err)
	v := attr.Int(1)
	const inNames = "Value provided in ExpressionAttributeNames unused in expressions: keys: "
	const inValues = "Value provided in ExpressionAttributeValues unused in expressions: keys: "
	tests := []struct {
		name string
		args Args
		used []Expression
		want string
	}{
		{"nothing given", Args{}, nil, ""},
		{"all used", Args{
			Names: map[string]string{"#a": "a", "#b": "b", "#c": "c"}, Values: map[string]attr.Value{":a": v, ":b": v},
		}, []Expression{cond, update}, ""},
		{"by one only", Args{Names: map[string]string{"#a": "a", "#b": "b"}, Values: map[string]attr.Value{":a": v}},
			[]Expression{cond}, ""},
		{"a name", Args{Names: map[string]string{
			"#a": "a", "#b": "b", "#z": "z", "#y": "y",
		}, Values: map[string]attr.Value{":z": v}}, []Expression{cond}, inNames + "{#y, #z}"},
		{"a value", Args{Values: map[string]attr.Value{":a": v, ":z": v, ":y": v}},
			[]Expression{cond}, inValues + "{:y, :z}"},
		{"no expression", Args{Values: map[string]attr.Value{":a": v}}, nil, inValues + "{:a}"},
	}
	for _, tt := range tests {
		if got := text(t, Unused(tt.args, tt.used...)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestValidateArgs(t *testing.T) {
	long := "#" + string(make([]byte, 255))
	tests := []struct {
		args Args
		want string
	}{
		{Args{}, ""},
		{Args{Names: map[string]string{"#a_1": "x.y"}, Values: map[string]attr.Value{":0": attr.Int(1)}}, ""},
		{Args{Names: map[string]string{}}, "ExpressionAttributeNames must not be empty"},
		{Args{Values: map[string]attr.Value{}}, "ExpressionAttributeValues must not be empty"},
		{Args{Names: map[string]string{"a": "x", "b": "y"}},
			`ExpressionAttributeNames contains invalid key: Syntax error; key: "a"`},
		{Args{Names: map[string]string{"#a-b": "x"}},
			`ExpressionAttributeNames contains invalid key: Syntax error; key: "#a-b"`},
		{Args{Names: map[string]string{"#": "x"}},
			`ExpressionAttributeNames contains invalid key: Syntax error; key: "#"`},
		{Args{Names: map[string]string{"#a": ""}},
			"ExpressionAttributeNames contains invalid value: Empty attribute name for key #a"},
		{Args{Names: map[string]string{long: "x"}},
			"ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too " +
				"long; size of key: 256"},
		{Args{Values: map[string]attr.Value{"v": attr.Int(1)}},
			`ExpressionAttributeValues contains invalid key: Syntax error; key: "v"`},
	}
	for _, tt := range tests {
		if got := text(t, tt.args.Validate()); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.args, got, tt.want)
		}
	}
}
