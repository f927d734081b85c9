package audit_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/audit"
	"github.com/isr-sim/isr-sim/internal/audit/evidence"
)

// Memory does not grow with the records of a page: each lock has another holder, each publish another version.
func TestMemoryOfOnePage(t *testing.T) {
	j, err := audit.New(audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seq, rows := 0, map[string]attr.Item{}
	put := func(sk string, row attr.Item) {
		seq++
		j.Take(&evidence.Record{
			Table: "pages", Key: attr.Item{"pk": attr.S("home"), "sk": attr.S(sk)}, Before: rows[sk], After: row,
			Images: true, Time: fakeclock.Epoch.Add(time.Duration(seq) * time.Second), Unit: time.Second,
			Sequence: evidence.Sequence(fmt.Sprint(seq)),
		})
		rows[sk] = row
	}
	generation := func(n int) {
		now := fakeclock.Epoch.Unix() + int64(seq)
		version := fmt.Sprintf("VER#%d", n)
		put("LOCK", attr.Item{"lease_token": attr.S(fmt.Sprint("t", n)), "lease_expires_at": attr.Int(now + 10)})
		put(version, attr.Item{"s3_key": attr.S(version), "generated_at": attr.Int(now)})
		put("META", attr.Item{"current_sk": attr.S(version), "generated_at": attr.Int(now)})
		put("LOCK", nil)
		if old := fmt.Sprintf("VER#%d", n-2); rows[old] != nil {
			put(old, nil)
			delete(rows, old)
		}
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const generations = 20_000 // five days
	for n := range generations {
		generation(n)
	}
	before := heap()
	for n := range generations {
		generation(generations + n)
	}
	if grew := int64(heap()) - int64(before); grew > 256<<10 {
		t.Errorf("%d more generations of one page take %d bytes more", generations, grew)
	}
	if res := j.Result(); res.Violations() > 0 || res.Gaps() > 0 {
		t.Errorf("found %v", res.Findings)
	}
}
