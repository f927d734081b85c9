package partiql_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/partiql"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// statements are sources that parse.
var statements = []string{
	`select * from t`,
	`SELECT a, "b c".d[0], e[-1] FROM "t"."i" WHERE a = 'it''s' ORDER BY a DESC, b ASC;`,
	`SELECT a FROM t WHERE a = 1 AND (b = 2 OR c = 3) AND NOT d = 4`,
	`SELECT a FROM t WHERE (a = 1 AND b = 2) OR c = 3`,
	`SELECT a FROM t WHERE a = 1 AND (b = 2 AND c = 3)`,
	`SELECT a FROM t WHERE NOT (a = 1 OR b != 2)`,
	`SELECT a FROM t WHERE not not (a)=1`,
	`SELECT a FROM t WHERE a BETWEEN 1 AND 2 AND b NOT BETWEEN ? AND ?`,
	`SELECT a FROM t WHERE a IN (1) AND b NOT IN [2, ?] AND (c, d) = e`,
	`SELECT a FROM t WHERE a IS MISSING AND b IS NOT DOUBLE  PRECISION AND Begins_With(c, 'x')`,
	`SELECT a FROM t WHERE (a = 1) = true AND b = - - .5e1 AND c = - x AND d > -/* note */7 -- more`,
	`SELECT COUNT(*) FROM t WHERE size(a) > 3`,
	`INSERT INTO t VALUE {'a': 1, 'b': [true, NULL, <<'x', 'y'>>], 'c': {}}`,
	`UPDATE t SET a = a + 1, b.c = list_append(b.c, [1]) REMOVE d[0] SET e = <<1>> WHERE k = ? RETURNING ALL NEW *`,
	`UPDATE t SET a = b - (c - d) * e WHERE k = 1`,
	`FROM t WHERE k = 1 SET a = 2 RETURNING MODIFIED OLD *`,
	`delete from "t""u" where k = 1`,
	`exists(select * from t where k = 1 and a is null)`,
	`x IS INT4`,
}

func TestStatementsParse(t *testing.T) {
	for _, src := range statements {
		if _, err := partiql.Parse(src); err != nil {
			t.Errorf("%s: %v", src, err)
		}
	}
}

func bind(t *testing.T, src string, parameters ...attr.Value) *partiql.Bound {
	t.Helper()
	parsed, err := partiql.Parse(src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	b, err := parsed.Bind(parameters)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return b
}

// said replaces the aliases in a translation with the names and values.
func said(text string, args expr.Args) string {
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(args.Names))) {
		text = strings.ReplaceAll(text, key, args.Names[key])
	}
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(args.Values))) {
		text = strings.ReplaceAll(text, key, args.Values[key].String())
	}
	return text
}

func TestConditionsAreTranslated(t *testing.T) {
	for _, test := range []struct{ where, want string }{
		{"a = 1", "a = 1"},
		{"1 < a.b[2]", "1 < a.b[2]"},
		{"a = 1 AND b = 2 OR c = 3", "(a = 1 AND b = 2) OR c = 3"},
		{"NOT (a = 1 OR b = 2)", "NOT (a = 1 OR b = 2)"},
		{"a NOT BETWEEN 1 AND 2", "NOT a BETWEEN 1 AND 2"},
		{"a IN [1, ?]", `a IN (1, "p")`},
		{"a NOT IN ('x')", `NOT a IN ("x")`},
		{"a IS NOT MISSING", "NOT attribute_not_exists(a)"},
		{"a IS STRUCT", `attribute_type(a, "M")`},
		{"SIZE(a) >= 3", "size(a) >= 3"},
		{"contains(a, 'x') = true", `contains(a, "x")`},
		{"contains(a, 'x') <> true", `NOT contains(a, "x")`},
		{"false = (a = 1 OR b = 2)", "NOT (a = 1 OR b = 2)"},
		{"contains(a, 'x') = 1", "true = false"},
		{"contains(a, 'x') = b", `(contains(a, "x") AND b = true) OR (NOT contains(a, "x") AND b = false)`},
		{"a = 1 = (b = 2)", "(a = 1 AND b = 2) OR (NOT a = 1 AND NOT b = 2)"},
		{"a = 1 IN [true, false]", "a = 1 OR NOT a = 1"},
	} {
		b := bind(t, "SELECT * FROM t WHERE "+test.where, attr.S("p"))
		text, err := b.Condition()
		if err != nil {
			t.Errorf("%s: %v", test.where, err)
			continue
		}
		if got := said(text, b.Args()); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.where, got, test.want)
		}
		if _, err := expr.ParseStatementCondition(text); err != nil {
			t.Errorf("%s: %s: %v", test.where, text, err)
		}
	}
}

func TestChangesAreTranslated(t *testing.T) {
	for _, test := range []struct{ changes, want string }{
		{"SET a = 1", "SET a = 1"},
		{"REMOVE a.b[0] SET c = ? SET d = d + 1", `SET c = "p", d = d + 1 REMOVE a.b[0]`},
		{"SET a = list_append(a, ['x']), b = c", `SET a = list_append(a, ["x"]), b = c`},
		{"SET a = set_add(a, <<1>>) SET b = set_delete(b, <<'x'>>)", `ADD a <<1>> DELETE b <<"x">>`},
	} {
		b := bind(t, "UPDATE t "+test.changes+" WHERE k = 1", attr.S("p"))
		text, err := b.Changes()
		if err != nil {
			t.Errorf("%s: %v", test.changes, err)
			continue
		}
		if got := said(text, b.Args()); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.changes, got, test.want)
		}
		if _, err := expr.ParseStatementUpdate(text); err != nil {
			t.Errorf("%s: %s: %v", test.changes, text, err)
		}
	}
}

func TestKeysAreTakenOutOfConditions(t *testing.T) {
	hash, sort := expr.Key{Name: "h", Kind: "S"}, expr.Key{Name: "s", Kind: "N"}
	for _, test := range []struct{ where, want string }{
		{"h = 'a'", `h="a"`},
		{"'a' = h AND 2 >= s AND x = y", `h="a" s LE [2] others [x y]`},
		{"h IN ['a', 'b'] AND s BETWEEN 1 AND 2", `h="a" s BETWEEN [1 2]; h="b" s BETWEEN [1 2]`},
		{"h = 'a' AND (s = 1 OR x = 2)", `h="a" s EQ [1]; h="a" others [x]`},
		{"h = 'a' AND (x = 1 OR y = 2)", `h="a" others [x y]`},
		{"h = 'a' OR x = 1", "scan"},
		{"h > 'a'", "scan"},
		{"h = s", "scan"},
		{"h = 'a' AND s <> 1", `h="a" others [s]`},
		{"h = 'a' AND s <> 1 OR h = 'b'", "scan"},
		{"h = 'a' AND h = 'b' OR h = 'c'", `h="c"`},
		{"h = 'a' AND h = 'b'", ""},
		{"NOT h = 'a'", "scan"},
		{"h = 'a' AND s = 1 AND s > 0", `h="a" s EQ [1]`},
		{"h = 'a' AND begins_with(s, 'x')", `h="a" s BEGINS_WITH ["x"]`},
		{"h IN [" + strings.Repeat("'x',", 50) + "'x']", "Too many decomposed read operations for a given query."},
	} {
		branches, keyed, err := bind(t, "SELECT * FROM t WHERE "+test.where).Branches(hash, sort)
		var texts []string
		for _, b := range branches {
			text := "h=" + b.Hash.String()
			if b.Sort != nil {
				text += fmt.Sprintf(" %s %s %v", b.Sort.Attribute, b.Sort.Operator, b.Sort.Values)
			}
			if b.Others != nil {
				text += fmt.Sprintf(" others %v", b.Others)
			}
			texts = append(texts, text)
		}
		got := strings.Join(texts, "; ")
		switch {
		case err != nil:
			got = err.Error()
		case !keyed:
			got = "scan"
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.where, diff)
		}
	}
}

// A WHERE whose branches multiply is refused before they fill memory.
func TestBranchesAreBounded(t *testing.T) {
	where := "h = 'a'" + strings.Repeat(" AND (s = 1 OR s = 2)", 40)
	_, _, err := bind(t, "SELECT * FROM t WHERE "+where).Branches(expr.Key{Name: "h", Kind: "S"},
		expr.Key{Name: "s", Kind: "N"})
	if want := "Too many decomposed read operations for a given query."; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A compared condition is written twice, so each link of a chain doubles the translation.
func TestChainsOfComparisonsAreBounded(t *testing.T) {
	for _, where := range []string{
		"a = b" + strings.Repeat(" = c", 1000),
		"a = b" + strings.Repeat(" <> (c = d)", 500),
		strings.Repeat("(a = b) = (", 400) + "a = b" + strings.Repeat(")", 400),
		strings.Repeat("(", 400) + "a = b" + strings.Repeat(" IN [c, d])", 400),
	} {
		parsed, err := partiql.Parse("SELECT * FROM t WHERE " + where)
		must.OK(t, err)
		b, err := parsed.Bind(nil)
		must.OK(t, err)
		const want = "The expression contains too many operators; operator count: 301"
		if text, err := b.Condition(); err == nil || err.Error() != want {
			t.Errorf("%.40s…: got %d characters, error %v, want %q", where, len(text), err, want)
		}
	}
}

// FuzzParse reads any text: it is refused, or its translation is a valid expression.
func FuzzParse(f *testing.F) {
	for _, s := range statements {
		f.Add(s)
	}
	f.Add(`SELECT a AS b FROM t u, v GROUP BY c HAVING d LIMIT 1`)
	f.Add(`SELECT a FROM t WHERE attribute_exists(a) IN [true, b, 1] AND NOT a = 1 = false`)
	f.Fuzz(func(t *testing.T, src string) {
		parsed, err := partiql.Parse(src)
		if err != nil {
			return
		}
		b, err := parsed.Bind([]attr.Value{attr.S("p"), attr.SS{"a"}})
		if err != nil {
			return
		}
		if text, err := b.Condition(); err == nil && text != "" {
			_, err = expr.ParseStatementCondition(text)
			noSyntaxError(t, src, text, err)
			_, _, _ = b.Branches(expr.Key{Name: "a", Kind: "S"}, expr.Key{Name: "b", Kind: "N"})
		}
		if text, err := b.Changes(); err == nil && text != "" {
			_, err = expr.ParseStatementUpdate(text)
			noSyntaxError(t, src, text, err)
		}
		if text, err := b.Columns(); err == nil && text != "" {
			_, err = expr.ParseColumns(text)
			noSyntaxError(t, src, text, err)
		}
		if b.Verb() == partiql.Insert {
			_, _ = b.Item()
		}
	})
}

func noSyntaxError(t *testing.T, src, text string, err error) {
	t.Helper()
	if err != nil && (strings.Contains(err.Error(), "Syntax error") || strings.Contains(err.Error(), "parentheses")) {
		t.Fatalf("%q is translated into %q: %v", src, text, err)
	}
}
