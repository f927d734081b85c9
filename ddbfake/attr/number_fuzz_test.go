package attr

import (
	"errors"
	"math/big"
	"regexp"
	"strings"
	"testing"
)

// FuzzNumber compares ParseNumber, String, Cmp, Add and Neg with a model: the same rules on numbers of any size,
// independent of how a Number is represented.
//
// Each of these bugs is caught when planted, most of them by the seeds, the others within a minute: uint128.add loses
// its carry, 37 digits are allowed instead of 38, cmpAbs pads one digit too few, addInts lacks half of its overflow
// test, sums have 60 digits and are not exact, large integers have two representations.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{
		"0", "-0", "0e9", "0.000", "1.50", "1e125", "1E-130", "9223372036854775808",
		"12345678901234567890123456789012345678", "0.1", "-17.4E37",
		"3.00000000000000000000000000000000000001", "9.9999999999999999999999999999999999999E125",
		"-9223372036854775808", "1e-2147483648", "0e2147483647",
		"+.5E+0", "5.", "18446744073709551616", "36893488147419103232.5", "9e18", "1e19", "-9223372036854775807", "1.1",
		"1.01", "1e3", "1e-1", "+01", "10e-1", "9223372036854775807", "-9223372036854775809", "9.2233720368547758e18",
		"1" + strings.Repeat("0", 40), "2208988800.1",
		// refused, each for a different reason
		"123456789012345678901234567890123456789", "3.14159265358979323846264338327950288419",
		"314159265358979323846264338327950288419e30", "1E126", "11e125",
		"1" + strings.Repeat("0", 126), "1E-131", "0.9e-130", strings.Repeat("1", 40) + "e99",
		strings.Repeat("1", 40) + "e-200", "", "abc", "NaN", "Infinity", " 1", "1 ", "1_0", "0x10", "1e", "1e+",
		"1e1.5", ".", "-", "1..2", "e5", "--1", "1e99999999999", "１",
		"1e2147483648", "1e-99999999999", "1e9223372036854775807", "1e9223372036854775808", "-1e-9223372036854775808",
		"0e125", "0e126", "0e-130", "0e-131",
	} {
		f.Add(s, "1")
		f.Add("2.5", s)
	}
	for _, pair := range [][2]string{
		{"0.1", "0.2"}, {"1.5", "-1.49"}, {"2", "2"}, {"9223372036854775807", "1"}, {"-9223372036854775808", "1"},
		{"0", "-9223372036854775808"}, {"99999999999999999999999999999999999999", "1"}, {"1E37", "1"}, {"1E50", "1"},
		{"9e125", "9e125"}, {"1E-130", "1"}, {"1.5E-129", "1.4E-129"}, {"1E-130", "1.5E-129"}, {"1.05E-129", "1E-129"},
		{"-1E-130", "0"}, {"9223372036854775807", "9223372036854775810"},
	} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, s, r string) {
		a, ok := fuzzParse(t, s)
		if !ok {
			return
		}
		b, ok := fuzzParse(t, r)
		if !ok {
			return
		}
		x, y := exact(a), exact(b)
		if got, want := a.Cmp(b), x.Cmp(y); got != want || (a == b) != (want == 0) || a.Equal(b) != (want == 0) {
			t.Errorf("%s.Cmp(%s) = %d, == is %t; want %d", a, b, got, a == b, want)
		}
		if got, want := a.sign(), x.Sign(); got != want {
			t.Errorf("%s.sign() = %d, want %d", a, got, want)
		}
		i, ok := a.Int64()
		if want := x.IsInt() && x.Num().IsInt64(); ok != want || ok && (i != x.Num().Int64() || fromInt64(i) != a) {
			t.Errorf("%s.Int64() = %d, %t; want %s, %t", a, i, ok, x.Num(), want)
		}
		sum, err := a.Add(b)
		fuzzResult(t, a.String()+" + "+b.String(), sum, err, new(big.Rat).Add(x, y))
		difference, err := a.Add(b.Neg())
		fuzzResult(t, a.String()+" - "+b.String(), difference, err, new(big.Rat).Sub(x, y))
	})
}

// fuzzParse parses a text with the code and with the model.
func fuzzParse(t *testing.T, text string) (Number, bool) {
	got, err := ParseNumber(text)
	want, wantErr := modelParse(text)
	if wantErr == nil && err == nil && got.String() != want {
		t.Fatalf("ParseNumber(%q) = %s, want %s", text, got, want)
	}
	if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		t.Fatalf("ParseNumber(%q): got error %v, want %v", text, err, wantErr)
	}
	if err != nil {
		return Number{}, false
	}
	if again, err := ParseNumber(got.String()); err != nil || again != got {
		t.Fatalf("%q is %s, which is read as %v, %v", text, got, again, err)
	}
	return got, true
}

// fuzzResult compares a sum or difference with the exact one.
func fuzzResult(t *testing.T, what string, got Number, err error, exact *big.Rat) {
	// All numbers lie on a grid of 1E-167, so this text is exact.
	want, wantErr := modelNumber(exact.Sign() < 0, strings.TrimPrefix(exact.FloatString(167), "-"), 0)
	if errors.Is(wantErr, errPrecision) {
		wantErr = errOverflow
	}
	if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() ||
		err == nil && got.String() != want {
		t.Errorf("%s = %s, %v; want %s, %v", what, got, err, want, wantErr)
	}
}

func exact(n Number) *big.Rat {
	x, ok := new(big.Rat).SetString(n.String())
	if !ok {
		panic("no number: " + n.String())
	}
	return x
}

var numeric = regexp.MustCompile(`^([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?$`)

// modelParse is the rule for numbers as text on the wire: the printed form, or the refusal.
func modelParse(text string) (string, error) {
	if text == "" {
		return "", errEmptyNum
	}
	refused := alike(notNumeric + ": " + text)
	part := numeric.FindStringSubmatch(text)
	if part == nil {
		return "", refused
	}
	exponent := new(big.Int)
	if part[3] != "" {
		exponent.SetString(part[3], 10)
	}
	if limit := big.NewInt(1<<63 - 1); exponent.CmpAbs(limit) > 0 {
		return "", refused
	}
	far := big.NewInt(1e9) // longer than any text of digits
	switch {
	case exponent.CmpAbs(far) > 0 && exponent.Sign() > 0,
		exponent.CmpAbs(big.NewInt(125)) > 0 && exponent.Sign() > 0 && strings.Trim(part[2], "0.") == "":
		return "", errOverflow
	case exponent.CmpAbs(far) > 0, exponent.CmpAbs(big.NewInt(130)) > 0 && strings.Trim(part[2], "0.") == "":
		return "", errUnderflow
	}
	return modelNumber(part[1] == "-", part[2], int(exponent.Int64()))
}

// modelNumber shifts the point of decimal by exponent.
func modelNumber(neg bool, decimal string, exponent int) (string, error) {
	whole, fraction, _ := strings.Cut(decimal, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0", nil
	}
	point := len(digits) - len(fraction) + exponent // its index: in, before or after the digits
	digits = strings.TrimRight(digits, "0")
	switch {
	case point-1 > 125:
		return "", errOverflow
	case point-1 < -130:
		return "", errUnderflow
	case len(digits) > 38:
		return "", errPrecision
	}
	sign := ""
	if neg {
		sign = "-"
	}
	switch {
	case point <= 0:
		return sign + "0." + strings.Repeat("0", -point) + digits, nil
	case point >= len(digits):
		return sign + digits + strings.Repeat("0", point-len(digits)), nil
	}
	return sign + digits[:point] + "." + digits[point:], nil
}
