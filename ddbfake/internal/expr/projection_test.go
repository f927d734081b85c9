package expr

import (
	"slices"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.ProjectionExpressions.html
func TestProject(t *testing.T) {
	item := attr.Item{
		"pk":  attr.S("x"),
		"a":   attr.M{"b": attr.M{"c": attr.Int(1), "d": attr.Int(2)}, "e": attr.Int(3)},
		"l":   attr.L{attr.Int(0), list(10, 11), attr.M{"x": attr.Int(20), "y": attr.Int(21)}},
		"s":   attr.SS{"q"},
		"a.b": attr.Int(7),
	}
	tests := []struct {
		src  string
		want attr.Item
	}{
		{"pk", attr.Item{"pk": attr.S("x")}},
		{"pk, s", attr.Item{"pk": attr.S("x"), "s": attr.SS{"q"}}},
		{"a.b.c", attr.Item{"a": attr.M{"b": attr.M{"c": attr.Int(1)}}}},
		{"a.b.c, a.e", attr.Item{"a": attr.M{"b": attr.M{"c": attr.Int(1)}, "e": attr.Int(3)}}},
		{"l[0]", attr.Item{"l": list(0)}},
		{"l[2].x, l[1]", attr.Item{"l": attr.L{list(10, 11), attr.M{"x": attr.Int(20)}}}},
		{"l[1][1], l[0], l[1][0]", attr.Item{"l": attr.L{attr.Int(0), list(10, 11)}}},
		{"l[7], l[0]", attr.Item{"l": list(0)}},
		{"#dot", attr.Item{"a.b": attr.Int(7)}},
		{"zz", attr.Item{}},
		{"a.zz, l[9], s.x, a.e.x, l[1][7], l[2].z", attr.Item{}},
		{"l.a", attr.Item{}},
		{"a[0]", attr.Item{}},
	}
	for _, tt := range tests {
		p, err := ParseProjection(tt.src)
		if err != nil {
			t.Errorf("%s: %v", tt.src, err)
			continue
		}
		names := Args{Names: map[string]string{"#dot": "a.b"}}
		if got, err := p.Apply(item, names); err != nil || !got.Equal(tt.want) {
			t.Errorf("%s: got %v, %v; want %v", tt.src, got, err, tt.want)
		}
		if got, err := p.Apply(nil, names); err != nil || got != nil {
			t.Errorf("%s of a missing item: %v, %v", tt.src, got, err)
		}
	}
}

func TestProjectionAttributes(t *testing.T) {
	p, err := ParseProjection("a.b, #x, c[0], a.c")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Attributes(Args{Names: map[string]string{"#x": "pk"}}), []string{"a", "pk", "c"}; !slices.Equal(got, want) {
		t.Errorf("Attributes() = %v, want %v", got, want)
	}
	if got := p.Values(); got != nil {
		t.Errorf("Values() = %v, want none", got)
	}
}
