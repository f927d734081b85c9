package expr

import (
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
func TestEval(t *testing.T) {
	tests := []struct {
		src  string
		item attr.Item
		want bool
	}{
		// A missing item or attribute: comparisons are false, <> is true.
		{"attribute_not_exists(a)", nil, true},
		{"attribute_exists(a)", nil, false},
		{"a = :n", nil, false},
		{"a < :n", nil, false},
		{"a >= :n", nil, false},
		{"a <> :n", nil, true},
		{"NOT a = :n", nil, true},
		{"NOT a < :n", nil, true},
		{"a BETWEEN :n AND :m", nil, false},
		{"a IN (:n, b)", nil, false},
		{"a = b", nil, false},
		{"a <> b", nil, true},
		{"contains(a, :s)", nil, false},
		{"begins_with(a, :s)", nil, false},
		{"size(a) < :m", nil, false},
		{"size(a) <> :n", nil, true},
		{"attribute_type(a, :type)", nil, false},

		// Two types are never less, equal or more, only different.
		{"a < :now", attr.Item{"a": attr.S("1")}, false},
		{"a > :now", attr.Item{"a": attr.S("1")}, false},
		{"a <= :now", attr.Item{"a": attr.NULL{}}, false},
		{"a = :n", attr.Item{"a": attr.S("1")}, false},
		{"a <> :n", attr.Item{"a": attr.S("1")}, true},
		{"a BETWEEN :n AND :m", attr.Item{"a": attr.S("1")}, false},
		{"a IN (:n)", attr.Item{"a": attr.S("1")}, false},

		// Order.
		{"a = :n", attr.Item{"a": num("1.0")}, true},
		{"a <> :n", attr.Item{"a": num("1.0")}, false},
		{"a < :m", attr.Item{"a": num("1.9999999999999999999999999999999999999")}, true},
		{"a > :now", attr.Item{"a": attr.Int(2208988801)}, true},
		{"a > :now", attr.Item{"a": attr.Int(2208988800)}, false},
		{"a >= :now", attr.Item{"a": attr.Int(2208988800)}, true},
		{"a <= :now", attr.Item{"a": attr.Int(2208988800)}, true},
		{"a < :now", attr.Item{"a": attr.Int(2208988799)}, true},
		{":now > a", attr.Item{"a": attr.Int(2208988799)}, true},
		{"a < b", attr.Item{"a": attr.S("10"), "b": attr.S("9")}, true},
		{"a < b", attr.Item{"a": attr.B{0x7F}, "b": attr.B{0x80}}, true},
		{"a < b", attr.Item{"a": attr.BOOL(false), "b": attr.BOOL(true)}, false},
		{"a BETWEEN :n AND :m", attr.Item{"a": attr.Int(1)}, true},
		{"a BETWEEN :n AND :m", attr.Item{"a": attr.Int(2)}, true},
		{"a BETWEEN :n AND :m", attr.Item{"a": num("2.1")}, false},
		{"a IN (:m, :n)", attr.Item{"a": num("1.0")}, true},

		// Equality of documents and sets.
		{"a = b", attr.Item{"a": attr.SS{"x", "y"}, "b": attr.SS{"y", "x"}}, true},
		{"a = b", attr.Item{"a": attr.L{attr.Int(1)}, "b": attr.L{num("1.0")}}, true},
		{"a = b", attr.Item{"a": attr.M{"k": attr.NULL{}}, "b": attr.M{"k": attr.NULL{}}}, true},
		{"a = b", attr.Item{"a": attr.L{}, "b": attr.M{}}, false},

		// Functions.
		{"contains(a, :s)", attr.Item{"a": attr.S("bab")}, true},
		{"contains(a, :e)", attr.Item{"a": attr.S("bab")}, true},
		{"contains(a, :s)", attr.Item{"a": attr.SS{"a"}}, true},
		{"contains(a, :s)", attr.Item{"a": attr.SS{"ab"}}, false},
		{"contains(a, :n)", attr.Item{"a": attr.NS{attr.Int(1).Number}}, true},
		{"contains(a, :b)", attr.Item{"a": attr.BS{{0, 1, 2}}}, true},
		{"contains(a, :b)", attr.Item{"a": attr.B{9, 0, 1, 2}}, true},
		{"contains(a, :ss)", attr.Item{"a": attr.SS{"a", "b"}}, false},
		{"contains(a, :ss)", attr.Item{"a": attr.L{attr.SS{"b", "a"}}}, true},
		{"contains(a, :n)", attr.Item{"a": attr.L{num("1.0")}}, true},
		{"contains(a, :s)", attr.Item{"a": attr.M{"a": attr.Int(1)}}, false},
		{"contains(a, :n)", attr.Item{"a": attr.S("1")}, false},
		{"begins_with(a, :s)", attr.Item{"a": attr.S("ab")}, true},
		{"begins_with(a, :s)", attr.Item{"a": attr.S("ba")}, false},
		{"begins_with(a, :b)", attr.Item{"a": attr.B{0, 1, 2, 3}}, true},
		{"begins_with(a, :s)", attr.Item{"a": attr.Int(1)}, false},
		{"attribute_type(a, :type)", attr.Item{"a": attr.L{}}, true},
		{"attribute_type(a, :type)", attr.Item{"a": attr.M{}}, false},
		{"attribute_exists(a)", attr.Item{"a": attr.NULL{}}, true},
		{"size(a) = :m", attr.Item{"a": attr.S("é1")}, true}, // characters, not bytes
		{"size(a) = :m", attr.Item{"a": attr.S("\U0001F600")}, true},
		{"size(a) = :m", attr.Item{"a": attr.B{1, 2}}, true},
		{"size(a) = :m", attr.Item{"a": attr.L{attr.L{}, attr.L{}}}, true},
		{"size(a) = :m", attr.Item{"a": attr.M{"x": attr.L{}, "y": attr.L{}}}, true},
		{"size(a) = :m", attr.Item{"a": attr.SS{"x", "y"}}, true},
		{"size(a) < :now", attr.Item{"a": attr.Int(5)}, false}, // a number has no size
		{"size(a) <> :n", attr.Item{"a": attr.Int(5)}, true},

		// Paths.
		{"a.b[1].c = :n", attr.Item{"a": attr.M{"b": attr.L{attr.Int(0), attr.M{"c": attr.Int(1)}}}}, true},
		{"attribute_exists(a.b[2])", attr.Item{"a": attr.M{"b": attr.L{attr.Int(0)}}}, false},
		{"attribute_exists(a.b)", attr.Item{"a": attr.L{attr.Int(0)}}, false},
		{"attribute_exists(a[0])", attr.Item{"a": attr.M{"b": attr.Int(0)}}, false},
		{"attribute_exists(a.b.c.d)", attr.Item{"a": attr.Int(1)}, false},
		{"#dot = :n AND a.#a <> :n", attr.Item{"a.b": attr.Int(1), "a": attr.M{"b": attr.Int(1)}}, true},
		{"#hash = :n", attr.Item{"#a": attr.Int(1)}, true},

		// Logic: NOT binds tighter than AND, AND tighter than OR.
		{"a = :n OR a = :m AND a = :s", attr.Item{"a": attr.Int(1)}, true},
		{"(a = :n OR a = :m) AND a = :s", attr.Item{"a": attr.Int(1)}, false},
		{"NOT a = :m AND a = :n", attr.Item{"a": attr.Int(1)}, true},
		{"NOT (a = :n AND a = :m)", attr.Item{"a": attr.Int(1)}, true},
		{"not a = :n Or a = :n", attr.Item{"a": attr.Int(1)}, true},

		// A lease: absent or not held.
		{"attribute_not_exists(pk) OR lease_expires_at <= :now", nil, true},
		{"attribute_not_exists(pk) OR lease_expires_at <= :now", attr.Item{"pk": attr.S("x"), "lease_expires_at": attr.Int(2208988801)}, false},
		{"attribute_not_exists(pk) OR lease_expires_at <= :now", attr.Item{"pk": attr.S("x"), "lease_expires_at": attr.Int(2208988800)}, true},
		{"attribute_not_exists(pk) OR lease_expires_at <= :now", attr.Item{"pk": attr.S("x"), "lease_expires_at": attr.S("0")}, false},
	}
	names := map[string]string{"#dot": "a.b", "#a": "a", "#hash": "#a"}
	for _, tt := range tests {
		for _, parse := range []func(string) (*Condition, error){ParseCondition, ParseFilter} {
			c, err := parse(tt.src)
			if err != nil {
				t.Errorf("%s: %v", tt.src, err)
				continue
			}
			given := args(c, names)
			if err := c.Check(given); err != nil {
				t.Errorf("%s: Check: %v", tt.src, err)
			}
			if got, err := c.Eval(tt.item, given); err != nil || got != tt.want {
				t.Errorf("%s on %v = %v, %v; want %v", tt.src, tt.item, got, err, tt.want)
			}
		}
	}
}

// Eval without Check must not panic, and names undefined placeholders.
func TestEvalUnchecked(t *testing.T) {
	for _, src := range []string{"a = :x", "#x = a", "a.#x = a", "contains(a, :x)", "size(:x) = a", "a BETWEEN b AND :x", "a IN (b, :x)", "size(a, b) = c", "attribute_exists(a, b)"} {
		c, err := ParseCondition(src)
		if err != nil {
			t.Fatal(err)
		}
		ok, err := c.Eval(attr.Item{"a": attr.M{"x": attr.Int(1)}}, Args{})
		if ok || text(t, err) == "" {
			t.Errorf("%s = %v, %v; want an error", src, ok, err)
		}
	}
}

func BenchmarkEval(b *testing.B) {
	row := attr.Item{"pk": attr.S("CACHE#1"), "sk": attr.S("LOCK"), "lease_token": attr.S("t1"), "lease_expires_at": attr.Int(2208988860)}
	given := Args{
		Names:  map[string]string{"#pk": "pk"},
		Values: map[string]attr.Value{":now": attr.Int(2208988800), ":token": attr.S("t1")},
	}
	for _, src := range []string{
		"lease_expires_at <= :now",
		"attribute_not_exists(#pk) OR lease_expires_at <= :now",
		"lease_token = :token AND lease_expires_at > :now",
	} {
		c, err := ParseCondition(src)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(src, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Eval(row, given); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestEvalDoesNotAllocate(t *testing.T) {
	c, err := ParseCondition("lease_token = :token AND lease_expires_at > :now")
	if err != nil {
		t.Fatal(err)
	}
	row := attr.Item{"lease_token": attr.S("t1"), "lease_expires_at": attr.Int(2208988860)}
	given := Args{Values: map[string]attr.Value{":now": attr.Int(2208988800), ":token": attr.S("t1")}}
	if n := testing.AllocsPerRun(100, func() { c.Eval(row, given) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkParseCondition(b *testing.B) {
	for b.Loop() {
		if _, err := ParseCondition("attribute_not_exists(pk) OR lease_expires_at <= :now"); err != nil {
			b.Fatal(err)
		}
	}
}
