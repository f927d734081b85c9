package explore

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/show/report"
)

// These bound a dashboard by what one page can show and a person reads.
const (
	boardFindings = 300
	boardNights   = 60
	boardRows     = 300
)

// Board adds up corpora for a dashboard. A file in several corpora counts once, and so does a shard of a night. The
// order in which corpora are added changes nothing.
type Board struct {
	kept    map[string]keptFile // by the stem of the name
	stopped map[string]string   // the version, by the stem
	dropped map[string]bool     // by the stem
	nights  map[string]Night    // by the name of the file, without the number of schedules
	words   map[string]string   // keeps each text once: a million files have few versions
	damaged []string
}

// Add reads the folder of a corpus.
func (b *Board) Add(folder string) error {
	files, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("corpus: %w", err)
	}
	for _, f := range files {
		file := filepath.Join(folder, f.Name())
		if f.IsDir() {
			continue
		}
		err := b.add(f.Name(), func() ([]byte, error) { return os.ReadFile(file) },
			func() origin { return originOf(file) })
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another process may drop files at the same time
			b.damaged = append(b.damaged, fmt.Sprintf("%s: %v", f.Name(), err))
		}
	}
	return nil
}

// add takes in one file.
func (b *Board) add(name string, read func() ([]byte, error), first func() origin) error {
	if b.kept == nil {
		b.kept, b.stopped, b.dropped, b.nights, b.words = map[string]keptFile{}, map[string]string{}, map[string]bool{},
			map[string]Night{}, map[string]string{}
	}
	switch filepath.Ext(name) {
	case ".yaml", ".yml":
		return b.addKept(name, read, first())
	case droppedEnding:
		b.dropped[stem(name)] = true
	case stoppedEnding:
		data, err := read()
		version, _, _ := strings.Cut(string(data), "\n")
		if before, known := b.stopped[stem(name)]; err == nil && (!known || version < before) {
			b.stopped[stem(name)] = b.word(version)
		}
		return err
	case ".json":
		if strings.HasPrefix(name, nightPrefix) {
			return b.addNight(name, read)
		}
	}
	return nil
}

func (b *Board) addKept(name string, read func() ([]byte, error), o origin) error {
	k := keptFile{origin: o, name: name}
	parts := strings.Split(stem(name), ".")
	if k.version == "" || len(parts) != 4 { // not written by Keep
		data, err := read()
		if err != nil {
			return err
		}
		s, err := spec.Parse(name, data)
		if err != nil {
			return err
		}
		if s.Replay == nil {
			return errors.New(strings.TrimPrefix(noEntry, unreadable))
		}
		k.choices, k.fails = len(s.Replay.Choices), s.Replay.Violates != ""
	} else {
		k.fails = !strings.HasPrefix(parts[2], "reach-")
	}
	k.version, k.night = b.word(k.version), b.word(k.night)
	if before, known := b.kept[stem(name)]; known && before.compare(k) <= 0 {
		return nil
	}
	b.kept[stem(name)] = k
	return nil
}

// compare orders files as corpora do, and those of one night by their version.
func (k keptFile) compare(o keptFile) int {
	return cmp.Or(k.before(o), strings.Compare(k.version, o.version))
}

// word returns the one kept copy of a text.
func (b *Board) word(text string) string {
	if same, known := b.words[text]; known {
		return same
	}
	text = strings.Clone(text)
	b.words[text] = text
	return text
}

func (b *Board) addNight(name string, read func() ([]byte, error)) error {
	data, err := read()
	if err != nil {
		return err
	}
	var n Night
	if err := json.Unmarshal(data, &n); err != nil {
		return mistake.JSON(err)
	}
	if n.Scenario == "" || n.Schedules < 0 || n.Seconds < 0 {
		return errors.New("found no night, expected what isr-sim explore keeps")
	}
	if sum, err := n.sum(); err != nil || sum != n.Sum {
		return errors.New("found another sum than that of what is in it, expected what isr-sim explore has kept")
	}
	for _, c := range []Coverage{n.Orders, n.States} {
		if _, err := parseCensus(c.Sample); err != nil {
			return err
		}
	}
	shard := stem(stem(name)) // without the number of schedules
	if before, known := b.nights[shard]; !known || n.Schedules > before.Schedules {
		b.nights[shard] = n
	}
	return nil
}

// Dashboard returns the page. For each finding on it that still replays, place writes its files and sets their
// addresses.
func (b *Board) Dashboard(corpora []string, place func(f *report.DashboardFinding) error) (*report.Dashboard, error) {
	d := &report.Dashboard{Corpora: corpora, Dropped: len(b.dropped)}
	slices.Sort(b.damaged)
	d.Damaged, d.MoreDamaged = head(slices.Compact(b.damaged), boardRows)
	var failing []string
	//isrsim:unordered sorted below
	for name, k := range b.kept {
		if b.dropped[name] {
			continue
		}
		d.Entries++
		if b.stopped[name] != "" {
			d.Stopped++
		}
		if k.fails {
			failing = append(failing, name)
		}
	}
	d.Failing = len(failing)
	slices.SortFunc(failing, func(x, y string) int {
		return cmp.Or(last(b.stopped[x] != "", b.stopped[y] != ""), b.kept[x].compare(b.kept[y]), strings.Compare(x, y))
	})
	failing, d.MoreFindings = head(failing, boardFindings)
	nights := slices.SortedFunc(maps.Values(b.nights), func(x, y Night) int {
		return cmp.Or(strings.Compare(x.Night, y.Night), strings.Compare(x.Scenario, y.Scenario),
			strings.Compare(x.Protocol, y.Protocol),
			cmp.Compare(x.Seed, y.Seed), x.Shard.Count-y.Shard.Count, x.Shard.Index-y.Shard.Index)
	})
	seen, called := lastSeen(nights), map[string]string{}
	for _, n := range nights {
		called[inName(n.Protocol)] = n.Protocol
	}
	for _, name := range failing {
		f := b.finding(name, seen)
		f.Protocol = cmp.Or(called[f.Protocol], f.Protocol)
		if f.StoppedAt == "" {
			if err := place(&f); err != nil {
				return nil, fmt.Errorf("%s: %w", f.File, err)
			}
		}
		d.Findings = append(d.Findings, f)
	}
	if err := b.fill(d, nights); err != nil {
		return nil, err
	}
	return d, nil
}

// head returns at most the given number of entries from the beginning of a list, and how many it leaves out.
func head[T any](list []T, most int) ([]T, int) {
	n := min(len(list), most)
	return list[:n:n], len(list) - n
}

// lastSeen returns, by file name, the night in which each file of a corpus last violated its invariant.
func lastSeen(nights []Night) map[string]Night {
	seen := map[string]Night{}
	for _, n := range nights {
		for _, r := range n.Replayed {
			if r.Violates != "" {
				seen[stem(r.File)] = n
			}
		}
	}
	return seen
}

func (b *Board) finding(name string, seen map[string]Night) report.DashboardFinding {
	k := b.kept[name]
	f := report.DashboardFinding{
		What: "violation", Scenario: name, FirstNight: cmp.Or(k.night, "before nights were kept"),
		FirstVersion: k.version, LatestNight: k.night, LastVersion: k.version,
		StoppedAt: b.stopped[name], Choices: k.choices, File: k.name,
	}
	if parts := strings.Split(name, "."); len(parts) == 4 {
		f.Scenario, f.Protocol, f.What = parts[0], parts[1], parts[2]
	}
	if n, known := seen[name]; known {
		f.LatestNight, f.LastVersion = n.Night, n.Version
	}
	return f
}

// fill adds the nights, the coverage and the canaries.
func (b *Board) fill(d *report.Dashboard, nights []Night) error {
	fresh := map[string]int{}
	//isrsim:unordered counts
	for _, k := range b.kept {
		fresh[k.night]++
	}
	latest := map[[2]string]report.DashboardCoverage{}
	var canaries []report.DashboardCanary
	for len(nights) > 0 {
		n := countWhile(nights, func(o Night) bool { return o.Night == nights[0].Night })
		night := report.DashboardNight{Name: nights[0].Night, New: fresh[nights[0].Night]}
		canaries = nil
		found, versions, shards := map[string]bool{}, map[string]bool{}, map[Shard]bool{}
		campaigns := 0
		for of := nights[:n]; len(of) > 0; {
			m := countWhile(of,
				func(o Night) bool { return o.Scenario == of[0].Scenario && o.Protocol == of[0].Protocol })
			c, next, err := together(of[:m])
			if err != nil {
				return err
			}
			latest[[2]string{c.Scenario, c.Protocol}] = c
			night.NextIsNew += next
			campaigns++
			for _, shard := range of[:m] {
				shards[shard.Shard.whole()] = true
				night.Schedules += shard.Schedules
				night.CoreSeconds += shard.Seconds
				versions[shard.Version] = true
				for _, f := range shard.Findings {
					found[f.Name] = true
				}
				canaries = withCanary(canaries, shard)
			}
			of = of[m:]
		}
		night.NextIsNew /= float64(campaigns)
		night.Shards, night.Found, night.Versions = len(shards), len(found),
			strings.Join(slices.Sorted(maps.Keys(versions)), "; ")
		for _, c := range canaries {
			night.Canaries += c.Times
			night.CanariesFound += c.Found
		}
		d.Nights = append(d.Nights, night)
		nights = nights[n:]
	}
	slices.Reverse(d.Nights)
	d.Nights, d.MoreNights = head(d.Nights, boardNights)
	d.Coverage, d.MoreCoverage = head(slices.SortedFunc(maps.Values(latest), func(x, y report.DashboardCoverage) int {
		return cmp.Or(cmp.Compare(y.NextIsNew, x.NextIsNew), strings.Compare(x.Scenario, y.Scenario),
			strings.Compare(x.Protocol, y.Protocol))
	}), boardRows)
	slices.SortStableFunc(canaries,
		func(x, y report.DashboardCanary) int { return (y.Times - y.Found) - (x.Times - x.Found) })
	d.Canaries, d.MoreCanaries = head(canaries, boardRows)
	return nil
}

// countWhile counts the nights at the beginning for which is(night) returns true.
func countWhile(nights []Night, is func(Night) bool) int {
	n := slices.IndexFunc(nights, func(o Night) bool { return !is(o) })
	if n < 0 {
		return len(nights)
	}
	return n
}

// together is the coverage of the shards of one campaign.
func together(shards []Night) (report.DashboardCoverage, float64, error) {
	first := shards[0]
	c := report.DashboardCoverage{
		Scenario: first.Scenario, Protocol: first.Protocol, Night: first.Night, Verdict: first.Verdict, Passed: true,
	}
	orders, states := first.Orders, first.States
	sums := [2]census{}
	for _, s := range shards {
		c.Schedules += s.Schedules
		if c.Passed = c.Passed && s.Passed; !s.Passed {
			c.Verdict = s.Verdict
		}
		for i, sample := range []string{s.Orders.Sample, s.States.Sample} {
			read, err := parseCensus(sample)
			if err != nil {
				return c, 0, err
			}
			sums[i].merge(read)
		}
	}
	if len(shards) > 1 {
		orders, states = sums[0].coverage(c.Schedules, 0), sums[1].coverage(c.Schedules, 0)
	}
	c.Orders, c.States, c.NextIsNew = orders.number(orders.Distinct, ""),
		states.number(states.Distinct, ""), orders.NextIsNew()
	return c, c.NextIsNew, nil
}

// withCanary adds the canary of a shard.
func withCanary(all []report.DashboardCanary, n Night) []report.DashboardCanary {
	if n.Canary == nil {
		return all
	}
	i := slices.IndexFunc(all, func(c report.DashboardCanary) bool {
		return c.Scenario == n.Scenario && c.Protocol == n.Canary.Protocol
	})
	if i < 0 {
		all = append(all,
			report.DashboardCanary{Scenario: n.Scenario, Protocol: n.Canary.Protocol, Breaks: n.Canary.Breaks})
		i = len(all) - 1
	}
	c := &all[i]
	c.Times++
	if n.Canary.Found() {
		c.Earliest = min(cmp.Or(c.Earliest, n.Canary.Schedule), n.Canary.Schedule)
		c.Latest = max(c.Latest, n.Canary.Schedule)
		c.Found++
	}
	return all
}
