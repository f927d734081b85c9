package differential

import (
	"strings"
)

// statement returns the statement of the part, or "".
func (b *broken) statement() string {
	text, _ := b.part["Statement"].(string)
	return text
}

// rewrites returns a fault in the text of a statement. rewrite returns the text unchanged if there is nothing to break.
func rewrites(rewrite func(d draws, text string) string) func(draws, *broken) bool {
	return func(d draws, b *broken) bool {
		text := b.statement()
		if text == "" {
			return false
		}
		b.part["Statement"] = rewrite(d, text)
		return b.part["Statement"] != text
	}
}

// appends returns a fault at the end of statements that begin with a verb; "" is any.
func appends(verb string, ends ...string) func(draws, *broken) bool {
	return rewrites(func(d draws, text string) string {
		if !strings.HasPrefix(text, verb) {
			return text
		}
		return text + oneOf(d, "end", ends...)
	})
}

// ofRows replaces R in a statement by the name of the table of rows.
func ofRows(text string) string {
	return strings.NewReplacer(" R .", ` "`+tables[0].name+`".`, " R ", ` "`+tables[0].name+`" `).Replace(text)
}

// instead returns a fault that replaces a whole statement. R is the table of rows.
func instead(operations string, texts ...string) func(draws, *broken) bool {
	return func(d draws, b *broken) bool {
		if !contains(operations, b.request.Operation) || b.part == nil {
			return false
		}
		b.part["Statement"] = ofRows(oneOf(d, "statement", texts...))
		delete(b.part, "Parameters")
		if b.list != nil {
			b.lists([]any{b.part})
		}
		b.request.Pages, b.request.Ordered = false, false
		return true
	}
}

// filters returns a fault of a statement's condition.
func filters(terms ...string) func(draws, *broken) bool {
	return rewrites(func(d draws, text string) string {
		return strings.Replace(text, " WHERE ", " WHERE "+oneOf(d, "term", terms...)+" AND ", 1)
	})
}

// assigns returns a fault of an UPDATE.
func assigns(values ...string) func(draws, *broken) bool {
	return rewrites(func(d draws, text string) string {
		return strings.Replace(text, " SET ", " SET "+oneOf(d, "value", values...)+", ", 1)
	})
}

const (
	wherePart = " WHERE pk = 'a'"
	whereItem = " WHERE pk = 'a' AND sk = 'a'"
)

var statementFaults = []weighted[fault]{
	// The grammar.
	{3, fault{"end of a statement", rewrites(func(_ draws, text string) string {
		return strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz0123456789'\"?)]}>*.")
	})}},
	{3, fault{"token of a statement", appends("", " foo", " )", " AND", "; DELETE", " 'a'", " @", " ~")}},
	{2, fault{"verb of a statement",
		rewrites(func(d draws, text string) string { return oneOf(d, "letter", "S", "X ", "(", "") + text[1:] })}},
	{3, fault{"clause of a statement", appends("SELECT", " GROUP BY x", " LIMIT 1", " HAVING x = 1")}},
	{3, fault{"source of a statement", instead(statements,
		"SELECT * FROM R t"+wherePart, "SELECT DISTINCT x FROM R "+wherePart, "SELECT x AS y FROM R "+wherePart,
		"SELECT * FROM R , R "+wherePart, "UPDATE R t SET x = 1"+whereItem, "SELECT count(*) FROM R "+wherePart,
		"SELECT 1 FROM R "+wherePart, "INSERT INTO R {'pk': 'a', 'sk': 'a'}",
		"x = 1", "SELECT * FROM [1]", "INSERT INTO R VALUE 5", "SET x = 1")}},
	{3, fault{"column of a statement", instead(statements, "SELECT x, x FROM R "+whereItem,
		"SELECT m.k, k FROM R "+whereItem, "SELECT l[x] FROM R "+whereItem, "SELECT size(x) FROM R "+whereItem)}},
	{3, fault{"index of a statement", instead(statements,
		`SELECT * FROM R .byNothing WHERE g = 'a'`, `SELECT * FROM R .byBoth WHERE g = 'a'`,
		`SELECT * FROM R .byGroup.x WHERE g = 'a'`,
		`SELECT * FROM R ."" WHERE g = 'a'`, `UPDATE R .byGroup SET x = 1`+whereItem,
		`DELETE FROM R .byGroup`+whereItem, `INSERT INTO R .byGroup VALUE {'pk': 'a', 'sk': 'a'}`,
		`SELECT y FROM R .byHeight WHERE h = 1`, `SELECT * FROM R .byHeight WHERE h = 1 AND y = 1`,
	)}},
	{2, fault{"RETURNING", appends("", " RETURNING ALL *", " RETURNING SOME OLD *", " RETURNING ALL OLD x")}},
	{3, fault{"RETURNING of a statement", rewrites(func(d draws, text string) string {
		if strings.Contains(text, "RETURNING") || strings.HasPrefix(text, "SELECT") ||
			strings.HasPrefix(text, "EXISTS") {
			return text
		}
		if strings.HasPrefix(text, "DELETE") {
			return text + oneOf(d, "which", " RETURNING ALL NEW *", " RETURNING MODIFIED OLD *")
		}
		if strings.HasPrefix(text, "INSERT") {
			return text + " RETURNING ALL OLD *"
		}
		return text
	})}},
	{6, fault{"RETURNING in a transaction", func(d draws, b *broken) bool {
		text := b.statement()
		if b.request.Operation != "ExecuteTransaction" ||
			!strings.HasPrefix(text, "UPDATE") && !strings.HasPrefix(text, "DELETE") {
			return false
		}
		b.part["Statement"] = text + " RETURNING ALL OLD *"
		return true
	}}},

	// Faults of tables, indexes and keys.
	{3, fault{"table of a statement", rewrites(func(_ draws, text string) string {
		for _, t := range tables {
			text = strings.Replace(text, `"`+t.name+`"`, `"differential-missing"`, 1)
		}
		return text
	})}},
	{12, fault{consistentStatement, func(_ draws, b *broken) bool {
		if name := b.request.index(); name == "" || b.request.Body["ConsistentRead"] != nil {
			return false
		}
		b.part["ConsistentRead"] = true
		return true
	}}},

	// Conditions and values.
	{2, fault{"condition of a statement", filters(
		"unknown(x)", "size(x)", "if_not_exists(x, y)", "set_add(x, 1)", "x LIKE 'a'", "x + 1 = 2", "x || y = 'a'", "x",
		"1", "x IS FOO", "x IS INT", "exists(x)",
		"attribute_exists()", "x IN 1", "x IN []")}},
	{2, fault{"operand of a statement", filters(
		"begins_with(x, 1)", "begins_with(x)", "attribute_type(x, 1)", "attribute_type(x, 'Z')",
		"attribute_exists(x, y)", "attribute_exists('a')",
		"x < true", "x BETWEEN true AND false", "x BETWEEN 1 AND 'a'", "x BETWEEN 2 AND 1", "x = x", "contains(x, x)",
		"size(1) = 1", "x[y] = 1", "pk.x = 1", "attribute_exists(m"+strings.Repeat(".x", 33)+")")}},
	{2, fault{"literal", filters(
		"x = <<>>", "x = <<1, 'a'>>", "x = <<1, 1.0>>", "x = <<'a', 'a'>>", "x = <<[1]>>", "x = {'a': 1, 'a': 2}",
		"x = {a: 1}", "x = 1e200", "x = 1e-200",
		"x = [1e200]", "x = 123456789012345678901234567890123456789", "x = MISSING",
		"x = "+strings.Repeat("[", 33)+strings.Repeat("]", 33))}},
	{2, fault{"values of IN", filters("x IN [" + strings.TrimSuffix(strings.Repeat("1, ", 101), ", ") + "]")}},
	{4, fault{"assignment of a statement", assigns(
		"spare = unknown(x)", "spare = if_not_exists(x, 1)", "spare = x * 2", "spare = size(x)",
		"spare = set_add(x, <<1>>)", "spare = set_add(spare, 1)",
		"spare = set_add(spare)", "spare = true + 1", "spare = list_append(1, 2)", "spare = list_append()",
		"spare = 1, spare.x = 2", "spare.x = 1, spare[0] = 2",
		"pk = 'b'", "id = 1", "spare = x = 1", "spare = 1 + 2 + 3")}},
	{3, fault{"parameters", func(d draws, b *broken) bool {
		list, ok := b.part["Parameters"].([]any)
		switch {
		case !ok:
			return false
		case d.chance(3, "empty"):
			b.part["Parameters"] = []any{}
		case len(list) == 1:
			delete(b.part, "Parameters")
		default:
			b.part["Parameters"] = list[:len(list)-1]
		}
		return true
	}}},
	{1, fault{"parameters too many", func(_ draws, b *broken) bool {
		list, ok := b.part["Parameters"].([]any)
		if ok {
			b.part["Parameters"] = append(list[:len(list):len(list)], object{"S": "a"})
		}
		return ok
	}}},

	// Faults of the requests' parameters.
	{2, fault{"no statement", func(d draws, b *broken) bool {
		if b.statement() == "" {
			return false
		}
		b.part["Statement"] = oneOf[any](d, "statement", "", nil, strings.Repeat(" ", 8193), 5)
		if b.part["Statement"] == nil {
			delete(b.part, "Statement")
		}
		return true
	}}},
	{2, fault{"ReturnValuesOnConditionCheckFailure of a statement", func(_ draws, b *broken) bool {
		if b.statement() == "" {
			return false
		}
		b.part["ReturnValuesOnConditionCheckFailure"] = "SOME"
		return true
	}}},
	{2, fault{"Limit of a statement", puts("ExecuteStatement", "Limit", 0)}},
	{2, fault{"NextToken", func(d draws, b *broken) bool {
		text := b.statement()
		if b.request.Operation != "ExecuteStatement" || !strings.HasPrefix(text, "SELECT") {
			return false
		}
		b.part["NextToken"] = oneOf(d, "token", "garbage", "", "AAAA")
		return true
	}}},
	{12, fault{"reads and writes", func(_ draws, b *broken) bool {
		if b.request.Operation == "ExecuteStatement" || b.statement() == "" {
			return false
		}
		other := `DELETE FROM "differential-numbers" WHERE id = 77`
		if !strings.HasPrefix(b.statement(), "SELECT") {
			other = `SELECT * FROM "differential-numbers" WHERE id = 77`
		}
		b.lists(append(b.list, object{"Statement": other}))
		return true
	}}},
}

// consistentStatement is the fault of statements that read indexes.
const consistentStatement = "consistent read of a global index by a statement"
