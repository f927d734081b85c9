package expr

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

func list(values ...int64) attr.L {
	out := attr.L{}
	for _, v := range values {
		out = append(out, attr.Int(v))
	}
	return out
}

// Source: https://github.com/scylladb/scylladb/blob/master/test/alternator/test_returnvalues.py (run on AWS)
func TestTouched(t *testing.T) {
	nested := attr.Item{"a": attr.M{"b": attr.S("x"), "c": list(1, 2, 3)}, "d": attr.S("y")}
	tests := []struct {
		src              string
		old              attr.Item
		wantOld, wantNew attr.Item
	}{
		{"SET a = :n", nil, nil, attr.Item{"a": attr.Int(1)}},
		{"SET a = :n, b = :s", attr.Item{"a": attr.Int(5), "z": attr.Int(0)}, attr.Item{"a": attr.Int(5)},
			attr.Item{"a": attr.Int(1), "b": attr.S("a")}},
		{"SET a = :n", attr.Item{"a": attr.Int(1)}, attr.Item{"a": attr.Int(1)}, attr.Item{"a": attr.Int(1)}},
		{"REMOVE a", attr.Item{"a": attr.Int(1)}, attr.Item{"a": attr.Int(1)}, nil},
		{"SET a.b = :n", nested, attr.Item{"a": attr.M{"b": attr.S("x")}}, attr.Item{"a": attr.M{"b": attr.Int(1)}}},
		{"SET a.c[1] = :n, a.b = :s", nested, attr.Item{"a": attr.M{"b": attr.S("x"), "c": list(2)}},
			attr.Item{"a": attr.M{"b": attr.S("a"), "c": list(1)}}},
		{"SET a.x = :n", nested, nil, attr.Item{"a": attr.M{"x": attr.Int(1)}}},
		// the new element was appended: it is not at index 100
		{"SET a.c[100] = :n", nested, nil, nil},
		// what moved up
		{"REMOVE a.c[1], a.c[3]", nested, attr.Item{"a": attr.M{"c": list(2)}}, attr.Item{"a": attr.M{"c": list(3)}}},
		{"DELETE d :ss", attr.Item{"d": attr.SS{"a"}}, attr.Item{"d": attr.SS{"a"}}, nil},
		{"ADD d :bs", attr.Item{"d": attr.BS{{2}, {3}}}, attr.Item{"d": attr.BS{{2}, {3}}},
			attr.Item{"d": attr.BS{{0, 1, 2}, {2}, {3}}}},
	}
	for _, tt := range tests {
		u, err := ParseUpdate(tt.src)
		if err != nil {
			t.Errorf("%s: %v", tt.src, err)
			continue
		}
		given := args(u, nil)
		updated, err := u.Apply(tt.old, given)
		if err != nil {
			t.Errorf("%s: %v", tt.src, err)
		}
		if got := u.Touched(tt.old, given); !got.Equal(tt.wantOld) {
			t.Errorf("%s: UPDATED_OLD %v, want %v", tt.src, got, tt.wantOld)
		}
		if got := u.Touched(updated, given); !got.Equal(tt.wantNew) {
			t.Errorf("%s: UPDATED_NEW %v, want %v", tt.src, got, tt.wantNew)
		}
	}
}

func TestUpdateProperties(t *testing.T) {
	tests := []struct {
		src            string
		attributes     []string
		createsNothing bool
	}{
		{"SET a = b, c.d[0] = :n", []string{"a", "c"}, false},
		{"REMOVE a, a2, #x.y", []string{"a", "a2", "pk"}, true},
		{"DELETE a :ss REMOVE b", []string{"a", "b"}, true},
		{"ADD a :n REMOVE b", []string{"a", "b"}, false},
	}
	for _, tt := range tests {
		u := must.Of(ParseUpdate(tt.src))(t)
		if got := u.Attributes(Args{Names: map[string]string{"#x": "pk"}}); !slices.Equal(got, tt.attributes) {
			t.Errorf("%s: Attributes() = %v, want %v", tt.src, got, tt.attributes)
		}
		if got := u.CreatesNothing(); got != tt.createsNothing {
			t.Errorf("%s: CreatesNothing() = %v, want %v", tt.src, got, tt.createsNothing)
		}
	}
}

// A condition is true or false of any row: operands may be missing, or of other types.
func TestEval(t *testing.T) {
	row := attr.Item{"n": attr.Int(3), "s": attr.S("a"), "t": attr.S("b")}
	given := Args{Values: map[string]attr.Value{":one": attr.Int(1), ":two": attr.Int(2), ":three": attr.Int(3)}}
	tests := map[string]bool{
		"n BETWEEN :two AND :three": true, "n BETWEEN :three AND :three": true, "n BETWEEN :one AND :two": false,
		"n BETWEEN n2 AND :three": false, "s BETWEEN :one AND :two": false, "n BETWEEN :two AND s": false,
		"n BETWEEN s AND :three": false, "s BETWEEN t AND t": false,
		"x IN (y)": false, "x IN (y, n)": false, "n IN (:one, :three, :two)": true, "n IN (:one, :two)": false,
	}
	for key, v := range values {
		kind := ":" + string(attr.KindOf(v))
		given.Values[kind], row["of"+key[1:]] = attr.S(attr.KindOf(v)), v
		tests["attribute_type(of"+key[1:]+", "+kind+")"] = true
		tests["attribute_type(x, "+kind+")"] = false
	}
	for src, want := range tests {
		c := must.Of(ParseCondition(src))(t)
		must.OK(t, c.Check(given))
		if got, err := c.Eval(row, given); got != want || err != nil {
			t.Errorf("%s = %v, %v; want %v", src, got, err, want)
		}
	}
}

// Eval without Check must not panic, and reports undefined placeholders.
func TestEvalUnchecked(t *testing.T) {
	for _, src := range []string{"a = :x", "#x = a", "a.#x = a", "contains(a, :x)", "size(:x) = a",
		"a BETWEEN b AND :x", "a IN (b, :x)", "size(a, b) = c", "attribute_exists(a, b)"} {
		c, err := ParseCondition(src)
		must.OK(t, err)
		ok, err := c.Eval(attr.Item{"a": attr.M{"x": attr.Int(1)}}, Args{})
		if ok || text(t, err) == "" {
			t.Errorf("%s = %v, %v; want an error", src, ok, err)
		}
	}
}

func TestEvalDoesNotAllocate(t *testing.T) {
	c := must.Of(ParseCondition("lease_token = :token AND lease_expires_at > :now"))(t)
	row := attr.Item{"lease_token": attr.S("t1"), "lease_expires_at": attr.Int(2208988860)}
	given := Args{Values: map[string]attr.Value{":now": attr.Int(2208988800), ":token": attr.S("t1")}}
	if n := testing.AllocsPerRun(100, func() { c.Eval(row, given) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// Empty names and values are left to Validate, whatever the previous request had.
func TestNothingEmptyIsBound(t *testing.T) {
	one := map[string]types.AttributeValue{":a": &types.AttributeValueMemberN{Value: "1"}}
	for _, names := range []map[string]string{nil, {"#a": "a"}} {
		var b Bindings
		if !b.Bind(names, one) {
			t.Errorf("%v is not bound", names)
		}
		if b.Bind(map[string]string{}, one) || b.Bind(names, map[string]types.AttributeValue{}) {
			t.Errorf("after %v, what is empty is bound", names)
		}
	}
}

// A request with the names and keys of the previous one is checked again if the check could find another mistake.
func TestCheckOfBindings(t *testing.T) {
	n, s := &types.AttributeValueMemberN{Value: "1"}, &types.AttributeValueMemberS{Value: "2"}
	update := must.Of(ParseUpdate("SET a = :v, #b = :v"))(t)
	condition := must.Of(ParseCondition("a > :v"))(t)
	between := must.Of(ParseCondition("a BETWEEN :low AND :v"))(t)
	ofType := must.Of(ParseCondition("attribute_type(a, :v)"))(t)
	type values = map[string]types.AttributeValue
	names, truth := map[string]string{"#b": "b"}, &types.AttributeValueMemberBOOL{Value: true}
	steps := []struct {
		names  map[string]string
		values values
		used   []Expression
		ok     bool
	}{
		{names, values{":v": n}, []Expression{update, condition}, true},
		{names, values{":v": s}, []Expression{update, condition}, true},
		{names, values{":v": truth}, []Expression{update, condition}, false},
		{names, values{":v": s}, []Expression{update}, true},
		{map[string]string{"#b": "a"}, values{":v": s}, []Expression{update}, false},
		{map[string]string{"#c": "b"}, values{":v": s}, []Expression{update}, false},
		{names, values{":v": s}, []Expression{update}, true},
		{names, values{":v": s}, []Expression{condition}, false},
		{names, values{":v": s}, nil, false},
		{nil, values{":v": s}, []Expression{condition}, true},
		{nil, values{":w": s}, []Expression{condition}, false},
		{nil, values{":low": n, ":v": n}, []Expression{between}, true},
		{nil, values{":low": n, ":v": &types.AttributeValueMemberN{Value: "0"}}, []Expression{between}, false},
		{nil, values{":v": &types.AttributeValueMemberS{Value: "N"}}, []Expression{ofType}, true},
		{nil, values{":v": s}, []Expression{ofType}, false},
		{nil, values{":v": s}, nil, false},
	}
	var b Bindings
	for i, step := range steps {
		if !b.Bind(step.names, step.values) {
			t.Fatalf("step %d is not bound", i)
		}
		if err := Check(Args{Bound: &b}, step.used...); (err == nil) != step.ok {
			t.Errorf("step %d: got %v, want none: %t", i, err, step.ok)
		}
	}
}
