package expr

import (
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// A built expression prints to a source that parses to the same expression, with the names and values of the Builder.
func TestBuiltExpressionsPrint(t *testing.T) {
	var b Builder
	condition := b.Condition("OR", []Test{
		{Attribute: "a.b", Operator: "NOT_CONTAINS", Values: []attr.Value{attr.S("x")}},
		{Attribute: "#0", Operator: "BETWEEN", Values: []attr.Value{attr.Int(1), attr.Int(2)}},
		{Attribute: "size", Operator: "IN", Values: []attr.Value{attr.Int(1), attr.Int(2), attr.Int(3)}},
		{Attribute: "z", Operator: "NULL"},
	})
	update := b.Update([]Change{
		{Attribute: "n", Action: "ADD", Value: attr.Int(1)},
		{Attribute: "a.b", Action: "PUT", Value: attr.S("x")},
		{Attribute: "gone", Action: "DELETE"},
		{Attribute: "list", Action: "ADD", Value: attr.L{attr.Int(1)}},
		{Attribute: "set", Action: "DELETE", Value: attr.SS{"x"}},
	})
	projection := b.Projection([]string{"a.b", "status"})
	for _, tt := range []struct {
		built Expression
		parse func(string) (Expression, error)
		want  string
	}{
		{condition, func(s string) (Expression, error) { return ParseCondition(s) },
			"attribute_exists(#0) AND NOT contains(#0, :0) OR #1 BETWEEN :1 AND :2 OR #2 IN (:3, :4, :5) OR " +
				"attribute_not_exists(#3)"},
		{update, func(s string) (Expression, error) { return ParseUpdate(s) },
			"SET #5 = :7, #7 = list_append(if_not_exists(#7, :8), :9) REMOVE #6 ADD #4 :6 DELETE #8 :10"},
		{projection, func(s string) (Expression, error) { return ParseProjection(s) }, "#9, #10"},
	} {
		if got := tt.built.String(); got != tt.want {
			t.Errorf("built %s\nwant  %s", got, tt.want)
		}
		parsed, err := tt.parse(tt.want)
		if err != nil {
			t.Errorf("%s: %v", tt.want, err)
			continue
		}
		if got := parsed.String(); got != tt.want {
			t.Errorf("parsed %s\nwant   %s", got, tt.want)
		}
		if err := tt.built.Check(b.Args()); err != nil {
			t.Errorf("%s: Check: %v", tt.want, err)
		}
	}
	if err := Unused(b.Args(), condition, update, projection); err != nil {
		t.Error(err)
	}
}

// If an attribute has another type, the error has the text for legacy updates.
func TestBuiltUpdateMismatch(t *testing.T) {
	for _, tt := range []struct {
		old  attr.Value
		do   Change
		want string
	}{
		{attr.S("x"), Change{"a", "ADD", attr.Int(1)}, "Type mismatch for attribute to update"},
		{attr.S("x"), Change{"a", "ADD", attr.L{}}, "Type mismatch for attribute to update"},
		{attr.L{}, Change{"a", "DELETE", attr.SS{"x"}}, "Type mismatch for attribute to update"},
		{attr.S("x"), Change{"a", "PUT", attr.L{}}, ""},
		{attr.S("x"), Change{"a", "DELETE", nil}, ""},
	} {
		var b Builder
		_, err := b.Update([]Change{tt.do}).Apply(attr.Item{"a": tt.old}, b.Args())
		if got := text(t, err); got != tt.want {
			t.Errorf("%v of %v: got %q, want %q", tt.do, tt.old, got, tt.want)
		}
	}
}

// A built key condition is bound like a parsed one. Its errors about operators that no key can have are those for
// legacy parameters.
func TestBuiltKeyCondition(t *testing.T) {
	hash, sort := Key{"pk", "S"}, Key{"sk", "N"}
	pk := Test{Attribute: "pk", Operator: "EQ", Values: []attr.Value{attr.S("a")}}
	var b Builder
	got, err := b.KeyCondition([]Test{pk, {"sk", "LE", []attr.Value{attr.Int(3)}}}).Bind(Args{}, hash, sort)
	if err != nil || got.Hash != attr.S("a") || got.Low != nil || got.High != attr.Value(attr.Int(3)) ||
		got.HighExclusive {
		t.Errorf("got %v, %v", got, err)
	}
	for operator, want := range map[string]string{
		"NE": "Attempted conditional constraint is not an indexable operation",
		"IN": "Attempted conditional constraint is not an indexable operation",
	} {
		_, err := b.KeyCondition([]Test{pk, {"sk", operator, []attr.Value{attr.Int(3)}}}).Bind(Args{}, hash, sort)
		if got := text(t, err); got != want {
			t.Errorf("%s: got %q, want %q", operator, got, want)
		}
	}
}
