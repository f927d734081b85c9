package expr

import (
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

//go:embed testdata/refused.txt
var refused string

func TestRefused(t *testing.T) {
	names := map[string]string{"#a": "a", "#b": "a.b", "#p": "pk"}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(refused), "\n\n") {
		head, rows, _ := strings.Cut(paragraph, ":\n")
		if strings.HasPrefix(head, "//") != (rows == "") {
			t.Fatalf("found a paragraph that is neither a comment nor has rows:\n%s", paragraph)
		}
		if rows == "" {
			continue
		}
		for row := range strings.SplitSeq(rows, "\n") {
			src, message, _ := strings.Cut(row, " => ")
			if strings.HasPrefix(src, "//") {
				continue
			}
			if quoted, err := strconv.Unquote(src); err == nil {
				src = quoted
			}
			for parameter := range strings.FieldsSeq(head) {
				want := strings.ReplaceAll(message, "PARAMETER", parameter)
				if got := refusal(t, parameter, src, names); got != want {
					t.Errorf("%s %q:\n got %s\nwant %s", parameter, src, got, want)
				}
			}
		}
	}
}

func TestUnused(t *testing.T) {
	cond, err := ParseCondition("#a = :a AND #b.c = :a")
	must.OK(t, err)
	update, err := ParseUpdate("SET x = :b REMOVE #c")
	must.OK(t, err)
	v := attr.Int(1)
	const inNames = "Value provided in ExpressionAttributeNames unused in expressions: keys: "
	const inValues = "Value provided in ExpressionAttributeValues unused in expressions: keys: "
	tests := []struct {
		name string
		args Args
		used []Expression
		want string
	}{
		{"nothing given", Args{}, nil, ""},
		{"all used", Args{
			Names: map[string]string{"#a": "a", "#b": "b", "#c": "c"}, Values: map[string]attr.Value{":a": v, ":b": v},
		}, []Expression{cond, update}, ""},
		{"by one only", Args{Names: map[string]string{"#a": "a", "#b": "b"}, Values: map[string]attr.Value{":a": v}},
			[]Expression{cond}, ""},
		{"a name", Args{Names: map[string]string{
			"#a": "a", "#b": "b", "#z": "z", "#y": "y",
		}, Values: map[string]attr.Value{":z": v}}, []Expression{cond}, inNames + "{#y, #z}"},
		{"a value", Args{Values: map[string]attr.Value{":a": v, ":z": v, ":y": v}},
			[]Expression{cond}, inValues + "{:y, :z}"},
		{"no expression", Args{Values: map[string]attr.Value{":a": v}}, nil, inValues + "{:a}"},
	}
	for _, tt := range tests {
		if got := text(t, unused(tt.args, tt.used...)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestValidateArgs(t *testing.T) {
	long := "#" + string(make([]byte, 255))
	tests := []struct {
		args Args
		want string
	}{
		{Args{}, ""},
		{Args{Names: map[string]string{"#a_1": "x.y"}, Values: map[string]attr.Value{":0": attr.Int(1)}}, ""},
		{Args{Names: map[string]string{}}, "ExpressionAttributeNames must not be empty"},
		{Args{Values: map[string]attr.Value{}}, "ExpressionAttributeValues must not be empty"},
		{Args{Names: map[string]string{"a": "x", "b": "y"}},
			`ExpressionAttributeNames contains invalid key: Syntax error; key: "a"`},
		{Args{Names: map[string]string{"#a-b": "x"}},
			`ExpressionAttributeNames contains invalid key: Syntax error; key: "#a-b"`},
		{Args{Names: map[string]string{"#": "x"}},
			`ExpressionAttributeNames contains invalid key: Syntax error; key: "#"`},
		{Args{Names: map[string]string{"#a": ""}},
			"ExpressionAttributeNames contains invalid value: Empty attribute name for key #a"},
		{Args{Names: map[string]string{long: "x"}},
			"ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too " +
				"long; size of key: 256"},
		{Args{Values: map[string]attr.Value{"v": attr.Int(1)}},
			`ExpressionAttributeValues contains invalid key: Syntax error; key: "v"`},
	}
	for _, tt := range tests {
		if got := text(t, tt.args.Validate()); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.args, got, tt.want)
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

// refusal parses and checks a source; it returns the error's text, "" for none.
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

var (
	hashKey = Key{Name: "pk", Kind: "S"}
	sortKey = Key{Name: "sk", Kind: "S"}
)

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.KeyConditionExpressions.html
func TestBind(t *testing.T) {
	a, b := attr.S("a"), attr.S("b")
	tests := []struct {
		src       string
		want      Bounds
		in, notIn []attr.Value
	}{
		{"pk = :s", Bounds{Hash: a}, []attr.Value{attr.S("x"), attr.S("y")}, nil},
		{"pk = :s AND sk = :r", Bounds{Hash: a, Low: b, High: b}, []attr.Value{b}, []attr.Value{a, attr.S("ba")}},
		{"sk = :r AND pk = :s", Bounds{Hash: a, Low: b, High: b}, []attr.Value{b}, []attr.Value{a}},
		{"(pk = :s) and (sk = :r)", Bounds{Hash: a, Low: b, High: b}, []attr.Value{b}, []attr.Value{a}},
		{"(pk = :s AND (sk < :r))", Bounds{Hash: a, High: b, HighExclusive: true},
			[]attr.Value{a, attr.S("az")}, []attr.Value{b}},
		{"pk = :s AND sk <= :r", Bounds{Hash: a, High: b}, []attr.Value{a, b}, []attr.Value{attr.S("ba")}},
		{"pk = :s AND sk > :r", Bounds{Hash: a, Low: b, LowExclusive: true},
			[]attr.Value{attr.S("ba")}, []attr.Value{a, b}},
		{"pk = :s AND sk >= :r", Bounds{Hash: a, Low: b}, []attr.Value{b, attr.S("ba")}, []attr.Value{a}},
		{"pk = :s AND sk BETWEEN :s AND :r", Bounds{Hash: a, Low: a, High: b}, []attr.Value{a, attr.S("ab"), b},
			[]attr.Value{attr.S("A"), attr.S("ba")}},
		{"pk = :s AND begins_with(sk, :r)", Bounds{Hash: a, Low: b, High: attr.S("c"), HighExclusive: true},
			[]attr.Value{b, attr.S("b\U0010FFFF")}, []attr.Value{a, attr.S("c")}},
		{":s = pk AND :r >= sk", Bounds{Hash: a, High: b}, []attr.Value{a, b}, []attr.Value{attr.S("ba")}},
		{":s = pk AND :r < sk", Bounds{Hash: a, Low: b, LowExclusive: true},
			[]attr.Value{attr.S("ba")}, []attr.Value{b}},
		{"#p = :s AND #s = :r", Bounds{Hash: a, Low: b, High: b}, []attr.Value{b}, []attr.Value{a}},
	}
	for _, tt := range tests {
		k, err := ParseKeyCondition(tt.src)
		if err != nil {
			t.Errorf("%s: %v", tt.src, err)
			continue
		}
		given := args(k, map[string]string{"#p": "pk", "#s": "sk"})
		if err := k.Check(given); err != nil {
			t.Errorf("%s: Check: %v", tt.src, err)
		}
		got, err := k.Bind(given, hashKey, sortKey)
		if err != nil || !attr.Equal(got.Hash, tt.want.Hash) || !attr.Equal(got.Low, tt.want.Low) ||
			!attr.Equal(got.High, tt.want.High) ||
			got.LowExclusive != tt.want.LowExclusive || got.HighExclusive != tt.want.HighExclusive {
			t.Errorf("%s: got %v, %v; want %v", tt.src, got, err, tt.want)
		}
		for _, v := range tt.in {
			if !got.Contains(v) {
				t.Errorf("%s does not contain %v", tt.src, v)
			}
		}
		for _, v := range tt.notIn {
			if got.Contains(v) {
				t.Errorf("%s contains %v", tt.src, v)
			}
		}
	}
}

func TestPrefixes(t *testing.T) {
	tests := []struct{ prefix, want attr.Value }{
		{attr.S("a"), attr.S("b")},
		{attr.S("a\x7F"), attr.S("a\x80")},
		{attr.B{1, 0xFF}, attr.B{2}},
		{attr.B{0xFF, 0xFF}, nil},
		{attr.B{0}, attr.B{1}},
	}
	for _, tt := range tests {
		if got := afterPrefix(tt.prefix); !attr.Equal(got, tt.want) {
			t.Errorf("after all with the prefix %v: %v, want %v", tt.prefix, got, tt.want)
		}
	}
	prefix := attr.B{0xFF}
	if afterPrefix(prefix); prefix[0] != 0xFF {
		t.Error("the prefix was changed")
	}
}

func TestBindRefuses(t *testing.T) {
	const (
		missed       = "Query condition missed key schema element: "
		notSupported = "Query key condition not supported"
		tooMany      = "The number of query conditions "
		otherType    = "One or more parameter values were invalid: Condition parameter type does not match schema type"
		emptyKey     = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot " +
			"contain an empty "
	)
	none := Key{}
	tests := []struct {
		src        string
		hash, sort Key
		want       string
	}{
		{"sk = :s", hashKey, sortKey, missed + "pk"},
		{"x = :s AND y = :r", hashKey, sortKey, missed + "pk"},
		{"pk = :s AND x = :r", hashKey, sortKey, missed + "sk"},
		{"pk > :s", hashKey, sortKey, notSupported},
		{"begins_with(pk, :s)", hashKey, sortKey, notSupported},
		{"pk > :s AND x = :r", hashKey, sortKey, notSupported},
		{"pk = :s AND sk = :r", hashKey, none, tooMany + "(2) exceeds the number of key attributes defined in the " +
			"schema (1)"},
		{"x = :s AND y = :r AND z = :s", hashKey, sortKey, tooMany + "(3) exceeds the number of key attributes " +
			"defined in the schema (2)"},
		{"pk = :n", hashKey, sortKey, otherType},
		{"pk = :n AND x = :s", hashKey, sortKey, otherType},
		{"pk = :s AND sk = :n", hashKey, sortKey, otherType},
		{"pk = :s AND begins_with(sk, :b)", hashKey, sortKey, otherType},
		{"pk = :t", hashKey, sortKey, otherType},
		{"pk = :e", hashKey, sortKey, emptyKey + "string value. Key: pk"},
		{"pk = :s AND begins_with(sk, :e)", hashKey, sortKey, emptyKey + "string value. Key: sk"},
		{"pk = :n AND sk BETWEEN :n AND :m", Key{"pk", "N"}, Key{"sk", "N"}, ""},
		{"pk = :b AND begins_with(sk, :b)", Key{"pk", "B"}, Key{"sk", "B"}, ""},
	}
	for _, tt := range tests {
		k, err := ParseKeyCondition(tt.src)
		if err != nil {
			t.Errorf("%s: %v", tt.src, err)
			continue
		}
		_, err = k.Bind(args(k, nil), tt.hash, tt.sort)
		if got := text(t, err); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.src, got, tt.want)
		}
	}
}
