package conformance

import "fmt"

func transactWriteCases() []Case {
	const (
		twice    = "Transaction request cannot include multiple operations on one item"
		mismatch = "The provided key element does not match the schema"
		empty    = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: "
	)
	const texts = parity + "tier3/error-messages/transactWriteItems.test.ts"
	const order = parity + "tier3/validation-ordering/transactions.test.ts"
	doc := api("TransactWriteItems")
	absent := where("attribute_not_exists(pk)")
	meta, lock := key("k", "META"), key("k", "LOCK")
	held := row("k", "LOCK", "lease_token", "t1", "lease_expires_at", 100)
	many := func(n int) actions {
		var list actions
		for i := range n {
			list = append(list, put(row("a", fmt.Sprint(i))))
		}
		return list
	}
	return []Case{
		{
			Name: "publish and release", Rule: "Put META and delete LOCK take effect together.", Source: doc,
			rows: []attrs{held},
			steps: []step{
				expect(transact(actions{
					put(row("k", "META", "generated_at", 50)),
					remove(lock, where("lease_token = :t AND lease_expires_at > :now"), with(attrs{":t": "t1", ":now": 60})),
				}), ok),
				expect(query("pk = :k", with(attrs{":k": "k"})), `1 of 1: {generated_at: 50, pk: "k", sk: "META"}`),
			},
		},
		{
			Name: "publish without the lease", Rule: "A stale writer's transaction does nothing at all.", Source: doc,
			rows: []attrs{held},
			steps: []step{
				expect(transact(actions{
					put(row("k", "META", "generated_at", 50)),
					remove(lock, where("lease_token = :t"), with(attrs{":t": "t0"})),
				}), cancelled(none, reasonCondition)),
				expect(get(meta), "nothing"),
				expect(get(lock), `{lease_expires_at: 100, lease_token: "t1", pk: "k", sk: "LOCK"}`),
			},
		},
		{
			Name: "every kind of action", Rule: "A transaction puts, updates, deletes and checks.", Source: doc,
			rows: []attrs{row("a", "upd", "n", 1), row("a", "del"), row("a", "chk")},
			steps: []step{
				expect(transact(actions{
					put(row("a", "new")), update(key("a", "upd"), "ADD n :v", with(attrs{":v": 1})), remove(key("a", "del")),
					check(key("a", "chk"), "attribute_exists(pk)"),
				}), ok),
				expect(query("pk = :a", with(attrs{":a": "a"})), `3 of 3: {pk: "a", sk: "chk"} {pk: "a", sk: "new"} {n: 2, pk: "a", sk: "upd"}`),
			},
		},
		{
			Name: "reasons in order", Rule: "Cancellation reasons come in the order of the actions, None for those with nothing against them.", Source: texts,
			rows: []attrs{row("a", "1"), row("a", "3")},
			steps: []step{
				expect(transact(actions{put(row("a", "1"), absent), put(row("a", "2"), absent), put(row("a", "3"), absent)}),
					cancelled(reasonCondition, none, reasonCondition)),
			},
		},
		{
			Name: "old items in reasons", Rule: "Each action says for itself whether its reason carries the item.", Source: doc,
			rows: []attrs{row("a", "1", "v", 1), row("a", "2", "v", 2)},
			steps: []step{
				expect(transact(actions{
					put(row("a", "1"), absent, onFailure("ALL_OLD")), put(row("a", "2"), absent), check(key("a", "3"), "attribute_exists(pk)", onFailure("ALL_OLD")),
				}), cancelled(reasonCondition+` {pk: "a", sk: "1", v: 1}`, reasonCondition, reasonCondition)),
			},
		},
		{
			Name: "check on a missing item", Rule: "A check judges a missing item as one without attributes.", Source: doc,
			steps: []step{
				expect(transact(actions{check(key("a", "b"), "attribute_not_exists(pk)"), put(row("a", "c"))}), ok),
				expect(transact(actions{check(key("a", "b"), "v < :v", with(attrs{":v": 1}))}), cancelled(reasonCondition)),
				expect(get(key("a", "b")), "nothing"),
			},
		},
		{
			Name: "conditions judge the state before", Rule: "Every condition is judged by the state before the transaction.", Source: docTransactions,
			steps: []step{
				expect(transact(actions{put(row("a", "1")), check(key("a", "2"), "attribute_not_exists(pk)"), put(row("a", "3"), absent)}), ok),
			},
		},
		{
			Name: "one item twice", Rule: "No two actions are on one item.", Source: texts,
			steps: []step{
				expect(transact(actions{put(row("a", "b")), remove(key("a", "b"))}), invalid(twice)),
				expect(transact(actions{put(row("a", "b")), check(key("a", "b"), "attribute_not_exists(pk)")}), invalid(twice)),
				expect(get(key("a", "b")), "nothing"),
			},
		},
		{
			Name: "one item twice with a false condition", Rule: "That is found before any condition is judged.", Source: alternator + "test_transact.py",
			steps: []step{
				expect(transact(actions{put(row("a", "b"), where("attribute_exists(pk)")), remove(key("a", "b"))}), invalid(twice)),
			},
		},
		{
			Name: "the same key in two tables", Rule: "Items of two tables are two items, in one transaction.", Source: doc,
			tables: map[string]schema{usualTable: usualSchema, "other": usualSchema},
			steps: []step{
				expect(transact(actions{put(row("a", "b", "v", 1)), put(row("a", "b", "v", 2), on("other"))}), ok),
				expect(get(key("a", "b")), `{pk: "a", sk: "b", v: 1}`),
				expect(get(key("a", "b"), on("other")), `{pk: "a", sk: "b", v: 2}`),
			},
		},
		{
			Name: "100 actions", Rule: "A transaction has at most 100 actions.", Source: docLimits,
			steps: []step{
				expect(transact(many(100)), ok),
				expect(query("pk = :a", with(attrs{":a": "a"}), selecting("COUNT")), "100 of 100"),
			},
		},
		{
			Name: "101 actions", Rule: "101 actions are refused, in the name of the list.", Source: texts,
			steps: []step{
				expect(transact(many(101)), broken("Value '[...]' at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100")),
			},
		},
		{
			Name: "no actions", Rule: "A transaction has actions.", Source: texts,
			steps: []step{
				expect(transact(actions{}), broken("Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1")),
				expect(transact(nil), broken("Value null at 'transactItems' failed to satisfy constraint: Member must not be null")),
			},
		},
		{
			Name: "an action that is none", Rule: "An action is a check, a put, an update or a delete.", Source: LocalOnly,
			steps: []step{
				expect(transact(actions{nothing()}), invalid("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request")),
			},
		},
		{
			Name: "put with a key of another type", Rule: "An item that does not fit its table cancels the transaction.", Source: texts,
			steps: []step{
				expect(transact(actions{put(attrs{"pk": 5, "sk": "b"})}),
					cancelled(reasonInvalid("One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N"))),
				expect(transact(actions{put(attrs{"pk": "a"})}),
					cancelled(reasonInvalid("One or more parameter values were invalid: Missing the key sk in the item"))),
			},
		},
		{
			Name: "key of another type", Rule: "So does a key.", Source: texts,
			steps: []step{
				expect(transact(actions{remove(attrs{"pk": 5, "sk": "b"})}), cancelled(reasonInvalid(mismatch))),
				expect(transact(actions{put(row("a", "b")), update(attrs{"pk": "a"}, "REMOVE x")}), cancelled(none, reasonInvalid(mismatch))),
				expect(transact(actions{check(attrs{"pk": list{}, "sk": "b"}, "attribute_exists(pk)")}), cancelled(reasonInvalid(mismatch))),
			},
		},
		{
			Name: "two actions that do not fit", Rule: "Of two actions with validation errors only the first is reported.", Source: alternator + "test_transact.py",
			steps: []step{
				expect(transact(actions{remove(attrs{"pk": "a"}), remove(attrs{"pk": "c"})}), cancelled(reasonInvalid(mismatch), none)),
			},
		},
		{
			Name: "validation before conditions", Rule: "Where an action is not valid no condition is judged.", Source: alternator + "test_transact.py",
			steps: []step{
				expect(transact(actions{put(row("a", "b"), where("attribute_exists(pk)")), put(attrs{"pk": 7, "sk": "b"}), put(attrs{"pk": 8, "sk": "b"})}),
					cancelled(none, reasonInvalid("One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N"), none)),
			},
		},
		{
			Name: "empty key value", Rule: "An empty key value refuses the request and is no cancellation.", Source: texts,
			steps: []step{
				expect(transact(actions{put(row("a", ""))}), invalid(empty+"sk")),
				expect(transact(actions{remove(key("", "b"))}), invalid(empty+"pk")),
				expect(transact(actions{update(key("a", ""), "REMOVE x")}), invalid(empty+"sk")),
				expect(transact(actions{check(key("a", ""), "attribute_exists(pk)")}), invalid(empty+"sk")),
			},
		},
		{
			Name: "update of a key", Rule: "An update of the key cancels the transaction.", Source: LocalOnly,
			steps: []step{
				expect(transact(actions{update(key("a", "b"), "SET sk = :v", with(attrs{":v": "c"}))}),
					cancelled(reasonInvalid("One or more parameter values were invalid: Cannot update attribute sk. This attribute is part of the key"))),
			},
		},
		{
			Name: "update that cannot be done", Rule: "An update that fails on its item cancels the transaction.", Source: doc,
			rows: []attrs{row("a", "b", "s", "text")},
			steps: []step{
				expect(transact(actions{put(row("a", "c")), update(key("a", "b"), "SET s = s + :v", with(attrs{":v": 1}))}),
					cancelled(none, reasonInvalid("An operand in the update expression has an incorrect data type"))),
				expect(get(key("a", "c")), "nothing"),
			},
		},
		{
			Name: "update that only removes", Rule: "In a transaction too, an update that only removes creates nothing.", Source: scylla5862,
			steps: []step{
				expect(transact(actions{update(key("a", "b"), "REMOVE x")}), ok),
				expect(get(key("a", "b")), "nothing"),
			},
		},
		{
			Name: "update without an expression", Rule: "An update in a transaction has an expression.", Source: api("Update"),
			steps: []step{
				expect(transact(actions{update(key("a", "b"), "", noUpdate())}),
					broken("Value null at 'transactItems.1.member.update.updateExpression' failed to satisfy constraint: Member must not be null")),
			},
		},
		{
			Name: "check without a condition", Rule: "A check has a condition.", Source: api("ConditionCheck"),
			steps: []step{
				expect(transact(actions{check(key("a", "b"), "", set("ConditionExpression", nil))}),
					broken("Value null at 'transactItems.1.member.conditionCheck.conditionExpression' failed to satisfy constraint: Member must not be null")),
			},
		},
		{
			Name: "return value that is none", Rule: "An invalid ReturnValuesOnConditionCheckFailure is refused.", Source: alternator + "test_transact.py",
			steps: []step{
				expect(transact(actions{put(row("a", "b"), onFailure("ALL_NEW"))}),
					broken("Value 'ALL_NEW' at 'transactItems.1.member.put.returnValuesOnConditionCheckFailure' failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, NONE]")),
			},
		},
		{
			Name: "condition before the table", Rule: "A condition that does not parse is reported before a table that does not exist, whichever action it is in.", Source: order,
			steps: []step{
				expect(transact(actions{put(row("a", "b"), on("missing")), check(key("a", "c"), "attribute_not_exists(")}),
					invalid(`Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("`)),
			},
		},
		{
			Name: "unused value before the table", Rule: "So is a value that nothing uses.", Source: order,
			steps: []step{
				expect(transact(actions{put(row("a", "b"), on("missing")), check(key("a", "c"), "attribute_not_exists(pk)", with(attrs{":v": "x"}))}),
					invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}")),
			},
		},
		{
			Name: "unused value before an item twice", Rule: "And before one item twice.", Source: order,
			steps: []step{
				expect(transact(actions{put(row("a", "b")), check(key("a", "b"), "attribute_not_exists(pk)", with(attrs{":v": "x"}))}),
					invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}")),
			},
		},
		{
			Name: "capacity", Rule: "A write in a transaction takes twice the units.", Source: docTransactions,
			steps: []step{
				expect(transact(actions{put(row("a", "b", "x", text(1500))), put(row("a", "c"))}, capacity("TOTAL")), "ok; 6 units, 6 written"),
			},
		},
		{
			Name: "reads see all or nothing", Rule: "A cancelled transaction leaves nothing that a read could see.", Source: docTransactions,
			rows: []attrs{row("a", "z")},
			steps: []step{
				expect(transact(actions{put(row("a", "1")), put(row("a", "2")), put(row("a", "z"), absent)}), cancelled(none, none, reasonCondition)),
				expect(query("pk = :a", with(attrs{":a": "a"})), `1 of 1: {pk: "a", sk: "z"}`),
			},
		},
	}
}
