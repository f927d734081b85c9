package report

import (
	"math"
	"testing"
)

// Each axis ends with a round figure that is at least the largest one, and has few ticks.
func TestTicks(t *testing.T) {
	for _, most := range []float64{
		0, math.NaN(), math.Inf(1), 1e-9, 0.07, 0.999, 1, 3, 4, 24, 99.9, 100, 101, 5000, 16372, 1e12,
	} {
		list := ticks(most)
		step := list[1]
		mantissa := step / math.Pow(10, math.Floor(math.Log10(step)*(1+1e-12)+1e-9))
		last := list[len(list)-1]
		if most > 0 && !math.IsInf(most, 0) && (last < most*(1-1e-9) || last-step >= most*(1+1e-9)) {
			t.Errorf("%v: the last tick is %v", most, last)
		}
		if list[0] != 0 || len(list) < 2 || len(list) > 7 || !round(mantissa) {
			t.Errorf("%v: found the ticks %v", most, list)
		}
	}
	for v, want := range map[float64]string{
		0: "0", 0.25: "0.25", 2500: "2500", 25_000: "25k", 1_500_000: "1.5M", 0.1 + 0.2: "0.3",
	} {
		if got := figure(v); got != want {
			t.Errorf("%v is printed as %s, want %s", v, got, want)
		}
	}
}

func round(mantissa float64) bool {
	for _, k := range []float64{1, 2, 2.5, 5, 10} {
		if math.Abs(mantissa-k) < 1e-6 {
			return true
		}
	}
	return false
}

// Figures that cannot be drawn are drawn at 0, and no number is outside of the picture.
func TestAScatterStaysInItsPicture(t *testing.T) {
	p := Plot{Title: "x"}
	for _, v := range []float64{math.NaN(), math.Inf(1), -3, 0, 1e-12, 5, 5, 5, 5, 5, 5, 5, 5, 5} {
		p.Dots = append(p.Dots, Dot{X: v, Y: v})
	}
	for _, plot := range []Plot{p, {Title: "none"}, {Dots: []Dot{{}}}} {
		s := scatterOf(plot)
		for _, d := range s.Dots {
			for _, at := range [][2]float64{{d.X, d.Y}, {d.LabelX, d.LabelY}} {
				if !(at[0] >= 0 && at[0] <= s.Width && at[1] >= 0 && at[1] <= s.Height) {
					t.Errorf("%s: dot %d is at %v, in a picture of %v x %v", plot.Title, d.N, at, s.Width, s.Height)
				}
			}
		}
	}
}
