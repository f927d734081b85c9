package attr

import (
	"errors"

	"github.com/cockroachdb/apd/v3"
)

// Add returns n + m, exactly. It returns an error if the sum is beyond the range of numbers, or needs more than 38
// digits. The service says overflow in the second case, too.
//
// Source: https://github.com/scylladb/scylladb/blob/master/test/alternator/test_number.py
// (test_update_expression_plus_imprecise, run on AWS)
func (n Number) Add(m Number) (Number, error) {
	if sum, ok := addInts(n, m); ok {
		return sum, nil
	}
	return addDecimals(n, m)
}

// Neg returns -n. n - m is n.Add(m.Neg()).
func (n Number) Neg() Number {
	n.neg = !n.neg && n.coef != uint128{}
	return n
}

// addInts is the fast path, for counters and epoch seconds.
func addInts(n, m Number) (Number, bool) {
	a, ok := n.Int64()
	if !ok {
		return Number{}, false
	}
	b, ok := m.Int64()
	if !ok {
		return Number{}, false
	}
	sum := a + b
	if (sum > a) != (b > 0) && b != 0 {
		return Number{}, false
	}
	return fromInt64(sum), true
}

func addDecimals(n, m Number) (Number, error) {
	// Every number lies on a grid of 1E-167 (130 places and 37 more digits) below 1E126, so this precision makes the
	// sum exact.
	ctx := apd.BaseContext.WithPrecision(300)
	var sum apd.Decimal
	if _, err := ctx.Add(&sum, n.decimal(), m.decimal()); err != nil {
		return Number{}, &refusal{err.Error()}
	}
	result, err := ParseNumber(sum.Text('E'))
	if errors.Is(err, errPrecision) {
		err = errOverflow
	}
	return result, err
}

func (n Number) decimal() *apd.Decimal {
	var coef apd.BigInt
	coef.SetUint64(n.coef.hi)
	coef.Lsh(&coef, 64)
	coef.Add(&coef, new(apd.BigInt).SetUint64(n.coef.lo))
	d := apd.NewWithBigInt(&coef, int32(n.exp))
	d.Negative = n.neg
	return d
}
