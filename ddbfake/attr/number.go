package attr

import (
	"cmp"
	"errors"
	"math"
	"math/bits"

	"github.com/cockroachdb/apd/v3"
)

// Number is a DynamoDB number: up to 38 significant digits, zero or a magnitude from 1E-130 to
// 9.9999999999999999999999999999999999999E+125. The zero value is 0. Numbers are immutable, and == compares them by
// value: the representation is unique, so 1 and 1.0 are the same Number.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html#HowItWorks.DataTypes.Number
type Number struct {
	// The value is ±coef × 10^exp. Integers with a magnitude of at most math.MaxInt64 have exp 0; any other coef has no
	// trailing zero.
	coef uint128
	exp  int16
	neg  bool
}

const (
	maxDigits    = 38
	maxMagnitude = 125  // the decimal exponent of the first digit
	minMagnitude = -130 // that of the smallest number
)

const notNumeric = "The parameter cannot be converted to a numeric value"

var (
	errPrecision = alike("Attempting to store more than 38 significant digits in a Number")
	errOverflow  = alike("Number overflow. Attempting to store a number with magnitude larger than supported range")
	errUnderflow = alike("Number underflow. Attempting to store a number with magnitude smaller than supported range")
	errEmptyNum  = &layered{notNumeric + ": ", notNumeric}
)

func fromInt64(i int64) Number {
	if i < 0 {
		return Number{coef: uint128{lo: -uint64(i)}, neg: true}
	}
	return Number{coef: uint128{lo: uint64(i)}}
}

// Int64 returns the value if it is an integer within int64.
func (n Number) Int64() (int64, bool) {
	if n.exp != 0 || n.coef.hi != 0 {
		return 0, false
	}
	switch {
	case n.coef.lo <= math.MaxInt64:
		if n.neg {
			return -int64(n.coef.lo), true
		}
		return int64(n.coef.lo), true
	case n.neg && n.coef.lo == 1<<63:
		return math.MinInt64, true
	}
	return 0, false
}

// sign returns -1, 0 or 1.
func (n Number) sign() int {
	switch {
	case n.coef == uint128{}:
		return 0
	case n.neg:
		return -1
	}
	return 1
}

// Equal reports whether n and m are the same number, as == does. Package go-cmp uses this method.
func (n Number) Equal(m Number) bool { return n == m }

// Cmp returns -1, 0 or 1 as n is less than, equal to or greater than m.
func (n Number) Cmp(m Number) int {
	sn, sm := n.sign(), m.sign()
	switch {
	case sn < sm:
		return -1
	case sn > sm:
		return 1
	case sn < 0:
		return m.cmpAbs(n)
	}
	return n.cmpAbs(m)
}

func (n Number) cmpAbs(m Number) int {
	if n.exp == m.exp {
		return n.coef.cmp(m.coef)
	}
	nd, md := n.coef.digits(), m.coef.digits()
	if order := cmp.Compare(nd+int(n.exp), md+int(m.exp)); order != 0 {
		return order
	}
	// The first digits stand at the same place, so the number with fewer digits can be padded without exceeding 38
	// digits.
	if nd < md {
		return n.coef.mul(pow10[md-nd]).cmp(m.coef)
	}
	return n.coef.cmp(m.coef.mul(pow10[nd-md]))
}

// canonical builds ±coef × 10^exp in the unique representation, or returns DynamoDB's error for a number that it cannot
// have.
func canonical(neg bool, coef uint128, exp int) (Number, error) {
	if coef == (uint128{}) {
		return Number{}, nil
	}
	for {
		q, r := coef.divmod10()
		if r != 0 {
			break
		}
		coef, exp = q, exp+1
	}
	d := coef.digits()
	if err := inRange(d + exp - 1); err != nil {
		return Number{}, err
	}
	if d > maxDigits {
		return Number{}, errPrecision
	}
	if exp > 0 && d+exp <= 19 {
		if c := coef.mul(pow10[exp]); c.lo <= math.MaxInt64 {
			coef, exp = c, 0
		}
	}
	return Number{coef: coef, exp: int16(exp), neg: neg}, nil
}

// uint128 holds the digits of a number: 38 digits are less than 2^127.
type uint128 struct{ hi, lo uint64 }

// pow10[i] is 10^i, up to 10^38.
var pow10 = func() (p [maxDigits + 1]uint128) {
	p[0] = uint128{lo: 1}
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1].mul(uint128{lo: 10})
	}
	return p
}()

func (u uint128) cmp(v uint128) int {
	switch {
	case u == v:
		return 0
	case u.hi < v.hi, u.hi == v.hi && u.lo < v.lo:
		return -1
	}
	return 1
}

// mul is for products below 2^128 only.
func (u uint128) mul(v uint128) uint128 {
	hi, lo := bits.Mul64(u.lo, v.lo)
	return uint128{hi + u.hi*v.lo + u.lo*v.hi, lo}
}

// add returns u + v. The sum must be below 2^128.
func (u uint128) add(v uint128) uint128 {
	lo, carry := bits.Add64(u.lo, v.lo, 0)
	hi, _ := bits.Add64(u.hi, v.hi, carry)
	return uint128{hi, lo}
}

func (u uint128) divmod10() (q uint128, r uint64) {
	q.hi, r = u.hi/10, u.hi%10
	q.lo, r = bits.Div64(r, u.lo, 10)
	return q, r
}

// digits returns the number of decimal digits; zero has 0.
func (u uint128) digits() int {
	n := (128 - u.leadingZeros()) * 1233 >> 12 // log10(2) is about 1233/4096
	if n < len(pow10) && u.cmp(pow10[n]) >= 0 {
		n++
	}
	return n
}

func (u uint128) leadingZeros() int {
	if u.hi != 0 {
		return bits.LeadingZeros64(u.hi)
	}
	return 64 + bits.LeadingZeros64(u.lo)
}

// Add returns n + m, exactly. It returns an error if the sum is out of range, or needs more than 38 digits. The service
// reports an overflow in both cases.
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
