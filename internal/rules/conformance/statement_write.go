package conformance

import (
	"fmt"
	"strings"
)

func statementWriteCases() []Case {
	const (
		duplicate = "DuplicateItemException: Duplicate primary key exists in table"
		noKey     = "Where clause does not contain a mandatory equality on all key attributes"
		several   = "Multiple conditions on same key pk. Only single item Update/Insert/Delete are supported"
		responses = parity + "tier2/partiql/writeResponses.test.ts"
		sets      = parity + "tier2/partiql/setFunctions.test.ts"
		early     = parity + "tier2/partiql/fromFirstUpdate.test.ts"
		batches   = nubo + "tier2/partiql/batchExecuteStatement.test.ts"
		wherePK   = ` WHERE pk = 'a' AND sk = '1'`
		item      = `{n: 5, pk: "a", sk: "1"}`
	)
	there := holding(row("a", "1", "n", 5))
	a1 := get(key("a", "1"))
	var cases []Case
	// changed is a case about an UPDATE of an item with n = 5, and about the item after the update.
	changed := func(name, rule, source, changes, after string, options ...option) {
		cases = append(cases, newCase(name, rule, source, there,
			expect(execute(`UPDATE "rows" `+changes+wherePK, options...), "[]"), expect(a1, after)))
	}
	changed("set", "SET sets an attribute.", docUpdateSet, "SET v = 'x'", `{n: 5, pk: "a", sk: "1", v: "x"}`)
	changed("set twice", "SET may come twice.", docUpdateSet, "SET v = 'x' SET w = 'y'",
		`{n: 5, pk: "a", sk: "1", v: "x", w: "y"}`)
	changed("set with a comma", "SET may have several assignments.", flociEdge, "SET n = n - - 2, l = [- 1]",
		`{l: [-1], n: 7, pk: "a", sk: "1"}`)
	changed("remove", "REMOVE removes an attribute.", docUpdateSet, "REMOVE n", `{pk: "a", sk: "1"}`)
	changed("set and remove", "SET and REMOVE go together.", docUpdateSet, "SET v = n REMOVE n",
		`{pk: "a", sk: "1", v: 5}`)
	changed("sum", "A sum.", docUpdateSet, "SET n = n + 1", `{n: 6, pk: "a", sk: "1"}`)
	changed("difference without spaces", "A difference, without spaces.", flociEdge, "SET n=n-1",
		`{n: 4, pk: "a", sk: "1"}`)
	changed("parameter in an update", "A parameter is any value.", docUpdateSet, "SET v = ?",
		`{n: 5, pk: "a", sk: "1", v: <0x61>}`, params(bins{"a"}))
	changed("literals", "Literals of every type.", docQLTypes,
		"SET v = {'t': true, 'n': NULL, 'l': [1, 'a', <<2, 1>>], 'e': {}}",
		`{n: 5, pk: "a", sk: "1", v: {e: {}, l: [1, "a", <1, 2>], n: null, t: true}}`)
	changed("name in quotes", "A keyword is a name in double quotes.", docUpdateSet, `SET "value" = 1`,
		`{n: 5, pk: "a", sk: "1", value: 1}`)
	changed("set to a missing set", "set_add makes a set that is not there.", sets, "SET ss = set_add(ss, <<'x'>>)",
		`{n: 5, pk: "a", sk: "1", ss: <"x">}`)
	changed("set_delete of a missing set", "set_delete of a set that is not there does nothing.", sets,
		"SET ss = set_delete(ss, <<'x'>>)", item)

	documents := holding(row("a", "1", "m", attrs{"l": list{1, 2}}, "ss", strs{"a", "b"}, "ns", nums{"1", "2"}))
	for _, d := range []struct{ name, rule, source, changes, after string }{
		{"nested set", "SET of a path.", docUpdateSet, "SET m.v = [2020, 'x']",
			`{m: {l: [1, 2], v: [2020, "x"]}, ns: <1, 2>, pk: "a", sk: "1", ss: <"a", "b">}`},
		{"element set", "SET of an element.", docUpdateSet, "SET m.l[1] = 'x'",
			`{m: {l: [1, "x"]}, ns: <1, 2>, pk: "a", sk: "1", ss: <"a", "b">}`},
		{"nested remove", "REMOVE of an element.", docUpdateSet, "REMOVE m.l[0]",
			`{m: {l: [2]}, ns: <1, 2>, pk: "a", sk: "1", ss: <"a", "b">}`},
		{"list_append", "list_append at the end.", docUpdateSet, "SET m.l = list_append(m.l, [3])",
			`{m: {l: [1, 2, 3]}, ns: <1, 2>, pk: "a", sk: "1", ss: <"a", "b">}`},
		{"list_append before", "list_append at the beginning.", flociSyntax, "SET m.l = LIST_APPEND([0], m.l)",
			`{m: {l: [0, 1, 2]}, ns: <1, 2>, pk: "a", sk: "1", ss: <"a", "b">}`},
		{"set_add", "set_add adds to a set.", docUpdateSet, "SET ss = set_add(ss, <<'c', 'a'>>)",
			`{m: {l: [1, 2]}, ns: <1, 2>, pk: "a", sk: "1", ss: <"a", "b", "c">}`},
		{"set_add of numbers", "set_add adds numbers.", sets, "SET ns = SET_ADD(ns, <<3, 1>>)",
			`{m: {l: [1, 2]}, ns: <1, 2, 3>, pk: "a", sk: "1", ss: <"a", "b">}`},
		{"set_delete", "set_delete takes from a set.", docUpdateSet, "SET ss = set_delete(ss, <<'a', 'z'>>)",
			`{m: {l: [1, 2]}, ns: <1, 2>, pk: "a", sk: "1", ss: <"b">}`},
		{"set_delete of all", "A set that becomes empty goes.", sets,
			"SET ss = set_delete(ss, <<'a', 'b'>>) SET ns = set_add(ns, <<9>>)",
			`{m: {l: [1, 2]}, ns: <1, 2, 9>, pk: "a", sk: "1"}`},
	} {
		cases = append(cases, newCase(d.name, d.rule, d.source, documents,
			expect(execute(`UPDATE "rows" `+d.changes+wherePK), "[]"), expect(a1, d.after)))
	}

	for _, d := range []struct{ name, rule, source, statement, want, after string }{
		{"condition that fails", "A further condition is one on the write.", qlFunctions,
			`UPDATE "rows" SET v = 1` + wherePK + ` AND n = 6`, conditionFailed, item},
		{"condition that holds", "It may hold.", qlFunctions, `UPDATE "rows" SET n = 9` + wherePK +
			` AND attribute_exists(n) AND NOT n > 5`, "[]", `{n: 9, pk: "a", sk: "1"}`},
		{"update in parentheses", "The key may stand in parentheses.", flociEdge,
			`UPDATE "rows" SET n = 9 WHERE (pk = 'a' AND sk = '1') AND n = 5`, "[]", `{n: 9, pk: "a", sk: "1"}`},
		{"key twice", "The key may be named twice.", flociEdge, `UPDATE "rows" SET n = 9` + wherePK + ` AND pk = 'a'`,
			"[]", `{n: 9, pk: "a", sk: "1"}`},
		{"two keys", "But it is one key.", flociEdge, `UPDATE "rows" SET n = 9` + wherePK + ` AND pk = 'b'`,
			invalid(several), item},
		{"delete of two keys", "A DELETE is about one key, too.", flociEdge,
			`DELETE FROM "rows"` + wherePK + ` AND pk = 'b'`, invalid(several), item},
		{"update without the sort key", "An UPDATE names the whole key.", qlMessages,
			`UPDATE "rows" SET n = 9 WHERE pk = 'a'`, invalid(noKey), item},
		{"update of several keys", "IN is not equality.", flociEdge,
			`UPDATE "rows" SET n = 9 WHERE pk IN ['a'] AND sk = '1'`, invalid(noKey), item},
		{"update without a condition", "An UPDATE has WHERE.", qlMessages, `UPDATE "rows" SET n = 9`, invalid(noKey),
			item},
		{"delete by another attribute", "A DELETE names the whole key.", flociEdge,
			`DELETE FROM "rows" WHERE n = 5`, invalid(noKey), item},
		{"update of the key", "The key does not change.", docUpdateSet, `UPDATE "rows" SET pk = 'b'` + wherePK,
			badParameter("Cannot update attribute pk. This attribute is part of the key"), item},
		{"update of a missing item", "An UPDATE needs an item.", qlFunctions,
			`UPDATE "rows" SET n = 9 WHERE pk = 'z' AND sk = '1'`, conditionFailed, item},
		{"update of a missing item that must be missing", "Whatever its condition says.", qlFunctions,
			`UPDATE "rows" SET n = 9 WHERE pk = 'z' AND sk = '1' AND attribute_not_exists(pk)`, conditionFailed, item},
		{"delete", "A DELETE deletes.", docDelete, `DELETE FROM "rows"` + wherePK, "[]", "nothing"},
		{"delete with a condition that fails", "A DELETE has conditions.", qlFunctions,
			`DELETE FROM "rows"` + wherePK + ` AND attribute_exists(nope)`, conditionFailed, item},
		{"delete with a condition that holds", "They may hold.", qlFunctions,
			`DELETE FROM "rows"` + wherePK + ` AND attribute_not_exists(nope)`, "[]", "nothing"},
		{"delete of a missing item", "A DELETE of a missing item succeeds.", responses,
			`DELETE FROM "rows" WHERE pk = 'z' AND sk = '1'`, "[]", item},
		{"delete of a missing item with a condition", "Whatever its condition says.",
			floci + "DynamoDbPartiQLIntegrationTest.java",
			`DELETE FROM "rows" WHERE pk = 'z' AND sk = '1' AND n = 5`, "[]", item},
		{"insert of an item that is there", "An INSERT does not replace.", qlExecute,
			`INSERT INTO "rows" VALUE {'pk': 'a', 'sk': '1'}`, duplicate, item},
		{"all old", "RETURNING ALL OLD *.", docUpdateSet, `UPDATE "rows" SET v = 1` + wherePK + ` RETURNING ALL OLD *`,
			"[" + item + "]", `{n: 5, pk: "a", sk: "1", v: 1}`},
		{"all new", "RETURNING ALL NEW *.", docUpdateSet, `UPDATE "rows" SET v = 1` + wherePK + ` RETURNING ALL NEW *`,
			`[{n: 5, pk: "a", sk: "1", v: 1}]`, `{n: 5, pk: "a", sk: "1", v: 1}`},
		{"modified old", "RETURNING MODIFIED OLD *.", docUpdateSet, `UPDATE "rows" SET v = 1, n = 6` + wherePK +
			` RETURNING MODIFIED OLD *`, `[{n: 5}]`, `{n: 6, pk: "a", sk: "1", v: 1}`},
		{"modified new", "RETURNING MODIFIED NEW *.", batches, `UPDATE "rows" SET v = 1` + wherePK +
			` RETURNING MODIFIED NEW *`, `[{v: 1}]`, `{n: 5, pk: "a", sk: "1", v: 1}`},
		{"nothing modified", "If nothing is left, no item is returned.", batches,
			`UPDATE "rows" REMOVE n` + wherePK + ` RETURNING MODIFIED NEW *`, "[]", `{pk: "a", sk: "1"}`},
		{"deleted item", "DELETE returns the item.", docDelete, `DELETE FROM "rows"` + wherePK + ` RETURNING ALL OLD *`,
			"[" + item + "]", "nothing"},
		{"no deleted item", "If there is one.", floci + "DynamoDbPartiQLIntegrationTest.java",
			`DELETE FROM "rows" WHERE pk = 'z' AND sk = '1' RETURNING ALL OLD *`, "[]", item},
		{"early update", "FROM may come first.", early, `FROM "rows"` + wherePK + ` SET n = 9`, "[]",
			`{n: 9, pk: "a", sk: "1"}`},
		{"early remove", "With REMOVE, too.", early, `from "rows"` + wherePK +
			` set v = 2 remove n RETURNING ALL NEW *`, `[{pk: "a", sk: "1", v: 2}]`, `{pk: "a", sk: "1", v: 2}`},
		{"early update with a condition", "With a condition.", early,
			`FROM "rows"` + wherePK + ` AND n = 6 SET n = 9`, conditionFailed, item},
		{"early update without a key", "It names the key.", qlMessages, `FROM "rows" SET n = 9`, invalid(noKey), item},
	} {
		cases = append(cases,
			newCase(d.name, d.rule, d.source, there, expect(execute(d.statement), d.want), expect(a1, d.after)))
	}
	return append(cases,
		newCase("insert", "An INSERT puts an item.", docInsert,
			expect(execute(`INSERT INTO "rows" VALUE {'pk': 'a', 'sk': '1', 'v': <<'x'>>}`), "[]"),
			expect(a1, `{pk: "a", sk: "1", v: <"x">}`)),
		newCase("insert with parameters", "Its values may be parameters.", qlExecute,
			expect(execute(`INSERT INTO "rows" VALUE {'pk': ?, 'sk': '1', 'v': ?}`, params("a", attrs{"x": 1})), "[]"),
			expect(a1, `{pk: "a", sk: "1", v: {x: 1}}`)),
		newCase("insert after a delete", "An item that was deleted can be inserted.", qlExecute, there,
			expect(execute(`DELETE FROM "rows"`+wherePK), "[]"),
			expect(execute(`INSERT INTO "rows" VALUE {'pk': 'a', 'sk': '1'}`), "[]")),
		newCase("numbers", "Numbers are stored as others are.", flociSyntax,
			expect(
				execute(`INSERT INTO "rows" VALUE {'pk': 'a', 'sk': '1', 'a': 1E3, 'b': -1.5e-3, 'c': 2.50, 'd': -0}`),
				"[]",
			),
			expect(a1, `{a: 1000, b: -0.0015, c: 2.5, d: 0, pk: "a", sk: "1"}`)),
		newCase("insert without the sort key", "An INSERT has the whole key.", flociEdge,
			expect(execute(`INSERT INTO "rows" VALUE {'pk': 'a'}`), badParameter("Missing the key sk in the item"))),
		newCase("empty key", "A key is not empty.", docInsert,
			expect(execute(`INSERT INTO "rows" VALUE {'pk': '', 'sk': '1'}`),
				invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot "+
					"contain an empty string value. Key: pk"))),
		newCase("item that is too large", "An item has 400 KB.", parity+"tier3/limits/itemSizeBySurface.test.ts",
			expect(execute(`INSERT INTO "rows" VALUE {'pk': 'a', 'sk': '1', 'v': ?}`, params(text(400<<10))),
				invalid("Item size has exceeded the maximum allowed size"))),
		newCase("update to an item that is too large", "After an update, too.",
			parity+"tier3/limits/itemSizeBySurface.test.ts", there,
			expect(execute(`UPDATE "rows" SET v = ?`+wherePK, params(text(400<<10))),
				invalid("Item size to update has exceeded the maximum allowed size"))),
		newCase("old item of a condition that fails", "ReturnValuesOnConditionCheckFailure gives the item.",
			api("ExecuteStatement"), there, expect(
				execute(`UPDATE "rows" SET v = 1`+wherePK+` AND n = 6`, onFailure("ALL_OLD")), conditionFailed+" "+item,
			)),
		newCase("capacity of an insert", "A write consumes units of its indexes, too.", flociUnits,
			inTable(usualSchema+" | gsi: g S -> ALL"),
			expect(execute(`INSERT INTO "rows" VALUE {'pk': 'a', 'sk': '1', 'g': 'x'}`, capacity("INDEXES")),
				"[]; 2 units, 1 of the table, 1 of gsi")),
		newCase("capacity of a delete of nothing", "A delete of nothing consumes one unit.", flociUnits,
			expect(execute(`DELETE FROM "rows" WHERE pk = 'a' AND sk = '1'`, capacity("TOTAL")), "[]; 1 units")),
		newCase("document that is too deep", "An item has 32 levels.", flociEdge, holding(row("a", "1", "m", attrs{})),
			expect(execute(`UPDATE "rows" SET m.v = ?`+wherePK, params(nested(31))),
				invalid("Nesting Levels have exceeded supported limits"))),
		newCase("literal that is too deep", "A literal has 32 levels.", flociEdge, there,
			expect(execute(`UPDATE "rows" SET v = `+strings.Repeat("[", 32)+"1"+strings.Repeat("]", 32)+wherePK),
				invalid("Nesting Levels have exceeded supported limits under root"+strings.Repeat("[0]", 32)))),
	)
}

// nested is a map with the given number of levels.
func nested(levels int) any {
	var v any = "x"
	for range levels {
		v = attrs{"a": v}
	}
	return v
}

func statementRefusedCases() []Case {
	const (
		malformed = "Statement wasn't well formed, can't be processed: "
		leftover  = malformed + "Unexpected token after expression"
		term      = malformed + "Unexpected term"
		noRight   = malformed + "Missing right-hand side expression of infix operator"
		sign      = malformed + "Unexpected operator"
		aliasing  = "Aliasing is not supported"
		overflow  = "Number overflow. Attempting to store a number with magnitude larger than supported " +
			"range under root"
		underflow = "Number underflow. Attempting to store a number with magnitude smaller than supported " +
			"range under root"
		digits    = "Attempting to store more than 38 significant digits in a Number under root"
		bags      = "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"
		operand   = "Incorrect operand type for operator or function; operator or function: "
		functions = parity + "tier3/error-messages/partiqlFunctions.test.ts"
		numbers   = parity + "tier3/error-messages/partiqlParameterNumbers.test.ts"
		duplicate = "Input collection [a, a] contains duplicates."
	)
	var cases []statementCase
	refused := func(name, rule, source, statement, message string, options ...option) {
		cases = append(cases, statementCase{name, rule, source, statement, options, invalid(message)})
	}
	select1 := `SELECT * FROM "rows" WHERE pk = 'a'`
	update := func(changes string) string { return `UPDATE "rows" SET ` + changes + ` WHERE pk = 'a' AND sk = '1'` }
	refused("token too many", "A statement ends where it ends.", qlMessages, select1+" foo", leftover)
	refused("exponent apart", "An exponent stands at its number.", qlMessages,
		`SELECT * FROM "rows" WHERE pk = 1 e5`, leftover)
	refused("token after an item", "So does an INSERT.", qlMessages,
		`INSERT INTO "rows" VALUE {'pk': 'a', 'sk': '1'} foo`, leftover)
	refused("token after an update", "So does an UPDATE.", qlMessages, update("a = 1")+" foo", leftover)
	refused("token after a delete", "So does a DELETE.", qlMessages, `DELETE FROM "rows" WHERE pk = 'a' foo`, leftover)
	refused("stray parenthesis", "Parentheses are opened.", qlMessages, select1+")", leftover)
	refused("order of a delete", "A DELETE has no ORDER BY.", qlMessages,
		`DELETE FROM "rows" WHERE pk = 'a' ORDER BY pk`, leftover)
	refused("order before where", "WHERE comes before ORDER BY.", qlMessages,
		`SELECT * FROM "rows" ORDER BY pk WHERE pk = 'a'`, leftover)
	refused("early update with a late condition", "WHERE comes before SET if FROM comes first.", qlMessages,
		`FROM "rows" SET c = 1 WHERE pk = 'a'`, leftover)
	refused("two statements", "There is one statement.", LocalOnly, select1+"; "+select1, leftover)
	refused("alias of an insert", "An INSERT has no alias.", qlMessages,
		`INSERT INTO "rows" t VALUE {'pk': 'x'}`, leftover)
	refused("exponent too large", "An exponent fits an int32.", qlMessages,
		`SELECT * FROM "rows" WHERE pk = 1e2147483648`, malformed)
	refused("exponent much too large", "It may be much too large.", qlMessages,
		`SELECT * FROM "rows" WHERE pk = 1e99999999999`, malformed)
	refused("scale too large", "The scale of a number fits an int32.", qlMessages,
		`SELECT * FROM "rows" WHERE pk = 1.5e-2147483647`, malformed)
	refused("hash comment", "# begins no comment.", qlMessages, select1+" # note", malformed)
	refused("open comment", "A comment ends.", qlMessages, select1+" /* note", malformed)
	refused("where and nothing", "WHERE has a condition.", qlMessages, `SELECT * FROM "rows" WHERE`, term)
	refused("where and a semicolon", "A semicolon is none.", qlMessages, `SELECT * FROM "rows" WHERE;`, term)
	refused("not and nothing", "NOT has one, too.", qlMessages, `SELECT * FROM "rows" WHERE NOT`, term)
	refused("parenthesis and nothing", "So has a parenthesis.", qlMessages, `SELECT * FROM "rows" WHERE (`, term)
	refused("malformed statement about a missing table", "The syntax is looked at before the table.", qlMessages,
		`DELETE FROM "missing" WHERE`, term)
	refused("and and nothing", "AND has a right side.", qlMessages, select1+" AND", noRight)
	refused("or and nothing", "OR has a right side.", qlMessages, select1+" OR", noRight)
	refused("where and order", "ORDER is no condition.", qlMessages, `SELECT * FROM "rows" WHERE ORDER BY pk`,
		malformed+"Unexpected keyword")
	refused("where and is", "IS has a left side.", qlMessages, `SELECT * FROM "rows" WHERE IS NULL`, sign)
	refused("like as a value", "LIKE is no value.", qlMessages, `SELECT * FROM "rows" WHERE pk = LIKE`, sign)
	refused("no type", "IS has a type.", qlMessages, select1+" AND x IS FOO", malformed+"Expected type name")
	refused("expression alone", "A statement reads or writes.", qlMessages, "x IS INT4",
		"Unsupported operation: IsType")
	refused("type of two words", "A type may be two words.", qlMessages, "x IS DOUBLE PRECISION",
		"Unsupported operation: IsType")
	refused("no verb", "A statement begins with a verb.", nubo+"tier2/partiql/batchExecuteStatement.test.ts",
		`SLECT * FROM "rows" WHERE pk = 'a'`, malformed+"Expected data manipulation")
	refused("delete from nothing", "DELETE names a table.", qlMessages, "DELETE FROM",
		malformed+"Expected identifier for simple path")
	refused("delete from a condition", "WHERE is no table.", qlMessages, "DELETE FROM WHERE pk = 'a'",
		malformed+"Expected identifier for simple path")
	refused("select from nothing", "SELECT names a table.", qlMessages, "SELECT * FROM", term)
	refused("keyword in a path", "A keyword in a path stands in double quotes.", functions,
		select1+" AND attribute_exists(m.inner)", malformed+"Invalid path dot component")
	refused("table without a name", "The name of a table is not empty.", nubo+"tier3/error-messages/partiql.test.ts",
		`SELECT * FROM "" WHERE pk = 'a'`, "Path component cannot be an empty string")
	refused("limit in a statement", "There is no LIMIT.", LocalOnly, "SELECT * FROM\n\"rows\"\nLIMIT 5",
		"Unsupported clause: LIMIT at 3:7:1")
	refused("columns of one name", "Two columns have two names.", LocalOnly, `SELECT m.z, z FROM "rows"`,
		"Duplicate identifiers in select clause: z")

	refused("alias", "A table has no alias.", qlMessages, `SELECT * FROM "rows" t WHERE pk = 'x'`, aliasing)
	refused("alias with as", "Not with AS either.", qlMessages, `SELECT * FROM "rows" AS t WHERE pk = 'x'`, aliasing)
	refused("alias of an update", "Nor in an UPDATE.", qlMessages, `UPDATE "rows" t SET a = 3 WHERE pk = 'x'`, aliasing)
	refused("alias of a delete", "Nor in a DELETE.", qlMessages, `DELETE FROM "rows" t WHERE pk = 'x'`, aliasing)
	refused("alias of a column", "Nor has a column.", LocalOnly, `SELECT pk AS x FROM "rows"`, aliasing)

	refused("number too large", "A number has a range.", qlMessages, `SELECT * FROM "rows" WHERE pk = 1e126`, overflow)
	refused("number too small", "At both ends.", qlMessages, `SELECT * FROM "rows" WHERE pk = 1e-131`, underflow)
	refused("number too long", "It has 38 digits.", qlMessages,
		`SELECT * FROM "rows" WHERE pk = 123456789012345678901234567890123456789`, digits)
	refused("number in an item", "In an item, too.", qlMessages, `INSERT INTO "rows" VALUE {'pk': 1e126}`, overflow)
	refused("number in an update", "In an update.", qlMessages, update("a = 1e-131"), underflow)
	refused("number in a map", "The text says where.", qlMessages,
		`INSERT INTO "rows" VALUE {'pk': 'a', 'm': {'x': 1e126}}`, overflow+".x")
	refused("number in a list", "In a list, by its index.", qlMessages,
		`INSERT INTO "rows" VALUE {'pk': 'a', 'l': [1, 1e126]}`, overflow+"[1]")

	refused("empty bag", "A set is not empty.", flociSyntax,
		`INSERT INTO "rows" VALUE {'pk': 'a', 'sk': '1', 's': <<>>}`, "Empty bags are not supported")
	refused("bag of two types", "A set has one type.", flociSyntax,
		`INSERT INTO "rows" VALUE {'pk': 'a', 'sk': '1', 's': <<1, 'a'>>}`, bags)
	refused("bag with a duplicate", "A set has no duplicates.", flociSyntax,
		`INSERT INTO "rows" VALUE {'pk': 'a', 'sk': '1', 's': <<'a', 'a'>>}`,
		"One or more parameter values were invalid: "+duplicate)
	refused("bag with a number twice", "Numbers are compared as such.", flociEdge, update("n = set_add(n, <<2, 2.0>>)"),
		"One or more parameter values were invalid: Input collection [2, 2.0] contains duplicates! under root")
	refused("parameter in a bag", "A set has no parameters.", LocalOnly,
		`INSERT INTO "rows" VALUE {'pk': 'a', 'sk': '1', 's': <<?>>}`, bags, params("x"))
	refused("parameter in a list", "A list has no parameters.", flociEdge,
		"UPDATE \"rows\" SET x =\n[?] WHERE pk = 'a' AND sk = '1'",
		"Unsupported data type: Parameter under key root[0] at 2:2:1", params("x"))
	refused("parameter in a map", "A map has no parameters.", flociEdge,
		"INSERT INTO \"rows\" VALUE {'pk': 'a', 'sk': '1', 'm': {'k':\n?}}",
		"Unsupported data type: Parameter under key root.k at 2:1:1", params("x"))
	refused("function in an item", "An item has no functions.", functions,
		"INSERT INTO \"rows\" VALUE {'pk': 'a', 'sk': '1', 'ss':\nset_add(<<'a'>>, <<'b'>>)}",
		"Unsupported data type: set_add under key root at 2:1:7")

	refused("function of a text", "attribute_exists has a path.", functions, select1+" AND attribute_exists('ss')",
		"Operator or function requires a document path; operator or function: attribute_exists")
	refused("function of a parameter", "A parameter is none.", functions, select1+" AND attribute_exists(?)",
		"Operator or function requires a document path; operator or function: attribute_exists", params("ss"))
	refused("function of nothing", "It has one operand.", functions, select1+" AND attribute_exists()",
		"Incorrect number of operands for operator or function; operator or function: attribute_exists, number of "+
			"operands: 0")
	refused("function of two", "It has not two.", functions, select1+" AND attribute_exists(ss, ns)",
		"Incorrect number of operands for operator or function; operator or function: attribute_exists, number of "+
			"operands: 2")
	refused("function as a column", "A column is a path.", functions, `SELECT attribute_exists(ss) FROM "rows"`,
		"Unexpected path component at 1:8:16")
	refused("count", "There is no COUNT.",
		"https://github.com/nubo-db/dynoxide/blob/main/docs/dynamodb-compatibility.md", `SELECT COUNT(*) FROM "rows"`,
		"Unexpected path component at 1:8:5")
	refused("exists in where", "EXISTS is no function.", functions, select1+" AND\nEXISTS(ss)",
		"Unrecognized function: exists at 2:1:6")
	refused("set_add in where", "set_add is none in WHERE.", functions, select1+" AND\nset_add(ss, <<'x'>>) = ss",
		"Unrecognized function: set_add at 2:1:7")
	refused("exists alone", "EXISTS is for transactions.", flociSyntax,
		`EXISTS(SELECT * FROM "rows" WHERE pk = 'a' AND sk = '1' AND n IS MISSING)`,
		"EXISTS can only be used in ExecuteTransaction write requests.")
	refused("set_add elsewhere", "set_add is assigned to its set.", functions,
		"UPDATE \"rows\" SET t =\nset_add(ss, <<'x'>>) WHERE pk = 'a' AND sk = '1'",
		"The first argument to SET_ADD must equal the assignment value at 2:1:7")
	refused("set_add of no set", "It adds a set.", functions,
		"UPDATE \"rows\" SET ss =\nset_add(ss, 'x') WHERE pk = 'a' AND sk = '1'",
		"The second argument to SET_ADD must be a value with type SET at 2:9:2")
	refused("set_delete of no set", "So does set_delete.", flociEdge,
		"UPDATE \"rows\" SET \"ss\" =\nset_delete(\"ss\", ['x']) WHERE pk = 'a' AND sk = '1'",
		"The second argument to SET_DELETE must be a value with type SET at 2:12:4")
	refused("set_add of one", "It has two operands.", functions,
		"UPDATE \"rows\" SET ss =\nset_add(ss) WHERE pk = 'a' AND sk = '1'",
		"SET_ADD must have exactly two arguments at 2:1:7")
	refused("index below zero", "An index is not below zero.", flociEdge, `SELECT l[-1] FROM "rows"`,
		"List index is not within the allowable range; index: [-1] at 1:11:1")
	refused("index above an int32", "An index is not above an int32.", flociEdge, `SELECT l[2147483648] FROM "rows"`,
		"List index is not within the allowable range; index: [2147483648] at 1:10:10")
	refused("type of attribute_type", "The type is a text.", flociEdge, select1+" AND attribute_type(l, 1)",
		operand+"attribute_type, operand type: N")
	refused("text in a sum", "A sum has numbers.", flociEdge, update("n = 'a' + 1"), operand+"+, operand type: S")
	refused("null in a difference", "So has a difference.", flociEdge, update("n = n - null"),
		operand+"-, operand type: NULL")
	for i, op := range []string{"<", "<=", ">", ">="} {
		refused(fmt.Sprintf("order of booleans %d", i+1), "Booleans have no order. The table is not looked for.",
			qlCompare, `SELECT pk FROM "missing" WHERE pk = ? AND v `+op+" ?",
			operand+op+", operand type: BOOL", params("x", true))
	}
	refused("order of conditions", "Nor have conditions.", flociEdge, select1+" AND attribute_exists(n) > false",
		operand+">, operand type: BOOL")
	refused("returning of a delete", "DELETE returns the old item.", nubo+"tier3/error-messages/partiql.test.ts",
		`DELETE FROM "rows" WHERE pk = 'x' RETURNING MODIFIED OLD *`,
		"Invalid returning clause: RETURNING MODIFIED OLD *. Only RETURNING ALL OLD * is allowed in DELETE statements.")
	refused("returning of an insert", "INSERT returns nothing.", LocalOnly,
		`INSERT INTO "rows" VALUE {'pk': 'a', 'sk': '1'} RETURNING ALL OLD *`, "RETURNING is not supported in INSERT")

	refused("too few parameters", "Each ? has a parameter.",
		"https://github.com/getmoto/moto/blob/master/tests/test_dynamodb/test_dynamodb_statements.py",
		`SELECT * FROM "rows" WHERE pk = ?`, "Number of parameters in request and statement don't match.")
	refused("parameter before the statement", "Parameters are looked at before the statement.", flociEdge,
		`UPDATE "rows" SET WHERE`, "One or more parameter values were invalid: "+duplicate, params(strs{"a", "a"}))
	refused("null that is false", "NULL is true.", flociEdge, `INSERT INTO "rows" VALUE {'pk': 'a', 'sk': '1', 'x': ?}`,
		"One or more parameter values were invalid: Null attribute value types must have the value of true",
		params(nullFalse))
	refused("parameter that is no number", "A number is one.", numbers, select1+" AND n = ?",
		"The parameter cannot be converted to a numeric value: abc", params(num("abc")))
	refused("parameter of an empty number", "It is not empty.", numbers, select1+" AND n = ?",
		"The parameter cannot be converted to a numeric value", params(num("")))
	refused("parameter that is too deep", "A value has 32 levels.", numbers, select1+" AND n = ? AND x = ?",
		"Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond "+
			"supported limit", params(nested(40), num("abc")))
	made := statementCases(cases)
	return append(made, statementCases([]statementCase{
		{"no table", "A table exists.", qlExecute, `SELECT * FROM "missing" WHERE pk = 'a'`, nil,
			"ResourceNotFoundException: Requested resource not found"},
		{"no table to update", "For an update, too.", qlMessages, `FROM "missing" WHERE pk = 'a' SET c = 1`, nil,
			"ResourceNotFoundException: Requested resource not found"},
		{"empty statement", "A statement has one character.", api("ExecuteStatement"), "", nil, broken(
			"Value '' at 'statement' failed to satisfy constraint: Member must have length greater than " +
				"or equal to 1",
		)},
		{"no statement", "There is a statement.", api("ExecuteStatement"), "", []option{set("Statement", nil)},
			broken("Value null at 'statement' failed to satisfy constraint: Member must not be null")},
		{"no limit", "Limit is one or more.", api("ExecuteStatement"), select1, []option{limit(0)}, broken(
			"Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
		)},
		{"no parameters", "Parameters, if given, are one or more.", api("ExecuteStatement"), select1,
			[]option{params()},
			broken("Value '[]' at 'parameters' failed to satisfy constraint: Member must have length greater than " +
				"or equal to 1")},
		{"8,192 characters", "A statement has 8,192 characters at most.", api("ExecuteStatement"),
			select1 + strings.Repeat(" ", 8192-100-len(select1)), nil, "[]"},
	})...)
}
