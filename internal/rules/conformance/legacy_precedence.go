package conformance

// legacyPrecedenceCases are about which of several errors is reported, where legacy parameters are among them.
func legacyPrecedenceCases() []Case {
	k := key("a", "b")
	item := row("a", "b", "n", 5)
	bad := tests{"n": is("EQ", 1, 2)} // has a value too many
	badText := badParameter("Invalid number of argument(s) for the EQ ComparisonOperator")
	fails := tests{"n": having(6)}
	wrong := changes{"n": by("ADD", "s")}
	wrongText := badParameter("ADD action is not supported for the type S")
	const (
		notFound = "ResourceNotFoundException: Requested resource not found"
		noName   = "Empty attribute name"
	)
	mixed := func(old, modern string) string {
		return invalid("Can not use both expression and non-expression parameters in the same request: " +
			"Non-expression parameters: {" + old + "} Expression parameters: {" + modern + "}")
	}
	build := func(name, rule, source string, steps ...step) Case {
		return Case{Name: name, Rule: rule, Source: source, rows: []attrs{item}, steps: steps}
	}
	pk := tests{"pk": is("EQ", "a")}
	values := with(attrs{":v": 1})
	everything := []option{
		attributesToGet("a", "a"), queryFilter(bad), joinedBy("OR"), keyConditions(pk), only("x"), filter(""), values,
	}
	return []Case{
		build("mixed in a put", "Expressions do not mix with legacy parameters, all of which are listed.", extenddb213,
			expect(put(item, expected(fails), where("attribute_exists(pk)")), mixed("Expected", "ConditionExpression")),
			expect(put(item, joinedBy("AND"), where("attribute_exists(pk)")), mixed("ConditionalOperator", "ConditionExpression")),
			expect(put(item, expected(fails), joinedBy("AND"), where("attribute_exists(pk)")), mixed("Expected, ConditionalOperator", "ConditionExpression")),
		),
		build("mixed in a delete", "Expressions do not mix with legacy parameters, all of which are listed.", extenddb213,
			expect(remove(k, expected(fails), where("attribute_exists(pk)")), mixed("Expected", "ConditionExpression")),
			expect(remove(k, joinedBy("OR"), where("attribute_exists(pk)")), mixed("ConditionalOperator", "ConditionExpression")),
		),
		build("mixed in an update", "Expressions do not mix with legacy parameters for something else either.", extenddb213,
			expect(update(k, "SET x = :v", values, expected(fails)), mixed("Expected", "UpdateExpression")),
			expect(legacyUpdate(k, wrong, where("attribute_exists(pk)")), mixed("AttributeUpdates", "ConditionExpression")),
			expect(update(k, "SET x = :v", values, joinedBy("OR")), mixed("ConditionalOperator", "UpdateExpression")),
			expect(update(k, "SET x = :v", values, updating(wrong), expected(bad), joinedBy("OR"), where("(")), mixed("AttributeUpdates, Expected, ConditionalOperator", "UpdateExpression, ConditionExpression")),
		),
		build("mixed in a query", "Expressions do not mix with legacy parameters; KeyConditions only not with an expression for the same.", extenddb213,
			expect(query("pk = :v", values, attributesToGet("x")), mixed("AttributesToGet", "KeyConditionExpression")),
			expect(query("pk = :v", values, queryFilter(bad)), mixed("QueryFilter", "KeyConditionExpression")),
			expect(query("pk = :v", values, keyConditions(pk)), mixed("KeyConditions", "KeyConditionExpression")),
			expect(query("pk = :v", values, joinedBy("OR")), mixed("ConditionalOperator", "KeyConditionExpression")),
			expect(query("pk = :v", everything...), mixed("AttributesToGet, QueryFilter, ConditionalOperator, KeyConditions", "ProjectionExpression, FilterExpression, KeyConditionExpression")),
			expect(legacyQuery(pk, queryFilter(bad), only("x")), mixed("QueryFilter", "ProjectionExpression")),
		),
		build("mixed in a scan", "Expressions do not mix with legacy parameters for something else either.", extenddb213,
			expect(scan(scanFilter(bad), only("x")), mixed("ScanFilter", "ProjectionExpression")),
			expect(scan(attributesToGet("x"), filter("n = :v"), values), mixed("AttributesToGet", "FilterExpression")),
			expect(scan(attributesToGet("x", "x"), scanFilter(bad), joinedBy("OR"), filter(""), only("")), mixed("AttributesToGet, ScanFilter, ConditionalOperator", "ProjectionExpression, FilterExpression")),
			expect(scan(joinedBy("OR"), filter("n = :v"), with(attrs{":v": 1, ":unused": 2})), mixed("ConditionalOperator", "FilterExpression")),
		),
		build("mixed in a get", "A projection does not mix with AttributesToGet.", dynalite+"getItem.js",
			expect(get(k, attributesToGet("x", "x"), only("x")), mixed("AttributesToGet", "ProjectionExpression")),
			expect(batchGet(actions{get(k, attributesToGet("x"), only("y"))}), mixed("AttributesToGet", "ProjectionExpression")),
		),
		build("constraints first", "The constraints on a single parameter come before a mixture of expressions and legacy parameters.", dynalite+"updateItem.js",
			expect(put(item, onName("ab"), joinedBy("AND"), where("(")), broken("Value 'ab' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3")),
			expect(remove(k, onName("ab"), joinedBy("AND")), broken("Value 'ab' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3")),
			expect(legacyUpdate(k, wrong, joinedBy("X"), expected(tests{"n": is("X", 1)})), broken(
				"Value 'X' at 'conditionalOperator' failed to satisfy constraint: Member must satisfy enum value set: [OR, AND]",
				"Value 'X' at 'expected.n.member.comparisonOperator' failed to satisfy constraint: Member must satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]")),
			expect(scan(scanFilter(tests{"n": is("X")}), only("x")), broken("Value 'X' at 'scanFilter.n.member.comparisonOperator' failed to satisfy constraint: Member must satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]")),
		),
		build("names without expressions", "Names and values without an expression are reported before mistakes in legacy parameters.", dynalite+"updateItem.js",
			expect(legacyUpdate(k, wrong, expected(bad), named("#n", "n")), invalid("ExpressionAttributeNames can only be specified when using expressions")),
			expect(legacyUpdate(k, wrong, expected(bad), values), invalid("ExpressionAttributeValues can only be specified when using expressions: UpdateExpression and ConditionExpression are null")),
			expect(scan(scanFilter(bad), attributesToGet("a", "a"), joinedBy("OR"), named("#n", "n")), invalid("ExpressionAttributeNames can only be specified when using expressions")),
			expect(scan(scanFilter(bad), attributesToGet("a", "a"), joinedBy("OR"), values), invalid("ExpressionAttributeValues can only be specified when using expressions: FilterExpression is null")),
			expect(get(k, attributesToGet("a", "a"), named("#n", "n")), invalid("ExpressionAttributeNames can only be specified when using expressions")),
		),
		build("the operator before what it joins", "ConditionalOperator is judged before conditions, and before a key condition is missed.", extenddb213,
			expect(legacyQuery(nil, joinedBy("AND")), invalid("ConditionalOperator cannot be used without Filter or Expected")),
			expect(put(item, expected(bad), joinedBy("AND")), invalid("ConditionalOperator can only be used when Filter or Expected has two or more elements")),
		),
		build("the key before legacy parameters", "Values of the key, or of the item, come before legacy parameters.", dynalite+"updateItem.js",
			expect(legacyUpdate(attrs{"pk": num("x"), "sk": "b"}, wrong, expected(bad)), invalid("The parameter cannot be converted to a numeric value: x")),
			expect(put(row("a", "b", "n", num("x")), expected(bad)), invalid("The parameter cannot be converted to a numeric value: x")),
			expect(remove(attrs{"pk": num("x"), "sk": "b"}, expected(bad)), invalid("The parameter cannot be converted to a numeric value: x")),
			expect(get(attrs{"pk": num("x"), "sk": "b"}, attributesToGet("a", "a")), invalid("The parameter cannot be converted to a numeric value: x")),
		),
		build("updates before what is expected", "AttributeUpdates are judged before Expected.", dynalite+"updateItem.js",
			expect(legacyUpdate(k, wrong, expected(bad)), wrongText),
			expect(legacyUpdate(k, changes{"n": by("")}, expected(tests{"n": having(num("x"))})), badParameter("Only DELETE action is allowed when no attribute value is specified")),
		),
		build("size before what is expected", "The size of an item is judged before Expected.", dynalite+"putItem.js",
			expect(put(row("a", "b", "x", text(400<<10)), expected(bad)), invalid("Item size has exceeded the maximum allowed size")),
		),
		build("legacy parameters before the table", "Legacy parameters are judged before the table is looked for.", dynalite+"updateItem.js",
			expect(put(item, expected(bad), on("none")), badText),
			expect(legacyUpdate(k, wrong, on("none")), wrongText),
			expect(remove(k, expected(bad), on("none")), badText),
			expect(get(k, attributesToGet("x", "x"), on("none")), badParameter("Duplicate value in attribute name: x")),
			expect(scan(scanFilter(bad), on("none")), badText),
			expect(legacyQuery(bad, on("none")), badText),
			expect(legacyQuery(tests{}, on("none")), invalid("Conditions can be of length 1 or 2 only")),
		),
		build("the table before the key", "Whether a condition is one that a key can have is judged once the table is found.", dynalite+"query.js",
			expect(legacyQuery(tests{"pk": is("NULL"), "x": is("NE", 1)}, on("none")), notFound),
			expect(legacyQuery(pk, queryFilter(pk), on("none")), notFound),
			expect(legacyUpdate(k, changes{"pk": by("DELETE")}, on("none")), notFound),
		),
		build("the starting key before key conditions", "A starting key that is no key of the table is refused before conditions that no key can have.", dynalite+"query.js",
			expect(legacyQuery(tests{"pk": is("NULL")}, startingAfter(attrs{})), invalid("The provided starting key is invalid")),
			expect(legacyQuery(tests{"pk": is("LT", "a")}, startingAfter(attrs{"sk": "b"})), invalid("The provided starting key is invalid")),
			expect(query("pk < :v", with(attrs{":v": "a"}), startingAfter(attrs{"pk": "a"})), invalid("The provided starting key is invalid")),
		),
		build("filter before attributes in a query", "A query judges its filter, then AttributesToGet, then where it starts, then its key conditions.", dynalite+"query.js",
			expect(legacyQuery(bad, queryFilter(tests{"n": is("NULL", 1)}), attributesToGet("x", "x")), badParameter("Invalid number of argument(s) for the NULL ComparisonOperator")),
			expect(legacyQuery(bad, attributesToGet("x", "x"), startingAfter(attrs{"pk": num("x")})), badParameter("Duplicate value in attribute name: x")),
			expect(legacyQuery(bad, startingAfter(attrs{"pk": nullFalse})), invalid("The provided starting key is invalid: One or more parameter values were invalid: Null attribute value types must have the value of true")),
		),
		build("attributes before the filter in a scan", "A scan judges AttributesToGet, then its filter, then where it starts.", dynalite+"scan.js",
			expect(scan(scanFilter(bad), attributesToGet("x", "x"), startingAfter(attrs{"pk": nullFalse})), badParameter("Duplicate value in attribute name: x")),
			expect(scan(scanFilter(bad), startingAfter(attrs{"pk": nullFalse}), set("Segment", int32(1))), badText),
		),
		build("values before their number", "A value without a type is reported before a wrong number of values, and that before wrong types.", dynalite+"scan.js",
			expect(scan(scanFilter(tests{"n": is("EQ", 1, num("x"))})), invalid("The parameter cannot be converted to a numeric value: x")),
			expect(scan(scanFilter(tests{"n": is("BEGINS_WITH", 1, "a")})), badParameter("Invalid number of argument(s) for the BEGINS_WITH ComparisonOperator")),
			expect(scan(scanFilter(tests{"n": is("BETWEEN", list{}, "a")})), badParameter("AttributeValues inside AttributeValueList must be of same type")),
			expect(scan(scanFilter(tests{"n": is("BETWEEN", list{}, list{})})), badParameter("ComparisonOperator BETWEEN is not valid for L AttributeValue type")),
		),
		build("empty names", "An empty name is reported before values and names listed twice, but after the form of an element of Expected.", LocalOnly,
			expect(legacyUpdate(k, changes{"": by("PUT", 1)}), invalid(noName)),
			expect(legacyUpdate(k, changes{"": by("PUT", num("x"))}), invalid(noName)),
			expect(legacyUpdate(k, changes{"": by("DELETE")}), invalid(noName)),
			expect(put(item, expected(tests{"": absent()})), invalid(noName)),
			expect(put(item, expected(tests{"": is("EQ")})), badParameter("Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: ")),
			expect(scan(scanFilter(tests{"": is("NULL")})), invalid(noName)),
			expect(legacyQuery(pk, queryFilter(tests{"": is("EQ", 1)})), invalid(noName)),
			expect(legacyQuery(tests{"": is("EQ", "a")}), invalid(noName)),
			expect(get(k, attributesToGet("", "")), invalid(noName)),
			expect(scan(attributesToGet("x", "")), invalid(noName)),
		),
		build("the key attribute before the condition", "A key attribute that is changed is refused, whatever is expected.", dynalite+"updateItem.js",
			expect(legacyUpdate(k, changes{"sk": by("PUT", "c")}, expected(fails)), badParameter("Cannot update attribute sk. This attribute is part of the key")),
			expect(legacyUpdate(attrs{"pk": "a"}, changes{"sk": by("PUT", "c")}, expected(fails)), invalid("The provided key element does not match the schema")),
		),
		build("the condition before the types", "An update whose condition fails is not tried.", docLegacyExpected,
			expect(legacyUpdate(k, changes{"n": by("ADD", strs{"x"})}, expected(fails)), conditionFailed),
			expect(legacyUpdate(k, changes{"n": by("ADD", strs{"x"})}), invalid("Type mismatch for attribute to update")),
		),
	}
}
