package conformance

import (
	"strings"
	"time"
)

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
			Name: "other token", Rule: "With another token it is another transaction.", Source: doc,
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
			Name: "other payload after ten minutes", Rule: "After that it stands for whatever comes with it.", Source: doc, clock: true,
			steps: []step{
				expect(count(1, token("eleven minutes")), ok),
				then(wait(11 * time.Minute)),
				expect(count(5, token("eleven minutes")), ok),
				n("6"),
			},
		},
	}
}
