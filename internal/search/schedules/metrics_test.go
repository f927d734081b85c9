package schedules

import (
	"reflect"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake"
)

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
