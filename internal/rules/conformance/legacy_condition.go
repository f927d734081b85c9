package conformance

// legacyConditionCases are about the comparison operators of Expected, QueryFilter and ScanFilter, and about how
// conditions are joined.
func legacyConditionCases() []Case {
	k := key("a", "b")
	item := row("a", "b", "n", 5, "s", "hello", "bin", []byte("hi there"), "ss", strs{"cat", "dog"}, "ns",
		nums{"2", "4", "7"}, "l", list{2, "x", list{1}}, "m", attrs{"in": 1}, "t", true, "z", nil, "empty", "")
	var cases []Case
	for _, c := range []struct {
		name, rule, source string
		holds, fails       []tests
	}{
		{
			"EQ", "EQ compares type and value, of sets in any order, of lists and maps too.", docLegacyExpected,
			[]tests{
				{"n": is("EQ", num("5.0"))},
				{"s": is("EQ", "hello")},
				{"bin": is("EQ", []byte("hi there"))},
				{"ss": is("EQ", strs{"dog", "cat"})},
				{"ns": is("EQ", nums{"7", "2", "4.0"})},
				{"l": is("EQ", list{2, "x", list{1}})},
				{"m": is("EQ", attrs{"in": 1})},
				{"t": is("EQ", true)},
				{"z": is("EQ", nil)},
				{"empty": is("EQ", "")},
			},
			[]tests{
				{"n": is("EQ", 6)},
				{"n": is("EQ", "5")},
				{"ss": is("EQ", strs{"dog"})},
				{"absent": is("EQ", 1)},
				{"z": is("EQ", false)},
				{"m": is("EQ", attrs{})},
			},
		},
		{
			"NE", "NE is the opposite of EQ, so it holds of a missing attribute and of another type.",
			alternator + "test_expected.py", []tests{{"n": is("NE", 6)}, {"n": is("NE", "5")}, {"absent": is("NE", 1)},
				{"ss": is("NE", strs{"dog"})}, {"l": is("NE", list{})}},
			[]tests{{"n": is("NE", 5)}, {"ss": is("NE", strs{"dog", "cat"})}, {"m": is("NE", attrs{"in": 1})}},
		},
		{
			"LE", "LE compares numbers, strings and binaries, and no type with another.",
			alternator + "test_expected.py", []tests{{"n": is("LE", 5)}, {"n": is("LE", 10)}, {"s": is("LE", "help")},
				{"bin": is("LE", []byte("hi there"))}},
			[]tests{{"n": is("LE", 4)}, {"n": is("LE", "9")}, {"s": is("LE", 9)}, {"absent": is("LE", 9)},
				{"l": is("LE", 9)}, {"t": is("LE", "z")}},
		},
		{
			"LT", "LT does not hold of an equal value.", alternator + "test_expected.py",
			[]tests{{"n": is("LT", 6)}, {"s": is("LT", "hellp")}, {"bin": is("LT", []byte{0xff})}},
			[]tests{{"n": is("LT", 5)}, {"s": is("LT", "hello")}, {"absent": is("LT", 9)}, {"ns": is("LT", 9)}},
		},
		{
			"GE", "GE compares numbers, strings and binaries, and no type with another.",
			alternator + "test_expected.py", []tests{{"n": is("GE", 5)}, {"n": is("GE", -7)}, {"s": is("GE", "Z")},
				{"bin": is("GE", []byte("h"))}},
			[]tests{{"n": is("GE", 10)}, {"n": is("GE", "0")}, {"absent": is("GE", 0)}},
		},
		{
			"GT", "GT does not hold of an equal value.", alternator + "test_expected.py",
			[]tests{{"n": is("GT", 4)}, {"s": is("GT", "")}, {"bin": is("GT", []byte("hi"))}},
			[]tests{{"n": is("GT", 5)}, {"absent": is("GT", 0)}, {"z": is("GT", "")}},
		},
		{
			"NOT_NULL", "NOT_NULL asks whether there is an attribute, of whatever type: a null is one.",
			docLegacyExpected, []tests{{"n": is("NOT_NULL")}, {"z": is("NOT_NULL")}, {"empty": listing("NOT_NULL")},
				{"pk": is("NOT_NULL")}},
			[]tests{{"absent": is("NOT_NULL")}, {"absent": listing("NOT_NULL")}},
		},
		{
			"NULL", "NULL asks whether there is no attribute.", docLegacyExpected,
			[]tests{{"absent": is("NULL")}, {"absent": listing("NULL")}},
			[]tests{{"n": is("NULL")}, {"z": is("NULL")}},
		},
		{
			"CONTAINS", "CONTAINS looks for a part of a string or binary, or for an element of a set or list.",
			alternator + "test_expected.py", []tests{
				{"s": is("CONTAINS", "ell")},
				{"s": is("CONTAINS", "")},
				{"bin": is("CONTAINS", []byte("here"))},
				{"ss": is("CONTAINS", "dog")},
				{"ns": is("CONTAINS", num("4.0"))},
				{"l": is("CONTAINS", 2)},
				{"l": is("CONTAINS", "x")},
			},
			[]tests{
				{"s": is("CONTAINS", "dog")},
				{"s": is("CONTAINS", 1)},
				{"ss": is("CONTAINS", "do")},
				{"ns": is("CONTAINS", "4")},
				{"l": is("CONTAINS", 1)},
				{"m": is("CONTAINS", "in")},
				{"n": is("CONTAINS", 5)},
				{"absent": is("CONTAINS", 1)},
			},
		},
		{
			"NOT_CONTAINS", "NOT_CONTAINS is the opposite of CONTAINS, but of a missing attribute neither holds.",
			alternator + "test_expected.py", []tests{
				{"s": is("NOT_CONTAINS", "dog")},
				{"s": is("NOT_CONTAINS", 1)},
				{"bin": is("NOT_CONTAINS", []byte("dog"))},
				{"ns": is("NOT_CONTAINS", 1)},
				{"l": is("NOT_CONTAINS", 1)},
			},
			[]tests{
				{"s": is("NOT_CONTAINS", "ell")},
				{"ns": is("NOT_CONTAINS", 4)},
				{"l": is("NOT_CONTAINS", 2)},
				{"absent": is("NOT_CONTAINS", 1)},
			},
		},
		{
			"BEGINS_WITH", "BEGINS_WITH compares the beginning of a string or binary, and is false of other types.",
			alternator + "test_expected.py", []tests{{"s": is("BEGINS_WITH", "hell")}, {"s": is("BEGINS_WITH", "")},
				{"bin": is("BEGINS_WITH", []byte("hi"))}},
			[]tests{{"s": is("BEGINS_WITH", "ello")}, {"s": is("BEGINS_WITH", []byte("h"))},
				{"n": is("BEGINS_WITH", "5")}, {"ss": is("BEGINS_WITH", "c")}, {"absent": is("BEGINS_WITH", "")}},
		},
		{
			"IN", "IN asks whether the attribute is equal to one of the values; it does not look into sets.",
			alternator + "test_expected.py", []tests{{"n": is("IN", 2, 5, 8)}, {"s": is("IN", "hello")},
				{"bin": is("IN", []byte("x"), []byte("hi there"))}},
			[]tests{{"n": is("IN", 1, 2)}, {"ns": is("IN", 2, 4, 7)}, {"n": is("IN", "5")}, {"absent": is("IN", 1)}},
		},
		{
			"BETWEEN", "BETWEEN includes both bounds and compares no type with another.",
			alternator + "test_expected.py", []tests{{"n": is("BETWEEN", 5, 5)}, {"n": is("BETWEEN", -1, num("5.5"))},
				{"s": is("BETWEEN", "h", "i")}, {"bin": is("BETWEEN", []byte{0}, []byte("hi there"))}},
			[]tests{{"n": is("BETWEEN", 6, 9)}, {"n": is("BETWEEN", "0", "9")}, {"l": is("BETWEEN", 0, 9)},
				{"absent": is("BETWEEN", 0, 100)}},
		},
		{
			"Value", "A Value alone is EQ.", docLegacyExpected,
			[]tests{{"n": having(5)}, {"ss": having(strs{"dog", "cat"})}, {"l": having(list{2, "x", list{1}})}},
			[]tests{{"n": having(6)}, {"n": having("5")}, {"absent": having(1)}},
		},
		{
			"Exists", "Exists false is NULL; Exists true goes with a Value and adds nothing to it.", docLegacyExpected,
			[]tests{{"absent": absent()}, {"n": existing(true, having(5))}},
			[]tests{{"n": absent()}, {"z": absent()}, {"n": existing(true, having(6))},
				{"absent": existing(true, having(5))}},
		},
	} {
		one := newCase(c.name, c.rule, c.source, holding(item))
		for _, t := range c.holds {
			one = one.and(expect(legacyUpdate(k, nil, expected(t)), ok))
		}
		for _, t := range c.fails {
			one = one.and(expect(legacyUpdate(k, nil, expected(t)), conditionFailed))
		}
		cases = append(cases, one)
	}
	return append(cases, legacyJoinCases(k, item)...)
}

func legacyJoinCases(k, item attrs) []Case {
	yes, no := is("EQ", 5), is("EQ", 6)
	return []Case{
		newCase("AND", "Conditions are joined by AND unless said otherwise.", docLegacyOperator, holding(item),
			expect(legacyUpdate(k, nil, expected(tests{"n": yes, "absent": absent(), "s": having("hello")})), ok),
			expect(legacyUpdate(k, nil, expected(tests{"n": yes, "s": having("x")})), conditionFailed),
			expect(legacyUpdate(k, nil, expected(tests{"n": yes, "s": having("hello")}), joinedBy("AND")), ok),
			expect(legacyUpdate(k, nil, expected(tests{"n": no, "s": having("hello")}), joinedBy("AND")),
				conditionFailed)),
		newCase("OR", "Joined by OR, one condition that holds is enough.", docLegacyOperator, holding(item),
			expect(legacyUpdate(k, nil, expected(tests{"n": no, "s": having("hello")}), joinedBy("OR")), ok),
			expect(legacyUpdate(k, nil, expected(tests{"n": yes, "s": having("x")}), joinedBy("OR")), ok),
			expect(legacyUpdate(k, nil, expected(tests{"n": no, "s": having("x"), "z": absent()}), joinedBy("OR")),
				conditionFailed)),
		newCase("operator without conditions", "ConditionalOperator has something to join.", extenddb213,
			holding(item),
			expect(legacyUpdate(k, nil, joinedBy("AND")),
				enveloped(invalid("ConditionalOperator cannot be used without Filter or Expected"))),
			expect(legacyUpdate(k, nil, expected(tests{}), joinedBy("OR")),
				enveloped(invalid("ConditionalOperator cannot be used without Filter or Expected"))),
			expect(put(item, joinedBy("OR")),
				enveloped(invalid("ConditionalOperator cannot be used without Filter or Expected"))),
			expect(remove(k, joinedBy("OR")),
				enveloped(invalid("ConditionalOperator cannot be used without Filter or Expected"))),
			expect(scan(joinedBy("OR")), invalid("ConditionalOperator cannot be used without Filter or Expected")),
			expect(scan(joinedBy("AND"), scanFilter(tests{})),
				invalid("ConditionalOperator cannot be used without Filter or Expected")),
			expect(scan(joinedBy("AND"), attributesToGet("a", "b")),
				invalid("ConditionalOperator cannot be used without Filter or Expected")),
			expect(legacyQuery(tests{"pk": is("EQ", "a"), "sk": is("EQ", "b")}, joinedBy("AND")),
				invalid("ConditionalOperator cannot be used without Filter or Expected"))),
		newCase("operator with one condition", "ConditionalOperator joins two conditions at least.", extenddb213,
			holding(item),
			expect(put(item, expected(tests{"n": yes}), joinedBy("AND")),
				enveloped(invalid(
					"ConditionalOperator can only be used when Filter or Expected has two or more elements",
				))),
			expect(remove(k, expected(tests{"n": yes}), joinedBy("OR")),
				enveloped(invalid(
					"ConditionalOperator can only be used when Filter or Expected has two or more elements",
				))),
			expect(legacyUpdate(k, nil, expected(tests{"n": yes}), joinedBy("OR")),
				enveloped(invalid(
					"ConditionalOperator can only be used when Filter or Expected has two or more elements",
				))),
			expect(scan(scanFilter(tests{"n": yes}), joinedBy("OR")),
				invalid("ConditionalOperator can only be used when Filter or Expected has two or more elements")),
			expect(legacyQuery(tests{"pk": is("EQ", "a")}, queryFilter(tests{"n": yes}), joinedBy("AND")),
				invalid("ConditionalOperator can only be used when Filter or Expected has two or more elements"))),
		newCase("no such operator", "ConditionalOperator is AND or OR, in capitals.",
			alternator+"test_query_filter.py", holding(item),
			expect(legacyUpdate(k, nil, expected(tests{"n": yes, "s": having("x")}), joinedBy("and")),
				broken("Value 'and' at 'conditionalOperator' failed to satisfy constraint: Member must satisfy enum "+
					"value set: [OR, AND]")),
			expect(scan(scanFilter(tests{"n": yes, "s": is("EQ", "x")}), joinedBy("DOG")),
				broken("Value 'DOG' at 'conditionalOperator' failed to satisfy constraint: Member must satisfy enum "+
					"value set: [OR, AND]")),
			expect(legacyQuery(tests{"pk": is("EQ", "a")},
				queryFilter(tests{"n": yes, "s": is("EQ", "x")}), joinedBy("XOR")),
				broken("Value 'XOR' at 'conditionalOperator' failed to satisfy constraint: Member must satisfy enum "+
					"value set: [OR, AND]"))),
	}
}
