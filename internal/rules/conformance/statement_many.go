package conformance

import "fmt"

func statementBatchCases() []Case {
	const (
		source   = nubo + "tier2/partiql/batchExecuteStatement.test.ts"
		onlyKeys = "nothing ValidationError: Select statements within BatchExecuteStatement must specify the " +
			"primary key in the where clause."
		syntax  = "nothing ValidationError: Statement wasn't well formed, can't be processed: "
		noTable = "nothing ResourceNotFound: Requested resource not found"
		failed  = "rows: nothing ConditionalCheckFailed: The conditional request failed"
		twice   = "rows: nothing DuplicateItem: Duplicate primary key exists in table"
	)
	rows := holding(row("a", "1", "v", "x"), row("a", "2", "v", "y"))
	select1 := execute(`SELECT * FROM "rows" WHERE pk = 'a' AND sk = '1'`)
	select2 := execute(`SELECT v FROM "rows" WHERE sk = ? AND pk = ?`, params("2", "a"))
	insert := execute(`INSERT INTO "rows" VALUE {'pk': 'a', 'sk': '3'}`)
	update := func(more string, options ...option) request {
		return execute(`UPDATE "rows" SET v = 'z' WHERE pk = 'a' AND sk = '1'`+more, options...)
	}
	many := func(n int) actions {
		var list actions
		for i := range n {
			list = append(list, execute(fmt.Sprintf(`INSERT INTO "rows" VALUE {'pk': 'a', 'sk': 'm%d'}`, i)))
		}
		return list
	}
	var cases []Case
	for _, c := range []struct {
		name, rule, source string
		list               actions
		want               string
		options            []option
	}{
		{"reads", "A batch of reads.", docQLBatch, actions{select1, select2},
			"rows: {pk: \"a\", sk: \"1\", v: \"x\"}\nrows: {v: \"y\"}", nil},
		{"read of nothing", "A key without an item has none.", docQLBatch,
			actions{execute(`SELECT * FROM "rows" WHERE pk = 'z' AND sk = '1'`)}, "rows: nothing", nil},
		{"writes", "A batch of writes.", docQLBatch, actions{insert, update("")}, "rows: nothing\nrows: nothing", nil},
		{"one fails", "Each statement fails by itself.", source,
			actions{select1, execute(`SELECT * FROM "missing" WHERE pk = 'a' AND sk = '1'`)},
			"rows: {pk: \"a\", sk: \"1\", v: \"x\"}\n" + noTable, nil},
		{"malformed statement", "So does a malformed one.", source, actions{execute(`SLECT * FROM "rows"`), select1},
			syntax + "Expected data manipulation\nrows: {pk: \"a\", sk: \"1\", v: \"x\"}", nil},
		{"where and nothing", "With its text.", qlMessages, actions{execute(`SELECT * FROM "rows" WHERE`)},
			syntax + "Unexpected term", nil},
		{"returned item", "RETURNING gives an item.", source,
			actions{execute(`DELETE FROM "rows" WHERE pk = 'a' AND sk = '1' RETURNING ALL OLD *`)},
			`rows: {pk: "a", sk: "1", v: "x"}`, nil},
		{"modified item", "Each form of it.", source, actions{update(" RETURNING MODIFIED NEW *")}, `rows: {v: "z"}`,
			nil},
		{"nothing modified", "If there is one.", source,
			actions{execute(`UPDATE "rows" REMOVE v WHERE pk = 'a' AND sk = '1' RETURNING MODIFIED NEW *`)},
			"rows: nothing", nil},
		{"condition that fails", "A condition that fails names its table.", source,
			actions{update(" AND v = 'n'")}, failed, nil},
		{"old item of a condition that fails", "ReturnValuesOnConditionCheckFailure gives the item, in the error.",
			api("BatchStatementError"), actions{update(" AND v = 'n'", onFailure("ALL_OLD"))},
			failed + ` {pk: "a", sk: "1", v: "x"}`, nil},
		{"old item that is not there", "If there is one.", api("BatchStatementError"),
			actions{execute(`UPDATE "rows" SET v = 'z' WHERE pk = 'a' AND sk = '9'`, onFailure("ALL_OLD"))}, failed,
			nil},
		{"insert of an item that is there", "An INSERT does not replace.", source,
			actions{execute(`INSERT INTO "rows" VALUE {'pk': 'a', 'sk': '1'}`)}, twice, nil},
		{"other condition", "A SELECT names the key.", source,
			actions{execute(`SELECT * FROM "rows" WHERE v = 'x'`), select1},
			onlyKeys + "\nrows: {pk: \"a\", sk: \"1\", v: \"x\"}", nil},
		{"part of the key", "The whole key.", parity + "tier2/partiql/executeStatementIndex.test.ts",
			actions{execute(`SELECT * FROM "rows" WHERE pk = 'a'`)}, onlyKeys, nil},
		{"more than the key", "And nothing else.", flociEdge,
			actions{execute(`SELECT * FROM "rows" WHERE pk = 'a' AND sk = '1' AND v = 'x'`)}, onlyKeys, nil},
		{"contradiction", "Not two keys.", flociEdge,
			actions{execute(`SELECT * FROM "rows" WHERE pk = 'a' AND sk = '1' AND pk = 'b'`)}, onlyKeys, nil},
		{"list of one", "A list of one value names a key.", flociEdge,
			actions{execute(`SELECT sk FROM "rows" WHERE pk IN ['a'] AND sk = '1'`)}, `rows: {sk: "1"}`, nil},
		{"51 keys", "A list has 50 values at most.", flociEdge,
			actions{execute(`SELECT * FROM "rows" WHERE pk IN [` + texts(51) + `] AND sk = '1'`)},
			"nothing ValidationError: Too many decomposed read operations for a given query.", nil},
		{"parameter that is refused", "A parameter is looked at first.", flociEdge,
			actions{execute(`UPDATE "rows" SET y = ? WHERE pk = 'a' AND sk = '1'`, params(strs{}))},
			"nothing ValidationError: One or more parameter values were invalid: An string set  may not be empty", nil},
		{"duplicate in a parameter", "What the older layer refuses has the code of a ValidationException.",
			parity + "tier3/error-messages/valueLayers.test.ts",
			actions{execute(`UPDATE "rows" SET y = ? WHERE pk = 'a' AND sk = '1'`, params(strs{"b", "b"}))},
			"nothing ValidationError: One or more parameter values were invalid: Input collection [b, b] contains " +
				"duplicates.", nil},
		{"returning of a delete", "DELETE returns the old item.", source,
			actions{execute(`DELETE FROM "rows" WHERE pk = 'a' AND sk = '1' RETURNING ALL NEW *`)},
			"nothing ValidationError: Invalid returning clause: RETURNING ALL NEW *. Only RETURNING ALL OLD * is " +
				"allowed in DELETE statements.", nil},
		{"capacity", "Units are reported by table. Each statement says for itself whether it is " +
			"consistent.", flociUnits,
			actions{execute(`SELECT sk FROM "rows" WHERE pk = 'a' AND sk = '1'`, consistently()),
				execute(`SELECT * FROM "rows" WHERE pk = 'z' AND sk = '1'`),
				execute(`SELECT * FROM "rows" WHERE v = 'x'`)}, "rows: {sk: \"1\"}\nrows: nothing\n" + onlyKeys +
				"; 1.5 units, 1.5 of the table", []option{capacity("INDEXES")}},
		{"capacity of nothing", "If no statement succeeds, nothing is reported.", flociUnits,
			actions{execute(`INSERT INTO "rows" VALUE {'pk': 'a', 'sk': '1'}`)}, twice, []option{capacity("TOTAL")}},
		{"capacity of a write", "Writes report theirs.", docQLBatch, actions{insert}, "rows: nothing; 1 units",
			[]option{capacity("TOTAL")}},
		{"exists", "EXISTS is for transactions.", guide + "ql-functions.exists.html",
			actions{execute(`EXISTS(SELECT * FROM "rows" WHERE pk = 'a' AND sk = '1' AND v = 'x')`)},
			"nothing ValidationError: EXISTS can only be used in ExecuteTransaction write requests.", nil},
		{"reads and writes", "A batch reads or writes.",
			"https://github.com/nubo-db/dynoxide/blob/main/src/actions/batch_execute_statement.rs",
			actions{select1, insert},
			invalid("Read and write requests together in the same batch is not supported."), nil},
		{"read with a mistake and a write", "A statement with another mistake reads or writes, too.",
			"https://github.com/nubo-db/dynoxide/blob/main/src/actions/batch_execute_statement.rs",
			actions{execute(`SELECT x, m.x FROM "rows" WHERE pk = 'a' AND sk = '1'`), insert},
			invalid("Read and write requests together in the same batch is not supported."), nil},
		{"one item twice", "No two statements are about one item.",
			"https://github.com/nubo-db/dynoxide/blob/main/src/actions/batch_execute_statement.rs",
			actions{select1, select1}, invalid("Provided list of item keys contains duplicates"), nil},
		{"26 statements", "A batch has 25 statements at most.", api("BatchExecuteStatement"), many(26),
			broken("Value '[...]' at 'statements' failed to satisfy constraint: Member must have length less than " +
				"or equal to 25"), nil},
		{"empty batch", "It has one at least.", source, actions{},
			broken("Value '[]' at 'statements' failed to satisfy constraint: Member must have length greater than " +
				"or equal to 1"), nil},
		{"no batch", "There is a list.", api("BatchExecuteStatement"), nil,
			broken("Value null at 'statements' failed to satisfy constraint: Member must not be null"), nil},
	} {
		cases = append(cases,
			newCase(c.name, c.rule, c.source, rows, expect(batchExecute(c.list, c.options...), c.want)))
	}
	return append(cases,
		newCase("key of several attributes", "An index whose key has several attributes is reported first.",
			parity+"tier3/error-messages/partiqlMultiAttributeIndex.test.ts",
			inTable(usualSchema+" | one: v S -> ALL | two: v S, w S HASH -> ALL"),
			expect(batchExecute(actions{execute(`SELECT * FROM "rows"."one" WHERE v = 'x'`),
				execute(`SELECT * FROM "rows"."two" WHERE v = 'x'`)}),
				onlyKeys+"\nnothing ValidationError: PartiQL statements cannot be executed on tables with "+
					"multi-attribute HASH keys or multi-attribute RANGE keys.")),
		newCase("statements run in order", "The others of a batch take effect.", source, rows,
			expect(batchExecute(actions{update(" AND v = 'n'"), insert}), failed+"\nrows: nothing"),
			expect(get(key("a", "3")), `{pk: "a", sk: "3"}`), expect(get(key("a", "1")), `{pk: "a", sk: "1", v: "x"}`)))
}

func statementTransactCases() []Case {
	const (
		source    = nubo + "tier2/partiql/executeTransaction.test.ts"
		mismatch  = "The provided key element does not match the schema"
		twice     = "Transaction request cannot include multiple operations on one item"
		onlyKeys  = "Select statements within ExecuteTransaction must specify the primary key in the where clause."
		exists    = "EXISTS() must contain a single item read with additional condition"
		duplicate = "DuplicateItem: Duplicate primary key exists in table"
		noTable   = "ResourceNotFound: Requested resource not found"
	)
	at := func(i int, message string) string {
		return invalid(fmt.Sprintf("Validation failed in TransactStatements[%d]: %s", i, message))
	}
	rows := holding(row("a", "1", "v", "x"), row("a", "2", "v", "y", "n", 0))
	selecting := func(where string) request { return execute(`SELECT * FROM "rows" WHERE ` + where) }
	one := selecting("pk = 'a' AND sk = '1'")
	insert := execute(`INSERT INTO "rows" VALUE {'pk': 'a', 'sk': '3'}`)
	update := func(more string, options ...option) request {
		return execute(`UPDATE "rows" SET v = 'z' WHERE pk = 'a' AND sk = '1'`+more, options...)
	}
	count := execute(`UPDATE "rows" SET n = n + 1 WHERE pk = 'a' AND sk = '2'`)
	check := func(where string) request { return execute(`EXISTS(SELECT * FROM "rows" WHERE ` + where + `)`) }
	changed := get(key("a", "1"))
	const before, after = `{pk: "a", sk: "1", v: "x"}`, `{pk: "a", sk: "1", v: "z"}`
	var cases []Case
	for _, c := range []struct {
		name, rule, source string
		list               actions
		want, item         string
		options            []option
	}{
		{"writes", "Writes take effect together, and give nothing.", docQLTransact, actions{insert, update("")}, "[]",
			after, nil},
		{"reads", "Reads give the items.", docQLTransact,
			actions{one, execute(`SELECT v FROM "rows" WHERE pk = 'a' AND sk = '2'`)},
			`[{pk: "a", sk: "1", v: "x"} {v: "y"}]`, before, nil},
		{"read of nothing", "A key without an item has none.", LocalOnly, actions{selecting("pk = 'z' AND sk = '1'")},
			"[nothing]", before, nil},
		{"insert of an item that is there", "All or nothing.", source,
			actions{update(""), execute(`INSERT INTO "rows" VALUE {'pk': 'a', 'sk': '2'}`)},
			cancelled(none, duplicate), before, nil},
		{"condition that fails", "Each condition is judged.", docQLTransact, actions{insert, update(" AND v = 'n'")},
			cancelled(none, reasonCondition), before, nil},
		{"old item of a condition that fails", "ReturnValuesOnConditionCheckFailure gives the item.",
			api("ExecuteTransaction"), actions{update(" AND v = 'n'", onFailure("ALL_OLD"))},
			cancelled(reasonCondition + " " + before), before, nil},
		{"exists", "EXISTS checks an item.", docQLTransact,
			actions{check("pk = 'a' AND sk = '2' AND w IS MISSING"), update("")}, "[]", after, nil},
		{"exists in parentheses", "The key may stand in parentheses.", flociEdge,
			actions{check("(pk = 'a' AND sk = '2') AND w IS MISSING"), update("")}, "[]", after, nil},
		{"exists that fails", "If not, nothing happens.", flociSyntax,
			actions{check("pk = 'a' AND sk = '2' AND v IS MISSING"), update("")},
			cancelled(reasonCondition, none), before, nil},
		{"exists of two keys", "A second value of the key is a condition.", flociEdge,
			actions{check("pk = 'a' AND sk = '2' AND pk = 'b' AND v = 'y'"), update("")},
			cancelled(reasonCondition, none), before, nil},
		{"exists without a condition", "EXISTS has a condition.", flociSyntax,
			actions{check("pk = 'a' AND sk = '2'"), update("")}, at(0, exists), before, nil},
		{"exists of several keys", "EXISTS names one item.", flociEdge,
			actions{check("pk IN ['a'] AND sk = '2' AND v = 'y'"), update("")}, at(0, exists), before, nil},
		{"reads and writes", "A transaction reads or writes.", flociSyntax, actions{one, count},
			invalid("ExecuteTransaction API does not support both read and write operations in the same request."),
			before, nil},
		{"one item twice", "No two statements are about one item.", docQLTransact,
			actions{update(""), execute(`DELETE FROM "rows" WHERE sk = '1' AND pk = 'a'`)}, invalid(twice), before,
			nil},
		{"one item read twice", "Not even if they read.", flociEdge,
			actions{one, execute(`SELECT v FROM "rows" WHERE sk = '1' AND pk = 'a'`)}, invalid(twice), before, nil},
		{"one item read twice and a wrong key", "A key that does not fit is reported first.", flociEdge,
			actions{one, one, selecting("pk = 1 AND sk = '1'")}, cancelled(none, none, reasonInvalid(mismatch)), before,
			nil},
		{"more than the key", "A SELECT names the key and nothing else.", flociEdge,
			actions{selecting("pk = 'a' AND sk = '1' AND v = 'x'")}, at(0, onlyKeys), before, nil},
		{"part of the key", "The whole key.", flociEdge, actions{one, selecting("pk = 'a'")}, at(1, onlyKeys), before,
			nil},
		{"contradiction", "Not two keys.", flociEdge, actions{selecting("pk = 'a' AND sk = '1' AND pk = 'b'")},
			at(0, onlyKeys), before, nil},
		{"key twice", "One key, twice.", flociEdge, actions{selecting("(sk = '1') AND pk = 'a' AND pk = 'a'")},
			"[" + before + "]", before, nil},
		{"lists of one", "A list of one value names a key.", flociEdge,
			actions{selecting("pk IN ['a'] AND sk IN ['1']")}, "[" + before + "]", before, nil},
		{"overlap", "Branches do not overlap.", flociEdge, actions{selecting("pk IN ['a', 'a'] AND sk = '1'")},
			at(0, "Overlapping conditions with range keys are not supported in where clause"), before, nil},
		{"101 values", "IN has 100 values at most.", flociEdge,
			actions{selecting("pk IN [" + texts(101) + "] AND sk = '1'")},
			at(0, "The IN operator is provided with too many operands; number of operands: 101"), before, nil},
		{"index", "A transaction reads no index.", nubo + "tier3/error-messages/partiqlIndexQualifier.test.ts",
			actions{execute(`SELECT * FROM "rows"."gsi" WHERE g = 'x'`)},
			at(0, "Reads on indices are not supported within transactions."), before, nil},
		{"returning", "A transaction returns nothing.", source, actions{update(" RETURNING ALL NEW *")},
			at(0, "RETURNING clause is not supported in ExecuteTransaction."), before, nil},
		{"malformed statement", "The text says which statement is malformed.", qlMessages,
			actions{one, execute(`SELECT * FROM "rows" WHERE`)},
			at(1, "Statement wasn't well formed, can't be processed: Unexpected term"), before, nil},
		{"parameter that is refused", "Parameters are looked at first, and the text does not say whose.", flociEdge,
			actions{execute(`UPDATE "rows" SET`), execute(`UPDATE "rows" SET v = ?`, params(strs{"a", "a"}))},
			badParameter("Input collection [a, a] contains duplicates."), before, nil},
		{"literal that is refused", "A literal belongs to its statement.", flociEdge,
			actions{execute(`INSERT INTO "rows" VALUE {'pk': 'b', 'sk': '1', 'x': [<<'a', 'a'>>]}`)},
			at(0, "One or more parameter values were invalid: Input collection [a, a] contains duplicates."), before,
			nil},
		{"no table", "A missing table cancels the transaction.", flociEdge,
			actions{update(""), execute(`DELETE FROM "missing" WHERE pk = 'x' AND sk = '1'`)},
			cancelled(none, noTable), before, nil},
		{"no tables", "Each missing table has its reason, whatever else is wrong.", flociEdge,
			actions{execute(`UPDATE "missing" SET a = 1 WHERE pk = 'x' AND sk = '1' RETURNING ALL NEW *`),
				execute(`DELETE FROM "missing" WHERE pk = 'x'`)}, cancelled(noTable, noTable), before, nil},
		{"no table and something refused", "A refused statement is reported first.", flociEdge,
			actions{execute(`DELETE FROM "missing" WHERE pk = 'x' AND sk = '1'`), update(" RETURNING ALL NEW *")},
			at(1, "RETURNING clause is not supported in ExecuteTransaction."), before, nil},
		{"keys that do not fit", "Each key that does not fit has its reason.", flociEdge,
			actions{execute(`INSERT INTO "rows" VALUE {'pk': 'b'}`),
				execute(`DELETE FROM "rows" WHERE sk = '1'`), update("")},
			cancelled(reasonInvalid("One or more parameter values were invalid: Missing the key sk in the item"),
				reasonInvalid(mismatch), none), before, nil},
		{"document that is too deep", "A mistake that only an update shows cancels the transaction.", flociEdge,
			actions{execute(`UPDATE "rows" SET v = ? WHERE pk = 'a' AND sk = '1'`, params(nested(31))),
				execute(`UPDATE "rows" SET n.deep = 1 WHERE pk = 'a' AND sk = '2'`)},
			cancelled(none, reasonInvalid("The document path provided in the update expression is invalid for update")),
			before, nil},
		{"capacity", "A write of a transaction consumes twice as much.",
			parity + "tier2/partiql/writeResponses.test.ts", actions{update("")}, "[]; 2 units, 2 written", after,
			[]option{capacity("TOTAL")}},
		{"capacity of reads", "So does a read.", docQLTransact, actions{one},
			"[" + before + "]; 2 units, 2 read, 2 of the table", before, []option{capacity("INDEXES")}},
		{"empty transaction", "A transaction has one statement at least.", source, actions{},
			broken("Value '[]' at 'transactStatements' failed to satisfy constraint: Member must have length " +
				"greater than or equal to 1"), before, nil},
		{"no transaction", "There is a list.", api("ExecuteTransaction"), nil,
			broken("Value null at 'transactStatements' failed to satisfy constraint: Member must not be null"), before,
			nil},
		{"no token", "A token is not empty.", api("ExecuteTransaction"), actions{update("")},
			broken("Value '' at 'clientRequestToken' failed to satisfy constraint: Member must have length greater " +
				"than or equal to 1"), before, []option{token("")}},
	} {
		cases = append(cases, newCase(c.name, c.rule, c.source, rows,
			expect(transactExecute(c.list, c.options...), c.want), expect(changed, c.item)))
	}
	many := func(n int) actions {
		var list actions
		for i := range n {
			list = append(list, execute(fmt.Sprintf(`INSERT INTO "rows" VALUE {'pk': 'a', 'sk': 'm%d'}`, i)))
		}
		return list
	}
	n := get(key("a", "2"), only("n"))
	return append(cases,
		newCase("100 statements", "A transaction has 100 statements at most.", docQLTransact,
			expect(transactExecute(many(100)), "[]"),
			expect(transactExecute(many(101)), broken(
				"Value '[...]' at 'transactStatements' failed to satisfy constraint: Member must have length "+
					"less than or equal to 100",
			))),
		newCase("token", "A transaction with a token that was seen is not done again: it consumes a read.", source,
			rows, expect(transactExecute(actions{count}, token("statement-1"), capacity("INDEXES")),
				"[]; 2 units, 2 written, 2 of the table"),
			expect(transactExecute(actions{count}, token("statement-1"), capacity("INDEXES")),
				"[]; 2 units, 2 read, 2 of the table"),
			expect(n, "{n: 1}")),
		newCase("token of other statements", "A token stands for its statements and parameters.",
			api("ExecuteTransaction"), rows,
			expect(transactExecute(actions{execute(`UPDATE "rows" SET n = ? WHERE pk = 'a' AND sk = '2'`, params(5))},
				token("statement-2")), "[]"),
			expect(transactExecute(actions{execute(`UPDATE "rows" SET n = ? WHERE pk = 'a' AND sk = '2'`, params(6))},
				token("statement-2")),
				"IdempotentParameterMismatchException: DynamoDB rejected the request because you retried a request "+
					"with a different payload but with an idempotent token that was already used."),
			expect(n, "{n: 5}")),
	)
}
