package attr

import (
	"cmp"
	"math"
	"strconv"
)

// ParseNumber reads a number as it comes on the wire: an optional sign, digits with an optional point, an optional
// exponent. The error is one with DynamoDB's text.
//
// Source:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html#HowItWorks.DataTypes.Number
func ParseNumber(text string) (Number, error) {
	if text == "" {
		return Number{}, errEmptyNum
	}
	if i, ok := parseShort(text); ok {
		return fromInt64(i), nil
	}
	s, neg := text, false
	if s[0] == '-' || s[0] == '+' {
		neg, s = s[0] == '-', s[1:]
	}
	var (
		coef     uint128
		digits   int  // significant ones so far, without trailing zeros
		zeros    int  // zeros since the last significant digit
		fraction int  // digits after the point
		seen     bool // any digit at all
		point    bool
		i        int
	)
	for ; i < len(s); i++ {
		c := s[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		seen = true
		if point {
			fraction++
		}
		if c == '0' {
			if digits > 0 {
				zeros++
			}
			continue
		}
		digits += zeros + 1
		if digits <= maxDigits {
			coef = coef.mul(pow10[zeros+1]).add(uint128{lo: uint64(c - '0')})
		}
		zeros = 0
	}
	exp, ok := parseExponent(s[i:])
	if !seen || !ok {
		return Number{}, alike(notNumeric + ": " + text)
	}
	written := exp
	exp += zeros - fraction
	n, err := Number{}, error(nil)
	switch {
	case digits == 0: // the exponent of a zero must itself be in range
		err = inRange(written)
	case digits > maxDigits: // coef lacks digits: the error depends on the magnitude
		err = cmp.Or(inRange(digits+exp-1), error(errPrecision))
	default:
		n, err = canonical(neg, coef, exp)
	}
	if err != nil {
		err = older(err, text, written, digits+exp)
	}
	return n, err
}

// inRange refuses the decimal exponent of a first digit.
func inRange(magnitude int) error {
	switch {
	case magnitude > maxMagnitude:
		return errOverflow
	case magnitude < minMagnitude:
		return errUnderflow
	}
	return nil
}

// older returns the error with the text of the older layer, which reads a number as Java's BigDecimal does: an exponent
// that does not fit in 32 bits is not numeric, and a magnitude that does not fit wraps around. end is the number of
// digits before the point.
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/valueLayers.test.ts
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/partiqlParameterNumbers.test.ts
func older(err error, text string, exponent, end int) error {
	switch {
	case exponent > math.MaxInt32 || exponent < -math.MaxInt32:
		return &layered{err.Error(), notNumeric + ": " + text}
	case end > math.MaxInt32:
		return &layered{err.Error(), errUnderflow.message}
	}
	return err
}

// parseShort is the fast path for epoch seconds: a few plain digits.
func parseShort(text string) (i int64, ok bool) {
	if len(text) > 18 {
		return 0, false
	}
	for k := range len(text) {
		c := text[k] - '0'
		if c > 9 {
			return 0, false
		}
		i = i*10 + int64(c)
	}
	return i, true
}

// parseExponent reads "", "e5", "E+5" or "e-5". To the service, an exponent beyond 64 bits is not numeric. One beyond
// 32 bits is returned as the nearest value outside 32 bits.
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/limits/numberExponent.test.ts
func parseExponent(s string) (exp int, ok bool) {
	if s == "" {
		return 0, true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	s = s[1:]
	neg := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		neg, s = s[0] == '-', s[1:]
	}
	if s == "" {
		return 0, false
	}
	var long int64
	for i := range len(s) {
		digit := int64(s[i] - '0')
		if s[i] < '0' || s[i] > '9' || long > (math.MaxInt64-digit)/10 {
			return 0, false
		}
		long = long*10 + digit
	}
	exp = int(min(long, math.MaxInt32+1))
	if neg {
		exp = -exp
	}
	return exp, true
}

// String returns the number as DynamoDB returns it: plain digits, without an exponent and without leading or trailing
// zeros.
func (n Number) String() string {
	if i, ok := n.Int64(); ok {
		return strconv.FormatInt(i, 10)
	}
	return string(n.Append(nil))
}

// Append appends the text of String.
func (n Number) Append(b []byte) []byte {
	if i, ok := n.Int64(); ok {
		return strconv.AppendInt(b, i, 10)
	}
	if n.neg {
		b = append(b, '-')
	}
	digits := n.coef.appendDigits(make([]byte, 0, maxDigits))
	switch point := len(digits) + int(n.exp); {
	case n.exp >= 0:
		b = append(b, digits...)
		b = appendZeros(b, int(n.exp))
	case point > 0:
		b = append(b, digits[:point]...)
		b = append(b, '.')
		b = append(b, digits[point:]...)
	default:
		b = append(b, "0."...)
		b = appendZeros(b, -point)
		b = append(b, digits...)
	}
	return b
}

func appendZeros(b []byte, n int) []byte {
	for range n {
		b = append(b, '0')
	}
	return b
}

func (u uint128) appendDigits(to []byte) []byte {
	if u.hi == 0 {
		return strconv.AppendUint(to, u.lo, 10)
	}
	q, r := u.divmod10()
	return append(q.appendDigits(to), byte('0'+r))
}
