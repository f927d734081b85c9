package control

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// counter is a metric that is a counter, by its name in CloudWatch and in OpenMetrics.
type counter struct {
	name, open string
	of         func(m *ddbfake.Metrics) float64
}

// counters are all metrics except SuccessfulRequestLatency.
var counters = []counter{
	{"ThrottledRequests", "throttled_requests",
		func(m *ddbfake.Metrics) float64 { return float64(m.ThrottledRequests) }},
	{"ReadThrottleEvents", "read_throttle_events",
		func(m *ddbfake.Metrics) float64 { return float64(m.ReadThrottleEvents) }},
	{"WriteThrottleEvents", "write_throttle_events",
		func(m *ddbfake.Metrics) float64 { return float64(m.WriteThrottleEvents) }},
	{"UserErrors", "user_errors", func(m *ddbfake.Metrics) float64 { return float64(m.UserErrors) }},
	{"SystemErrors", "system_errors", func(m *ddbfake.Metrics) float64 { return float64(m.SystemErrors) }},
	{"ConditionalCheckFailedRequests", "conditional_check_failed_requests",
		func(m *ddbfake.Metrics) float64 { return float64(m.ConditionalCheckFailedRequests) }},
	{"TransactionConflict", "transaction_conflict",
		func(m *ddbfake.Metrics) float64 { return float64(m.TransactionConflict) }},
	{"TimeToLiveDeletedItemCount", "time_to_live_deleted_item_count",
		func(m *ddbfake.Metrics) float64 { return float64(m.TimeToLiveDeletedItemCount) }},
	{"ConsumedReadCapacityUnits", "consumed_read_capacity_units",
		func(m *ddbfake.Metrics) float64 { return m.ConsumedReadCapacityUnits }},
	{"ConsumedWriteCapacityUnits", "consumed_write_capacity_units",
		func(m *ddbfake.Metrics) float64 { return m.ConsumedWriteCapacityUnits }},
}

// latencyName is the only metric that is not a counter: it has a sum and a number of samples.
const latencyName = "SuccessfulRequestLatency"

// metric is one metric under one set of dimensions, in JSON. Latency is in milliseconds, as in CloudWatch.
type metric struct {
	Name        string            `json:"name"`
	Region      string            `json:"region"`
	Dimensions  map[string]string `json:"dimensions"`
	Sum         float64           `json:"sum"`
	SampleCount int               `json:"sampleCount,omitzero"`
}

// metrics shows the counters: in the format of OpenMetrics to a client that accepts it, and otherwise in JSON.
func (a *api) metrics(_ http.ResponseWriter, r *http.Request) (any, error) {
	query, err := parameters(r, "format")
	if err != nil {
		return nil, err
	}
	all := a.db.Metrics()
	switch format, ok := query["format"]; {
	case format == "openmetrics", !ok && strings.Contains(r.Header.Get("Accept"), openMetricsType):
		return newOpenMetrics(all), nil
	case ok && format != "json":
		return nil, badRequest("there is no such format", format, "json, openmetrics", "")
	}
	out := struct {
		Metrics []metric `json:"metrics"`
	}{[]metric{}}
	for _, c := range counters {
		for i := range all {
			if n := c.of(&all[i]); n != 0 {
				out.Metrics = append(out.Metrics,
					metric{Name: c.name, Region: all[i].Region, Dimensions: dimensions(&all[i]), Sum: n})
			}
		}
	}
	for i := range all {
		if m := &all[i]; m.SuccessfulRequests > 0 {
			sum := float64(m.SuccessfulRequestLatency) / float64(time.Millisecond)
			out.Metrics = append(out.Metrics, metric{latencyName, m.Region, dimensions(m), sum, m.SuccessfulRequests})
		}
	}
	return out, nil
}

// dimensions returns the dimensions by their names in CloudWatch.
func dimensions(m *ddbfake.Metrics) map[string]string {
	all := map[string]string{}
	for _, d := range [][2]string{{"TableName", m.Table}, {"GlobalSecondaryIndexName", m.Index},
		{"Operation", m.Operation}} {
		if d[1] != "" {
			all[d[0]] = d[1]
		}
	}
	return all
}

// openMetrics is an answer in the text format of OpenMetrics.
//
// Source: https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md
type openMetrics []byte

const openMetricsType = "application/openmetrics-text"

// newOpenMetrics prints the metrics without timestamps, because the fake's time differs from that of the program that
// reads them.
func newOpenMetrics(all []ddbfake.Metrics) openMetrics {
	var b bytes.Buffer
	const prefix = "aws_dynamodb_"
	for _, c := range counters {
		fmt.Fprintf(&b, "# TYPE %s%s counter\n# HELP %[1]s%[2]s %s in CloudWatch.\n", prefix, c.open, c.name)
		for i := range all {
			if n := c.of(&all[i]); n != 0 {
				fmt.Fprintf(&b, "%s%s_total%s %s\n", prefix, c.open, labels(&all[i]), number(n))
			}
		}
	}
	const latency = prefix + "successful_request_latency_seconds"
	fmt.Fprintf(&b, "# TYPE %s summary\n# UNIT %[1]s seconds\n# HELP %[1]s %s in CloudWatch, which has milliseconds.\n",
		latency, latencyName)
	for i := range all {
		if m := &all[i]; m.SuccessfulRequests > 0 {
			of := labels(m)
			fmt.Fprintf(&b, "%s_count%s %d\n%[1]s_sum%[2]s %[4]s\n", latency, of, m.SuccessfulRequests,
				number(m.SuccessfulRequestLatency.Seconds()))
		}
	}
	b.WriteString("# EOF\n")
	return b.Bytes()
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

var labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// labels prints the dimensions that are set.
func labels(m *ddbfake.Metrics) string {
	var parts []string
	for _, l := range [][2]string{{"region", m.Region}, {"table_name", m.Table},
		{"global_secondary_index_name", m.Index},
		{"operation", m.Operation}} {
		if l[1] != "" {
			parts = append(parts, l[0]+`="`+labelEscapes.Replace(l[1])+`"`)
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (text openMetrics) answer(w http.ResponseWriter) {
	w.Header().Set("Content-Type", openMetricsType+"; version=1.0.0; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	// A failed write means that the caller is gone.
	_, _ = w.Write(text)
}
