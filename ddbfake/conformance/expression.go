package conformance

import "strings"

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
			invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {:w}"),
		},
		{
			"unused name", "A name that no expression uses is refused.", docNames,
			remove(a, where("attribute_exists(x)"), named("#x", "x")),
			invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}"),
		},
		{
			"unused in a get", "A projection has to use its names.", docNames,
			get(a, only("x"), named("#x", "x")),
			invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {#x}"),
		},
		{
			"undefined value", "A value that is not defined is refused.", docValues,
			remove(a, where("x = :w AND y = :v"), with(one)),
			invalid("Invalid ConditionExpression: An expression attribute value used in expression is not defined; attribute value: :w"),
		},
		{
			"undefined name", "A name that is not defined is refused.", docNames,
			remove(a, where("attribute_exists(#y) OR attribute_exists(#x)"), named("#x", "x")),
			invalid("Invalid ConditionExpression: An expression attribute name used in the document path is not defined; attribute name: #y"),
		},
		{
			"undefined value of an update", "An update's values are defined.", parity + "tier3/error-messages/updateItem.test.ts",
			update(a, "SET x = :v"),
			invalid("Invalid UpdateExpression: An expression attribute value used in expression is not defined; attribute value: :v"),
		},
		{
			"values without an expression", "Values need an expression.", dynalite + "putItem.js",
			put(row("a", "b"), with(one)),
			invalid("ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null"),
		},
		{
			"names without an expression", "Names need an expression.", dynalite + "putItem.js",
			put(row("a", "b"), named("#x", "x")),
			invalid("ExpressionAttributeNames can only be specified when using expressions"),
		},
		{
			"values of an update without an expression", "Of an update, two expressions could use them.", dynalite + "updateItem.js",
			update(a, "", noUpdate(), with(one)),
			invalid("ExpressionAttributeValues can only be specified when using expressions: UpdateExpression and ConditionExpression are null"),
		},
		{
			"no values", "A map of values is not empty.", dynalite + "putItem.js",
			remove(a, where("attribute_exists(x)"), with(attrs{})),
			invalid("ExpressionAttributeValues must not be empty"),
		},
		{
			"no names", "A map of names is not empty.", dynalite + "putItem.js",
			remove(a, where("attribute_exists(x)"), named()),
			invalid("ExpressionAttributeNames must not be empty"),
		},
		{
			"name without its sign", "A placeholder of a name begins with #.", dynalite + "putItem.js",
			remove(a, where("attribute_exists(x)"), named("x", "x")),
			invalid(`ExpressionAttributeNames contains invalid key: Syntax error; key: "x"`),
		},
		{
			"value without its sign", "A placeholder of a value begins with a colon.", dynalite + "putItem.js",
			remove(a, where("x = :v"), with(attrs{"v": 1})),
			invalid(`ExpressionAttributeValues contains invalid key: Syntax error; key: "v"`),
		},
		{
			"empty name", "A placeholder stands for a name.", dynalite + "putItem.js",
			remove(a, where("attribute_exists(#x)"), named("#x", "")),
			invalid("ExpressionAttributeNames contains invalid value: Empty attribute name for key #x"),
		},
		{
			"bad value", "A value is one that an item could have.", dynalite + "putItem.js",
			remove(a, where("x = :v"), with(attrs{":v": strs{}})),
			invalid("ExpressionAttributeValues contains invalid value: One or more parameter values were invalid: An string set  may not be empty for key :v"),
		},
		{
			"empty condition", "A condition is not empty.", dynalite + "putItem.js",
			remove(a, where("")),
			invalid("Invalid ConditionExpression: The expression can not be empty;"),
		},
		{
			"syntax", "A syntax error names the token and what is near it.", dynalite + "putItem.js",
			remove(a, where("x = = :v"), with(one)),
			invalid(`Invalid ConditionExpression: Syntax error; token: "=", near: "= = :v"`),
		},
		{
			"end", "A condition that stops too early ends at <EOF>.", parity + "tier3/validation-ordering/transactions.test.ts",
			remove(a, where("attribute_not_exists(")),
			invalid(`Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("`),
		},
		{
			"redundant parentheses", "Parentheses around parentheses are refused.", parity + "tier3/error-messages/putItem.test.ts",
			remove(a, where("((attribute_exists(pk)))")),
			invalid("Invalid ConditionExpression: The expression has redundant parentheses;"),
		},
		{
			"literal", "A literal is no operand.", docConditions,
			remove(a, where("x = 1")),
			invalid(`Invalid ConditionExpression: Syntax error; token: "1", near: "= 1"`),
		},
		{
			"parameter beside the old ones", "Expressions do not go with the parameters that they replaced.", api("PutItem"),
			put(row("a", "b"), where("attribute_exists(x)"), set("ConditionalOperator", "AND")),
			invalid("Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {ConditionalOperator} Expression parameters: {ConditionExpression}"),
		},
		{
			"too long", "An expression has at most 4,096 bytes.", docLimits,
			remove(a, where("attribute_exists("+strings.Repeat("x", 4096)+")")),
			invalid("Invalid ConditionExpression: Expression size has exceeded the maximum allowed size; expression size: 4114"),
		},
	} {
		cases = append(cases, Case{Name: r.name, Rule: r.rule, Source: r.source, steps: []step{expect(r.do, r.want)}})
	}
	for _, word := range []string{"TTL", "LOCK", "OWNER", "TOKEN", "STATUS", "STATE", "Value", "name", "data", "hash", "timestamp", "year"} {
		cases = append(cases, Case{
			Name: "reserved word " + word, Rule: "A reserved word is no name by itself, in whatever case; as #name it is.", Source: docReserved,
			rows: []attrs{row("a", "b", word, 1)},
			steps: []step{
				expect(remove(a, where("attribute_not_exists("+word+")")),
					invalid("Invalid ConditionExpression: Attribute name is a reserved keyword; reserved keyword: "+word)),
				expect(update(a, "SET "+word+" = :v", with(one)),
					invalid("Invalid UpdateExpression: Attribute name is a reserved keyword; reserved keyword: "+word)),
				expect(get(a, only(word)),
					invalid("Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: "+word)),
				expect(get(a, only("#w"), named("#w", word)), "{"+word+": 1}"),
			},
		})
	}
	return cases
}
