package conformance

// revision is an update of the row {pk: "a", sk: "b"}, with the row that is read after it.
type revision struct {
	name, rule, source string
	item               attrs // nil: there is no such row
	update             string
	args               []option
	want, then         string // answer of the update, and of a get after it
}

func revise(revisions []revision) []Case {
	cases := make([]Case, len(revisions))
	for i, r := range revisions {
		c := newCase(r.name, r.rule, r.source)
		if r.item != nil {
			c.rows = []attrs{r.item}
		}
		c = c.and(expect(update(key("a", "b"), r.update, r.args...), r.want))
		if r.then != "" {
			c = c.and(expect(get(key("a", "b")), r.then))
		}
		cases[i] = c
	}
	return cases
}

func updateCases() []Case {
	item := row("a", "b", "x", 1, "y", 2)
	v := func(value any) []option { return []option{with(attrs{":v": value})} }
	const (
		noOperand = "The provided expression refers to an attribute that does not exist in the item"
		noPath    = "The document path provided in the update expression is invalid for update"
		badType   = "Invalid UpdateExpression: Incorrect operand type for operator or function; "
		runtime   = "An operand in the update expression has an incorrect data type"
	)
	only := `{pk: "a", sk: "b"}`
	same := `{pk: "a", sk: "b", x: 1, y: 2}`
	return append(revise([]revision{
		{
			"creates", "An update of a missing item creates it.", api("UpdateItem"),
			nil, "SET x = :v", v(1), ok, `{pk: "a", sk: "b", x: 1}`,
		},
		{
			"ADD creates", "ADD on a missing item creates it, starting from nothing.", docUpdates,
			nil, "ADD x :v", v(5), ok, `{pk: "a", sk: "b", x: 5}`,
		},
		{
			"REMOVE creates nothing", "An update that only removes does not create a missing item.", scylla5862,
			nil, "REMOVE x", nil, ok, "nothing",
		},
		{
			"DELETE creates nothing", "An update that only deletes from sets does not create a missing item.",
			scylla5862, nil, "DELETE x :v", v(strs{"p"}), ok, "nothing",
		},
		{
			"REMOVE of a path in nothing", "REMOVE of a path succeeds where there is no item, and creates nothing.",
			alternator + "test_update_expression.py",
			nil, "REMOVE m.x, l[0]", nil, ok, "nothing",
		},
		{
			"path before operand", "If a target is impossible and an operand is missing, the target is reported.",
			LocalOnly, item, "SET m.x = z", nil, invalid(noPath), same,
		},
		{
			"all paths before operands",
			"An impossible target is reported before a missing operand of another action, too.", LocalOnly,
			item, "REMOVE m.x SET x = z", nil, invalid(noPath), same,
		},
		{
			"SET reads the old image", "Every operand of SET is read from the item as it was: a = b, b = a swaps.",
			alternator + "test_update_expression.py",
			item, "SET x = y, y = x", nil, ok, `{pk: "a", sk: "b", x: 2, y: 1}`,
		},
		{
			"REMOVE and SET in one", "SET reads an attribute that REMOVE takes away in the same update.",
			alternator + "test_update_expression.py",
			item, "REMOVE x SET z = x", nil, ok, `{pk: "a", sk: "b", y: 2, z: 1}`,
		},
		{
			"all four clauses", "An update may have all four clauses, in any order.", docUpdates,
			row("a", "b", "x", 1, "y", 2, "s", strs{"p", "q"}), "DELETE s :s ADD y :v REMOVE x SET z = :v",
			[]option{with(attrs{":s": strs{"p"}, ":v": 1})},
			ok, `{pk: "a", s: <"q">, sk: "b", y: 3, z: 1}`,
		},
		{
			"plus", "SET adds numbers.", docUpdates,
			item, "SET x = x + :v", v(num("0.5")), ok, `{pk: "a", sk: "b", x: 1.5, y: 2}`,
		},
		{
			"minus", "SET subtracts numbers.", docUpdates,
			item, "SET x = y - x", nil, ok, `{pk: "a", sk: "b", x: 1, y: 2}`,
		},
		{
			"one operator", "SET takes one operator, not a chain.", docUpdates,
			item, "SET x = x + y + :v", v(1),
			enveloped(invalid(`Invalid UpdateExpression: Syntax error; token: "+", near: "y + :v"`)), same,
		},
		{
			"plus with a string", "SET does no arithmetic with strings.", alternator + "test_update_expression.py",
			item, "SET x = x + :v", v("1"),
			enveloped(invalid(badType + "operator or function: +, operand type: S")), same,
		},
		{
			"plus with a stored string", "SET does no arithmetic with an attribute that is a string.",
			alternator + "test_update_expression.py",
			row("a", "b", "x", "1"), "SET x = x + :v", v(1), invalid(runtime), `{pk: "a", sk: "b", x: "1"}`,
		},
		{
			"missing operand", "SET from a missing attribute is refused.", alternator + "test_update_expression.py",
			item, "SET x = absent", nil, invalid(noOperand), same,
		},
		{
			"arithmetic on a missing item", "SET x = x + 1 on a missing item is refused: there is no x.",
			alternator + "test_update_expression.py",
			nil, "SET x = x + :v", v(1), invalid(noOperand), "nothing",
		},
		{
			"if_not_exists of a missing attribute", "if_not_exists gives the value where the attribute is missing.",
			docUpdates, item, "SET z = if_not_exists(z, :v)", v(9), ok, `{pk: "a", sk: "b", x: 1, y: 2, z: 9}`,
		},
		{
			"if_not_exists of an attribute", "if_not_exists gives the attribute where there is one.", docUpdates,
			item, "SET x = if_not_exists(x, :v)", v(9), ok, same,
		},
		{
			"counter from nothing", "if_not_exists(x, :zero) + :one counts from nothing.", docUpdates,
			nil, "SET x = if_not_exists(x, :zero) + :one", []option{with(attrs{":zero": 0, ":one": 1})}, ok,
			`{pk: "a", sk: "b", x: 1}`,
		},
		{
			"list_append", "list_append joins two lists in the order of its operands.", docUpdates,
			row("a", "b", "l", list{1}), "SET l = list_append(:v, l)", v(list{"x", nil}), ok,
			`{l: ["x", null, 1], pk: "a", sk: "b"}`,
		},
		{
			"list_append of a scalar", "list_append takes lists.", docUpdates,
			row("a", "b", "l", list{1}), "SET l = list_append(l, :v)", v(2),
			enveloped(invalid(badType + "operator or function: list_append, operand type: N")), "",
		},
		{
			"nested path", "SET reaches into maps.", docPaths,
			row("a", "b", "doc", attrs{"k": 1}), "SET doc.j = :v", v(2), ok, `{doc: {j: 2, k: 1}, pk: "a", sk: "b"}`,
		},
		{
			"path into nothing", "SET does not make the map that a path leads through.", docUpdates,
			item, "SET doc.j = :v", v(2), invalid(noPath), same,
		},
		{
			"path into a scalar", "SET does not turn a scalar into a map.", docUpdates,
			item, "SET x.j = :v", v(2), invalid(noPath), same,
		},
		{
			"index behind the end", "SET of an index behind the end of a list appends.", docUpdates,
			row("a", "b", "l", list{1}), "SET l[7] = :v", v(2), ok, `{l: [1, 2], pk: "a", sk: "b"}`,
		},
		{
			"two indexes behind the end",
			"Elements set behind the end of a list are appended in the order of their indexes.", docUpdates,
			row("a", "b", "l", list{1}), "SET l[9] = :v, l[7] = :w", []option{with(attrs{":v": "nine", ":w": "seven"})},
			ok, `{l: [1, "seven", "nine"], pk: "a", sk: "b"}`,
		},
		{
			"REMOVE an index", "REMOVE takes an element out of a list; those behind it move up.", docUpdates,
			row("a", "b", "l", list{0, 1, 2, 3}), "REMOVE l[1], l[2]", nil, ok, `{l: [0, 3], pk: "a", sk: "b"}`,
		},
		{
			"REMOVE behind the end", "REMOVE of an index behind the end does nothing.", docUpdates,
			row("a", "b", "l", list{0}), "REMOVE l[5]", nil, ok, `{l: [0], pk: "a", sk: "b"}`,
		},
		{
			"REMOVE what is missing", "REMOVE of a missing attribute does nothing.", docUpdates,
			item, "REMOVE absent", nil, ok, same,
		},
		{
			"REMOVE through nothing", "REMOVE by a path through a missing map is refused.",
			alternator + "test_update_expression.py",
			item, "REMOVE absent.k", nil, invalid(noPath), same,
		},
		{
			"REMOVE a missing leaf", "REMOVE of a missing element of a map that exists does nothing.",
			parity + "tier1/updateItem/basic.test.ts",
			row("a", "b", "doc", attrs{"k": 1}), "REMOVE doc.j", nil, ok, `{doc: {k: 1}, pk: "a", sk: "b"}`,
		},
		{
			"ADD to a number", "ADD adds to a number, negative ones too.", docUpdates,
			item, "ADD x :v", v(-3), ok, `{pk: "a", sk: "b", x: -2, y: 2}`,
		},
		{
			"ADD to a set", "ADD puts elements into a set.", docUpdates,
			row("a", "b", "s", strs{"p"}), "ADD s :v", v(strs{"p", "q"}), ok, `{pk: "a", s: <"p", "q">, sk: "b"}`,
		},
		{
			"ADD a string", "ADD takes a number or a set.", docUpdates,
			item, "ADD x :v", v("1"), enveloped(invalid(badType +
				"operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND")), same,
		},
		{
			"ADD to another type", "ADD of a number to a string is refused.", docUpdates,
			row("a", "b", "x", "1"), "ADD x :v", v(1), invalid(runtime), "",
		},
		{
			"ADD a set of another type", "ADD of strings to a set of numbers is refused.", docUpdates,
			row("a", "b", "s", nums{"1"}), "ADD s :v", v(strs{"1"}), invalid(runtime), "",
		},
		{
			"DELETE from a set", "DELETE takes elements out of a set; those that are not there do not matter.",
			docUpdates, row("a", "b", "s", strs{"p", "q"}), "DELETE s :v", v(strs{"q", "z"}), ok,
			`{pk: "a", s: <"p">, sk: "b"}`,
		},
		{
			"DELETE the last element", "A set from which everything is deleted goes: there is no empty set.",
			docUpdates, row("a", "b", "s", strs{"p"}), "DELETE s :v", v(strs{"p"}), ok, only,
		},
		{
			"DELETE a scalar", "DELETE takes a set.", docUpdates,
			item, "DELETE x :v", v(1), enveloped(invalid(badType +
				"operator: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND")), same,
		},
		{
			"overlapping paths", "Two paths are refused if one leads through the other.", docUpdates,
			row("a", "b", "doc", attrs{}), "SET doc = :v, doc.k = :v", v(1),
			enveloped(invalid("Invalid UpdateExpression: Two document paths overlap with each other; must remove or " +
				"rewrite one of these paths; path one: [doc], path two: [doc, k]")), "",
		},
		{
			"the same path twice", "The same path in two clauses is refused.", docUpdates,
			item, "SET x = :v REMOVE x", v(1),
			enveloped(invalid("Invalid UpdateExpression: Two document paths overlap with each other; must remove or " +
				"rewrite one of these paths; path one: [x], path two: [x]")), same,
		},
		{
			"conflicting paths", "Paths that take one attribute for a map and for a list are refused.",
			alternator + "test_update_expression.py",
			item, "SET x.k = :v, x[0] = :v", v(1),
			enveloped(invalid("Invalid UpdateExpression: Two document paths conflict with each other; must remove " +
				"or rewrite one of these paths; path one: [x, k], path two: [x, [0]]")), same,
		},
		{
			"partition key", "The partition key cannot be updated.", parity + "tier3/error-messages/updateItem.test.ts",
			item, "SET pk = :v", v("z"),
			badParameter("Cannot update attribute pk. This attribute is part of the key"), same,
		},
		{
			"sort key", "The sort key cannot be updated, not even to its own value.",
			parity + "tier3/error-messages/updateItem.test.ts",
			item, "SET sk = :v", v("b"),
			badParameter("Cannot update attribute sk. This attribute is part of the key"), same,
		},
		{
			"REMOVE a key", "The key cannot be removed.", api("UpdateItem"),
			item, "REMOVE sk", nil, badParameter("Cannot update attribute sk. This attribute is part of the key"), same,
		},
		{
			"clause twice", "A clause occurs at most once.", docUpdates,
			item, "SET x = :v SET y = :v", v(1),
			enveloped(invalid(
				`Invalid UpdateExpression: The "SET" section can only be used once in an update expression;`,
			)), same,
		},
		{
			"syntax", "Text that is no update is refused, with the token and its surroundings.",
			parity + "tier3/error-messages/updateItem.test.ts",
			item, "INVALID SYNTAX HERE", nil,
			enveloped(invalid(`Invalid UpdateExpression: Syntax error; token: "INVALID", near: "INVALID SYNTAX"`)),
			same,
		},
		{
			"empty", "An empty update is refused.", parity + "tier3/error-messages/updateItem.test.ts",
			item, "", nil, enveloped(invalid("Invalid UpdateExpression: The expression can not be empty;")), same,
		},
		{
			"failed condition", "An update whose condition is false does nothing.", docConditions,
			item, "SET x = :v", []option{with(attrs{":v": 9}), where("y = :v")}, conditionFailed, same,
		},
		{
			"condition on a missing item", "An update with a condition on an attribute creates nothing.", docConditions,
			nil, "SET x = :v", []option{with(attrs{":v": 9}), where("x < :v")}, conditionFailed, "nothing",
		},
		{
			"heartbeat", "A lease is extended only by its own token.", docConditions,
			row("a", "b", "lease_token", "t1", "lease_expires_at", 100), "SET lease_expires_at = :e",
			[]option{with(attrs{":e": 200, ":t": "t1", ":now": 99}),
				where("lease_token = :t AND lease_expires_at > :now")}, ok,
			`{lease_expires_at: 200, lease_token: "t1", pk: "a", sk: "b"}`,
		},
		{
			"functions of conditions", "size belongs to conditions.", docOperators,
			item, "SET x = size(y)", nil,
			enveloped(invalid(
				"Invalid UpdateExpression: The function is not allowed in an update expression; function: size",
			)), same,
		},
	}), newCase("no expression", "An update without an expression creates the key alone.", api("UpdateItem"),
		expect(update(key("a", "b"), "", noUpdate()), ok),
		expect(get(key("a", "b")),
			only)), newCase("no expression on an item", "An update without an expression leaves an item as it is.",
		api("UpdateItem"), holding(item),
		expect(update(key("a", "b"), "", noUpdate()), ok),
		expect(get(key("a", "b")), same)))
}
