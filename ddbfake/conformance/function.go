package conformance

func functionCases() []Case {
	item := row("a", "b", "s", "hello", "n", 12, "x", []byte("bin"), "t", true, "z", nil,
		"l", list{"one", 2}, "m", attrs{"k": 1}, "ss", strs{"p", "q"}, "ns", nums{"1", "2"}, "bs", bins{"r"}, "e", "")
	v := func(value any) []option { return []option{with(attrs{":v": value})} }
	const badType = "Invalid ConditionExpression: Incorrect operand type for operator or function; operator or function: "
	return judge([]judgement{
		{
			"attribute_exists of null", "An attribute that holds NULL exists.", docOperators,
			item, "attribute_exists(z)", nil, ok,
		},
		{
			"attribute_exists of an empty string", "An attribute that holds an empty string exists.", docOperators,
			item, "attribute_exists(e)", nil, ok,
		},
		{
			"attribute_type", "attribute_type is true of the type that the attribute has.", docOperators,
			item, "attribute_type(ss, :v)", v("SS"), ok,
		},
		{
			"attribute_type of null", "NULL is a type.", docOperators,
			item, "attribute_type(z, :v)", v("NULL"), ok,
		},
		{
			"attribute_type of another type", "attribute_type is false of another type.", docOperators,
			item, "attribute_type(s, :v)", v("N"), conditionFailed,
		},
		{
			"attribute_type of a missing attribute", "attribute_type is false of a missing attribute.", docOperators,
			item, "attribute_type(absent, :v)", v("S"), conditionFailed,
		},
		{
			"attribute_type of no type", "attribute_type refuses what is no type.", alternator + "test_condition_expression.py",
			item, "attribute_type(s, :v)", v("STRING"),
			invalid("Invalid ConditionExpression: Invalid attribute type name found; type: STRING, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"),
		},
		{
			"begins_with", "begins_with is true of a prefix.", docOperators,
			item, "begins_with(s, :v)", v("he"), ok,
		},
		{
			"begins_with nothing", "Every string begins with the empty string.", docOperators,
			item, "begins_with(s, :v)", v(""), ok,
		},
		{
			"begins_with of a binary", "begins_with takes binaries.", docOperators,
			item, "begins_with(x, :v)", v([]byte("bi")), ok,
		},
		{
			"begins_with of another type", "A binary does not begin with a string.", docOperators,
			item, "begins_with(x, :v)", v("bi"), conditionFailed,
		},
		{
			"begins_with a number", "begins_with refuses a literal that is neither a string nor a binary.", alternator + "test_condition_expression.py",
			item, "begins_with(s, :v)", v(1), invalid(badType + "begins_with, operand type: N"),
		},
		{
			"contains of a string", "contains is true of a substring.", docOperators,
			item, "contains(s, :v)", v("ell"), ok,
		},
		{
			"contains of a set", "contains is true of an element of a set.", docOperators,
			item, "contains(ns, :v)", v(num("2.0")), ok,
		},
		{
			"contains of a list", "contains is true of an element of a list.", docOperators,
			item, "contains(l, :v)", v(2), ok,
		},
		{
			"contains of a map", "contains is false of a map.", docOperators,
			item, "contains(m, :v)", v("k"), conditionFailed,
		},
		{
			"contains of another type", "A set of strings contains no number.", docOperators,
			item, "contains(ss, :v)", v(1), conditionFailed,
		},
		{
			"contains of itself", "contains needs two different operands.", parity + "tier3/error-messages/putItem.test.ts",
			item, "contains(s, s)", nil,
			invalid("Invalid ConditionExpression: The first operand must be distinct from the remaining operands for this operator or function; operator: contains, first operand: [s]"),
		},
		{
			"size of a string", "size of a string is its length.", docOperators,
			item, "size(s) = :v", v(5), ok,
		},
		{
			"size of UTF-8", "size of a string counts characters of the Basic Multilingual Plane as one each.", docOperators,
			row("a", "b", "s", "äö"), "size(s) = :v", v(2), ok,
		},
		{
			"size of a binary", "size of a binary is its number of bytes.", docOperators,
			item, "size(x) = :v", v(3), ok,
		},
		{
			"size of a set", "size of a set is its number of elements.", docOperators,
			item, "size(ss) = :v", v(2), ok,
		},
		{
			"size of a list", "size of a list is its number of elements.", docOperators,
			item, "size(l) = :v", v(2), ok,
		},
		{
			"size of a map", "size of a map is its number of elements.", docOperators,
			item, "size(m) = :v", v(1), ok,
		},
		{
			"size of a number", "A number has no size: the condition is false.", alternator + "test_condition_expression.py",
			item, "size(n) >= :v", v(0), conditionFailed,
		},
		{
			"size of a missing attribute", "A missing attribute has no size: the condition is false.", alternator + "test_condition_expression.py",
			item, "size(absent) >= :v", v(0), conditionFailed,
		},
		{
			"size alone", "size is no condition by itself.", alternator + "test_condition_expression.py",
			item, "size(s)", nil,
			invalid("Invalid ConditionExpression: The function is not allowed to be used this way in an expression; function: size"),
		},
		{
			"function names have a case", "The names of functions are case-sensitive.", docOperators,
			item, "Attribute_Exists(s)", nil, invalid("Invalid ConditionExpression: Invalid function name; function: Attribute_Exists"),
		},
		{
			"number of operands", "A function takes the operands that it takes.", alternator + "test_condition_expression.py",
			item, "attribute_exists(s, n)", nil,
			invalid("Invalid ConditionExpression: Incorrect number of operands for operator or function; operator or function: attribute_exists, number of operands: 2"),
		},
		{
			"attribute_exists of a value", "attribute_exists takes a path.", alternator + "test_condition_expression.py",
			item, "attribute_exists(:v)", v("s"),
			invalid("Invalid ConditionExpression: Operator or function requires a document path; operator or function: attribute_exists"),
		},
		{
			"functions of updates", "if_not_exists belongs to updates.", docUpdates,
			item, "if_not_exists(s, n)", nil,
			invalid("Invalid ConditionExpression: The function is not allowed in a condition expression; function: if_not_exists"),
		},
	})
}
