package conformance

import (
	"fmt"
	"strings"
	"time"
)

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
			Name: "reasons in order", Rule: "Cancellation reasons come in the order of the actions; the reason of a valid action is None.", Source: texts,
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
			Name: "one item twice with a false condition", Rule: "Two actions on one item are refused before any condition is judged.", Source: alternator + "test_transact.py",
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
			Name: "key of another type", Rule: "A key that does not fit its table cancels the transaction.", Source: texts,
			steps: []step{
				expect(transact(actions{remove(attrs{"pk": 5, "sk": "b"})}), cancelled(reasonInvalid(mismatch))),
				expect(transact(actions{put(row("a", "b")), update(attrs{"pk": "a"}, "REMOVE x")}), cancelled(none, reasonInvalid(mismatch))),
				expect(transact(actions{check(attrs{"pk": list{}, "sk": "b"}, "attribute_exists(pk)")}), cancelled(reasonInvalid(mismatch))),
			},
		},
		{
			Name: "two actions that do not fit", Rule: "If two actions have validation errors, only the first is reported.", Source: alternator + "test_transact.py",
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
			Name: "unused value before the table", Rule: "A value that nothing uses is reported before a table that does not exist, whichever action it is in.", Source: order,
			steps: []step{
				expect(transact(actions{put(row("a", "b"), on("missing")), check(key("a", "c"), "attribute_not_exists(pk)", with(attrs{":v": "x"}))}),
					invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}")),
			},
		},
		{
			Name: "unused value before an item twice", Rule: "A value that nothing uses is reported before an item that two actions name.", Source: order,
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

func transactGetCases() []Case {
	rows := []attrs{row("a", "1", "x", 1, "y", 2), row("a", "2", "x", 3)}
	doc := api("TransactGetItems")
	return []Case{
		{
			Name: "in order", Rule: "Items come in the order in which they were asked for, with nothing for those that are not there.", Source: doc,
			rows: rows,
			steps: []step{
				expect(transactGet(actions{get(key("a", "2")), get(key("a", "none")), get(key("a", "1"))}),
					`[{pk: "a", sk: "2", x: 3} nothing {pk: "a", sk: "1", x: 1, y: 2}]`),
			},
		},
		{
			Name: "projection", Rule: "Each get has a projection of its own.", Source: doc,
			rows: rows,
			steps: []step{
				expect(transactGet(actions{get(key("a", "1"), only("#y"), named("#y", "y")), get(key("a", "2"), only("y"))}), `[{y: 2} {}]`),
			},
		},
		{
			Name: "two tables", Rule: "A transaction reads from several tables.", Source: doc,
			tables: map[string]schema{usualTable: usualSchema, "other": "id N"},
			rows:   rows,
			steps: []step{
				expect(put(attrs{"id": 1}, on("other")), ok),
				expect(transactGet(actions{get(key("a", "2"), only("x")), get(attrs{"id": 1}, on("other"))}), `[{x: 3} {id: 1}]`),
			},
		},
		{
			Name: "one item twice", Rule: "No two gets are of one item.", Source: doc,
			rows: rows,
			steps: []step{
				expect(transactGet(actions{get(key("a", "1")), get(key("a", "1"))}), invalid("Transaction request cannot include multiple operations on one item")),
			},
		},
		{
			Name: "no gets", Rule: "A transaction reads something.", Source: dynalite + "getItem.js",
			steps: []step{
				expect(transactGet(actions{}), broken("Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1")),
			},
		},
		{
			Name: "key of another type", Rule: "A key that does not fit cancels the transaction.", Source: parity + "tier3/error-messages/transactGetItems.test.ts",
			rows: rows,
			steps: []step{
				expect(transactGet(actions{get(key("a", "1")), get(attrs{"pk": 1, "sk": "x"})}),
					cancelled(none, reasonInvalid("The provided key element does not match the schema"))),
			},
		},
		{
			Name: "empty key value", Rule: "An empty key value refuses the request.", Source: parity + "tier3/error-messages/transactGetItems.test.ts",
			steps: []step{
				expect(transactGet(actions{get(key("a", ""))}),
					invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: sk")),
			},
		},
		{
			Name: "capacity", Rule: "A read in a transaction takes twice the units of a consistent one.", Source: docTransactions,
			rows: rows,
			steps: []step{
				expect(transactGet(actions{get(key("a", "1"), only("x")), get(key("a", "none"))}, capacity("TOTAL")), "[{x: 1} nothing]; 4 units, 4 read"),
			},
		},
		{
			Name: "enumeration before the table", Rule: "An invalid ReturnConsumedCapacity is reported before a table that does not exist.", Source: parity + "tier3/validation-ordering/transactions.test.ts",
			steps: []step{
				expect(transactGet(actions{get(key("a", "1"), on("missing"))}, capacity("BOGUS")),
					broken("Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]")),
			},
		},
	}
}

func idempotencyCases() []Case {
	const mismatch = "IdempotentParameterMismatchException: DynamoDB rejected the request because you retried a request with a different payload but with an idempotent token that was already used."
	doc := api("TransactWriteItems")
	count := func(by int, options ...option) request {
		return transact(actions{update(key("a", "b"), "ADD n :v", with(attrs{":v": by}))}, options...)
	}
	n := func(value string) step { return expect(get(key("a", "b")), `{n: `+value+`, pk: "a", sk: "b"}`) }
	return []Case{
		{
			Name: "same token", Rule: "A transaction with a token that was used succeeds and does nothing.", Source: doc,
			steps: []step{expect(count(1, token("same token")), ok), expect(count(1, token("same token")), ok), n("1")},
		},
		{
			Name: "other token", Rule: "A transaction with another token is another transaction.", Source: doc,
			steps: []step{expect(count(1, token("first")), ok), expect(count(1, token("second")), ok), n("2")},
		},
		{
			Name: "other payload", Rule: "The same token with another payload is refused.", Source: doc,
			steps: []step{expect(count(1, token("other payload")), ok), expect(count(2, token("other payload")), mismatch), n("1")},
		},
		{
			Name: "repetition after the world changed", Rule: "A repetition succeeds even if its condition would fail by now.", Source: docTransactions,
			steps: []step{
				expect(transact(actions{put(row("a", "b", "n", 1), where("attribute_not_exists(pk)"))}, token("world")), ok),
				expect(transact(actions{put(row("a", "b", "n", 1), where("attribute_not_exists(pk)"))}, token("world")), ok),
				n("1"),
			},
		},
		{
			Name: "after a cancellation", Rule: "A cancelled transaction may be tried again with its token.", Source: docTransactions,
			steps: []step{
				expect(transact(actions{update(key("a", "b"), "SET n = :v", with(attrs{":v": 1}), where("attribute_exists(pk)"))}, token("again")), cancelled(reasonCondition)),
				expect(put(row("a", "b")), ok),
				expect(transact(actions{update(key("a", "b"), "SET n = :v", with(attrs{":v": 1}), where("attribute_exists(pk)"))}, token("again")), ok),
				n("1"),
			},
		},
		{
			Name: "capacity of a repetition", Rule: "A repetition reads, and says so.", Source: docTransactions,
			steps: []step{
				expect(count(1, token("capacity"), capacity("TOTAL")), "ok; 2 units, 2 written"),
				expect(count(1, token("capacity"), capacity("TOTAL")), "ok; 2 units, 2 read"),
			},
		},
		{
			Name: "another detail is the same payload", Rule: "ReturnConsumedCapacity is no part of the payload.", Source: LocalOnly,
			steps: []step{
				expect(count(1, token("detail")), ok),
				expect(count(1, token("detail"), capacity("TOTAL")), "ok; 2 units, 2 read"),
			},
		},
		{
			Name: "long token", Rule: "A token has at most 36 characters.", Source: parity + "tier3/validation-ordering/transactions.test.ts",
			steps: []step{
				expect(count(1, token(strings.Repeat("t", 36))), ok),
				expect(count(1, token(strings.Repeat("t", 37))),
					broken("Value '"+strings.Repeat("t", 37)+"' at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36")),
			},
		},
		{
			Name: "ten minutes", Rule: "A token is forgotten ten minutes after the transaction.", Source: doc, clock: true,
			steps: []step{
				expect(count(1, token("ten minutes")), ok),
				then(wait(10*time.Minute - time.Second)),
				expect(count(1, token("ten minutes")), ok),
				n("1"),
				then(wait(time.Second)),
				expect(count(1, token("ten minutes")), ok),
				n("2"),
			},
		},
		{
			Name: "other payload after ten minutes", Rule: "A forgotten token stands for the next transaction that comes with it.", Source: doc, clock: true,
			steps: []step{
				expect(count(1, token("eleven minutes")), ok),
				then(wait(11 * time.Minute)),
				expect(count(5, token("eleven minutes")), ok),
				n("6"),
			},
		},
	}
}
