package conformance

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// legacyExpectedCases are about Expected as a parameter of the writes, and about the values that it refuses. The
// meaning of its operators is in legacy_condition.
func legacyExpectedCases() []Case {
	k := key("a", "b")
	item := row("a", "b", "n", 5)
	yes, no := tests{"n": having(5)}, tests{"n": having(6)}
	cases := []Case{
		newCase("put", "A put takes effect if its expectation holds.", api("PutItem"), holding(item),
			expect(put(row("a", "b", "n", 7), expected(no)), conditionFailed),
			expect(get(k), `{n: 5, pk: "a", sk: "b"}`),
			expect(put(row("a", "b", "n", 7), expected(yes), returns("ALL_OLD")), `{n: 5, pk: "a", sk: "b"}`),
			expect(get(k), `{n: 7, pk: "a", sk: "b"}`)),
		newCase("put of what is not there",
			"A put that expects no partition key creates an item and never replaces one.", docLegacyExpected,
			expect(put(item, expected(tests{"pk": absent()})), ok),
			expect(put(item, expected(tests{"pk": absent()})), conditionFailed),
			expect(put(row("a", "c"), expected(tests{"pk": is("NULL")})), ok)),
		newCase("delete", "A delete takes effect if its expectation holds.", api("DeleteItem"), holding(item),
			expect(remove(k, expected(no)), conditionFailed),
			expect(remove(k, expected(yes), returns("ALL_OLD")), `{n: 5, pk: "a", sk: "b"}`),
			expect(remove(k, expected(yes)), conditionFailed),
			expect(get(k), "nothing")),
		newCase("update",
			"An update takes effect if its expectation holds, which may be about the attribute that it changes.",
			alternator+"test_expected.py", holding(item),
			expect(legacyUpdate(k, changes{"n": by("PUT", 6)}, expected(no)), conditionFailed),
			expect(legacyUpdate(k, changes{"n": by("PUT", 6)}, expected(yes), returns("ALL_NEW")),
				`{n: 6, pk: "a", sk: "b"}`),
			expect(legacyUpdate(k, changes{"x": by("PUT", 1)}, expected(no), returns("ALL_NEW")),
				`{n: 6, pk: "a", sk: "b", x: 1}`)),
		newCase("missing item", "An item that is not there has no attributes.", docLegacyExpected,
			expect(put(item, expected(yes)), conditionFailed),
			expect(legacyUpdate(k, changes{"n": by("ADD", 1)}, expected(tests{"n": is("NOT_NULL")})), conditionFailed),
			expect(legacyUpdate(k, changes{"n": by("ADD", 1)}, expected(tests{"n": is("NE", 1)})), ok),
			expect(get(k), `{n: 1, pk: "a", sk: "b"}`)),
		newCase("old item", "The item comes with the failure if asked for.", api("PutItem"), holding(item),
			expect(put(row("a", "b"), expected(no), onFailure("ALL_OLD")), conditionFailed+` {n: 5, pk: "a", sk: "b"}`),
			expect(legacyUpdate(k, changes{"x": by("PUT", 1)}, expected(no), onFailure("ALL_OLD")),
				conditionFailed+` {n: 5, pk: "a", sk: "b"}`),
			expect(remove(k, expected(no), onFailure("ALL_OLD")), conditionFailed+` {n: 5, pk: "a", sk: "b"}`),
			expect(remove(k, expected(no), onFailure("NONE")), conditionFailed)),
		newCase("key attributes", "An expectation may be about a key attribute.", docLegacyExpected, holding(item),
			expect(legacyUpdate(k, nil, expected(tests{"pk": having("a"), "sk": is("BEGINS_WITH", "b")})), ok),
			expect(legacyUpdate(k, nil, expected(tests{"sk": having("c")})), conditionFailed)),
		newCase("names of any kind",
			"A name is the name of a top-level attribute, whatever is in it: reserved words, points and signs.",
			docLegacyExpected, holding(row("a", "b", "status", 1, "m.x", 2, "#0", 3, ":0", 4, "m", attrs{"x": 9})),
			expect(legacyUpdate(k, nil,
				expected(tests{"status": having(1), "m.x": having(2), "#0": having(3), ":0": having(4)})),
				ok),
			expect(legacyUpdate(k, nil, expected(tests{"m.y": absent(), "m[0]": absent()})), ok),
			expect(legacyUpdate(k, nil, expected(tests{"m.x": having(9)})), conditionFailed)),
		newCase("nothing expected", "An empty Expected expects nothing.", alternator+"test_expected.py",
			expect(put(item, expected(tests{})), ok),
			expect(legacyUpdate(k, changes{"n": by("ADD", 1)}, expected(tests{})), ok),
			expect(remove(k, expected(tests{}), returns("ALL_OLD")), `{n: 6, pk: "a", sk: "b"}`)),
		newCase("Value with an operator",
			"A Value may stand for the list of an operator, though the documentation says that it may not.", floci2126,
			holding(item),
			expect(legacyUpdate(k, nil, expected(tests{"n": withOperator("LT", having(9))})), ok),
			expect(legacyUpdate(k, nil, expected(tests{"n": withOperator("LT", having(5))})), conditionFailed),
			expect(legacyUpdate(k, nil, expected(tests{"n": withOperator("NULL", having(5))})),
				enveloped(badParameter("Invalid number of argument(s) for the NULL ComparisonOperator")))),
		newCase("capacity",
			"A write whose condition fails consumes units, too; one whose condition holds costs as much as without it.",
			api("PutItem"), holding(item), expect(put(item, expected(yes), capacity("TOTAL")), "ok; 1 units")),
	}
	return append(cases, legacyExpectedErrors(k)...)
}

// withOperator gives an element of Expected an operator.
func withOperator(operator string, e types.ExpectedAttributeValue) types.ExpectedAttributeValue {
	e.ComparisonOperator = types.ComparisonOperator(operator)
	return e
}

// legacyExpectedErrors are about elements that are not valid, in whichever of the three writes.
func legacyExpectedErrors(k attrs) []Case {
	var cases []Case
	for _, c := range []struct {
		name, rule, source string
		element            types.ExpectedAttributeValue
		want               string
	}{
		{"nothing", "An element of Expected has a member.", dynalite + "putItem.js", types.ExpectedAttributeValue{},
			badParameter("Value must be provided when Exists is null for Attribute: n")},
		{"Exists without a Value", "Exists true goes with a Value.", dynalite + "putItem.js",
			existing(true, types.ExpectedAttributeValue{}),
			badParameter("Value must be provided when Exists is true for Attribute: n")},
		{"Exists false with a Value", "Exists false goes without a Value.", dynalite + "putItem.js",
			existing(false, having("a")), badParameter("Value cannot be used when Exists is false for Attribute: n")},
		{"Exists with an operator", "Exists goes without an operator.", dynalite + "putItem.js",
			existing(true, is("LT", 1)),
			badParameter("Exists and ComparisonOperator cannot be used together for Attribute: n")},
		{"Exists false with an operator", "Exists goes without an operator, whether it is true or false.", floci2126,
			existing(false, is("NULL")),
			badParameter("Exists and ComparisonOperator cannot be used together for Attribute: n")},
		{"Value with a list", "Values are one or a list.", dynalite + "putItem.js", types.ExpectedAttributeValue{
			ComparisonOperator: "LT", Value: valueOf("a"), AttributeValueList: is("", "a").AttributeValueList,
		}, badParameter("Value and AttributeValueList cannot be used together for Attribute: n")},
		{"Value with a list and no operator", "Values are one or a list, with an operator and without.",
			dynalite + "putItem.js", types.ExpectedAttributeValue{
				Value: valueOf("a"), AttributeValueList: is("", "a").AttributeValueList,
			}, badParameter("Value and AttributeValueList cannot be used together for Attribute: n")},
		{"list without an operator", "A list goes with an operator.", dynalite + "putItem.js", is("", "a"),
			badParameter("AttributeValueList can only be used with a ComparisonOperator for Attribute: n")},
		{"list with Exists", "A list goes with an operator, before Exists is looked at.", dynalite + "putItem.js",
			existing(true, is("", "a")),
			badParameter("AttributeValueList can only be used with a ComparisonOperator for Attribute: n")},
		{"operator alone", "An operator has values.", dynalite + "putItem.js", is("LT"),
			badParameter("Value or AttributeValueList must be used with ComparisonOperator: LT for Attribute: n")},
		{"operator with an empty list", "An operator has as many values as it takes.", dynalite + "putItem.js",
			listing("EQ"), badParameter("Invalid number of argument(s) for the EQ ComparisonOperator")},
		{"two values", "EQ has one value.", dynalite + "putItem.js", is("EQ", 1, 2),
			badParameter("Invalid number of argument(s) for the EQ ComparisonOperator")},
		{"value for NULL", "NULL has no values.", dynalite + "putItem.js", is("NULL", 1),
			badParameter("Invalid number of argument(s) for the NULL ComparisonOperator")},
		{"value for NOT_NULL", "NOT_NULL has no values.", dynalite + "putItem.js", is("NOT_NULL", 1),
			badParameter("Invalid number of argument(s) for the NOT_NULL ComparisonOperator")},
		{"IN of nothing", "IN has a value.", alternator + "test_expected.py", listing("IN"),
			badParameter("Invalid number of argument(s) for the IN ComparisonOperator")},
		{"BETWEEN one", "BETWEEN has two values.", dynalite + "putItem.js", is("BETWEEN", 1),
			badParameter("Invalid number of argument(s) for the BETWEEN ComparisonOperator")},
		{"BETWEEN three", "BETWEEN has two values.", dynalite + "putItem.js", is("BETWEEN", 1, 2, 3),
			badParameter("Invalid number of argument(s) for the BETWEEN ComparisonOperator")},
		{"BETWEEN upside down", "The bounds come in order.", dynalite + "putItem.js", is("BETWEEN", "b", "a"), invalid(
			"The BETWEEN condition was provided a range where the lower bound is greater than the upper bound",
		)},
		{"BETWEEN of two types", "Values of one list have one type.", dynalite + "putItem.js", is("BETWEEN", 1, "a"),
			badParameter("AttributeValues inside AttributeValueList must be of same type")},
		{"IN of two types", "Values of one list have one type.", alternator + "test_expected.py", is("IN", 1, "a"),
			badParameter("AttributeValues inside AttributeValueList must be of same type")},
		{"BEGINS_WITH a number", "BEGINS_WITH takes a string or a binary.", alternator + "test_expected.py",
			is("BEGINS_WITH", 3),
			badParameter("ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type")},
		{"LE of a list", "The orders take a string, a number or a binary.",
			"https://github.com/scylladb/scylladb/issues/8043", is("LE", list{1}),
			badParameter("ComparisonOperator LE is not valid for L AttributeValue type")},
		{"CONTAINS a list", "CONTAINS takes a string, a number or a binary.", alternator + "test_expected.py",
			is("CONTAINS", list{1}),
			badParameter("ComparisonOperator CONTAINS is not valid for L AttributeValue type")},
		{"NOT_CONTAINS a list", "NOT_CONTAINS takes a string, a number or a binary.", alternator + "test_expected.py",
			is("NOT_CONTAINS", list{1}),
			badParameter("ComparisonOperator NOT_CONTAINS is not valid for L AttributeValue type")},
		{"IN of lists", "IN takes strings, numbers or binaries.", alternator + "test_expected.py",
			is("IN", list{1}, list{2}), badParameter("ComparisonOperator IN is not valid for L AttributeValue type")},
		{"BETWEEN sets", "BETWEEN takes strings, numbers or binaries.", alternator + "test_expected.py",
			is("BETWEEN", nums{"1"}, nums{"2"}),
			badParameter("ComparisonOperator BETWEEN is not valid for NS AttributeValue type")},
		{"no such operator", "There are thirteen operators, in capitals.", dynalite + "scan.js", is("eq", 1),
			broken("Value 'eq' at 'expected.n.member.comparisonOperator' failed to satisfy constraint: Member must " +
				"satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, " +
				"BEGINS_WITH, GE, CONTAINS]")},
		{"bad number", "The value of an expectation has a type.", dynalite + "putItem.js", having(num("x")),
			invalid("The parameter cannot be converted to a numeric value: x")},
		{"bad number for an operator", "The values in a list have types.", dynalite + "scan.js", is("IN", num("x")),
			invalid("The parameter cannot be converted to a numeric value: x")},
		{"empty set", "A set is not empty.", dynalite + "scan.js", having(strs{}),
			badParameter("An string set  may not be empty")},
	} {
		t := expected(tests{"n": c.element})
		cases = append(cases, newCase(c.name, c.rule, c.source,
			expect(put(row("a", "b"), t), enveloped(c.want)),
			expect(legacyUpdate(k, changes{"x": by("PUT", 1)}, t), enveloped(c.want)),
			expect(remove(k, t), enveloped(c.want))))
	}
	return cases
}

// legacyUpdateCases are about AttributeUpdates.
func legacyUpdateCases() []Case {
	k := key("a", "b")
	const mismatch = "Type mismatch for attribute to update"
	var cases []Case
	for _, c := range []struct {
		name, rule, source string
		old                attrs // nil: there is no item
		do                 changes
		want               string // the item then, or the refusal
	}{
		{"PUT", "PUT sets an attribute, there before or not.", docLegacyUpdates, row("a", "b", "x", 1),
			changes{"x": by("PUT", "s"), "y": by("PUT", list{})}, `{pk: "a", sk: "b", x: "s", y: []}`},
		{"no action", "The action is PUT if none is named.", docLegacyUpdates, row("a", "b"), changes{"x": by("", 1)},
			`{pk: "a", sk: "b", x: 1}`},
		{"PUT creates", "PUT creates an item.", docLegacyUpdates, nil, changes{"x": by("PUT", 1)},
			`{pk: "a", sk: "b", x: 1}`},
		{"ADD a number", "ADD adds a number to a number.", docLegacyUpdates, row("a", "b", "x", 7),
			changes{"x": by("ADD", num("-3.5"))}, `{pk: "a", sk: "b", x: 3.5}`},
		{"ADD a number to nothing", "ADD begins with zero.", docLegacyUpdates, row("a", "b"),
			changes{"x": by("ADD", -2)}, `{pk: "a", sk: "b", x: -2}`},
		{"ADD a number creates", "ADD creates an item.", docLegacyUpdates, nil, changes{"x": by("ADD", 3)},
			`{pk: "a", sk: "b", x: 3}`},
		{"ADD a set", "ADD adds the elements of a set.", docLegacyUpdates, row("a", "b", "x", nums{"1", "2"}),
			changes{"x": by("ADD", nums{"3", "2"})}, `{pk: "a", sk: "b", x: <1, 2, 3>}`},
		{"ADD a set to nothing", "ADD begins with no elements, of whatever type.", alternator + "test_item.py",
			row("a", "b"), changes{"x": by("ADD", strs{"p"}), "y": by("ADD", bins{"q"})},
			`{pk: "a", sk: "b", x: <"p">, y: <0x71>}`},
		{"ADD a set creates", "ADD of a set creates an item.", alternator + "test_item.py", nil,
			changes{"x": by("ADD", strs{"p", "q"})}, `{pk: "a", sk: "b", x: <"p", "q">}`},
		{"ADD a list", "ADD appends a list, whatever is in it, though the documentation does not say so.",
			alternator + "test_item.py", row("a", "b", "x", list{1, 2}), changes{"x": by("ADD", list{2, "s"})},
			`{pk: "a", sk: "b", x: [1, 2, 2, "s"]}`},
		{"ADD a list to nothing", "ADD begins with an empty list.", alternator + "test_item.py", row("a", "b"),
			changes{"x": by("ADD", list{7})}, `{pk: "a", sk: "b", x: [7]}`},
		{"ADD a list creates", "ADD of a list creates an item.", alternator + "test_item.py", nil,
			changes{"x": by("ADD", list{7})}, `{pk: "a", sk: "b", x: [7]}`},
		{"DELETE", "DELETE without a value deletes an attribute, there or not.", docLegacyUpdates,
			row("a", "b", "x", 1), changes{"x": by("DELETE"), "y": by("DELETE")}, `{pk: "a", sk: "b"}`},
		{"DELETE from a set", "DELETE with a set deletes elements, those that are there.", docLegacyUpdates,
			row("a", "b", "x", strs{"p", "q", "r"}), changes{"x": by("DELETE", strs{"p", "r", "z"})},
			`{pk: "a", sk: "b", x: <"q">}`},
		{"DELETE all of a set", "A set without elements left goes.", alternator + "test_item.py",
			row("a", "b", "x", nums{"1", "2"}), changes{"x": by("DELETE", nums{"2", "1"})}, `{pk: "a", sk: "b"}`},
		{"numbers of a set", "The elements of a set are compared as numbers, however they are written.", docTypes,
			row("a", "b", "x", nums{"1", "2"}, "y", nums{"3", "4"}),
			changes{"x": by("ADD", nums{"2.0", "5"}), "y": by("DELETE", nums{"4.00"})},
			`{pk: "a", sk: "b", x: <1, 2, 5>, y: <3>}`},
		{"DELETE from nothing", "DELETE with a set leaves a missing attribute missing.", docLegacyUpdates,
			row("a", "b"), changes{"x": by("DELETE", strs{"p"})}, `{pk: "a", sk: "b"}`},
		{"DELETE creates nothing", "DELETE alone creates no item.", scylla5862, nil,
			changes{"x": by("DELETE"), "y": by("DELETE", nums{"4"})}, "nothing"},
		{"DELETE and PUT create", "If one of several changes creates an item, the update does.", docLegacyUpdates, nil,
			changes{"x": by("DELETE"), "y": by("PUT", 1)}, `{pk: "a", sk: "b", y: 1}`},
		{"nothing to do", "An update that does nothing creates the item.", alternator + "test_item.py", nil,
			changes{}, `{pk: "a", sk: "b"}`},
		{"all at once", "Each attribute has an action of its own.", docLegacyUpdates,
			row("a", "b", "n", 1, "old", "x", "s", strs{"p", "q"}),
			changes{"n": by("ADD", 9), "old": by("DELETE"), "s": by("DELETE", strs{"q"}),
				"new": by("PUT", true), "l": by("ADD", list{1})},
			`{l: [1], n: 10, new: true, pk: "a", s: <"p">, sk: "b"}`},
		{"names of any kind", "A name is the name of a top-level attribute, whatever is in it.", docLegacyUpdates,
			row("a", "b", "m", attrs{"x": 9}), changes{
				"m.x": by("PUT", 1), "status": by("PUT", 2), "#0": by("ADD", 3), "m[0]": by("PUT", 4),
			}, `{#0: 3, m.x: 1, m: {x: 9}, m[0]: 4, pk: "a", sk: "b", status: 2}`},
		{"empty values", "Strings, binaries, lists and maps may be empty.", alternator + "test_item.py", row("a", "b"),
			changes{"l": by("PUT", list{}), "m": by("PUT", attrs{}), "s": by("PUT", ""), "z": by("PUT", []byte{})},
			`{l: [], m: {}, pk: "a", s: "", sk: "b", z: 0x}`},

		{"PUT without a value", "Only DELETE goes without a value.", dynalite + "updateItem.js", row("a", "b"),
			changes{"x": by("PUT")},
			enveloped(badParameter("Only DELETE action is allowed when no attribute value is specified"))},
		{"ADD without a value", "Only DELETE goes without a value.", dynalite + "updateItem.js", row("a", "b"),
			changes{"x": by("ADD")},
			enveloped(badParameter("Only DELETE action is allowed when no attribute value is specified"))},
		{"nothing at all", "A change without an action and a value is refused.", dynalite + "updateItem.js",
			row("a", "b"), changes{"x": types.AttributeValueUpdate{}},
			enveloped(badParameter("Only DELETE action is allowed when no attribute value is specified"))},
		{"no such action", "There are three actions.", alternator + "test_item.py", row("a", "b"),
			changes{"x": by("NONE", 1)},
			broken("Value 'NONE' at 'attributeUpdates.x.member.action' failed to satisfy constraint: Member must " +
				"satisfy enum value set: [ADD, PUT, DELETE]")},
		{"ADD to another type", "ADD adds to a value of the same type.", alternator + "test_item.py",
			row("a", "b", "x", strs{"p"}), changes{"x": by("ADD", 1)}, invalid(mismatch)},
		{"ADD another set", "ADD adds to a value of the same type.", alternator + "test_item.py",
			row("a", "b", "x", nums{"1"}), changes{"x": by("ADD", strs{"1"})}, invalid(mismatch)},
		{"ADD a list to a set", "A list is no set.", alternator + "test_item.py", row("a", "b", "x", strs{"p"}),
			changes{"x": by("ADD", list{"q"})}, invalid(mismatch)},
		{"ADD a set to a list", "A set is no list.", alternator + "test_item.py", row("a", "b", "x", list{"p"}),
			changes{"x": by("ADD", strs{"q"})}, invalid(mismatch)},
		{"ADD a list to a number", "A number is no list.", alternator + "test_item.py", row("a", "b", "x", 1),
			changes{"x": by("ADD", list{2})}, invalid(mismatch)},
		{"DELETE from another set", "DELETE deletes from a set of the same type.", alternator + "test_item.py",
			row("a", "b", "x", nums{"1"}), changes{"x": by("DELETE", strs{"1"})}, invalid(mismatch)},
		{"DELETE from no set", "DELETE deletes from a set of the same type.", alternator + "test_item.py",
			row("a", "b", "x", 1), changes{"x": by("DELETE", nums{"1"})}, invalid(mismatch)},
		{"sum out of range", "A sum is a number.", docTypes, row("a", "b", "x", num("9E125")),
			changes{"x": by("ADD", num("9E125"))},
			invalid("Number overflow. Attempting to store a number with magnitude larger than supported range")},
		{"bad number", "The value of a change has a type.", dynalite + "updateItem.js", row("a", "b"),
			changes{"x": by("PUT", num("x"))},
			enveloped(invalid("The parameter cannot be converted to a numeric value: x"))},
		{"empty set", "A set is not empty.", alternator + "test_item.py", row("a", "b"),
			changes{"x": by("PUT", strs{})}, enveloped(badParameter("An string set  may not be empty"))},
		{"DELETE of an empty set", "A set is not empty, not even to be deleted.", alternator + "test_item.py",
			row("a", "b"), changes{"x": by("DELETE", nums{})},
			enveloped(badParameter("An number set  may not be empty"))},
		{"partition key", "A key attribute is not changed.", dynalite + "updateItem.js", row("a", "b"),
			changes{"pk": by("PUT", "a")},
			badParameter("Cannot update attribute pk. This attribute is part of the key")},
		{"sort key", "A key attribute is not changed, nor deleted.", dynalite + "updateItem.js", row("a", "b"),
			changes{"sk": by("DELETE"), "x": by("PUT", 1)},
			badParameter("Cannot update attribute sk. This attribute is part of the key")},
		{"too large", "An item has 400 KB at most.", docLimits, row("a", "b", "x", text(300<<10)),
			changes{"y": by("PUT", text(150<<10))},
			invalid("Item size to update has exceeded the maximum allowed size")},
	} {
		one := newCase(c.name, c.rule, c.source)
		if c.old != nil {
			one.rows = []attrs{c.old}
		}
		if strings.Contains(c.want, "Exception: ") {
			one = one.and(expect(legacyUpdate(k, c.do), c.want))
		} else {
			one = one.and(expect(legacyUpdate(k, c.do), ok), expect(get(k), c.want))
		}
		cases = append(cases, one)
	}
	for _, kind := range []struct {
		name        string
		value       any
		add, delete bool // takes it
	}{
		{"S", "s", false, false}, {"N", 1, true, false}, {"B", []byte("b"), false, false}, {"BOOL", true, false, false},
		{"NULL", nil, false, false}, {"M", attrs{}, false, false}, {"L", list{}, true, false},
	} {
		one := newCase("value of type "+kind.name, "ADD takes numbers, sets and lists, DELETE sets.",
			dynalite+"updateItem.js")
		if !kind.add {
			one = one.and(expect(legacyUpdate(k, changes{"x": by("ADD", kind.value)}),
				enveloped(badParameter("ADD action is not supported for the type "+kind.name))))
		}
		if !kind.delete {
			one = one.and(expect(legacyUpdate(k, changes{"x": by("DELETE", kind.value)}),
				enveloped(badParameter("DELETE action with value is not supported for the type "+kind.name))))
		}
		cases = append(cases, one)
	}
	return append(cases, legacyReturnCases(k)...)
}

func legacyReturnCases(k attrs) []Case {
	item := row("a", "b", "n", 1, "gone", 2, "same", 3)
	do := changes{"n": by("ADD", 4), "gone": by("DELETE"), "new": by("PUT", list{1})}
	returned := func(name, rule, which, want string) Case {
		return newCase(name, rule, api("UpdateItem"), holding(item), expect(legacyUpdate(k, do, returns(which)), want))
	}
	return []Case{
		returned("ALL_OLD", "ALL_OLD is the item before.", "ALL_OLD", `{gone: 2, n: 1, pk: "a", same: 3, sk: "b"}`),
		returned("ALL_NEW", "ALL_NEW is the item after.", "ALL_NEW", `{n: 5, new: [1], pk: "a", same: 3, sk: "b"}`),
		returned("UPDATED_OLD", "UPDATED_OLD returns the old values of the updated attributes.",
			"UPDATED_OLD", "{gone: 2, n: 1}"),
		returned("UPDATED_NEW", "UPDATED_NEW returns the new values of the updated attributes.",
			"UPDATED_NEW", "{n: 5, new: [1]}"),
		newCase("UPDATED of a new item", "UPDATED_OLD of an item that an update creates is empty.", api("UpdateItem"),
			expect(legacyUpdate(k, changes{"n": by("ADD", 4)}, returns("UPDATED_OLD")), ok),
			expect(legacyUpdate(key("a", "c"), changes{"n": by("ADD", 4)}, returns("UPDATED_NEW")), "{n: 4}")),
		newCase("index keys", "An attribute that is the key of an index has the type of the key.", docLegacyUpdates,
			inTables(map[string]schema{"indexed": "pk S, sk S | gsi: g S -> ALL"}),
			expect(legacyUpdate(k, changes{"g": by("PUT", "x")}, on("indexed")), ok),
			expect(legacyUpdate(k, changes{"g": by("PUT", 1)}, on("indexed")),
				badParameter("Type mismatch for Index Key g Expected: S Actual: N IndexName: gsi")),
			expect(legacyQuery(tests{"g": is("EQ", "x")}, on("indexed"), set("IndexName", "gsi"), eventually()),
				`1 of 1: {g: "x", pk: "a", sk: "b"}`),
			expect(legacyUpdate(k, changes{"g": by("DELETE")}, on("indexed")), ok),
			expect(legacyQuery(tests{"g": is("EQ", "x")}, on("indexed"), set("IndexName", "gsi"), eventually()),
				"0 of 0")),
		newCase("capacity", "An update costs the larger of the two items.", docCapacity,
			holding(row("a", "b", "x", text(3000))),
			expect(legacyUpdate(k, changes{"x": by("DELETE")}, capacity("TOTAL")), "ok; 3 units")),
	}
}
