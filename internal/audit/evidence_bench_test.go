package audit_test

import (
	"bytes"
	"encoding/base64"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/internal/audit/evidence/evidencetest"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

func BenchmarkRecords(b *testing.B) {
	row := func(generation int64) attr.Item {
		return attr.Item{
			"pk": attr.S("session#4711"), "sk": attr.S("STATE"), "owner": attr.S("worker-7"),
			"version": attr.Int(generation), "expires_at": attr.Int(1800000000 + generation),
			"done": attr.BOOL(false),
		}
	}
	var file []byte
	const records = 10_000
	for i := range int64(records) {
		file = evidencetest.AppendJSON(file, evidence.Record{
			Table: "sessions", Region: "eu-west-1", Key: attr.Item{"pk": row(0)["pk"], "sk": row(0)["sk"]},
			Before: row(i), After: row(i + 1), Images: true, Time: time.Unix(1800000000+i, 0),
			ID: "c4ca4238a0b923820dcc509a6f75849b", Sequence: "100000000000000000001",
		})
	}
	var data []byte
	for line := range bytes.Lines(file) {
		data = append(base64.StdEncoding.AppendEncode(append(data, `{"Data":"`...), line), "\"}\n"...)
	}
	for _, tc := range []struct {
		name string
		file []byte
	}{{"lines", file}, {"gzip", zipped(file)}, {"kinesis", data}} {
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for _, f := range must.Of(evidence.Open([]string{"-"}, bytes.NewReader(tc.file)))(b) {
					for e, err := range f.Entries() {
						if err != nil || e.Record == nil {
							b.Fatal(e, err)
						}
						n++
					}
				}
				if n != records {
					b.Fatalf("got %d records, want %d", n, records)
				}
			}
			b.ReportMetric(float64(len(file))/records, "B/record")
			b.ReportMetric(float64(b.N)*records/b.Elapsed().Seconds(), "records/s")
		})
	}
}
