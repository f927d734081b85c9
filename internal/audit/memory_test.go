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
	"github.com/isr-sim/isr-sim/internal/rules/effort"
)

// Memory does not grow with the records of a page: each lock has another holder, each publish another version.
func TestMemoryOfOnePage(t *testing.T) {
	effort.Long(t)
	j, err := audit.New(audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seq, rows := 0, map[string]attr.Item{}
	put := func(sk string, row attr.Item) {
		seq++
		j.Take(&evidence.Record{
			Table: "pages", Key: attr.Item{"pk": attr.S("home"), "sk": attr.S(sk)}, Before: rows[sk], After: row,
			Images: true, Time: fakeclock.Epoch.Add(time.Duration(seq) * time.Minute), Unit: time.Second,
			Sequence: evidence.Sequence(fmt.Sprint(seq)),
		})
		rows[sk] = row
	}
	generation := func(n int) {
		now := fakeclock.Epoch.Unix() + 60*int64(seq)
		version := fmt.Sprintf("VER#%d", n)
		put("LOCK", attr.Item{"lease_token": attr.S(fmt.Sprint("t", n)), "lease_expires_at": attr.Int(now + 600)})
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
	n := 0
	sweep := func() { // to the next sweep of rows that went
		for last := seq >> 16; seq>>16 == last; n++ {
			generation(n)
		}
	}
	sweep()
	sweep()
	before := heap()
	sweep()
	sweep()
	if grew := int64(heap()) - int64(before); grew > 256<<10 {
		t.Errorf("%d generations of one page, and %d bytes more for the second half", n, grew)
	}
	if res := j.Result(); res.Violations() > 0 || res.Gaps() > 0 {
		t.Errorf("found %v", res.Findings)
	}
}
