package rules_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// asked records what it was asked to do.
type asked struct{ to string }

func (a *asked) Helper()           { a.to += "helper " }
func (a *asked) Fatal(args ...any) { a.to += "fatal " + fmt.Sprint(args...) }

// Without this function, hundreds of tests would no longer end at an error.
func TestOK(t *testing.T) {
	for want, err := range map[string]error{"": nil, "helper fatal it broke": errors.New("it broke")} {
		var a asked
		if must.OK(&a, err); a.to != want {
			t.Errorf("%v: got %q, want %q", err, a.to, want)
		}
		var b asked
		if must.Done(&b)("a result", err); b.to != "helper "+want {
			t.Errorf("%v: Done: got %q, want %q", err, b.to, "helper "+want)
		}
		var c asked
		if v := must.Of("a result", err)(&c); v != "a result" || c.to != "helper "+want {
			t.Errorf("%v: Of: got %q and %q, want the result and %q", err, v, c.to, "helper "+want)
		}
	}
}
