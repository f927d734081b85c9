package prose

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// Metrics prints a line for each metric that is not zero, by its name in CloudWatch, added up over its dimensions.
func Metrics(all []ddbfake.Metrics) string {
	var b strings.Builder
	for _, field := range reflect.VisibleFields(reflect.TypeFor[ddbfake.Metrics]()) {
		if field.Name == "SuccessfulRequests" || strings.HasSuffix(field.Name, "Latency") {
			continue // an alarm on these tells nothing here, because the fake's calls take no time
		}
		var sum float64
		for i := range all {
			switch v := reflect.ValueOf(&all[i]).Elem().FieldByIndex(field.Index); {
			case v.CanInt():
				sum += float64(v.Int())
			case v.CanFloat():
				sum += v.Float()
			}
		}
		if sum != 0 {
			fmt.Fprintf(&b, "  %-30s  %10.10g\n", field.Name, sum)
		}
	}
	return b.String()
}
