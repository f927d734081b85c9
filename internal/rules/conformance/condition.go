package conformance

// judgement is a condition on a row, put to the test by a conditional delete of that row.
type judgement struct {
	name, rule, source string
	item               attrs // nil: there is no such row
	condition          string
	args               []option
	want               string
}

func judge(judgements []judgement) []Case {
	cases := make([]Case, len(judgements))
	for i, j := range judgements {
		c := newCase(j.name, j.rule, j.source)
		if j.item != nil {
			c.rows = []attrs{j.item}
		}
		options := append([]option{where(j.condition)}, j.args...)
		c = c.and(expect(remove(key("a", "b"), options...), enveloped(j.want)))
		cases[i] = c
	}
	return cases
}

func conditionCases() []Case {
	lock := row("a", "b", "lease_token", "t1", "lease_expires_at", 100, "text", "50")
	values := func(v attrs) []option { return []option{with(v)} }
	return judge([]judgement{
		{
			"missing item has no attributes",
			"A condition on a missing item is evaluated against an item without attributes.", docConditions,
			nil, "attribute_not_exists(pk)", nil, ok,
		},
		{
			"missing item has no key", "A missing item does not even have its key attributes.", docConditions,
			nil, "attribute_exists(pk)", nil, conditionFailed,
		},
		{
			"missing item is not less", "A comparison with an attribute of a missing item is false.", docConditions,
			nil, "lease_expires_at < :now", values(attrs{":now": 200}), conditionFailed,
		},
		{
			"missing item is not equal", "Equality with an attribute of a missing item is false.", docConditions,
			nil, "lease_token = :t", values(attrs{":t": "t1"}), conditionFailed,
		},
		{
			"missing item is unequal", "<> with an attribute of a missing item is true.",
			alternator + "test_condition_expression.py",
			nil, "lease_token <> :t", values(attrs{":t": "t1"}), ok,
		},
		{
			"missing attribute is not less", "< with a missing attribute is false.",
			alternator + "test_condition_expression.py",
			lock, "absent < :v", values(attrs{":v": 200}), conditionFailed,
		},
		{
			"missing attribute is not less or equal", "<= with a missing attribute is false.",
			alternator + "test_condition_expression.py",
			lock, "absent <= :v", values(attrs{":v": 200}), conditionFailed,
		},
		{
			"missing attribute is not greater", "> with a missing attribute is false.",
			alternator + "test_condition_expression.py",
			lock, "absent > :v", values(attrs{":v": 0}), conditionFailed,
		},
		{
			"missing attribute is not greater or equal", ">= with a missing attribute is false.",
			alternator + "test_condition_expression.py",
			lock, "absent >= :v", values(attrs{":v": 0}), conditionFailed,
		},
		{
			"nothing is less than a missing attribute",
			"A missing attribute on the right makes a comparison false too.",
			alternator + "test_condition_expression.py",
			lock, "lease_expires_at > absent", nil, conditionFailed,
		},
		{
			"missing attribute is unequal", "<> with a missing attribute is true.",
			alternator + "test_condition_expression.py",
			lock, "absent <> :v", values(attrs{":v": 1}), ok,
		},
		{
			"two missing attributes are not equal", "= of two missing attributes is false.",
			alternator + "test_condition_expression.py",
			lock, "absent = gone", nil, conditionFailed,
		},
		{
			"NOT of a comparison with a missing attribute",
			"NOT turns the false comparison with a missing attribute into true.", docOperators,
			lock, "NOT absent < :v", values(attrs{":v": 200}), ok,
		},
		{
			"types do not compare by less", "< between a string and a number is false, whatever they look like.",
			docOperators, lock, "#t < :v", []option{named("#t", "text"), with(attrs{":v": 200})}, conditionFailed,
		},
		{
			"types do not compare by greater", "> between a string and a number is false, too.", docOperators,
			lock, "#t > :v", []option{named("#t", "text"), with(attrs{":v": 1})}, conditionFailed,
		},
		{
			"types are not equal", "A string never equals a number.", docOperators,
			lock, "#t = :v", []option{named("#t", "text"), with(attrs{":v": 50})}, conditionFailed,
		},
		{
			"types are unequal", "A string and a number are unequal.", docOperators,
			lock, "#t <> :v", []option{named("#t", "text"), with(attrs{":v": 50})}, ok,
		},
		{
			"numbers compare by value", "Numbers compare as numbers: 100 is not less than 20.", docTypes,
			lock, "lease_expires_at < :v", values(attrs{":v": 20}), conditionFailed,
		},
		{
			"strings compare by bytes", "Strings compare byte by byte: \"50\" is less than \"6\".", docTypes,
			lock, "#t < :v", []option{named("#t", "text"), with(attrs{":v": "6"})}, ok,
		},
		{
			"strings compare by UTF-8",
			"Strings compare by UTF-8 bytes, not by UTF-16 units: U+FF5E comes before U+1F600.", docTypes,
			row("a", "b", "s", "\uff5e"), "s < :v", values(attrs{":v": "\U0001f600"}), ok,
		},
		{
			"binaries compare unsigned", "Binaries compare by unsigned bytes.", docTypes,
			row("a", "b", "x", []byte{0x7f}), "x < :v", values(attrs{":v": []byte{0x80}}), ok,
		},
		{
			"equal numbers", "Numbers are equal however they are written.", docTypes,
			lock, "lease_expires_at = :v", values(attrs{":v": num("1.00E2")}), ok,
		},
		{
			"expired lease", "lease_expires_at < :now holds of an expired lease.", docConditions,
			lock, "attribute_not_exists(pk) OR lease_expires_at < :now", values(attrs{":now": 101}), ok,
		},
		{
			"held lease", "lease_expires_at < :now does not hold at its very second.", docConditions,
			lock, "attribute_not_exists(pk) OR lease_expires_at < :now", values(attrs{":now": 100}), conditionFailed,
		},
		{
			"own token and held", "AND needs both sides.", docOperators,
			lock, "lease_token = :t AND lease_expires_at > :now",
			values(attrs{":t": "t1", ":now": 100}), conditionFailed,
		},
		{
			"AND before OR", "AND binds more tightly than OR.", docOperators,
			lock, "lease_token = :t OR lease_token = :no AND lease_expires_at = :no",
			values(attrs{":t": "t1", ":no": "no"}), ok,
		},
		{
			"NOT before AND", "NOT binds more tightly than AND.", docOperators,
			lock, "NOT lease_token = :no AND lease_token = :t", values(attrs{":t": "t1", ":no": "no"}), ok,
		},
		{
			"parentheses", "Parentheses go first.", docOperators,
			lock, "(lease_token = :t OR lease_token = :no) AND lease_token = :no",
			values(attrs{":t": "t1", ":no": "no"}), conditionFailed,
		},
		{
			"keywords in any case", "Keywords are not case-sensitive.", alternator + "test_condition_expression.py",
			lock, "not lease_token = :no aNd lease_token bEtween :t and :t", values(attrs{":t": "t1", ":no": "no"}), ok,
		},
		{
			"BETWEEN includes its bounds", "BETWEEN is true at both bounds.", docOperators,
			lock, "lease_expires_at BETWEEN :v AND :v", values(attrs{":v": 100}), ok,
		},
		{
			"BETWEEN of another type", "BETWEEN with bounds of another type is false.", docOperators,
			lock, "lease_expires_at BETWEEN :v AND :w", values(attrs{":v": "0", ":w": "9"}), conditionFailed,
		},
		{
			"BETWEEN of a missing attribute", "BETWEEN with a missing attribute is false.", docOperators,
			lock, "absent BETWEEN :v AND :w", values(attrs{":v": 0, ":w": 9}), conditionFailed,
		},
		{
			"BETWEEN upside down", "BETWEEN with literal bounds in the wrong order is refused.",
			alternator + "test_condition_expression.py",
			lock, "lease_expires_at BETWEEN :v AND :w", values(attrs{":v": 9, ":w": 0}),
			invalid("Invalid ConditionExpression: The BETWEEN operator requires upper bound to be greater than or " +
				"equal to lower bound; lower bound operand: AttributeValue: {N:9}, upper bound operand: " +
				"AttributeValue: {N:0}"),
		},
		{
			"BETWEEN with two types", "BETWEEN with literal bounds of two types is refused.",
			alternator + "test_condition_expression.py",
			lock, "lease_expires_at BETWEEN :v AND :w", values(attrs{":v": 9, ":w": "x"}),
			invalid("Invalid ConditionExpression: The BETWEEN operator requires same data type for lower and upper " +
				"bounds; lower bound operand: AttributeValue: {N:9}, upper bound operand: AttributeValue: {S:x}"),
		},
		{
			"IN", "IN is true if any of the values is equal.", docOperators,
			lock, "lease_token IN (:no, :t)", values(attrs{":t": "t1", ":no": "no"}), ok,
		},
		{
			"IN of a missing attribute", "IN with a missing attribute is false.", docOperators,
			lock, "absent IN (:no, lease_token)", values(attrs{":no": "no"}), conditionFailed,
		},
		{
			"IN of attributes", "The values of IN may be attributes.", docOperators,
			lock, "lease_token IN (absent, lease_token)", nil,
			invalid("Invalid ConditionExpression: The first operand must be distinct from the remaining operands " +
				"for this operator or function; operator: IN, first operand: [lease_token]"),
		},
		{
			"IN of numbers", "IN compares numbers by value.", docOperators,
			lock, "lease_expires_at IN (:v)", values(attrs{":v": num("100.0")}), ok,
		},
		{
			"an attribute compared with itself", "A comparison needs two different operands.",
			alternator + "test_condition_expression.py",
			lock, "lease_token = lease_token", nil,
			invalid("Invalid ConditionExpression: The first operand must be distinct from the remaining operands " +
				"for this operator or function; operator: =, first operand: [lease_token]"),
		},
		{
			"maps do not order", "< and its like take no map, list, set, BOOL or NULL as a literal.",
			alternator + "test_condition_expression.py",
			lock, "lease_token < :v", values(attrs{":v": true}),
			invalid("Invalid ConditionExpression: Incorrect operand type for operator or function; operator or " +
				"function: <, operand type: BOOL"),
		},
		{
			"maps are equal", "Maps and lists are equal if all they hold is.", docTypes,
			row("a", "b", "doc", attrs{"l": list{1, "x", nil}, "m": attrs{"y": true}}), "doc = :v",
			values(attrs{":v": attrs{"m": attrs{"y": true}, "l": list{num("1.0"), "x", nil}}}), ok,
		},
		{
			"order in lists", "Lists in another order are not equal.", docTypes,
			row("a", "b", "l", list{1, 2}), "l = :v", values(attrs{":v": list{2, 1}}), conditionFailed,
		},
		{
			"nested path", "A path reaches into maps and lists.", docPaths,
			row("a", "b", "doc", attrs{"l": list{1, attrs{"x": "here"}}}), "doc.l[1].x = :v",
			values(attrs{":v": "here"}), ok,
		},
		{
			"nested path through a scalar", "A path through something that is no map leads nowhere.", docPaths,
			lock, "attribute_exists(lease_token.x)", nil, conditionFailed,
		},
		{
			"index out of range", "An index behind the end of a list leads nowhere.", docPaths,
			row("a", "b", "l", list{1}), "attribute_not_exists(l[1])", nil, ok,
		},
		{
			"failed condition changes nothing", "A write whose condition is false does nothing.", docConditions,
			lock, "lease_token = :t", values(attrs{":t": "other"}), conditionFailed,
		},
		{
			"key attributes in conditions", "A condition may name key attributes.", docConditions,
			lock, "pk = :a AND sk = :b", values(attrs{":a": "a", ":b": "b"}), ok,
		},
	})
}
