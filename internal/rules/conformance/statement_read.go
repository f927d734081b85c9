package conformance

import (
	"fmt"
	"strings"
)

// Public test suites about statements. Others run them against the service.
const (
	qlGrammar   = parity + "tier2/partiql/grammar.test.ts"
	qlFunctions = parity + "tier2/partiql/whereFunctions.test.ts"
	qlCompare   = parity + "tier2/partiql/comparison.test.ts"
	qlOverlap   = parity + "tier2/partiql/whereOverlap.test.ts"
	qlMessages  = parity + "tier3/error-messages/partiqlGrammar.test.ts"
	qlExecute   = nubo + "tier2/partiql/executeStatement.test.ts"
	qlIndex     = nubo + "tier2/partiql/indexQualifier.test.ts"
	flociEdge   = floci + "DynamoDbPartiQLEdgeCaseIntegrationTest.java"
	flociSyntax = floci + "DynamoDbPartiQLDocumentedSyntaxIntegrationTest.java"
	flociPages  = floci + "DynamoDbAccessPathIntegrationTest.java"
	flociUnits  = floci + "DynamoDbPartiQLConsumedCapacityIntegrationTest.java"
)

// statementCase is a case of one statement.
type statementCase struct {
	name, rule, source, statement string
	options                       []option
	want                          string
}

// statementCases makes cases of them, with rows of the usual table.
func statementCases(list []statementCase, parts ...part) []Case {
	var cases []Case
	for _, s := range list {
		all := append(append([]part{}, parts...), expect(execute(s.statement, s.options...), s.want))
		cases = append(cases, newCase(s.name, s.rule, s.source, all...))
	}
	return cases
}

func statementReadCases() []Case {
	rows := holding(
		row("a", "1", "n", 1, "flag", "x", "m", attrs{"sub": "deep", "l": list{"c", 7}}, "nul", nil, "yes", true, "ss",
			strs{"p", "q"}),
		row("a", "2", "n", 2, "flag", "y"),
		row("a", "3", "n", 3),
		row("b", "1", "n", 1, "flag", "x"),
	)
	const (
		one     = `[{sk: "1"}]`
		two     = `[{sk: "2"}]`
		three   = `[{sk: "3"}]`
		onetwo  = `[{sk: "1"} {sk: "2"}]`
		all     = `[{sk: "1"} {sk: "2"} {sk: "3"}]`
		nowhere = "[]"
	)
	// where is a case about the rows of partition a.
	var cases []statementCase
	where := func(name, rule, source, condition, want string, options ...option) {
		cases = append(cases,
			statementCase{name, rule, source, `SELECT sk FROM "rows" WHERE pk = 'a' AND ` + condition, options, want})
	}
	where("equal", "= on the sort key.", docSelect, "sk = '2'", two)
	where("not equal", "<> and != are the same.", docQLOps, "n != 1 AND n <> 3", two)
	where("less", "<.", docQLOps, "n < 2", one)
	where("less or equal", "<=.", docQLOps, "n <= 2", onetwo)
	where("greater", ">.", docQLOps, "n > 2", three)
	where("greater or equal", ">=.", docQLOps, "2 <= n", `[{sk: "2"} {sk: "3"}]`)
	where("between", "BETWEEN has both of its bounds.", docQLOps, "n BETWEEN 2 AND 3", `[{sk: "2"} {sk: "3"}]`)
	where("not between", "NOT BETWEEN is its negation.", docQLOps, "NOT n BETWEEN 2 AND 3", one)
	where("in", "IN is one of a list.", docQLOps, "n IN [3, 1]", `[{sk: "1"} {sk: "3"}]`)
	where("in parentheses", "The list of IN may stand in parentheses.", docQLOps, "n IN (3, 1)",
		`[{sk: "1"} {sk: "3"}]`)
	where("not in", "NOT IN is its negation.", qlOverlap, "NOT n IN [1, 3]", two)
	where("or", "OR.", docQLOps, "(n = 1 OR flag = 'y')", onetwo)
	where("and before or", "AND binds tighter than OR.", docQLOps, "(n = 1 OR n = 2 AND flag = 'z')", one)
	where("not", "NOT.", docQLOps, "NOT (n = 1 OR n = 3)", two)
	where("missing", "IS MISSING.", docQLOps, "flag IS MISSING", three)
	where("not missing", "IS NOT MISSING.", docQLOps, "flag IS NOT MISSING", onetwo)
	where("null", "IS NULL holds for the null value, and not for a missing attribute.", qlFunctions, "nul IS NULL", one)
	where("not null", "IS NOT NULL is its negation.", qlFunctions, "nul IS NOT NULL", `[{sk: "2"} {sk: "3"}]`)
	where("type", "IS tests a type.", qlFunctions, "yes IS BOOL AND flag IS STRING", one)
	where("other type", "An attribute of another type does not pass.", qlFunctions, "flag IS BOOL", nowhere)
	where("begins_with on the key", "begins_with on the sort key.", guide+"ql-functions.beginswith.html",
		"begins_with(sk, '2')", two)
	where("contains", "contains looks into sets.", guide+"ql-functions.contains.html", "contains(ss, 'p')", one)
	where("contains in a string", "contains looks into strings.", guide+"ql-functions.contains.html",
		`contains("flag", 'x')`, one)
	where("size", "size is the length of a string.", guide+"ql-functions.size.html", "size(flag) = 1", onetwo)
	where("attribute_type", "attribute_type tests a type.", guide+"ql-functions.attribute_type.html",
		"attribute_type(ss, 'SS')", one)
	where("attribute_exists", "attribute_exists is not in the guide, and works.", qlFunctions,
		"attribute_exists(ss)", one)
	where("attribute_not_exists", "So is attribute_not_exists.", qlFunctions, "attribute_not_exists(flag)", three)
	where("case of a function", "Names of functions ignore case.", qlFunctions, "ATTRIBUTE_EXISTS(ss)", one)
	where("nested attribute", "A path leads into a document.", qlFunctions,
		"attribute_exists(m.sub) AND m.l[1] = 7", one)
	where("quoted name", "A name may stand in double quotes.", qlFunctions, `attribute_exists("ss")`, one)
	where("condition that is true", "A condition can be compared with true.", qlFunctions,
		"attribute_exists(ss) = true", one)
	where("condition that is false", "A condition can be compared with false.", flociEdge,
		"attribute_exists(ss) = false", `[{sk: "2"} {sk: "3"}]`)
	where("condition and an attribute", "A condition can be compared with an attribute.", flociEdge,
		"attribute_exists(n) = yes", one)
	where("condition that is no number", "A condition is no number.", flociEdge, "attribute_exists(n) = 1", nowhere)
	where("two conditions compared", "Two conditions can be compared.", flociEdge,
		"attribute_exists(flag) = attribute_exists(ss)", `[{sk: "1"} {sk: "3"}]`)
	where("condition in a list", "A condition can be in a list.", flociEdge,
		"(attribute_exists(nope) IN [true, false])", all)
	where("comparison in parentheses compared", "A comparison in parentheses can be compared.", flociEdge,
		"(n BETWEEN 2 AND 5) = false", one)
	where("parameter", "? is a parameter.", guide+"ql-reference.html", "n = ? AND flag = ?", two, params(2, "y"))
	where("parameters in a list", "The elements of IN may be parameters.", flociEdge, "n IN [?, 3]",
		`[{sk: "2"} {sk: "3"}]`, params(2))
	where("set compared", "Sets are equal in any order.", qlCompare, "ss = ?", one, params(strs{"q", "p"}))
	where("list compared", "Lists are not.", qlCompare, "m.l = ?", nowhere, params(list{7, "c"}))
	where("literal list", "A list may be a literal.", docQLTypes, "m.l = ['c', 7]", one)
	where("literal set", "So may a set.", docQLTypes, "ss = <<'p', 'q'>>", one)
	where("literal map", "So may a map.", docQLTypes, "m = {'sub': 'deep', 'l': ['c', 7]}", one)
	where("types without an order", "Values of two types have no order.", qlCompare, "flag < ?", nowhere, params(5))
	where("two conditions on the sort key", "Two conditions on the sort key both hold.", flociEdge,
		"sk = '1' AND sk > '0'", one)
	where("sort key in a list", "IN on the sort key.", flociEdge, "sk IN ['1', '2']", onetwo)
	where("sort key or sort key", "OR on the sort key.", flociEdge, "(sk = '1' OR sk = '2')", onetwo)
	where("three ranges", "Ranges that touch do not overlap.", flociEdge, "(sk < '2' OR sk > '2' OR sk = '2')", all)
	where("sort key not equal", "<> on the sort key.", flociEdge, "sk <> '1'", `[{sk: "2"} {sk: "3"}]`)
	where("sort key negated", "NOT on the sort key.", flociEdge, "NOT sk = '1'", `[{sk: "2"} {sk: "3"}]`)
	where("condition on the partition key again", "The partition key may be tested once more.", flociEdge,
		"attribute_exists(pk)", all)
	where("exponent", "A number may have an exponent.", qlGrammar, "n = 20e-1", two)
	where("no leading digit", "A number may begin with its point.", qlGrammar, "n = .2e1", two)
	where("signs", "Signs belong to the number that follows.", flociEdge,
		"n = - -2 AND n > -5 AND n BETWEEN - 2 AND +5", two)
	where("comments", "Comments are spaces.", qlGrammar, "n /* a note */ = 2 -- another", two)
	where("semicolon", "A statement may end with a semicolon.", flociEdge, "n = 2;", two)

	cases = append(cases, []statementCase{
		{"all attributes", "* is the whole item.", docSelect, `SELECT * FROM "rows" WHERE pk = 'a' AND sk = '2'`, nil,
			`[{flag: "y", n: 2, pk: "a", sk: "2"}]`},
		{"nothing there", "A key without an item has none.", qlExecute, `SELECT * FROM "rows" WHERE pk = 'z'`, nil,
			"[]"},
		{"some attributes", "A list of names is some attributes.", qlExecute,
			`SELECT pk, n FROM "rows" WHERE pk = 'a' AND sk = '2'`, nil, `[{n: 2, pk: "a"}]`},
		{"nested column", "A path is given under its last name.", qlExecute,
			`SELECT m.sub FROM "rows" WHERE pk = 'a' AND sk = '1'`, nil, `[{sub: "deep"}]`},
		{"element as a column", "An element keeps its index in its name.", flociEdge,
			`SELECT m.l[0] FROM "rows" WHERE pk = 'a' AND sk = '1'`, nil, `[{l[0]: "c"}]`},
		{"column that is not there", "An item without the attributes is empty.", LocalOnly,
			`SELECT nope FROM "rows" WHERE pk = 'a' AND sk = '2'`, nil, `[{}]`},
		{"lower case", "Keywords ignore case.", qlExecute, `select sk from "rows" where pk = 'a' and sk = '2'`, nil,
			two},
		{"quotes in a text", "Two quotes in a text are one.", flociSyntax,
			`SELECT sk FROM "rows" WHERE pk = 'a' AND sk = '2' AND flag <> 'it''s'`, nil, two},
		{"partition keys", "IN on the partition key reads them all.", docSelect,
			`SELECT pk FROM "rows" WHERE pk IN ['b', 'z'] AND flag = 'x'`, nil, `[{pk: "b"}]`},
		{"partition key or partition key", "So does OR.", docSelect,
			`SELECT pk FROM "rows" WHERE pk = 'b' OR pk = 'z'`, nil, `[{pk: "b"}]`},
		{"partition key or something else", "OR with another attribute reads the whole table.", docSelect,
			`SELECT pk FROM "rows" WHERE pk = 'z' OR n = 3`, nil, `[{pk: "a"}]`},
		{"scan", "Without the partition key the whole table is read.", docSelect,
			`SELECT pk FROM "rows" WHERE n = 3`, nil, `[{pk: "a"}]`},
		{"partition key greater", "Any other condition on the partition key reads the whole table.", docSelect,
			`SELECT sk FROM "rows" WHERE pk > 'a'`, nil, one},
		{"partition key of another type greater", "Such a condition may be about another type.", flociEdge,
			`SELECT sk FROM "rows" WHERE pk > 1`, nil, "[]"},
		{"branch with a negated sort key", "A branch may negate a condition on the sort key.", qlOverlap,
			`SELECT sk FROM "rows" WHERE pk = 'a' AND NOT sk = '1' OR pk = 'a' AND sk = '2'`, nil,
			`[{sk: "2"} {sk: "3"}]`},
		{"bare branch with a negated sort key", "The other branch may be the whole partition.", qlOverlap,
			`SELECT sk FROM "rows" WHERE pk = 'a' OR pk = 'a' AND NOT sk = '1'`, nil, all},
		{"order", "ORDER BY the sort key.", qlGrammar, `SELECT sk FROM "rows" WHERE pk = 'a' ORDER BY sk`, nil, all},
		{"order backwards", "ORDER BY the sort key, backwards.", qlGrammar,
			`SELECT sk FROM "rows" WHERE pk = 'a' ORDER BY sk DESC`, nil, `[{sk: "3"} {sk: "2"} {sk: "1"}]`},
		{"order by the partition key alone", "ORDER BY the partition key alone gives its rows backwards.", flociSyntax,
			`SELECT sk FROM "rows" WHERE pk = 'a' ORDER BY pk ASC`, nil, `[{sk: "3"} {sk: "2"} {sk: "1"}]`},
		{"order by both", "ORDER BY both.", flociSyntax,
			`SELECT pk, sk FROM "rows" WHERE pk IN ['a', 'b'] AND n < 3 ORDER BY pk DESC, sk ASC`, nil,
			`[{pk: "b", sk: "1"} {pk: "a", sk: "1"} {pk: "a", sk: "2"}]`},
		{"order without a condition", "ORDER BY needs WHERE.", flociSyntax, `SELECT sk FROM "rows" ORDER BY sk`, nil,
			invalid("Must have WHERE clause in the statement when using ORDER BY clause.")},
		{"order by another attribute", "ORDER BY is about the key.", flociSyntax,
			`SELECT sk FROM "rows" WHERE pk = 'a' ORDER BY n DESC`, nil,
			invalid("Attribute n in ORDER BY clause must be part of the primary key")},
		{"order of a scan", "ORDER BY needs the partition key.", flociSyntax,
			`SELECT sk FROM "rows" WHERE pk > 'a' ORDER BY sk`, nil,
			invalid(
				"Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.",
			)},
		{"order of several partitions", "ORDER BY names the partition key if there are several.", flociSyntax,
			`SELECT sk FROM "rows" WHERE pk IN ['a', 'b'] ORDER BY sk DESC`, nil,
			invalid("Must have hash key in ORDER BY clause when more than one hash key condition specified in " +
				"WHERE clause.")},

		{"capacity", "A read consumes half a unit.", flociUnits, `SELECT * FROM "rows" WHERE pk = 'b'`,
			[]option{capacity("TOTAL")}, `[{flag: "x", n: 1, pk: "b", sk: "1"}]; 0.5 units`},
		{"capacity of a consistent read", "A consistent read consumes a whole one, even if nothing is there.",
			flociUnits, `SELECT * FROM "rows" WHERE pk = 'z'`, []option{capacity("INDEXES"), consistently()},
			"[]; 1 units, 1 of the table"},

		{"key of another type", "A key value has the key's type.", flociEdge,
			`SELECT sk FROM "rows" WHERE pk = 1 OR pk = 'a'`, nil,
			invalid("Key attribute's data type should match its data type in table's schema: Key pk")},
		{"sort key of another type", "So has a value of the sort key.", flociEdge,
			`SELECT sk FROM "rows" WHERE pk = 'a' AND sk IN ['1', 2]`, nil,
			invalid("Key attribute's data type should match its data type in table's schema: Key sk")},
		{"51 partition keys", "A statement makes 50 reads at most.", flociEdge, `SELECT sk FROM "rows" WHERE pk IN [` +
			texts(51) + `]`, nil, invalid("Too many decomposed read operations for a given query.")},
		{"50 partition keys", "50 are not too many, and a list of other attributes has 100.", flociEdge,
			`SELECT sk FROM "rows" WHERE pk IN [` + texts(50) + `] AND flag IN [` + texts(100) + `]`, nil, "[]"},
		{"52 pairs of keys", "Pairs of keys count.", flociEdge, `SELECT sk FROM "rows" WHERE pk IN [` + texts(26) +
			`] AND sk IN ['1', '2']`, nil, invalid("Too many decomposed read operations for a given query.")},
		{"51 partition keys in a scan", "A scan has no such limit.", flociEdge,
			`SELECT sk FROM "rows" WHERE pk IN [` + texts(51) + `] OR n = 3`, nil, three},
		{"101 values", "IN has 100 values at most.", flociEdge,
			`SELECT sk FROM "rows" WHERE pk = 'a' AND flag IN [` + texts(101) + `]`, nil,
			invalid("The IN operator is provided with too many operands; number of operands: 101")},
	}...)
	for i, where := range []string{
		"pk IN ['a', 'a']", "pk = 'a' OR pk = 'a'", "pk = 'a' AND (sk > '0' OR sk < '5')",
		"pk = 'a' AND (sk = '1' OR flag = 'y')",
		"pk = 'a' AND flag = 'x' OR pk = 'a' AND flag = 'y'", "pk = 'a' AND flag <> 'x' OR pk = 'a' AND sk = '2'",
	} {
		cases = append(cases, statementCase{
			fmt.Sprintf("overlap %d", i+1), "The branches of a WHERE do not overlap.", flociEdge,
			`SELECT sk FROM "rows" WHERE ` + where, nil,
			invalid("Overlapping conditions with range keys are not supported in where clause"),
		})
	}
	made := statementCases(cases, rows)
	const select2 = `SELECT sk FROM "rows" WHERE pk = 'a'`
	ab := `SELECT pk, sk FROM "rows" WHERE pk IN ['a', 'b'] ORDER BY pk DESC`
	return append(made,
		newCase("pages", "Limit ends a page, and NextToken goes on.", api("ExecuteStatement"), rows,
			expect(execute(select2, limit(2)), `[{sk: "1"} {sk: "2"}]; more`),
			expect(execute(select2, nextPage()), three)),
		newCase("pages of several partitions", "Pages go on from one partition to the next.", flociSyntax, rows,
			expect(execute(ab, limit(2)), `[{pk: "b", sk: "1"} {pk: "a", sk: "3"}]; more`),
			expect(execute(ab, limit(2), nextPage()), `[{pk: "a", sk: "2"} {pk: "a", sk: "1"}]; more`),
			expect(execute(ab, nextPage()), "[]")),
		newCase("limit before the filter", "Limit counts the items that are read, not those that are given.",
			api("ExecuteStatement"), rows, expect(execute(select2+" AND n = 3", limit(2)), "[]; more"),
			expect(execute(select2+" AND n = 3", limit(2), nextPage()), three)),
		newCase("pages of a scan", "A scan has pages, too.", flociPages, holding(row("a", "1"), row("a", "2")),
			expect(execute(`SELECT sk FROM "rows"`, limit(1)), `[{sk: "1"}]; more`),
			expect(execute(`SELECT sk FROM "rows"`, nextPage()), two)),
		newCase("token of another statement", "NextToken belongs to its statement.", flociPages, rows,
			expect(execute(select2, limit(1)), `[{sk: "1"}]; more`),
			expect(execute(`SELECT sk FROM "rows"`, nextPage()), invalid("NextToken does not match request"))),
		newCase("token of other parameters", "NextToken belongs to its parameters, and not to Limit.", flociPages, rows,
			expect(execute(`SELECT sk FROM "rows" WHERE pk = ?`, params("a"), limit(1)), `[{sk: "1"}]; more`),
			expect(execute(`SELECT sk FROM "rows" WHERE pk = ?`, params("b"), nextPage()),
				invalid("NextToken does not match request")),
			expect(execute(`SELECT sk FROM "rows" WHERE pk = ?`, params("a"), limit(1), nextPage()),
				`[{sk: "2"}]; more`)),
		newCase("no token", "NextToken is one of the service's.", LocalOnly, rows,
			expect(execute(select2, set("NextToken", "garbage")), invalid("Invalid NextToken"))),
		newCase("a megabyte", "A page ends after 1 MB, before WHERE.", api("ExecuteStatement"),
			holding(row("a", "1", "v", text(390<<10)), row("a", "2", "v", text(390<<10)),
				row("a", "3", "v", text(390<<10)), row("a", "4")),
			expect(execute(select2+" AND sk > '0' AND attribute_not_exists(v)"), "[]; more"),
			expect(execute(select2+" AND sk > '0' AND attribute_not_exists(v)", nextPage()), `[{sk: "4"}]`)),
	)
}

// texts returns n different texts, in single quotes.
func texts(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("'v%d'", i)
	}
	return strings.Join(list, ",")
}

func statementIndexCases() []Case {
	const (
		many = "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or " +
			"multi-attribute RANGE keys."
		multi    = parity + "tier3/error-messages/partiqlMultiAttributeIndex.test.ts"
		messages = nubo + "tier3/error-messages/partiqlIndexQualifier.test.ts"
		lacks    = "Secondary index gsi does not project one or more filter attributes: "
	)
	table := inTable(usualSchema +
		" | gsa: g S, n N -> ALL | gsi: g S -> INCLUDE v | gsk: g S -> KEYS_ONLY | lsik: pk S, n N -> KEYS_ONLY" +
		" | two: g S, h S HASH -> ALL")
	rows := holding(
		row("p", "1", "g", "x", "h", "i", "n", 2, "v", "v1", "w", "w1"),
		row("p", "2", "g", "x", "n", 1, "v", "v2", "w", "w2"),
		row("p", "3", "w", "w3"), row("q", "4", "g", "y", "v", "v4"),
	)
	cases := statementCases([]statementCase{
		{"global index", `"table"."index" is read by the index's key.`, docSelect,
			`SELECT sk FROM "rows"."gsa" WHERE g = 'x'`, nil, `[{sk: "2"} {sk: "1"}]`},
		{"order of an index", "ORDER BY is about the index's key.", docSelect,
			`SELECT sk FROM "rows"."gsa" WHERE g = 'x' ORDER BY n DESC`, nil, `[{sk: "1"} {sk: "2"}]`},
		{"keys only", "* is what the index has.", qlIndex, `SELECT * FROM "rows"."gsk" WHERE g = 'y'`, nil,
			`[{g: "y", pk: "q", sk: "4"}]`},
		{"included attributes", "* has the attributes that the index includes.", qlIndex,
			`SELECT * FROM "rows"."gsi" WHERE g = 'y'`, nil, `[{g: "y", pk: "q", sk: "4", v: "v4"}]`},
		{"scan of an index", "Without its partition key the whole index is read.", qlIndex,
			`SELECT sk FROM "rows"."gsi" WHERE pk = 'q'`, nil, `[{sk: "4"}]`},
		{"local index", "A local index gives attributes that it lacks.", qlIndex,
			`SELECT w FROM "rows"."lsik" WHERE pk = 'p'`, nil, `[{w: "w2"} {w: "w1"}]`},
		{"consistent read of a local index", "A local index can be read consistently.", qlIndex,
			`SELECT sk FROM "rows"."lsik" WHERE pk = 'p' AND n = 1`, []option{consistently()}, `[{sk: "2"}]`},
		{"capacity of a global index", "A read of an index consumes its units.", flociUnits,
			`SELECT pk FROM "rows"."gsa" WHERE g = 'x' AND n = 1`, []option{capacity("INDEXES")},
			`[{pk: "p"}]; 0.5 units, 0 of the table, 0.5 of gsa`},
		{"capacity of rows that are fetched", "Each row that a local index fetches is a read of its own.", flociUnits,
			`SELECT w FROM "rows"."lsik" WHERE pk = 'p'`, []option{capacity("INDEXES")},
			`[{w: "w2"} {w: "w1"}]; 1.5 units, 1 of the table, 0.5 of lsik`},
		{"consistent read of a global index", "A global index cannot be read consistently.", messages,
			`SELECT * FROM "rows"."gsa" WHERE g = 'x'`, []option{consistently()},
			invalid("Strongly consistent read is not supported on Global Secondary Indexes")},
		{"no such index", "The index exists. Its name is not in the text.", messages,
			`SELECT * FROM "rows"."none" WHERE g = 'x'`, nil, invalid("The table does not have the specified index")},
		{"index without a name", "The name is not empty.", messages, `SELECT * FROM "rows"."" WHERE g = 'x'`, nil,
			invalid("Path component cannot be an empty string")},
		{"three names", "A source has two names at most.", messages, `SELECT * FROM "rows"."gsa"."more" WHERE g = 'x'`,
			nil, invalid("A path may contain at most 2 components in the FROM clause")},
		{"attribute that a global index has not", "A global index does not give an attribute that it lacks.", messages,
			`SELECT w, z FROM "rows"."gsi" WHERE g = 'x'`, nil,
			badParameter("Global secondary index gsi does not project [w, z]")},
		{"attribute that a scanned index has not", "Not even in a scan.",
			parity + "tier2/partiql/executeStatementIndex.test.ts", `SELECT w FROM "rows"."gsi"`, nil,
			badParameter("Global secondary index gsi does not project [w]")},
		{"filter on an attribute that an index has not",
			"A query of an index is not filtered by attributes that it lacks.", messages,
			`SELECT pk FROM "rows"."gsi" WHERE g = 'x' AND w = 'w1'`, nil, badParameter(lacks + "[w]")},
		{"filter on an attribute that a local index has not", "A local index is no exception.", messages,
			`SELECT pk FROM "rows"."lsik" WHERE pk = 'p' AND w = 'w1'`, nil,
			badParameter("Secondary index lsik does not project one or more filter attributes: [w]")},
		{"negated filter", "A negated condition is a filter.", qlIndex,
			`SELECT pk FROM "rows"."gsi" WHERE g = 'x' AND NOT w = 'w1'`, nil, badParameter(lacks + "[w]")},
		{"missing in a filter", "IS MISSING is a filter.", qlIndex,
			`SELECT pk FROM "rows"."gsi" WHERE g = 'x' AND w IS MISSING`, nil, badParameter(lacks + "[w]")},
		{"filter of several queries", "IN on the partition key makes queries.", qlIndex,
			`SELECT pk FROM "rows"."gsi" WHERE g IN ['x', 'y'] AND w = 'w1'`, nil, badParameter(lacks + "[w]")},
		{"filter of the last branch", "The last of several branches is reported.", flociEdge,
			`SELECT pk FROM "rows"."gsi" WHERE (g = 'x' AND u1 = '1') OR (g = 'y' AND u2 = '1')`, nil,
			badParameter(lacks + "[u2]")},
		{"branch without such a filter", "One branch without such a filter is enough.", flociEdge,
			`SELECT sk FROM "rows"."gsi" WHERE (g = 'x' AND w = 'w1') OR g = 'y'`, nil, `[{sk: "4"}]`},
		{"filter of a scan", "In a scan the attribute counts as missing.", qlIndex,
			`SELECT pk FROM "rows"."gsi" WHERE w = 'w1'`, nil, "[]"},
		{"projected filter", "A filter on an attribute that the index has.", qlIndex,
			`SELECT sk FROM "rows"."gsi" WHERE g = 'x' AND v = 'v1'`, nil, `[{sk: "1"}]`},
		{"key of several attributes", "An index whose key has several attributes cannot be read.", multi,
			`SELECT * FROM "rows"."two" WHERE g = 'x'`, nil, invalid(many)},
		{"key of several attributes and a wrong type", "That is reported before the rest of the statement.", multi,
			`SELECT * FROM "rows"."two" WHERE g = 5 ORDER BY z`, nil, invalid(many)},
		{"malformed statement about such an index", "But not before its syntax.", multi,
			`SELECT * FROM "rows"."two" WHERE`, nil,
			invalid("Statement wasn't well formed, can't be processed: Unexpected term")},
		{"update of an index", "An index is not written to.", qlIndex,
			`UPDATE "rows"."gsa" SET v = 'z' WHERE pk = 'p' AND sk = '1'`, nil,
			invalid("This operation is not supported on an index")},
		{"delete from an index", "Nor deleted from.", qlIndex, `DELETE FROM "rows"."gsa" WHERE pk = 'p' AND sk = '1'`,
			nil, invalid("This operation is not supported on an index")},
		{"insert into an index", "Nor inserted into.", qlIndex, `INSERT INTO "rows"."gsa" VALUE {'pk': 'w', 'sk': 'w'}`,
			nil, invalid("FROM clause may only contain a single table name")},
	}, table, rows)
	const gsa = `SELECT sk FROM "rows"."gsa" WHERE g = 'x'`
	return append(cases,
		newCase("pages of an index", "A read of an index has pages.", qlIndex, table, rows,
			expect(execute(gsa, limit(1)), `[{sk: "2"}]; more`),
			expect(execute(gsa, nextPage()), `[{sk: "1"}]`)),
		newCase("token of another index", "NextToken belongs to its index.", qlIndex, table, rows,
			expect(execute(gsa, limit(1)), `[{sk: "2"}]; more`),
			expect(execute(`SELECT sk FROM "rows"."gsk" WHERE g = 'x'`, nextPage()),
				invalid("NextToken does not match request"))))
}
