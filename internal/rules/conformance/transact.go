package conformance

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func transactWriteCases() []Case {
	const (
		twice    = "Transaction request cannot include multiple operations on one item"
		mismatch = "The provided key element does not match the schema"
		empty    = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot " +
			"contain an empty string value. Key: "
	)
	const texts = parity + "tier3/error-messages/transactWriteItems.test.ts"
	const order = parity + "tier3/validation-ordering/transactions.test.ts"
	doc := api("TransactWriteItems")
	absent := where("attribute_not_exists(pk)")
	meta, lock := key("k", "META"), key("k", "LOCK")
	held := row("k", "LOCK", "lease_token", "t1", "lease_expires_at", 100)
	enlarge := func(sk string) request {
		return update(key("a", sk), "SET w = :v", with(attrs{":v": strings.Repeat("x", 400*1024)}))
	}
	many := func(n int) actions {
		var list actions
		for i := range n {
			list = append(list, put(row("a", fmt.Sprint(i))))
		}
		return list
	}
	return []Case{
		newCase("publish and release", "Put META and delete LOCK take effect together.", doc, holding(held),
			expect(transact(actions{
				put(row("k", "META", "generated_at", 50)),
				remove(lock, where("lease_token = :t AND lease_expires_at > :now"),
					with(attrs{":t": "t1", ":now": 60})),
			}), ok),
			expect(query("pk = :k", with(attrs{":k": "k"})), `1 of 1: {generated_at: 50, pk: "k", sk: "META"}`)),
		newCase("publish without the lease", "A stale writer's transaction does nothing at all.", doc, holding(held),
			expect(transact(actions{
				put(row("k", "META", "generated_at", 50)),
				remove(lock, where("lease_token = :t"), with(attrs{":t": "t0"})),
			}), cancelled(none, reasonCondition)),
			expect(get(meta), "nothing"),
			expect(get(lock), `{lease_expires_at: 100, lease_token: "t1", pk: "k", sk: "LOCK"}`)),
		newCase("every kind of action", "A transaction puts, updates, deletes and checks.", doc,
			holding(row("a", "upd", "n", 1), row("a", "del"), row("a", "chk")),
			expect(transact(actions{
				put(row("a", "new")), update(key("a", "upd"), "ADD n :v", with(attrs{":v": 1})),
				remove(key("a", "del")), check(key("a", "chk"), "attribute_exists(pk)"),
			}), ok),
			expect(query("pk = :a", with(attrs{":a": "a"})),
				`3 of 3: {pk: "a", sk: "chk"} {pk: "a", sk: "new"} {n: 2, pk: "a", sk: "upd"}`)),
		newCase("reasons in order",
			"Cancellation reasons come in the order of the actions; the reason of a valid action is None.", texts,
			holding(row("a", "1"), row("a", "3")),
			expect(transact(actions{put(row("a", "1"), absent), put(row("a", "2"), absent),
				put(row("a", "3"), absent)}),
				cancelled(reasonCondition, none, reasonCondition))),
		newCase("old items in reasons", "Each action says for itself whether its reason carries the item.", doc,
			holding(row("a", "1", "v", 1), row("a", "2", "v", 2)),
			expect(transact(actions{
				put(row("a", "1"), absent, onFailure("ALL_OLD")), put(row("a", "2"), absent),
				check(key("a", "3"), "attribute_exists(pk)", onFailure("ALL_OLD")),
			}), cancelled(reasonCondition+` {pk: "a", sk: "1", v: 1}`, reasonCondition, reasonCondition))),
		newCase("check on a missing item", "A check judges a missing item as one without attributes.", doc,
			expect(transact(actions{check(key("a", "b"), "attribute_not_exists(pk)"), put(row("a", "c"))}), ok),
			expect(transact(actions{check(key("a", "b"), "v < :v", with(attrs{":v": 1}))}), cancelled(reasonCondition)),
			expect(get(key("a", "b")), "nothing")),
		newCase("conditions judge the state before", "Every condition is judged by the state before the transaction.",
			docTransactions,
			expect(transact(actions{put(row("a", "1")), check(key("a", "2"), "attribute_not_exists(pk)"),
				put(row("a", "3"), absent)}),
				ok)),
		newCase("one item twice", "No two actions are on one item.", texts,
			expect(transact(actions{put(row("a", "b")), remove(key("a", "b"))}), invalid(twice)),
			expect(transact(actions{put(row("a", "b")), check(key("a", "b"), "attribute_not_exists(pk)")}),
				invalid(twice)),
			expect(get(key("a", "b")), "nothing")),
		newCase("one item twice with a false condition",
			"Two actions on one item are refused before any condition is judged.", alternator+"test_transact.py",
			expect(transact(actions{put(row("a", "b"), where("attribute_exists(pk)")), remove(key("a", "b"))}),
				invalid(twice))),
		newCase("the same key in two tables", "Items of two tables are two items, in one transaction.", doc,
			inTables(map[string]schema{usualTable: usualSchema, "other": usualSchema}),
			expect(transact(actions{put(row("a", "b", "v", 1)), put(row("a", "b", "v", 2), on("other"))}), ok),
			expect(get(key("a", "b")), `{pk: "a", sk: "b", v: 1}`),
			expect(get(key("a", "b"), on("other")), `{pk: "a", sk: "b", v: 2}`)),
		newCase("100 actions", "A transaction has at most 100 actions.", docLimits,
			expect(transact(many(100)), ok),
			expect(query("pk = :a", with(attrs{":a": "a"}), selecting("COUNT")), "100 of 100")),
		newCase("101 actions", "101 actions are refused, in the name of the list.", texts,
			expect(transact(many(101)),
				broken("Value '[...]' at 'transactItems' failed to satisfy constraint: Member must have length less "+
					"than or equal to 100"))),
		newCase("no actions", "A transaction has actions.", texts,
			expect(transact(actions{}),
				broken("Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater "+
					"than or equal to 1")),
			expect(transact(nil),
				broken("Value null at 'transactItems' failed to satisfy constraint: Member must not be null"))),
		newCase("an action that is none", "An action is a check, a put, an update or a delete.", LocalOnly,
			expect(transact(actions{nothing()}),
				invalid("Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"))),
		newCase("an action of two", "An action is one of them.", LocalOnly,
			expect(transact(actions{put(row("a", "b"))}, func(_ *world, in any) {
				one := &in.(*dynamodb.TransactWriteItemsInput).TransactItems[0]
				one.Delete = &types.Delete{TableName: one.Put.TableName, Key: key("a", "c").sdk()}
			}), invalid("TransactItems can only contain one of Check, Put, Update or Delete"))),
		newCase("put with a key of another type", "An item that does not fit its table cancels the transaction.",
			texts,
			expect(transact(actions{put(attrs{"pk": 5, "sk": "b"})}),
				cancelled(reasonInvalid(
					"One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N",
				))),
			expect(transact(actions{put(attrs{"pk": "a"})}),
				cancelled(reasonInvalid("One or more parameter values were invalid: Missing the key sk in the item")))),
		newCase("key of another type", "A key that does not fit its table cancels the transaction.", texts,
			expect(transact(actions{remove(attrs{"pk": 5, "sk": "b"})}), cancelled(reasonInvalid(mismatch))),
			expect(transact(actions{put(row("a", "b")), update(attrs{"pk": "a"}, "REMOVE x")}),
				cancelled(none, reasonInvalid(mismatch))),
			expect(transact(actions{check(attrs{"pk": list{}, "sk": "b"}, "attribute_exists(pk)")}),
				cancelled(reasonInvalid(mismatch)))),
		newCase("two actions that do not fit", "If two actions have validation errors, only the first is reported.",
			alternator+"test_transact.py",
			expect(transact(actions{remove(attrs{"pk": "a"}), remove(attrs{"pk": "c"})}),
				cancelled(reasonInvalid(mismatch), none))),
		newCase("validation before conditions", "Where an action is not valid no condition is judged.",
			alternator+"test_transact.py",
			expect(transact(actions{put(row("a", "b"), where("attribute_exists(pk)")), put(attrs{"pk": 7, "sk": "b"}),
				put(attrs{"pk": 8, "sk": "b"})}),
				cancelled(none, reasonInvalid(
					"One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N",
				), none))),
		newCase("empty key value", "An empty key value refuses the request and is no cancellation.", texts,
			expect(transact(actions{put(row("a", ""))}), invalid(empty+"sk")),
			expect(transact(actions{remove(key("", "b"))}), invalid(empty+"pk")),
			expect(transact(actions{update(key("a", ""), "REMOVE x")}), invalid(empty+"sk")),
			expect(transact(actions{check(key("a", ""), "attribute_exists(pk)")}), invalid(empty+"sk"))),
		newCase("update of a key", "An update of the key cancels the transaction.", LocalOnly,
			expect(transact(actions{update(key("a", "b"), "SET sk = :v", with(attrs{":v": "c"}))}),
				cancelled(reasonInvalid("One or more parameter values were invalid: Cannot update attribute sk. "+
					"This attribute is part of the key")))),
		newCase("update that cannot be done", "An update that fails on its item cancels the transaction.", doc,
			holding(row("a", "b", "s", "text")),
			expect(transact(actions{put(row("a", "c")), update(key("a", "b"), "SET s = s + :v", with(attrs{":v": 1}))}),
				cancelled(none, reasonInvalid("An operand in the update expression has an incorrect data type"))),
			expect(get(key("a", "c")), "nothing")),
		newCase("updates that make too large items", "Of updates that make too large items, the first is reported.",
			doc, holding(row("a", "row")),
			expect(transact(actions{enlarge("row"), enlarge("new"),
				put(row("b", "new"), where("attribute_exists(pk)"))}),
				cancelled(reasonInvalid("Item size to update has exceeded the maximum allowed size"),
					none, reasonCondition)),
			expect(scan(), `1 of 1: {pk: "a", sk: "row"}`)),
		newCase("update that only removes", "In a transaction too, an update that only removes creates nothing.",
			scylla5862,
			expect(transact(actions{update(key("a", "b"), "REMOVE x")}), ok),
			expect(get(key("a", "b")), "nothing")),
		newCase("update without an expression", "An update in a transaction has an expression.", api("Update"),
			expect(transact(actions{update(key("a", "b"), "", noUpdate())}),
				broken("Value null at 'transactItems.1.member.update.updateExpression' failed to satisfy "+
					"constraint: Member must not be null"))),
		newCase("check without a condition", "A check has a condition.", api("ConditionCheck"),
			expect(transact(actions{check(key("a", "b"), "", set("ConditionExpression", nil))}),
				broken("Value null at 'transactItems.1.member.conditionCheck.conditionExpression' failed to satisfy "+
					"constraint: Member must not be null"))),
		newCase("return value that is none", "An invalid ReturnValuesOnConditionCheckFailure is refused.",
			alternator+"test_transact.py",
			expect(transact(actions{put(row("a", "b"), onFailure("ALL_NEW"))}),
				broken("Value 'ALL_NEW' at 'transactItems.1.member.put.returnValuesOnConditionCheckFailure' failed "+
					"to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, NONE]"))),
		newCase("condition before the table",
			"A condition that does not parse is reported before a table that does not exist, whichever "+
				"action it is in.",
			order,
			expect(transact(actions{put(row("a", "b"), on("missing")), check(key("a", "c"), "attribute_not_exists(")}),
				invalid(`Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("`))),
		newCase("unused value before the table",
			"A value that nothing uses is reported before a table that does not exist, whichever action it is in.",
			order,
			expect(transact(actions{put(row("a", "b"), on("missing")),
				check(key("a", "c"), "attribute_not_exists(pk)", with(attrs{":v": "x"}))}),
				invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}"))),
		newCase("unused value before an item twice",
			"A value that nothing uses is reported before an item that two actions name.", order,
			expect(transact(actions{put(row("a", "b")),
				check(key("a", "b"), "attribute_not_exists(pk)", with(attrs{":v": "x"}))}),
				invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}"))),
		newCase("capacity", "A write in a transaction takes twice the units.", docTransactions,
			expect(transact(actions{put(row("a", "b", "x", text(1500))), put(row("a", "c"))}, capacity("TOTAL")),
				"ok; 6 units, 6 written")),
		newCase("reads see all or nothing", "A cancelled transaction leaves nothing that a read could see.",
			docTransactions, holding(row("a", "z")),
			expect(transact(actions{put(row("a", "1")), put(row("a", "2")), put(row("a", "z"), absent)}),
				cancelled(none, none, reasonCondition)),
			expect(query("pk = :a", with(attrs{":a": "a"})), `1 of 1: {pk: "a", sk: "z"}`)),
	}
}

func transactGetCases() []Case {
	rows := []attrs{row("a", "1", "x", 1, "y", 2), row("a", "2", "x", 3)}
	doc := api("TransactGetItems")
	return []Case{
		newCase("in order",
			"Items come in the order in which they were asked for, with nothing for those that are not there.", doc,
			holding(rows...),
			expect(transactGet(actions{get(key("a", "2")), get(key("a", "none")), get(key("a", "1"))}),
				`[{pk: "a", sk: "2", x: 3} nothing {pk: "a", sk: "1", x: 1, y: 2}]`)),
		newCase("projection", "Each get has a projection of its own.", doc, holding(rows...),
			expect(transactGet(actions{get(key("a", "1"), only("#y"), named("#y", "y")),
				get(key("a", "2"), only("y"))}),
				`[{y: 2} {}]`)),
		newCase("two tables", "A transaction reads from several tables.", doc,
			inTables(map[string]schema{usualTable: usualSchema, "other": "id N"}), holding(rows...),
			expect(put(attrs{"id": 1}, on("other")), ok),
			expect(transactGet(actions{get(key("a", "2"), only("x")), get(attrs{"id": 1}, on("other"))}),
				`[{x: 3} {id: 1}]`)),
		newCase("one item twice", "No two gets are of one item.", doc, holding(rows...),
			expect(transactGet(actions{get(key("a", "1")), get(key("a", "1"))}),
				invalid("Transaction request cannot include multiple operations on one item"))),
		newCase("no gets", "A transaction reads something.", dynalite+"getItem.js",
			expect(transactGet(actions{}),
				broken("Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater "+
					"than or equal to 1"))),
		newCase("key of another type", "A key that does not fit cancels the transaction.",
			parity+"tier3/error-messages/transactGetItems.test.ts", holding(rows...),
			expect(transactGet(actions{get(key("a", "1")), get(attrs{"pk": 1, "sk": "x"})}),
				cancelled(none, reasonInvalid("The provided key element does not match the schema")))),
		newCase("empty key value", "An empty key value refuses the request.",
			parity+"tier3/error-messages/transactGetItems.test.ts",
			expect(transactGet(actions{get(key("a", ""))}),
				invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot "+
					"contain an empty string value. Key: sk"))),
		newCase("capacity", "A read in a transaction takes twice the units of a consistent one.", docTransactions,
			holding(rows...),
			expect(transactGet(actions{get(key("a", "1"), only("x")), get(key("a", "none"))}, capacity("TOTAL")),
				"[{x: 1} nothing]; 4 units, 4 read")),
		newCase("enumeration before the table",
			"An invalid ReturnConsumedCapacity is reported before a table that does not exist.",
			parity+"tier3/validation-ordering/transactions.test.ts",
			expect(transactGet(actions{get(key("a", "1"), on("missing"))}, capacity("BOGUS")),
				broken("Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy "+
					"enum value set: [INDEXES, TOTAL, NONE]"))),
	}
}

func idempotencyCases() []Case {
	const mismatch = "IdempotentParameterMismatchException: DynamoDB rejected the request because you retried a " +
		"request with a different payload but with an idempotent token that was already used."
	doc := api("TransactWriteItems")
	count := func(by int, options ...option) request {
		return transact(actions{update(key("a", "b"), "ADD n :v", with(attrs{":v": by}))}, options...)
	}
	change := func(expression, name string, v any, condition string, options ...option) request {
		return update(key("a", "b"), expression,
			append(options, named("#v", name), with(attrs{":v": v}), where(condition))...)
	}
	const absent = "attribute_not_exists(#v)"
	nested := attrs{"l": list{1, []byte("2")}, "s": strs{"p", "q"}}
	first := change("SET #v = :v", "v", nested, absent)
	anyDifference := []part{expect(transact(actions{first}, token("token")), ok),
		expect(transact(actions{first}, token("token")), ok)}
	for _, other := range []actions{
		{change("SET #v = :v", "v", nested, absent, on("other"))},
		{change("SET #v = :v", "v", nested, absent, set("Key", key("a", "c").sdk()))},
		{change("SET #v = :v", "v", nested, "attribute_not_exists( #v)")},
		{change("SET #v=:v", "v", nested, absent)},
		{change("SET #v = :v", "w", nested, absent)},
		{change("SET #v = :v", "v", "1", absent)},
		{change("SET #v = :v", "v", attrs{"l": list{1, []byte("2")}, "s": strs{"p", "r"}}, absent)},
		{change("SET #v = :v", "v", nested, absent, onFailure("ALL_OLD"))},
		{remove(key("a", "b"))},
		{first, put(row("a", "c"))},
	} {
		anyDifference = append(anyDifference, expect(transact(other, token("token")), mismatch))
	}
	n := func(value string) part { return expect(get(key("a", "b")), `{n: `+value+`, pk: "a", sk: "b"}`) }
	return []Case{
		newCase("same token", "A transaction with a token that was used succeeds and does nothing.", doc,
			expect(count(1, token("same token")), ok), expect(count(1, token("same token")), ok), n("1")),
		newCase("other token", "A transaction with another token is another transaction.", doc,
			expect(count(1, token("first")), ok), expect(count(1, token("second")), ok), n("2")),
		newCase("other payload", "The same token with another payload is refused.", doc,
			expect(count(1, token("other payload")), ok), expect(count(2, token("other payload")), mismatch), n("1")),
		newCase("any other payload", "Any difference in the actions is another payload.", doc, anyDifference...),
		newCase("repetition after the world changed", "A repetition succeeds even if its condition would fail by now.",
			docTransactions,
			expect(transact(actions{put(row("a", "b", "n", 1), where("attribute_not_exists(pk)"))}, token("world")),
				ok),
			expect(transact(actions{put(row("a", "b", "n", 1), where("attribute_not_exists(pk)"))}, token("world")),
				ok),
			n("1")),
		newCase("after a cancellation", "A cancelled transaction may be tried again with its token.", docTransactions,
			expect(transact(
				actions{update(key("a", "b"), "SET n = :v", with(attrs{":v": 1}), where("attribute_exists(pk)"))},
				token("again"),
			),
				cancelled(reasonCondition)),
			expect(put(row("a", "b")), ok),
			expect(transact(
				actions{update(key("a", "b"), "SET n = :v", with(attrs{":v": 1}), where("attribute_exists(pk)"))},
				token("again"),
			),
				ok),
			n("1")),
		newCase("capacity of a repetition", "A repetition reads, and says so.", docTransactions,
			expect(count(1, token("capacity"), capacity("TOTAL")), "ok; 2 units, 2 written"),
			expect(count(1, token("capacity"), capacity("TOTAL")), "ok; 2 units, 2 read")),
		newCase("another detail is the same payload", "ReturnConsumedCapacity is no part of the payload.", LocalOnly,
			expect(count(1, token("detail")), ok),
			expect(count(1, token("detail"), capacity("TOTAL")), "ok; 2 units, 2 read")),
		newCase("long token", "A token has at most 36 characters.",
			parity+"tier3/validation-ordering/transactions.test.ts",
			expect(count(1, token(strings.Repeat("t", 36))), ok),
			expect(count(1, token(strings.Repeat("t", 37))),
				broken("Value '"+strings.Repeat("t", 37)+
					"' at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or "+
					"equal to 36"))),
		newCase("ten minutes", "A token is forgotten ten minutes after the transaction.", doc, movesClock,
			expect(count(1, token("ten minutes")), ok),
			then(wait(10*time.Minute-time.Second)),
			expect(count(1, token("ten minutes")), ok),
			n("1"),
			then(wait(time.Second)),
			expect(count(1, token("ten minutes")), ok),
			n("2")),
		newCase("other payload after ten minutes",
			"A forgotten token stands for the next transaction that comes with it.", doc, movesClock,
			expect(count(1, token("eleven minutes")), ok),
			then(wait(11*time.Minute)),
			expect(count(5, token("eleven minutes")), ok),
			n("6")),
	}
}
