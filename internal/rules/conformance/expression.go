package conformance

import (
	"strings"
)

func expressionCases() []Case {
	type refusal struct {
		name, rule, source string
		do                 request
		want               string
	}
	a := key("a", "b")
	one := attrs{":v": 1}
	var cases []Case
	for _, r := range []refusal{
		{
			"unused value", "A value that no expression uses is refused.", docValues,
			remove(a, where("x = :v"), with(attrs{":v": 1, ":w": 2})),
			enveloped(invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}")),
		},
		{
			"unused name", "A name that no expression uses is refused.", docNames,
			remove(a, where("attribute_exists(x)"), named("#x", "x")),
			enveloped(invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}")),
		},
		{
			"unused in a get", "A projection has to use its names.", docNames,
			get(a, only("x"), named("#x", "x")),
			invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}"),
		},
		{
			"undefined value", "A value that is not defined is refused.", docValues,
			remove(a, where("x = :w AND y = :v"), with(one)),
			enveloped(invalid("Invalid ConditionExpression: An expression attribute value used in expression is not " +
				"defined; attribute value: :w")),
		},
		{
			"undefined name", "A name that is not defined is refused.", docNames,
			remove(a, where("attribute_exists(#y) OR attribute_exists(#x)"), named("#x", "x")),
			enveloped(invalid("Invalid ConditionExpression: An expression attribute name used in the document path " +
				"is not defined; attribute name: #y")),
		},
		{
			"undefined value of an update", "An update's values are defined.",
			parity + "tier3/error-messages/updateItem.test.ts",
			update(a, "SET x = :v"),
			enveloped(invalid("Invalid UpdateExpression: An expression attribute value used in expression is not " +
				"defined; attribute value: :v")),
		},
		{
			"values without an expression", "Values need an expression.", dynalite + "putItem.js",
			put(row("a", "b"), with(one)),
			enveloped(invalid("ExpressionAttributeValues can only be specified when using expressions")),
		},
		{
			"names without an expression", "Names need an expression.", dynalite + "putItem.js",
			put(row("a", "b"), named("#x", "x")),
			enveloped(invalid("ExpressionAttributeNames can only be specified when using expressions")),
		},
		{
			"values of an update without an expression",
			"The values of an update need an expression: it could have two.", dynalite + "updateItem.js",
			update(a, "", noUpdate(), with(one)),
			enveloped(invalid("ExpressionAttributeValues can only be specified when using expressions")),
		},
		{
			"no values", "A map of values is not empty.", dynalite + "putItem.js",
			remove(a, where("attribute_exists(x)"), with(attrs{})),
			enveloped(invalid("ExpressionAttributeValues must not be empty")),
		},
		{
			"no names", "A map of names is not empty.", dynalite + "putItem.js",
			remove(a, where("attribute_exists(x)"), named()),
			enveloped(invalid("ExpressionAttributeNames must not be empty")),
		},
		{
			"name without its sign", "A placeholder of a name begins with #.", dynalite + "putItem.js",
			remove(a, where("attribute_exists(x)"), named("x", "x")),
			enveloped(invalid(`ExpressionAttributeNames contains invalid key: Syntax error; key: "x"`)),
		},
		{
			"value without its sign", "A placeholder of a value begins with a colon.", dynalite + "putItem.js",
			remove(a, where("x = :v"), with(attrs{"v": 1})),
			enveloped(invalid(`ExpressionAttributeValues contains invalid key: Syntax error; key: "v"`)),
		},
		{
			"empty name", "A placeholder stands for a name.", dynalite + "putItem.js",
			remove(a, where("attribute_exists(#x)"), named("#x", "")),
			enveloped(invalid("ExpressionAttributeNames contains invalid value: Empty attribute name for key #x")),
		},
		{
			"bad value", "A value is one that an item could have.", dynalite + "putItem.js",
			remove(a, where("x = :v"), with(attrs{":v": strs{}})),
			enveloped(invalid("ExpressionAttributeValues contains invalid value: One or more parameter values were " +
				"invalid: An string set  may not be empty for key :v")),
		},
		{
			"empty condition", "A condition is not empty.", dynalite + "putItem.js",
			remove(a, where("")),
			enveloped(invalid("Invalid ConditionExpression: The expression can not be empty;")),
		},
		{
			"syntax", "A syntax error names the token and what is near it.", dynalite + "putItem.js",
			remove(a, where("x = = :v"), with(one)),
			enveloped(invalid(`Invalid ConditionExpression: Syntax error; token: "=", near: "= = :v"`)),
		},
		{
			"end", "A condition that stops too early ends at <EOF>.",
			parity + "tier3/validation-ordering/transactions.test.ts",
			remove(a, where("attribute_not_exists(")),
			enveloped(invalid(`Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("`)),
		},
		{
			"redundant parentheses", "Parentheses around parentheses are refused.",
			parity + "tier3/error-messages/putItem.test.ts",
			remove(a, where("((attribute_exists(pk)))")),
			enveloped(invalid("Invalid ConditionExpression: The expression has redundant parentheses;")),
		},
		{
			"literal", "A literal is no operand.", docConditions,
			remove(a, where("x = 1")),
			enveloped(invalid(`Invalid ConditionExpression: Syntax error; token: "1", near: "= 1"`)),
		},
		{
			"parameter beside the old ones", "Expressions do not go with the parameters that they replaced.",
			api("PutItem"), put(row("a", "b"), where("attribute_exists(x)"), set("ConditionalOperator", "AND")),
			enveloped(invalid("Can not use both expression and non-expression parameters in the same request: " +
				"Non-expression parameters: {ConditionalOperator} Expression parameters: {ConditionExpression}")),
		},
		{
			"too long", "An expression has at most 4,096 bytes.", docLimits,
			remove(a, where("attribute_exists("+strings.Repeat("x", 4096)+")")),
			enveloped(invalid("Invalid ConditionExpression: Expression size has exceeded the maximum allowed size; " +
				"expression size: 4114")),
		},
	} {
		cases = append(cases, newCase(r.name, r.rule, r.source, expect(r.do, r.want)))
	}
	for _, word := range []string{
		"TTL", "LOCK", "OWNER", "TOKEN", "STATUS", "STATE", "Value", "name", "data", "hash", "timestamp", "year",
	} {
		cases = append(cases, newCase("reserved word "+word,
			"A reserved word is no name by itself, in whatever case; as #name it is.", docReserved,
			holding(row("a", "b", word, 1)),
			expect(remove(a, where("attribute_not_exists("+word+")")),
				enveloped(invalid(
					"Invalid ConditionExpression: Attribute name is a reserved keyword; reserved keyword: "+word,
				))),
			expect(update(a, "SET "+word+" = :v", with(one)),
				enveloped(invalid("Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: "+
					word))),
			expect(get(a, only(word)),
				invalid("Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: "+word)),
			expect(get(a, only("#w"), named("#w", word)), "{"+word+": 1}")))
	}
	return cases
}

func functionCases() []Case {
	item := row("a", "b", "s", "hello", "n", 12, "x", []byte("bin"), "t", true, "z", nil,
		"l", list{"one", 2}, "m", attrs{"k": 1}, "ss", strs{"p", "q"}, "ns", nums{"1", "2"}, "bs", bins{"r"}, "e", "")
	v := func(value any) []option { return []option{with(attrs{":v": value})} }
	const badType = "Invalid ConditionExpression: Incorrect operand type for operator or function; operator " +
		"or function: "
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
			"attribute_type of no type", "attribute_type refuses what is no type.",
			alternator + "test_condition_expression.py",
			item, "attribute_type(s, :v)", v("STRING"),
			invalid("Invalid ConditionExpression: Invalid attribute type name found; type: STRING, valid types: " +
				"{B,NULL,SS,BOOL,L,BS,N,NS,S,M}"),
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
			"begins_with a number", "begins_with refuses a literal that is neither a string nor a binary.",
			alternator + "test_condition_expression.py",
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
			"contains of itself", "contains needs two different operands.",
			parity + "tier3/error-messages/putItem.test.ts",
			item, "contains(s, s)", nil,
			invalid("Invalid ConditionExpression: The first operand must be distinct from the remaining operands " +
				"for this operator or function; operator: contains, first operand: [s]"),
		},
		{
			"size of a string", "size of a string is its length.", docOperators,
			item, "size(s) = :v", v(5), ok,
		},
		{
			"size of UTF-8", "size of a string counts characters of the Basic Multilingual Plane as one each.",
			docOperators, row("a", "b", "s", "äö"), "size(s) = :v", v(2), ok,
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
			"size of a number", "A number has no size: the condition is false.",
			alternator + "test_condition_expression.py",
			item, "size(n) >= :v", v(0), conditionFailed,
		},
		{
			"size of a missing attribute", "A missing attribute has no size: the condition is false.",
			alternator + "test_condition_expression.py",
			item, "size(absent) >= :v", v(0), conditionFailed,
		},
		{
			"size alone", "size is no condition by itself.", alternator + "test_condition_expression.py",
			item, "size(s)", nil,
			invalid("Invalid ConditionExpression: The function is not allowed to be used this way in an expression; " +
				"function: size"),
		},
		{
			"function names have a case", "The names of functions are case-sensitive.", docOperators,
			item, "Attribute_Exists(s)", nil,
			invalid("Invalid ConditionExpression: Invalid function name; function: Attribute_Exists"),
		},
		{
			"number of operands", "A function takes operands of its own number and types.",
			alternator + "test_condition_expression.py",
			item, "attribute_exists(s, n)", nil,
			invalid("Invalid ConditionExpression: Incorrect number of operands for operator or function; operator " +
				"or function: attribute_exists, number of operands: 2"),
		},
		{
			"attribute_exists of a value", "attribute_exists takes a path.",
			alternator + "test_condition_expression.py",
			item, "attribute_exists(:v)", v("s"),
			invalid("Invalid ConditionExpression: Operator or function requires a document path; operator or " +
				"function: attribute_exists"),
		},
		{
			"functions of updates", "if_not_exists belongs to updates.", docUpdates,
			item, "if_not_exists(s, n)", nil,
			invalid("Invalid ConditionExpression: The function is not allowed in a condition expression; function: " +
				"if_not_exists"),
		},
	})
}

func projectionCases() []Case {
	item := row("a", "b", "x", 1, "doc", attrs{"k": attrs{"j": 1, "i": 2}, "l": list{10, 11, attrs{"y": 1, "z": 2}}})
	type view struct {
		name, rule, source, projection string
		want                           string
		args                           []option
	}
	var cases []Case
	for _, v := range []view{
		{"attributes", "A projection returns the attributes that it names, keys only if named.", docProjections,
			"x, pk", `{pk: "a", x: 1}`, nil},
		{"missing attributes", "A projection leaves missing attributes out.", docProjections, "x, absent", "{x: 1}",
			nil},
		{"nothing left", "An item without any of the attributes is returned empty.",
			alternator + "test_projection_expression.py", "absent", "{}", nil},
		{"nested", "A path keeps what it leads through.", docProjections, "doc.k.j", "{doc: {k: {j: 1}}}", nil},
		{"siblings", "Paths into one map come back in one map.", docProjections, "doc.k.j, doc.k.i",
			"{doc: {k: {i: 2, j: 1}}}", nil},
		{"elements", "Elements of a list come back close together, in the order of the list.",
			alternator + "test_projection_expression.py", "doc.l[1], doc.l[0]", "{doc: {l: [10, 11]}}", nil},
		{"gaps", "Elements that are left out leave no gap.", alternator + "test_projection_expression.py", "doc.l[2].z",
			"{doc: {l: [{z: 2}]}}", nil},
		{"index behind the end", "An index behind the end leads nowhere.", alternator + "test_projection_expression.py",
			"x, doc.l[7]", "{x: 1}", nil},
		{
			"overlap", "Paths must not overlap.", alternator + "test_projection_expression.py", "doc, doc.k",
			invalid("Invalid ProjectionExpression: Two document paths overlap with each other; must remove or " +
				"rewrite one of these paths; path one: [doc], path two: [doc, k]"), nil,
		},
		{
			"conflict", "Paths must not take one value for a map and for a list.",
			alternator + "test_projection_expression.py", "doc.k, doc[0]",
			invalid("Invalid ProjectionExpression: Two document paths conflict with each other; must remove or " +
				"rewrite one of these paths; path one: [doc, k], path two: [doc, [0]]"), nil,
		},
		{"names", "A path is made of names and placeholders.", docNames, "doc.#k.j", "{doc: {k: {j: 1}}}",
			[]option{named("#k", "k")}},
		{"undefined name", "A placeholder is defined.", docNames, "doc.#k.j",
			invalid("Invalid ProjectionExpression: An expression attribute name used in the document path is not " +
				"defined; attribute name: #k"), nil},
		{"empty", "A projection is not empty.", dynalite + "getItem.js", "",
			invalid("Invalid ProjectionExpression: The expression can not be empty;"), nil},
		{"syntax", "A projection is a list of paths.", dynalite + "getItem.js", "x,",
			invalid(`Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: ","`), nil},
		{"function", "A projection has no functions.", alternator + "test_projection_expression.py", "size(x)",
			invalid(`Invalid ProjectionExpression: Syntax error; token: "(", near: "size(x"`), nil},
	} {
		cases = append(cases, newCase(v.name, v.rule, v.source, holding(item),
			expect(get(key("a", "b"), append([]option{only(v.projection)}, v.args...)...), v.want)))
	}
	return append(cases, newCase("of a missing item", "A projection of a missing item is nothing, not an empty item.",
		api("GetItem"), expect(get(key("a", "b"), only("x")), "nothing")))
}
