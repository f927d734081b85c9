package attr

import (
	"math"
	"strings"
	"testing"
)

func mustParse(t testing.TB, text string) Number {
	t.Helper()
	n, err := ParseNumber(text)
	if err != nil {
		t.Fatalf("ParseNumber(%q): %v", text, err)
	}
	return n
}

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html#HowItWorks.DataTypes.Number
func TestParseNumberNormalises(t *testing.T) {
	tests := []struct{ in, want string }{
		{"0", "0"}, {"-0", "0"}, {"-0.00", "0"}, {"0e1000", "0"}, {"0.0", "0"},
		{"1", "1"}, {"+3", "3"}, {"-7.1234", "-7.1234"}, {"00042", "42"}, {"0001.23", "1.23"},
		{"1.0", "1"}, {"3.1400", "3.14"}, {".123", "0.123"}, {"-.5", "-0.5"}, {"5.", "5"},
		{"1E2", "100"}, {"1.5E2", "150"}, {"1e+5", "100000"}, {"-17.4E37", "-174" + strings.Repeat("0", 36)},
		{"100e-2", "1"}, {"1230e-2", "12.3"}, {"1e-3", "0.001"},
		{"9223372036854775807", "9223372036854775807"},
		{"9223372036854775808", "9223372036854775808"},
		{"-9223372036854775808", "-9223372036854775808"},
		{"9223372036854775810", "9223372036854775810"},
		{"12345678901234567890123456789012345678", "12345678901234567890123456789012345678"},
		{"1234567890123456789012345678901234567800", "1234567890123456789012345678901234567800"},
		{"3.1415926535897932384626433832795028841", "3.1415926535897932384626433832795028841"},
		{"1E125", "1" + strings.Repeat("0", 125)},
		{"9.9999999999999999999999999999999999999E+125", strings.Repeat("9", 38) + strings.Repeat("0", 88)},
		{"1E-130", "0." + strings.Repeat("0", 129) + "1"},
		{"-1E-130", "-0." + strings.Repeat("0", 129) + "1"},
		{"0." + strings.Repeat("0", 129) + "1", "0." + strings.Repeat("0", 129) + "1"},
	}
	for _, tt := range tests {
		n, err := ParseNumber(tt.in)
		if err != nil || n.String() != tt.want {
			t.Errorf("ParseNumber(%q) = %s, %v; want %s", tt.in, n, err, tt.want)
		}
		again, err := ParseNumber(n.String())
		if err != nil || again != n {
			t.Errorf("ParseNumber(%q) = %v, %v; want %v again", n.String(), again, err, n)
		}
	}
}

func TestParseNumberRefuses(t *testing.T) {
	const (
		precision  = "Attempting to store more than 38 significant digits in a Number"
		overflow   = "Number overflow. Attempting to store a number with magnitude larger than supported range"
		underflow  = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
		notNumeric = "The parameter cannot be converted to a numeric value"
	)
	tests := []struct{ in, want string }{
		{"123456789012345678901234567890123456789", precision},
		{"3.14159265358979323846264338327950288419", precision},
		{"1" + strings.Repeat("0", 37) + "1", precision},
		{"314159265358979323846264338327950288419e30", precision},
		{"1E126", overflow}, {"-1E126", overflow}, {"11e125", overflow}, {"1e2147483647", overflow},
		{"1" + strings.Repeat("0", 126), overflow},
		{"1E-131", underflow}, {"0.9e-130", underflow}, {"-1e-131", underflow},
		{strings.Repeat("1", 40) + "e99", overflow},
		{strings.Repeat("1", 40) + "e-200", underflow},
		{"", notNumeric},
		{"abc", notNumeric + ": abc"}, {"NaN", notNumeric + ": NaN"}, {"Infinity", notNumeric + ": Infinity"},
		{" 1", notNumeric + ":  1"}, {"1 ", notNumeric + ": 1 "}, {"1_0", notNumeric + ": 1_0"},
		{"0x10", notNumeric + ": 0x10"}, {"1e", notNumeric + ": 1e"}, {"1e+", notNumeric + ": 1e+"},
		{"1e1.5", notNumeric + ": 1e1.5"}, {".", notNumeric + ": ."}, {"-", notNumeric + ": -"},
		{"1..2", notNumeric + ": 1..2"}, {"e5", notNumeric + ": e5"}, {"--1", notNumeric + ": --1"},
		{"1e99999999999", notNumeric + ": 1e99999999999"},
		{"１", notNumeric + ": １"},
	}
	for _, tt := range tests {
		if n, err := ParseNumber(tt.in); err == nil || err.Error() != tt.want {
			t.Errorf("ParseNumber(%q) = %s, %v; want the error %q", tt.in, n, err, tt.want)
		}
	}
}

func TestNumberCmpIsTheOrderOfValues(t *testing.T) {
	ascending := []string{
		"-9.9999999999999999999999999999999999999E+125", "-1E125", "-12345678901234567890", "-9223372036854775808",
		"-100", "-99.5", "-1", "-0.1", "-1E-130", "0", "1E-130", "2E-130", "0.0999", "0.1", "0.10001", "1", "1.5", "2",
		"99.99", "100", "100.5", "2208988800", "2208988800.1", "9223372036854775807", "9223372036854775808",
		"9223372036854775810", "10000000000000000000", "12345678901234567890123456789012345678", "1E38", "1E125",
	}
	for i, a := range ascending {
		for j, b := range ascending {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := mustParse(t, a).Cmp(mustParse(t, b)); got != want {
				t.Errorf("%s.Cmp(%s) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestNumberIsUnique(t *testing.T) {
	tests := [][]string{
		{"1", "1.0", "0.1e1", "10e-1", "+01"},
		{"0", "-0", "0e9", "0.000"},
		{"9223372036854775800", "92233720368547758e2", "9.2233720368547758e18"},
		{"1E40", "10E39", "1" + strings.Repeat("0", 40)},
	}
	for _, same := range tests {
		for _, text := range same[1:] {
			if a, b := mustParse(t, same[0]), mustParse(t, text); a != b || !a.Equal(b) || a.Cmp(b) != 0 {
				t.Errorf("%s and %s are different: %#v, %#v", same[0], text, a, b)
			}
		}
	}
	if mustParse(t, "42") != fromInt64(42) || mustParse(t, "-42") != fromInt64(-42) {
		t.Error("fromInt64 and ParseNumber disagree")
	}
}

func TestInt64(t *testing.T) {
	tests := []struct {
		in   string
		want int64
		ok   bool
	}{
		{"0", 0, true}, {"2208988800", 2208988800, true}, {"1e3", 1000, true},
		{"9223372036854775807", math.MaxInt64, true}, {"-9223372036854775808", math.MinInt64, true},
		{"9223372036854775808", 0, false}, {"-9223372036854775809", 0, false},
		{"1.5", 0, false}, {"1e19", 0, false}, {"1e-1", 0, false},
	}
	for _, tt := range tests {
		if got, ok := mustParse(t, tt.in).Int64(); got != tt.want || ok != tt.ok {
			t.Errorf("%s.Int64() = %d, %v; want %d, %v", tt.in, got, ok, tt.want, tt.ok)
		}
	}
	for _, i := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
		if got, ok := fromInt64(i).Int64(); got != i || !ok {
			t.Errorf("fromInt64(%d).Int64() = %d, %v", i, got, ok)
		}
	}
}

func TestAddAndSub(t *testing.T) {
	const overflow = "Number overflow. Attempting to store a number with magnitude larger than supported range"
	tests := []struct{ a, b, sum, diff string }{
		{"1", "2", "3", "-1"},
		{"0.1", "0.2", "0.3", "-0.1"},
		{"1.5", "-1.49", "0.01", "2.99"},
		{"5", "0", "5", "5"},
		{"0", "5", "5", "-5"},
		{"2", "2", "4", "0"},
		{"9223372036854775807", "1", "9223372036854775808", "9223372036854775806"},
		{"-9223372036854775808", "1", "-9223372036854775807", "-9223372036854775809"},
		{"0", "-9223372036854775808", "-9223372036854775808", "9223372036854775808"},
		{"10000000000000000000000", "1", "10000000000000000000001", "9999999999999999999999"},
		{"99999999999999999999999999999999999999", "1", "100000000000000000000000000000000000000", "99999999999999999999999999999999999998"},
		{"1E37", "1", "10000000000000000000000000000000000001", "9999999999999999999999999999999999999"},
		{"1E50", "1", overflow, overflow}, // 51 digits: the service says overflow
		{"9e125", "9e125", overflow, "0"},
		{"1E-130", "1", overflow, overflow},
		{"1.5E-129", "1.4E-129", "0." + strings.Repeat("0", 128) + "29", "0." + strings.Repeat("0", 129) + "1"},
	}
	for _, tt := range tests {
		a, b := mustParse(t, tt.a), mustParse(t, tt.b)
		check := func(op string, n Number, err error, want string) {
			t.Helper()
			got := n.String()
			if err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("%s %s %s = %s, want %s", tt.a, op, tt.b, got, want)
			}
		}
		n, err := a.Add(b)
		check("+", n, err, tt.sum)
		n, err = a.Add(b.Neg())
		check("-", n, err, tt.diff)
	}
	if _, err := mustParse(t, "1E-130").Add(mustParse(t, "1.5E-129").Neg()); err != nil {
		t.Error(err)
	}
	_, err := mustParse(t, "1.05E-129").Add(mustParse(t, "1E-129").Neg())
	if want := "Number underflow. Attempting to store a number with magnitude smaller than supported range"; err == nil || err.Error() != want {
		t.Errorf("1.05E-129 - 1E-129: %v, want %q", err, want)
	}
}

func BenchmarkParseNumber(b *testing.B) {
	for b.Loop() {
		if _, err := ParseNumber("2208988800"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompareNumbers(b *testing.B) {
	var x, y Value = Int(2208988800), Int(2208988860)
	for b.Loop() {
		if order, ok := Compare(x, y); !ok || order >= 0 {
			b.Fatal(order, ok)
		}
	}
}

func BenchmarkAddInts(b *testing.B) {
	x, y := fromInt64(2208988800), fromInt64(60)
	for b.Loop() {
		if _, err := x.Add(y); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAddDecimals(b *testing.B) {
	x, y := mustParse(b, "12345678901234567890.5"), mustParse(b, "0.25")
	for b.Loop() {
		if _, err := x.Add(y); err != nil {
			b.Fatal(err)
		}
	}
}
