package schedules

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/subject/list"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// The difference of two traces is the first request in which they differ. It is named by its node and its number. A
// request that differs only in its answer does not count.
func TestDifference(t *testing.T) {
	const head = "two under exec node, seed 1, choices 0\n\n   1  +0s         alice     start       starts\n"
	step := func(node, kind, text string) string {
		return "   2  +0s         " + node + "     " + kind + "      " + text + "\n"
	}
	before := head + step("alice/b", "effect", "GetItem META of /a -> absent") + step("bob", "effect",
		"GetItem META of /a -> absent") +
		step("alice/c", "effect", "PutItem META of /a {n: 1} -> ok") + step("alice", "timer", "wakes")
	tests := []struct{ old, now, want string }{
		{"PutItem META of /a {n: 1}", "PutItem META of /b {n: 1}",
			`request 2 of alice was "PutItem META of /a {n: 1}" in one run, and "PutItem META of /b {n: 1}" in another`},
		{step("alice/c", "effect", "PutItem META of /a {n: 1} -> ok"), "",
			`request 2 of alice was "PutItem META of /a {n: 1}" in one run, and was not made in another`},
		{"{n: 1} -> ok", "{n: 1} -> refused", `line 6 of the trace is`},
		{"wakes", "sleeps", `line 7 of the trace is`},
	}
	for _, tt := range tests {
		if got := difference(before, strings.Replace(before, tt.old, tt.now, 1)); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%q for %q: got %s, want %s", tt.now, tt.old, got, tt.want)
		}
	}
}

// TestMissing: without its basic marks a campaign has judged nothing, whatever its scenario declares.
func TestMissing(t *testing.T) {
	for _, c := range []struct {
		of                      string
		declared, reached, want []spec.Mark
	}{
		{"pages", nil, nil, []spec.Mark{mark.Published, mark.ServedFresh}},
		{"pages", nil, []spec.Mark{mark.PublishRefused, mark.ServedStale}, nil},
		{"locks", nil, nil, []spec.Mark{mark.HoldTaken}},
		{"locks", []spec.Mark{mark.HoldTaken, mark.HoldLost}, nil, []spec.Mark{mark.HoldTaken, mark.HoldLost}},
		{"calls", []spec.Mark{mark.NodePaused}, []spec.Mark{mark.CallAnswered}, []spec.Mark{mark.NodePaused}},
	} {
		got := Missing(list.Called(c.of), c.declared, func(m spec.Mark) bool { return slices.Contains(c.reached, m) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, of which %v was reached: got %v, want %v", c.of, c.reached, got, c.want)
		}
	}
}

// Every number is added up, and the sum stays sorted.
func TestAddMetrics(t *testing.T) {
	var one ddbfake.Metrics
	for i := range reflect.TypeFor[ddbfake.Metrics]().NumField() {
		switch f := reflect.ValueOf(&one).Elem().Field(i); f.Kind() {
		case reflect.Int, reflect.Int64:
			f.SetInt(1)
		case reflect.Float64:
			f.SetFloat(0.5)
		case reflect.String:
			f.SetString("b")
		default:
			t.Fatalf("a field of type %s is not added up", f.Type())
		}
	}
	before, after := one, one
	before.Table, after.Operation = "a", "c"
	sum := AddMetrics(nil, []ddbfake.Metrics{one})
	sum = AddMetrics(sum, []ddbfake.Metrics{before, one, after})
	if len(sum) != 3 || sum[0] != before || sum[2] != after {
		t.Fatalf("got %+v, want the rows a, b and c", sum)
	}
	for i := range reflect.TypeFor[ddbfake.Metrics]().NumField() {
		f, of := reflect.TypeFor[ddbfake.Metrics]().Field(i), reflect.ValueOf(sum[1]).Field(i)
		if of.CanInt() && of.Int() != 2 || of.CanFloat() && of.Float() != 1 {
			t.Errorf("%s: got %v, want twice one store's", f.Name, of)
		}
	}
}

// TestProgramsEndInTime: if each run may take long, the end of the context leaves only the runs that have begun. The
// results are still those of the first schedules, without a gap.
func TestProgramsEndInTime(t *testing.T) {
	const workers, many, last = 4, 1200, 1030 // by then, runs of code in Go are handed out sixteen at a time
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		c := Set{Run: kernel.Run{Protocol: isr.Protocol{Name: "exec node"}}, Workers: workers}
		c.pool = new(hooks.Pool)
		var late atomic.Int32
		taken := 0
		c.Each(ctx, many, func(k int) int { return k }, func(ctx context.Context, i, _ int) Attempt {
			if ctx.Err() != nil {
				late.Add(1)
			}
			if i == last {
				cancel()
			}
			return Attempt{Index: i, Err: errors.New("it broke")}
		}, func(a Attempt) bool {
			if a.Index != taken {
				t.Errorf("result %d is of schedule %d", taken, a.Index)
			}
			taken++
			return true
		})
		if late.Load() > workers || taken <= last {
			t.Fatalf("%d runs began after the end of the context, and %d were taken, want at most %d, and more than %d",
				late.Load(), taken, workers, last)
		}
	}
}
