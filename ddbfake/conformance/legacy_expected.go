package conformance

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// legacyExpectedCases are about Expected as a parameter of the writes, and
// about what it refuses. What its operators mean stands in legacy_condition.
func legacyExpectedCases() []Case {
	k := key("a", "b")
	item := row("a", "b", "n", 5)
	yes, no := tests{"n": having(5)}, tests{"n": having(6)}
	cases := []Case{
		{
			Name: "put", Rule: "A put is done if what it expects is so.", Source: api("PutItem"), rows: []attrs{item},
			steps: []step{
				expect(put(row("a", "b", "n", 7), expected(no)), conditionFailed),
				expect(get(k), `{n: 5, pk: "a", sk: "b"}`),
				expect(put(row("a", "b", "n", 7), expected(yes), returns("ALL_OLD")), `{n: 5, pk: "a", sk: "b"}`),
				expect(get(k), `{n: 7, pk: "a", sk: "b"}`),
			},
		},
		{
			Name: "put of what is not there", Rule: "A put that expects no partition key creates and never replaces.", Source: docLegacyExpected,
			steps: []step{
				expect(put(item, expected(tests{"pk": absent()})), ok),
				expect(put(item, expected(tests{"pk": absent()})), conditionFailed),
				expect(put(row("a", "c"), expected(tests{"pk": is("NULL")})), ok),
			},
		},
		{
			Name: "delete", Rule: "A delete is done if what it expects is so.", Source: api("DeleteItem"), rows: []attrs{item},
			steps: []step{
				expect(remove(k, expected(no)), conditionFailed),
				expect(remove(k, expected(yes), returns("ALL_OLD")), `{n: 5, pk: "a", sk: "b"}`),
				expect(remove(k, expected(yes)), conditionFailed),
				expect(get(k), "nothing"),
			},
		},
		{
			Name: "update", Rule: "An update is done if what it expects is so, of the attribute that it changes too.", Source: alternator + "test_expected.py", rows: []attrs{item},
			steps: []step{
				expect(legacyUpdate(k, changes{"n": by("PUT", 6)}, expected(no)), conditionFailed),
				expect(legacyUpdate(k, changes{"n": by("PUT", 6)}, expected(yes), returns("ALL_NEW")), `{n: 6, pk: "a", sk: "b"}`),
				expect(legacyUpdate(k, changes{"x": by("PUT", 1)}, expected(no), returns("ALL_NEW")), `{n: 6, pk: "a", sk: "b", x: 1}`),
			},
		},
		{
			Name: "missing item", Rule: "An item that is not there has no attributes.", Source: docLegacyExpected,
			steps: []step{
				expect(put(item, expected(yes)), conditionFailed),
				expect(legacyUpdate(k, changes{"n": by("ADD", 1)}, expected(tests{"n": is("NOT_NULL")})), conditionFailed),
				expect(legacyUpdate(k, changes{"n": by("ADD", 1)}, expected(tests{"n": is("NE", 1)})), ok),
				expect(get(k), `{n: 1, pk: "a", sk: "b"}`),
			},
		},
		{
			Name: "old item", Rule: "The item comes with the failure if asked for.", Source: api("PutItem"), rows: []attrs{item},
			steps: []step{
				expect(put(row("a", "b"), expected(no), onFailure("ALL_OLD")), conditionFailed+` {n: 5, pk: "a", sk: "b"}`),
				expect(legacyUpdate(k, changes{"x": by("PUT", 1)}, expected(no), onFailure("ALL_OLD")), conditionFailed+` {n: 5, pk: "a", sk: "b"}`),
				expect(remove(k, expected(no), onFailure("ALL_OLD")), conditionFailed+` {n: 5, pk: "a", sk: "b"}`),
				expect(remove(k, expected(no), onFailure("NONE")), conditionFailed),
			},
		},
		{
			Name: "key attributes", Rule: "What is expected may be of a key attribute.", Source: docLegacyExpected, rows: []attrs{item},
			steps: []step{
				expect(legacyUpdate(k, nil, expected(tests{"pk": having("a"), "sk": is("BEGINS_WITH", "b")})), ok),
				expect(legacyUpdate(k, nil, expected(tests{"sk": having("c")})), conditionFailed),
			},
		},
		{
			Name: "names of any kind", Rule: "A name is the name of a top-level attribute, whatever is in it: reserved words, points and signs.", Source: docLegacyExpected,
			rows: []attrs{row("a", "b", "status", 1, "m.x", 2, "#0", 3, ":0", 4, "m", attrs{"x": 9})},
			steps: []step{
				expect(legacyUpdate(k, nil, expected(tests{"status": having(1), "m.x": having(2), "#0": having(3), ":0": having(4)})), ok),
				expect(legacyUpdate(k, nil, expected(tests{"m.y": absent(), "m[0]": absent()})), ok),
				expect(legacyUpdate(k, nil, expected(tests{"m.x": having(9)})), conditionFailed),
			},
		},
		{
			Name: "nothing expected", Rule: "An empty Expected expects nothing.", Source: alternator + "test_expected.py",
			steps: []step{
				expect(put(item, expected(tests{})), ok),
				expect(legacyUpdate(k, changes{"n": by("ADD", 1)}, expected(tests{})), ok),
				expect(remove(k, expected(tests{}), returns("ALL_OLD")), `{n: 6, pk: "a", sk: "b"}`),
			},
		},
		{
			Name: "Value with an operator", Rule: "A Value may stand for the list of an operator, though the documentation says that it may not.", Source: floci2126, rows: []attrs{item},
			steps: []step{
				expect(legacyUpdate(k, nil, expected(tests{"n": withOperator("LT", having(9))})), ok),
				expect(legacyUpdate(k, nil, expected(tests{"n": withOperator("LT", having(5))})), conditionFailed),
				expect(legacyUpdate(k, nil, expected(tests{"n": withOperator("NULL", having(5))})), badParameter("Invalid number of argument(s) for the NULL ComparisonOperator")),
			},
		},
		{
			Name: "capacity", Rule: "A condition that fails consumes units all the same; what it allows costs what it costs.", Source: api("PutItem"), rows: []attrs{item},
			steps: []step{expect(put(item, expected(yes), capacity("TOTAL")), "ok; 1 units")},
		},
	}
	return append(cases, legacyExpectedErrors(k)...)
}

// withOperator gives an element of Expected an operator.
func withOperator(operator string, e types.ExpectedAttributeValue) types.ExpectedAttributeValue {
	e.ComparisonOperator = types.ComparisonOperator(operator)
	return e
}

// legacyExpectedErrors are about elements that are not valid, in whichever of
// the three writes.
func legacyExpectedErrors(k attrs) []Case {
	var cases []Case
	for _, c := range []struct {
		name, rule, source string
		element            types.ExpectedAttributeValue
		want               string
	}{
		{"nothing", "An element says something.", dynalite + "putItem.js", types.ExpectedAttributeValue{}, badParameter("Value must be provided when Exists is null for Attribute: n")},
		{"Exists without a Value", "Exists true goes with a Value.", dynalite + "putItem.js", existing(true, types.ExpectedAttributeValue{}), badParameter("Value must be provided when Exists is true for Attribute: n")},
		{"Exists false with a Value", "Exists false goes without a Value.", dynalite + "putItem.js", existing(false, having("a")), badParameter("Value cannot be used when Exists is false for Attribute: n")},
		{"Exists with an operator", "Exists goes without an operator.", dynalite + "putItem.js", existing(true, is("LT", 1)), badParameter("Exists and ComparisonOperator cannot be used together for Attribute: n")},
		{"Exists false with an operator", "Exists goes without an operator, whatever it says.", floci2126, existing(false, is("NULL")), badParameter("Exists and ComparisonOperator cannot be used together for Attribute: n")},
		{"Value with a list", "Values are one or a list.", dynalite + "putItem.js", types.ExpectedAttributeValue{ComparisonOperator: "LT", Value: valueOf("a"), AttributeValueList: is("", "a").AttributeValueList}, badParameter("Value and AttributeValueList cannot be used together for Attribute: n")},
		{"Value with a list and no operator", "Values are one or a list, with an operator and without.", dynalite + "putItem.js", types.ExpectedAttributeValue{Value: valueOf("a"), AttributeValueList: is("", "a").AttributeValueList}, badParameter("Value and AttributeValueList cannot be used together for Attribute: n")},
		{"list without an operator", "A list goes with an operator.", dynalite + "putItem.js", is("", "a"), badParameter("AttributeValueList can only be used with a ComparisonOperator for Attribute: n")},
		{"list with Exists", "A list goes with an operator, before Exists is looked at.", dynalite + "putItem.js", existing(true, is("", "a")), badParameter("AttributeValueList can only be used with a ComparisonOperator for Attribute: n")},
		{"operator alone", "An operator has values.", dynalite + "putItem.js", is("LT"), badParameter("Value or AttributeValueList must be used with ComparisonOperator: LT for Attribute: n")},
		{"operator with an empty list", "An operator has as many values as it takes.", dynalite + "putItem.js", listing("EQ"), badParameter("Invalid number of argument(s) for the EQ ComparisonOperator")},
		{"two values", "EQ has one value.", dynalite + "putItem.js", is("EQ", 1, 2), badParameter("Invalid number of argument(s) for the EQ ComparisonOperator")},
		{"value for NULL", "NULL has no values.", dynalite + "putItem.js", is("NULL", 1), badParameter("Invalid number of argument(s) for the NULL ComparisonOperator")},
		{"value for NOT_NULL", "NOT_NULL has no values.", dynalite + "putItem.js", is("NOT_NULL", 1), badParameter("Invalid number of argument(s) for the NOT_NULL ComparisonOperator")},
		{"IN of nothing", "IN has a value.", alternator + "test_expected.py", listing("IN"), badParameter("Invalid number of argument(s) for the IN ComparisonOperator")},
		{"BETWEEN one", "BETWEEN has two values.", dynalite + "putItem.js", is("BETWEEN", 1), badParameter("Invalid number of argument(s) for the BETWEEN ComparisonOperator")},
		{"BETWEEN three", "BETWEEN has two values.", dynalite + "putItem.js", is("BETWEEN", 1, 2, 3), badParameter("Invalid number of argument(s) for the BETWEEN ComparisonOperator")},
		{"BETWEEN upside down", "The bounds come in order.", dynalite + "putItem.js", is("BETWEEN", "b", "a"), invalid("The BETWEEN condition was provided a range where the lower bound is greater than the upper bound")},
		{"BETWEEN of two types", "Values of one list have one type.", dynalite + "putItem.js", is("BETWEEN", 1, "a"), badParameter("AttributeValues inside AttributeValueList must be of same type")},
		{"IN of two types", "Values of one list have one type.", alternator + "test_expected.py", is("IN", 1, "a"), badParameter("AttributeValues inside AttributeValueList must be of same type")},
		{"BEGINS_WITH a number", "BEGINS_WITH takes a string or a binary.", alternator + "test_expected.py", is("BEGINS_WITH", 3), badParameter("ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type")},
		{"LE of a list", "The orders take a string, a number or a binary.", "https://github.com/scylladb/scylladb/issues/8043", is("LE", list{1}), badParameter("ComparisonOperator LE is not valid for L AttributeValue type")},
		{"CONTAINS a list", "CONTAINS takes a string, a number or a binary.", alternator + "test_expected.py", is("CONTAINS", list{1}), badParameter("ComparisonOperator CONTAINS is not valid for L AttributeValue type")},
		{"NOT_CONTAINS a list", "NOT_CONTAINS takes a string, a number or a binary.", alternator + "test_expected.py", is("NOT_CONTAINS", list{1}), badParameter("ComparisonOperator NOT_CONTAINS is not valid for L AttributeValue type")},
		{"IN of lists", "IN takes strings, numbers or binaries.", alternator + "test_expected.py", is("IN", list{1}, list{2}), badParameter("ComparisonOperator IN is not valid for L AttributeValue type")},
		{"BETWEEN sets", "BETWEEN takes strings, numbers or binaries.", alternator + "test_expected.py", is("BETWEEN", nums{"1"}, nums{"2"}), badParameter("ComparisonOperator BETWEEN is not valid for NS AttributeValue type")},
		{"no such operator", "There are thirteen operators, in capitals.", dynalite + "scan.js", is("eq", 1), broken("Value 'eq' at 'expected.n.member.comparisonOperator' failed to satisfy constraint: Member must satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]")},
		{"bad number", "A value is a value.", dynalite + "putItem.js", having(num("x")), invalid("The parameter cannot be converted to a numeric value: x")},
		{"bad number for an operator", "So are those of a list.", dynalite + "scan.js", is("IN", num("x")), invalid("The parameter cannot be converted to a numeric value: x")},
		{"empty set", "A set is not empty.", dynalite + "scan.js", having(strs{}), badParameter("An string set  may not be empty")},
	} {
		t := expected(tests{"n": c.element})
		cases = append(cases, Case{
			Name: c.name, Rule: c.rule, Source: c.source, steps: []step{
				expect(put(row("a", "b"), t), c.want),
				expect(legacyUpdate(k, changes{"x": by("PUT", 1)}, t), c.want),
				expect(remove(k, t), c.want),
			},
		})
	}
	return cases
}
