package expr

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// checkRoundTrip prints an expression and parses the result, which must have the same nodes.
func checkRoundTrip(t *testing.T, parameter string, e Expression) {
	t.Helper()
	printed := e.String()
	if len(printed) > maxExpressionBytes {
		return // the printed form of a source of maximum length can be too long
	}
	again, err := parsers[parameter](printed)
	if err != nil {
		t.Errorf("%q does not parse back: %v", printed, err)
		return
	}
	opts := cmp.Options{
		cmp.AllowUnexported(Condition{}, Update{}, Projection{}, KeyCondition{}, uses{}, action{}, path{}, step{},
			placeholder{}, call{}, comparison{}, between{}, in{}, logic{}, not{}, arithmetic{}),
		cmpopts.IgnoreTypes((*function)(nil)),
	}
	if diff := cmp.Diff(e, again, opts); diff != "" {
		t.Errorf("%q parses back to other nodes (-want +got):\n%s", printed, diff)
	}
}

func seed(f *testing.F, sources ...string) {
	for _, s := range sources {
		f.Add(s)
	}
	for _, s := range []string{"", " ", "a", "((a))", "a.b[0].#n", "size(size(a)) = :n", "NOT", "é", "\x00", ":n :n",
		"a = :n AND b.c <> :s OR NOT d IN (:n, e)"} {
		f.Add(s)
	}
}

// fuzz asserts for every language: nothing panics, every parsed expression can be printed and parsed back, and
// evaluation does not change the item. The seeds catch each of these bugs when planted: groups of NOT and OR print
// without parentheses, a section prints without its space, an index prints as another one, begins_with is accepted for
// the partition key.
func fuzz(f *testing.F, parameter string, evaluate func(*testing.T, Expression, attr.Item, Args)) {
	item := attr.Item{
		"a": attr.Int(1), "b": attr.M{"c": attr.L{attr.S("x"), attr.M{"d": attr.Int(2)}}},
		"d": attr.SS{"a", "c"}, "e": attr.L{attr.Int(1), attr.Int(2)}, "f": attr.S("abc"),
	}
	before := item.String()
	f.Fuzz(func(t *testing.T, src string) {
		e, err := parsers[parameter](src)
		if err != nil {
			return
		}
		checkRoundTrip(t, parameter, e)
		for _, names := range []map[string]string{nil, {"#n": "a", "#m": "b"}} {
			given := args(e, names)
			checked := e.Check(given)
			evaluate(t, e, item, given)
			if checked == nil {
				evaluate(t, e, nil, given)
			}
		}
		if item.String() != before {
			t.Errorf("%q changed the item", src)
		}
	})
}

func FuzzParseCondition(f *testing.F) {
	seed(f, "attribute_not_exists(pk) OR lease_expires_at <= :now", "a BETWEEN :n AND :m",
		"contains(d, :s) AND begins_with(f, :s)", "attribute_type(e, :type)", "a = b AND (#n <> #m)",
		"NOT (a = b AND d = :n)", "a = b OR (d = :n OR e = :n)")
	fuzz(f, "ConditionExpression", func(_ *testing.T, e Expression, item attr.Item, args Args) {
		c := e.(*Condition)
		c.Eval(item, args)
		c.Attributes(args)
	})
}

func FuzzParseUpdate(f *testing.F) {
	seed(f, "SET a = a + :n, b.c[1].d = :s REMOVE e[0] ADD g :n DELETE d :ss", "SET e[9] = :n, e[0] = e[1]",
		"SET f = if_not_exists(g, f)", "SET e = list_append(e, :l)", "SET b.c[0] = :o")
	fuzz(f, "UpdateExpression", func(t *testing.T, e Expression, item attr.Item, args Args) {
		u := e.(*Update)
		if updated, err := u.Apply(item, args); err == nil {
			if updated == nil {
				t.Errorf("%s: no item and no error", u)
			}
			u.Touched(updated, args)
			if again, err := u.Apply(item, args); err != nil || !again.Equal(updated) {
				t.Errorf("%s a second time: %v, %v; want %v", u, again, err, updated)
			}
			if stored, err := attr.ItemFromSDK(updated.ToSDK()); err != nil || !stored.Equal(updated) {
				t.Errorf("%s: %v is no row: %v", u, updated, err)
			}
		}
	})
}

func FuzzParseProjection(f *testing.F) {
	seed(f, "a, b.c[1].d, e[1], e[0], #n", "b.c, b", "a.b, a[0]")
	fuzz(f, "ProjectionExpression", func(t *testing.T, e Expression, item attr.Item, args Args) {
		e.(*Projection).Apply(item, args)
	})
}

func FuzzParseKeyCondition(f *testing.F) {
	seed(f, "pk = :s AND sk BETWEEN :s AND :r", "begins_with(sk, :s) AND :s = pk", "pk = :s AND sk < :r",
		"begins_with(pk, :s) AND sk = :s")
	fuzz(f, "KeyConditionExpression", func(t *testing.T, e Expression, _ attr.Item, args Args) {
		b, err := e.(*KeyCondition).Bind(args, Key{"pk", "S"}, Key{"sk", "S"})
		if err == nil && b.Hash == nil {
			t.Errorf("%s: bound to no partition", e)
		}
	})
}
