package expr

import (
	"slices"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

const (
	noOperand   = "The provided expression refers to an attribute that does not exist in the item"
	wrongType   = "An operand in the update expression has an incorrect data type"
	invalidPath = "The document path provided in the update expression is invalid for update"
)

func list(values ...int64) attr.L {
	out := attr.L{}
	for _, v := range values {
		out = append(out, attr.Int(v))
	}
	return out
}

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html The
// results for lists in mixed updates are learnt from DynamoDB Local 3.3.1.
func TestApply(t *testing.T) {
	tests := []struct {
		src  string
		old  attr.Item
		want attr.Item
		err  string
	}{
		// SET
		{"SET a = :n", nil, attr.Item{"a": attr.Int(1)}, ""},
		{"SET a = :n, b = :s", attr.Item{"a": attr.S("x"), "c": attr.NULL{}}, attr.Item{"a": attr.Int(1), "b": attr.S("a"), "c": attr.NULL{}}, ""},
		{"SET a = b, b = a", attr.Item{"a": attr.Int(1), "b": attr.Int(2)}, attr.Item{"a": attr.Int(2), "b": attr.Int(1)}, ""},
		{"SET a = :n, b = a", attr.Item{"a": attr.Int(5)}, attr.Item{"a": attr.Int(1), "b": attr.Int(5)}, ""},
		{"SET a = a + :n, b = :m - :n", attr.Item{"a": attr.Int(5)}, attr.Item{"a": attr.Int(6), "b": attr.Int(1)}, ""},
		{"SET a = a - b", attr.Item{"a": num("0.3"), "b": num("0.1")}, attr.Item{"a": num("0.2"), "b": num("0.1")}, ""},
		{"SET a = if_not_exists(a, :n)", nil, attr.Item{"a": attr.Int(1)}, ""},
		{"SET a = if_not_exists(a, :n)", attr.Item{"a": attr.S("x")}, attr.Item{"a": attr.S("x")}, ""},
		{"SET a = if_not_exists(a, :n) + :n", attr.Item{"a": attr.Int(5)}, attr.Item{"a": attr.Int(6)}, ""},
		{"SET a = list_append(a, :l)", attr.Item{"a": list(0)}, attr.Item{"a": list(0, 1)}, ""},
		{"SET a = list_append(:l, a)", attr.Item{"a": list(0)}, attr.Item{"a": list(1, 0)}, ""},
		{"SET a = list_append(if_not_exists(a, :l), :l)", nil, attr.Item{"a": list(1, 1)}, ""},
		{"SET a.b = :n", attr.Item{"a": attr.M{"c": attr.Int(2)}}, attr.Item{"a": attr.M{"b": attr.Int(1), "c": attr.Int(2)}}, ""},
		{"SET a.b.c = :n, a.d = :s", attr.Item{"a": attr.M{"b": attr.M{}}}, attr.Item{"a": attr.M{"b": attr.M{"c": attr.Int(1)}, "d": attr.S("a")}}, ""},
		{"SET a[0] = :n", attr.Item{"a": list(5, 6)}, attr.Item{"a": list(1, 6)}, ""},
		{"SET a[0] = :n", attr.Item{"a": list()}, attr.Item{"a": list(1)}, ""},
		{"SET a[9] = :n", attr.Item{"a": list(5)}, attr.Item{"a": list(5, 1)}, ""},
		{"SET a[5] = :n, a[3] = :m", attr.Item{"a": list(9)}, attr.Item{"a": list(9, 2, 1)}, ""},
		{"SET a[0] = a[1], a[1] = a[0]", attr.Item{"a": list(5, 6)}, attr.Item{"a": list(6, 5)}, ""},
		{"SET a[0].b = :n", attr.Item{"a": attr.L{attr.M{}}}, attr.Item{"a": attr.L{attr.M{"b": attr.Int(1)}}}, ""},
		{"SET #dot = :n", attr.Item{"a": attr.M{"b": attr.Int(2)}}, attr.Item{"a": attr.M{"b": attr.Int(2)}, "a.b": attr.Int(1)}, ""},

		// REMOVE
		{"REMOVE a, c", attr.Item{"a": attr.Int(1), "b": attr.Int(2)}, attr.Item{"b": attr.Int(2)}, ""},
		{"REMOVE a", nil, attr.Item{}, ""},
		{"REMOVE a.b", attr.Item{"a": attr.M{"b": attr.Int(1), "c": attr.Int(2)}}, attr.Item{"a": attr.M{"c": attr.Int(2)}}, ""},
		{"REMOVE a.x", attr.Item{"a": attr.M{"b": attr.Int(1)}}, attr.Item{"a": attr.M{"b": attr.Int(1)}}, ""},
		{"REMOVE a[0], a[2]", attr.Item{"a": list(0, 1, 2, 3)}, attr.Item{"a": list(1, 3)}, ""},
		{"REMOVE a[0]", attr.Item{"a": list(0)}, attr.Item{"a": list()}, ""},
		{"REMOVE a[9]", attr.Item{"a": list(0)}, attr.Item{"a": list(0)}, ""},
		{"SET a[1] = :m REMOVE a[0]", attr.Item{"a": list(9, 8, 7)}, attr.Item{"a": list(2, 7)}, ""},
		{"SET a[9] = :m REMOVE a[0]", attr.Item{"a": list(9, 8)}, attr.Item{"a": list(8, 2)}, ""},

		// ADD
		{"ADD a :n", nil, attr.Item{"a": attr.Int(1)}, ""},
		{"ADD a :n", attr.Item{"a": attr.Int(5)}, attr.Item{"a": attr.Int(6)}, ""},
		{"ADD a :ss", nil, attr.Item{"a": attr.SS{"a", "b"}}, ""},
		{"ADD a :ss", attr.Item{"a": attr.SS{"c", "b"}}, attr.Item{"a": attr.SS{"a", "b", "c"}}, ""},
		{"ADD a :ns", attr.Item{"a": attr.NS{attr.Int(4).Number}}, attr.Item{"a": attr.NS{attr.Int(1).Number, attr.Int(4).Number}}, ""},
		{"ADD a :bs", attr.Item{"a": attr.BS{{9}}}, attr.Item{"a": attr.BS{{0, 1, 2}, {9}}}, ""},
		{"ADD a.b :n", attr.Item{"a": attr.M{}}, attr.Item{"a": attr.M{"b": attr.Int(1)}}, ""},
		{"ADD a[0] :n, a[7] :m", attr.Item{"a": list(3)}, attr.Item{"a": list(4, 2)}, ""},

		// DELETE
		{"DELETE a :ss", attr.Item{"a": attr.SS{"a", "c"}}, attr.Item{"a": attr.SS{"c"}}, ""},
		{"DELETE a :ss", attr.Item{"a": attr.SS{"b", "a"}}, attr.Item{}, ""},
		{"DELETE a :ns", attr.Item{"a": attr.NS{attr.Int(1).Number}}, attr.Item{}, ""},
		{"DELETE a :bs", attr.Item{"a": attr.BS{{0, 1, 2}, {9}}}, attr.Item{"a": attr.BS{{9}}}, ""},
		{"DELETE a :ss", nil, attr.Item{}, ""},
		{"DELETE a.b :ss", attr.Item{"a": attr.M{"b": attr.SS{"a"}}}, attr.Item{"a": attr.M{}}, ""},
		{"DELETE a[0] :ss, a[5] :ss", attr.Item{"a": attr.L{attr.SS{"a"}, attr.Int(1)}}, attr.Item{"a": list(1)}, ""},

		// All at once
		{"SET a = :n REMOVE b ADD c :n DELETE d :ss", attr.Item{"b": attr.Int(1), "c": attr.Int(1), "d": attr.SS{"b", "x"}}, attr.Item{"a": attr.Int(1), "c": attr.Int(2), "d": attr.SS{"x"}}, ""},

		// Errors
		{"SET a = b", nil, nil, noOperand},
		{"SET a = b.c[0]", attr.Item{"b": attr.M{}}, nil, noOperand},
		{"SET a = a + :n", nil, nil, noOperand},
		{"SET a = if_not_exists(b, c)", nil, nil, noOperand},
		{"SET a = if_not_exists(b, c)", attr.Item{"b": attr.Int(1)}, nil, noOperand},
		{"SET a = list_append(a, :l)", nil, nil, noOperand},
		{"SET a = a + :n", attr.Item{"a": attr.S("1")}, nil, wrongType},
		{"SET a = :n - a", attr.Item{"a": attr.NULL{}}, nil, wrongType},
		{"SET a = list_append(:l, a)", attr.Item{"a": attr.SS{"x"}}, nil, wrongType},
		{"SET a = if_not_exists(b, :s) + :n", nil, nil, wrongType},
		{"ADD a :n", attr.Item{"a": attr.S("1")}, nil, wrongType},
		{"ADD a :n", attr.Item{"a": attr.NS{attr.Int(1).Number}}, nil, wrongType},
		{"ADD a :ss", attr.Item{"a": attr.NS{attr.Int(1).Number}}, nil, wrongType},
		{"DELETE a :ss", attr.Item{"a": attr.NS{attr.Int(1).Number}}, nil, wrongType},
		{"DELETE a :ss", attr.Item{"a": attr.S("a")}, nil, wrongType},
		{"SET a.b = :n", nil, nil, invalidPath},
		{"SET a.b = :n", attr.Item{"a": attr.Int(1)}, nil, invalidPath},
		{"SET a.b = :n", attr.Item{"a": list()}, nil, invalidPath},
		{"SET a[0] = :n", nil, nil, invalidPath},
		{"SET a[0] = :n", attr.Item{"a": attr.M{}}, nil, invalidPath},
		{"SET a[0].b = :n", attr.Item{"a": list()}, nil, invalidPath},
		{"SET a.b.c = :n", attr.Item{"a": attr.M{}}, nil, invalidPath},
		{"REMOVE a.b", nil, nil, invalidPath},
		{"REMOVE a.b", attr.Item{"a": list()}, nil, invalidPath},
		{"REMOVE a[0]", attr.Item{"a": attr.M{}}, nil, invalidPath},
		{"ADD a.b :n", nil, nil, invalidPath},
		{"DELETE a.b :ss", nil, nil, invalidPath},
		{"SET a = a + :n", attr.Item{"a": num("1E50")}, nil, "Number overflow. Attempting to store a number with magnitude larger than supported range"},
		{"ADD a :n", attr.Item{"a": num("1E125")}, nil, "Number overflow. Attempting to store a number with magnitude larger than supported range"},
		{"SET a.k = a", attr.Item{"a": deep(32)}, nil, "Nesting Levels have exceeded supported limits"},
	}
	for _, tt := range tests {
		u, err := ParseUpdate(tt.src)
		if err != nil {
			t.Errorf("%s: %v", tt.src, err)
			continue
		}
		given := args(u, map[string]string{"#dot": "a.b"})
		if err := u.Check(given); err != nil {
			t.Errorf("%s: Check: %v", tt.src, err)
		}
		before := tt.old.String()
		got, err := u.Apply(tt.old, given)
		if text(t, err) != tt.err || !got.Equal(tt.want) {
			t.Errorf("%s on %s = %v, %v; want %v, %q", tt.src, before, got, err, tt.want, tt.err)
		}
		if after := tt.old.String(); after != before {
			t.Errorf("%s changed the old item from %s to %s", tt.src, before, after)
		}
	}
}

func deep(levels int) attr.Value {
	var v attr.Value = attr.M{}
	for range levels - 1 {
		v = attr.M{"k": v}
	}
	return v
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
		{"SET a = :n, b = :s", attr.Item{"a": attr.Int(5), "z": attr.Int(0)}, attr.Item{"a": attr.Int(5)}, attr.Item{"a": attr.Int(1), "b": attr.S("a")}},
		{"SET a = :n", attr.Item{"a": attr.Int(1)}, attr.Item{"a": attr.Int(1)}, attr.Item{"a": attr.Int(1)}},
		{"REMOVE a", attr.Item{"a": attr.Int(1)}, attr.Item{"a": attr.Int(1)}, nil},
		{"SET a.b = :n", nested, attr.Item{"a": attr.M{"b": attr.S("x")}}, attr.Item{"a": attr.M{"b": attr.Int(1)}}},
		{"SET a.c[1] = :n, a.b = :s", nested, attr.Item{"a": attr.M{"b": attr.S("x"), "c": list(2)}}, attr.Item{"a": attr.M{"b": attr.S("a"), "c": list(1)}}},
		{"SET a.x = :n", nested, nil, attr.Item{"a": attr.M{"x": attr.Int(1)}}},
		{"SET a.c[100] = :n", nested, nil, nil}, // the element is not at 100
		{"REMOVE a.c[1], a.c[3]", nested, attr.Item{"a": attr.M{"c": list(2)}}, attr.Item{"a": attr.M{"c": list(3)}}}, // what moved up
		{"DELETE d :ss", attr.Item{"d": attr.SS{"a"}}, attr.Item{"d": attr.SS{"a"}}, nil},
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
		src         string
		attributes  []string
		onlyRemoves bool
	}{
		{"SET a = b, c.d[0] = :n", []string{"a", "c"}, false},
		{"REMOVE a, a2, #x.y", []string{"a", "a2", "pk"}, true},
		{"DELETE a :ss REMOVE b", []string{"a", "b"}, true},
		{"ADD a :n REMOVE b", []string{"a", "b"}, false},
	}
	for _, tt := range tests {
		u, err := ParseUpdate(tt.src)
		if err != nil {
			t.Fatal(err)
		}
		if got := u.Attributes(Args{Names: map[string]string{"#x": "pk"}}); !slices.Equal(got, tt.attributes) {
			t.Errorf("%s: Attributes() = %v, want %v", tt.src, got, tt.attributes)
		}
		if got := u.OnlyRemoves(); got != tt.onlyRemoves {
			t.Errorf("%s: OnlyRemoves() = %v, want %v", tt.src, got, tt.onlyRemoves)
		}
	}
}

func BenchmarkApply(b *testing.B) {
	row := attr.Item{"pk": attr.S("CACHE#1"), "sk": attr.S("LOCK"), "lease_token": attr.S("t1"), "lease_expires_at": attr.Int(2208988860), "doc": attr.M{"a": list(1, 2)}}
	for _, src := range []string{"SET lease_expires_at = :now, lease_token = :s", "SET doc.a[0] = :n ADD hits :n"} {
		u, err := ParseUpdate(src)
		if err != nil {
			b.Fatal(err)
		}
		given := args(u, nil)
		b.Run(src, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := u.Apply(row, given); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
