package explore_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/study/explore"
)

// TestTarballsHaveBounds: a few packed bytes may stand for any number, so larger files are not read.
func TestTarballsHaveBounds(t *testing.T) {
	const most = 64 << 20
	var b bytes.Buffer
	must.OK(t, tar.NewWriter(&b).WriteHeader(&tar.Header{Name: "bomb.json", Size: most + 1, Typeflag: tar.TypeReg}))
	file := filepath.Join(t.TempDir(), "packed.tar")
	must.OK(t, os.WriteFile(file, b.Bytes(), 0o600))
	var shards explore.Shards
	shards.Read(file, "packed.tar")
	_, err := shards.Merge("isr-sim")
	if want := fmt.Sprintf("packed.tar:bomb.json: found %d bytes, expected %d at most", most+1, most); err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// FuzzReadExplorations: any file is either refused, or can be printed, merged and written again.
func FuzzReadExplorations(f *testing.F) {
	for _, e := range []explore.Explorer{
		buggy(f), {Campaign: campaign.Campaign{Scenario: scenariotest.Parsed(f, scenariotest.Lonely), Schedules: 3},
			Shard: explore.Shard{Index: 1, Count: 1}},
	} {
		e.Schedules = 3
		var b bytes.Buffer
		must.OK(f, explore.WriteExplorations(&b, []*explore.Exploration{explored(f, e)}))
		f.Add(b.Bytes())
	}
	f.Add([]byte(`[null]`))
	f.Add([]byte(`[{"shard":{"index":1,"count":1},"findings":[{}]}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		xs, err := explore.ReadExplorations("x.json", data)
		if err != nil { // an undamaged file may have the same explorations
			xs, err = explore.ReadExplorations("x.json", explore.Summed(data))
		}
		if err != nil {
			return
		}
		for _, x := range xs {
			_, _ = x.Row(), x.Explain("isr-sim")
		}
		shards := explore.Shards{Files: []explore.ShardFile{{Name: "x.json", Explorations: xs}}}
		merged, err := shards.Merge("isr-sim")
		if err != nil {
			return
		}
		var b bytes.Buffer
		must.OK(t, explore.WriteExplorations(&b, merged))
		if _, err := explore.ReadExplorations("y.json", b.Bytes()); err != nil {
			t.Fatalf("what was merged cannot be read: %v", err)
		}
	})
}
