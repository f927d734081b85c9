package expr

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// Learnt from DynamoDB Local 3.3.1, which has the service's parser.
func TestSyntaxErrorsInConditions(t *testing.T) {
	tests := []struct{ src, token, near string }{
		{`a`, `<EOF>`, `a`},
		{`  a`, `<EOF>`, `a`},
		{`a =`, `<EOF>`, `=`},
		{`a = `, `<EOF>`, `= `},
		{`  `, `<EOF>`, `  `},
		{`a = :a b`, `b`, `:a b`},
		{`a x :a`, `x`, `a x :a`},
		{`= :a`, `=`, `= :a`},
		{` = :a`, `=`, ` = :a`},
		{`a == :a`, `=`, `== :a`},
		{`a != :a`, `!`, `a !=`},
		{`a = :a AND`, `<EOF>`, `AND`},
		{`a = :a OR OR b = :b`, `OR`, `OR OR b`},
		{`(a = :a`, `<EOF>`, `:a`},
		{`a = :a)`, `)`, `:a)`},
		{`a = 5`, `5`, `= 5`},
		{`a = 'x'`, `'`, `= 'x`},
		{`a = "x"`, `"`, `= "x`},
		{`a@b = :a`, `@`, `a@b`},
		{`a-b = :a`, `-`, `a-b`},
		{`_a = :a`, `_`, `_a`},
		{`1a = :a`, `1`, `1a`},
		{`é = :a`, `é`, `é =`},
		{`a = :`, `:`, `= :`},
		{`# = :a`, `#`, `# =`},
		{`a = :a:b`, `:b`, `:a:b`},
		{`a[x] = :a`, `x`, `[x]`},
		{`a[-1] = :a`, `-`, `[-1`},
		{`a[1 = :a`, `=`, `1 = :a`},
		{`a[007] = :a`, `0`, `007`},
		{`a..b = :a`, `.`, `..b`},
		{`(a).b = :a`, `.`, `).b`},
		{`()`, `)`, `()`},
		{`a IN :a`, `:a`, `IN :a`},
		{`a IN ()`, `)`, `()`},
		{`a BETWEEN :a OR :b`, `OR`, `:a OR :b`},
		{`a BETWEEN :a`, `<EOF>`, `:a`},
		{`size()`, `)`, `()`},
		{`a = NOT`, `NOT`, `= NOT`},
		{`between = :a`, `between`, `between =`},
		{`a = (b = :n)`, `=`, `b = :n`},
		{`(a = :n) = :n`, `=`, `) = :n`},
		{`a = :n + :n`, `+`, `:n + :n`},
		{`a AND b = :n`, `AND`, `a AND b`},
		{`a = :n AND b`, `<EOF>`, `b`},
		{`NOT a`, `<EOF>`, `a`},
	}
	for _, tt := range tests {
		for _, parameter := range []string{"ConditionExpression", "FilterExpression", "KeyConditionExpression"} {
			want := fmt.Sprintf(`Invalid %s: Syntax error; token: "%s", near: "%s"`, parameter, tt.token, tt.near)
			if got := refusal(t, parameter, tt.src, nil); got != want {
				t.Errorf("%s %q:\n got %s\nwant %s", parameter, tt.src, got, want)
			}
		}
	}
}

func TestSyntaxErrorsInUpdates(t *testing.T) {
	tests := []struct{ src, token, near string }{
		{`INVALID SYNTAX HERE`, `INVALID`, `INVALID SYNTAX`}, // captured from the service
		{`SET`, `<EOF>`, `SET`},
		{`SET a`, `<EOF>`, `a`},
		{`SET a =`, `<EOF>`, `=`},
		{`SET a = :n,`, `<EOF>`, `,`},
		{`SET a = :n b`, `b`, `:n b`},
		{`ADD a b`, `b`, `a b`},
		{`ADD a (:n)`, `(`, `a (:n`},
		{`DELETE a`, `<EOF>`, `a`},
		{`REMOVE :n`, `:n`, `REMOVE :n`},
		{`REMOVE (a)`, `(`, `REMOVE (a`},
		{`REMOVE a = :n`, `=`, `a = :n`},
		{`SET a = :n + :m + :n`, `+`, `:m + :n`},
		{`SET a = (:n + :m) + :n`, `+`, `) + :n`},
		{`SET a = :n * :m`, `*`, `:n * :m`},
		{`SET :n = a`, `:n`, `SET :n =`},
		{`SET a = if_not_exists(a, :n + :m)`, `+`, `:n + :m`},
		{`SET a = SET`, `SET`, `= SET`},
		{`SET a = -:n`, `-`, `= -:n`},
		{`SET a = :n AND b = :n`, `AND`, `:n AND b`},
		{`SET foo(a) = :n`, `(`, `foo(a`},
	}
	for _, tt := range tests {
		want := fmt.Sprintf(`Invalid UpdateExpression: Syntax error; token: "%s", near: "%s"`, tt.token, tt.near)
		if got := refusal(t, "UpdateExpression", tt.src, nil); got != want {
			t.Errorf("%q:\n got %s\nwant %s", tt.src, got, want)
		}
	}
}

// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-expression-parameters
func TestLimits(t *testing.T) {
	list := func(n int, s, sep string) string { return strings.TrimSuffix(strings.Repeat(s+sep, n), sep) }
	numbered := func(n int, format string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf(format, i)
		}
		return "SET " + strings.Join(parts, ",")
	}
	const operators = "The expression contains too many operators; operator count: 301"
	tests := []struct{ name, parameter, src, want string }{
		{"empty", "ConditionExpression", "", "The expression can not be empty;"},
		{"empty", "UpdateExpression", "", "The expression can not be empty;"},
		{"empty", "ProjectionExpression", "", "The expression can not be empty;"},
		{"empty", "KeyConditionExpression", "", "The expression can not be empty;"},
		{"4096 bytes", "ConditionExpression", "a = :n" + strings.Repeat(" ", 4090), ""},
		{"4097 bytes", "FilterExpression", "a = :n" + strings.Repeat(" ", 4091),
			"Expression size has exceeded the maximum allowed size; expression size: 4097"},
		{"299 operators", "ConditionExpression", list(150, "a=:n", " OR "), ""},
		{"301 operators", "ConditionExpression", list(151, "a=:n", " OR "), operators},
		{"300 with NOT", "ConditionExpression", strings.Repeat("NOT ", 299) + "a=:n", ""},
		{"301 with NOT", "ConditionExpression", strings.Repeat("NOT ", 300) + "a=:n", operators},
		{"299 with size", "ConditionExpression", list(100, "size(a)=:n", " OR "), ""},
		{"302 with size", "ConditionExpression", list(101, "size(a)=:n", " OR "), operators},
		{"BETWEEN counts one", "ConditionExpression", list(102, "a BETWEEN :n AND :m", " OR "), ""},
		{"300 sums", "UpdateExpression", numbered(300, "a%d=:n+:m"), ""},
		{"301 sums", "UpdateExpression", numbered(301, "a%d=:n+:m"), operators},
		{"100 in IN", "ConditionExpression", "a IN (" + list(100, ":n", ",") + ")", ""},
		{"101 in IN", "ConditionExpression", "a IN (" + list(101, ":n", ",") + ")",
			"The IN operator is provided with too many operands; number of operands: 101"},
		{"path of 32", "ProjectionExpression", list(32, "a", "."), ""},
		{"path of 33", "ProjectionExpression", list(33, "a", "."),
			"The document path has too many nesting levels; nesting levels: 33"},
		{"index below 2^32 - 1", "ConditionExpression", "a[4294967294] = :n", ""},
		{"index of 2^32 - 1", "ConditionExpression", "a[4294967295] = :n",
			"List index is not within the allowable range; index: [4294967295]"},
		{"index of any size", "ConditionExpression", "a[99999999999999999999] = :n",
			"List index is not within the allowable range; index: [99999999999999999999]"},
		{"parentheses", "ConditionExpression", strings.Repeat("(", 2000) + "a=:n" + strings.Repeat(")", 2000),
			"The expression has redundant parentheses;"},
	}
	for _, tt := range tests {
		want := tt.want
		if want != "" {
			want = "Invalid " + tt.parameter + ": " + want
		}
		if got := refusal(t, tt.parameter, tt.src, nil); got != want {
			t.Errorf("%s, %s: got %q, want %q", tt.parameter, tt.name, got, want)
		}
	}
}

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ReservedWords.html
func TestReservedWords(t *testing.T) {
	if len(reserved) != 573 {
		t.Errorf("%d reserved words, want 573", len(reserved))
	}
	for _, word := range []string{
		"TTL", "Lock", "owner", "token", "status", "State", "SIZE", "name", "LOCALTIMESTAMP",
	} {
		want := "Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: " + word
		if got := refusal(t, "ProjectionExpression", "a."+word, nil); got != want {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
		if got := refusal(t, "ProjectionExpression", "#w", map[string]string{"#w": word}); got != "" {
			t.Errorf("%s behind a name: %q", word, got)
		}
	}
	for word := range reserved {
		if e, err := ParseProjection(word); err == nil {
			t.Errorf("%s was taken as %s", word, e)
		}
	}
	for _, name := range []string{
		"pk", "sk", "lease_token", "lease_expires_at", "generated_at", "ttls", "contains", "begins_with",
	} {
		if got := refusal(t, "ProjectionExpression", name, nil); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// values are the placeholders of the tests' expressions.
var values = map[string]attr.Value{
	":n": attr.Int(1), ":m": attr.Int(2), ":now": attr.Int(2208988800),
	":s": attr.S("a"), ":r": attr.S("b"), ":e": attr.S(""),
	":b": attr.B{0, 1, 2}, ":t": attr.BOOL(true), ":z": attr.NULL{},
	":o": attr.M{"k": attr.Int(1)}, ":l": attr.L{attr.Int(1)},
	":ss": attr.SS{"a", "b"}, ":ns": attr.NS{attr.Int(1).Number}, ":bs": attr.BS{{0, 1, 2}},
	":type": attr.S("L"),
}

// args gives an expression the values that it uses.
func args(e Expression, names map[string]string) Args {
	a := Args{Names: names}
	for _, key := range e.Values() {
		if v, ok := values[key]; ok {
			if a.Values == nil {
				a.Values = map[string]attr.Value{}
			}
			a.Values[key] = v
		}
	}
	return a
}

// parsers are the four languages, by the name of their parameter.
var parsers = map[string]func(string) (Expression, error){
	"ConditionExpression":    func(s string) (Expression, error) { return orNil(ParseCondition(s)) },
	"FilterExpression":       func(s string) (Expression, error) { return orNil(ParseFilter(s)) },
	"UpdateExpression":       func(s string) (Expression, error) { return orNil(ParseUpdate(s)) },
	"ProjectionExpression":   func(s string) (Expression, error) { return orNil(ParseProjection(s)) },
	"KeyConditionExpression": func(s string) (Expression, error) { return orNil(ParseKeyCondition(s)) },
}

func orNil[E Expression](e E, err error) (Expression, error) {
	if err != nil {
		return nil, err
	}
	return e, nil
}

// refusal parses and checks; it returns the error's text, "" for none.
func refusal(t *testing.T, parameter, src string, names map[string]string) string {
	t.Helper()
	e, err := parsers[parameter](src)
	if err == nil {
		err = e.Check(args(e, names))
	}
	if k, ok := e.(*KeyCondition); ok && err == nil {
		err = k.CheckForm(args(e, names))
	}
	return text(t, err)
}

func text(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	_, ours := errors.AsType[*Error](err)
	if name := fmt.Sprintf("%T", err); !ours && !strings.HasPrefix(name, "*attr.") {
		t.Errorf("error %v is a %s, want an *expr.Error or one of attr", err, name)
	}
	return err.Error()
}
