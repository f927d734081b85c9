package explore_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/show/report"
	"github.com/isr-sim/isr-sim/internal/study/explore"
)

// noFiles is a place function that writes nothing.
func noFiles(*report.DashboardFinding) error { return nil }

// TestAMillionFilesOfTenThousandShards rehearses a fleet: each shard has a night and a hundred files, a tenth of which
// other shards have, too.
func TestAMillionFilesOfTenThousandShards(t *testing.T) {
	effort.Long(t)
	shards := effort.Fewer(10_000, 300)
	const each = 100
	sample := base64.StdEncoding.EncodeToString(make([]byte, 8+16*128)) // of 128 things
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var board explore.Board
	for shard := range shards {
		for i := range each {
			n := shard*each + i
			if i%10 == 0 {
				n = i // every shard finds these
			}
			name := fmt.Sprintf("scenario-%d.blind-publish.stale-writer.%016x.yaml", n%60, n)
			line := fmt.Sprintf("# kept by isr-sim v0.%d.0 go1.26.8 in the night 2026-11-%02d with %d choices\n", n%4,
				1+n%26, n%977)
			must.OK(t, board.AddLine(name, line, nil))
			if n%50 == 49 {
				must.OK(t, board.AddLine(strings.TrimSuffix(name, ".yaml")+".dropped", "", nil))
			}
		}
		night := explore.SummedNight(fmt.Sprintf(
			`{"night": "2026-11-%02d", "version": "v0.3.0", "scenario": "scenario-%d", "protocol": "blind-publish", "seed": "1", "schedules": 1000, "core_seconds": 2, "orders": {"sample": %q}, "states": {"sample": %q}}`,
			1+shard%26, shard%60, sample, sample))
		must.OK(t,
			board.AddLine(fmt.Sprintf("night.%d.1000.json", shard), "", func() ([]byte, error) { return night, nil }))
	}
	d := must.Of(board.Dashboard([]string{"generated"}, noFiles))(t)
	var page bytes.Buffer
	must.OK(t, d.Write(&page))
	runtime.ReadMemStats(&after)
	took := after.Sys - before.Sys
	if took > 1<<30 || page.Len() > 5_000_000 {
		t.Errorf("%d MiB of memory and a page of %d bytes, want 1 GiB and 5 MB at most", took>>20, page.Len())
	}
	if got, want := d.Entries+d.Dropped, shards*each*9/10+10; got != want ||
		len(d.Findings)+d.MoreFindings != d.Failing {
		t.Errorf("%d files are there or were dropped, want %d, each once", got, want)
	}
	t.Logf("%d files: %d MiB of memory, a page of %d bytes", shards*each, took>>20, page.Len())
}

func TestABoardDoesNotDependOnTheOrderOfCorpora(t *testing.T) {
	folders := []string{t.TempDir(), t.TempDir()}
	put := func(folder, name, text string) {
		must.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	kept := "# kept by isr-sim %s in the night %s with 7 choices\n"
	put(folders[0], "a.p.stale-writer.01.yaml", fmt.Sprintf(kept, "v2", "n2"))
	put(folders[1], "a.p.stale-writer.01.yaml", fmt.Sprintf(kept, "v1", "n1")) // found in two corpora
	put(folders[1], "a.p.stale-writer.02.yaml", fmt.Sprintf(kept, "v1", "n1"))
	put(folders[0], "a.p.stale-writer.02.stopped", "v2\nfor a reason\n")
	put(folders[0], "a.p.reach-pause.03.yml", fmt.Sprintf(kept, "v1", "n1"))
	put(folders[0], "cut.yaml", "name: a\n")
	putNight := func(folder, name, text string) { put(folder, name, string(explore.SummedNight(text))) }
	putNight(folders[0], "night.n3.b.p.1.1-1.1.json",
		`{"night": "n3", "version": "v3", "scenario": "b", "protocol": "p", "schedules": 1}`)
	putNight(folders[1], "night.n3.a.p.1.1-1.9.json",
		`{"night": "n3", "version": "v3", "scenario": "a", "protocol": "p", "schedules": 9, "replayed": [{"file": "a.p.stale-writer.01.yaml", "violates": "stale-writer"}]}`)
	putNight(folders[0], "night.n3.a.p.1.1-1.5.json",
		`{"night": "n3", "version": "v3", "scenario": "a", "protocol": "p", "schedules": 5}`)
	put(folders[0], "night.n4.json", `{"night"`)
	changed := explore.SummedNight(`{"night": "n5", "version": "v3", "scenario": "a", "protocol": "p", "schedules": 9}`)
	put(folders[0], "night.n5.a.p.1.1-1.9.json", strings.Replace(string(changed), `"schedules":9`, `"schedules":90`, 1))
	pages := map[string]bool{}
	for _, order := range [][]int{{0, 1}, {1, 0}, {1, 0, 1, 0}} {
		var board explore.Board
		for _, i := range order {
			must.OK(t, board.Add(folders[i]))
		}
		d := must.Of(board.Dashboard(nil, noFiles))(t)
		if d.Entries != 3 || d.Failing != 2 || d.Stopped != 1 || len(d.Nights) != 1 || d.Nights[0].Schedules != 10 ||
			d.Nights[0].Shards != 1 || len(d.Damaged) != 3 {
			t.Errorf("%+v: want three files, two of them failing and one of those stopped, one night of 10 "+
				"schedules in one shard, and three files that are damaged", d)
		}
		first := d.Findings[0]
		if first.FirstNight != "n1" || first.FirstVersion != "v1" || first.LatestNight != "n3" ||
			first.LastVersion != "v3" || d.Findings[1].StoppedAt != "v2" {
			t.Errorf("%+v: want one that was seen from n1 to n3, and then one that stopped at v2", d.Findings)
		}
		var page bytes.Buffer
		must.OK(t, d.Write(&page))
		pages[page.String()] = true
	}
	if len(pages) != 1 {
		t.Errorf("%d pages, want one whatever the order", len(pages))
	}
}
