package expr

import (
	"errors"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

func num(text string) attr.N {
	n, err := attr.ParseNumber(text)
	if err != nil {
		panic(err)
	}
	return attr.N{Number: n}
}

// values are the placeholders of the tests' expressions.
var values = map[string]attr.Value{
	":n": attr.Int(1), ":m": attr.Int(2), ":now": attr.Int(2208988800),
	":s": attr.S("a"), ":r": attr.S("b"), ":e": attr.S(""),
	":b": attr.B{0, 1, 2}, ":t": attr.BOOL(true), ":z": attr.NULL{},
	":o": attr.M{"k": attr.Int(1)}, ":l": attr.L{attr.Int(1)},
	":ss": attr.SS{"a", "b"}, ":ns": attr.NS{attr.FromInt64(1)}, ":bs": attr.BS{{0, 1, 2}},
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
	return text(t, err)
}

func text(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var ours *Error
	var theirs *attr.Error
	if !errors.As(err, &ours) && !errors.As(err, &theirs) {
		t.Errorf("error %v is a %T, want an *expr.Error or *attr.Error", err, err)
	}
	return err.Error()
}
