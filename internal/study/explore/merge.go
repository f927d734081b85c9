package explore

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
)

// explorationFile is the form of a file of WriteExplorations.
type explorationFile struct {
	Format       string          `json:"format"`
	Version      int             `json:"version"`
	Sum          string          `json:"sum"`
	Explorations json.RawMessage `json:"explorations"`
}

// sum is the checksum of the explorations, whatever their layout. Without it nobody would notice a lost line, such as
// that of a canary that was not found, and the whole campaign could pass.
func (f explorationFile) sum() string {
	var b bytes.Buffer
	_ = json.Compact(&b, f.Explorations) // valid: the JSON was read or written before
	return fmt.Sprintf("%x", sha256.Sum256(b.Bytes()))
}

// This is the format of files of explorations. The version goes up when an older program would misread a newer file, or
// the other way round.
const (
	explorationFormat  = "isr-sim explorations"
	explorationVersion = 3
)

// WriteExplorations writes explorations as JSON that ReadExplorations reads back. The coverage that it writes follows
// from the sample. A campaign in one piece knows more, but its file must equal the merged file of its shards.
func WriteExplorations(w io.Writer, xs []*Exploration) error {
	told := make([]*Exploration, len(xs))
	for i, x := range xs {
		same := *x
		for _, c := range []*Coverage{&same.Orders, &same.States} {
			sample, err := parseCensus(c.Sample)
			if err != nil {
				return err
			}
			last := 0
			if len(c.Growth) > 0 {
				last = max(c.Growth[len(c.Growth)-1].Schedule-1, 0)
			}
			*c = sample.coverage(c.Schedules, last)
		}
		told[i] = &same
	}
	text, err := json.Marshal(told)
	if err != nil {
		return fmt.Errorf("explorations: %w", err)
	}
	f := explorationFile{explorationFormat, explorationVersion, "", text}
	f.Sum = f.sum()
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("explorations: %w", err)
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// errOther is the error for a file that WriteExplorations did not write.
var errOther = errors.New("found no explorations in it, expected a file that isr-sim explore --out has written")

// ReadExplorations reads a file of WriteExplorations. The parameter file is for errors.
func ReadExplorations(file string, data []byte) ([]*Exploration, error) {
	var f explorationFile
	err := json.Unmarshal(data, &f)
	if _, whole := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !whole {
		return nil, fmt.Errorf(
			"%s: found %d bytes that are no whole JSON (%w), expected a file that isr-sim explore --out has written",
			file, len(data), err,
		)
	}
	switch {
	case f.Format != explorationFormat: // a text or not: a record has the number 1 here
		return nil, fmt.Errorf("%s: %w", file, errOther)
	case f.Version != explorationVersion:
		return nil, fmt.Errorf(
			"%s: found version %d of the format, expected %d: explore and merge with one version of isr-sim", file,
			f.Version, explorationVersion,
		)
	case f.Sum != f.sum():
		return nil, fmt.Errorf(
			"%s: found another sum than that of what is in it, expected what isr-sim explore --out has written",
			file,
		)
	}
	var read []*Exploration
	decoder := json.NewDecoder(bytes.NewReader(f.Explorations))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(read) == 0 {
		return nil, fmt.Errorf(
			"%s: found no exploration in it, expected one at least: explore was ended before its first scenario", file,
		)
	}
	for _, x := range read {
		if err := x.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return read, nil
}

// check refuses values that no Explorer writes, and those that printing or merging cannot handle.
func (x *Exploration) check() error {
	if x == nil {
		return fmt.Errorf("found null, expected an exploration")
	}
	if _, err := ParseShard(x.Shard.String()); err != nil || x.Shard.Count < 1 {
		return fmt.Errorf("found shard %d of %d of %s, expected one from 1", x.Shard.Index, x.Shard.Count, x.Scenario)
	}
	if x.Ran < 0 || x.Ran > x.Shard.size(x.Schedules) {
		return fmt.Errorf("found %d schedules in %s, expected at most %d", x.Ran, x, x.Shard.size(x.Schedules))
	}
	if (x.Unknown > 0) != (x.Doubt != nil) {
		return fmt.Errorf("found %d schedules without a verdict in %s, expected none, or an example as well", x.Unknown,
			x)
	}
	for _, c := range []Coverage{x.Orders, x.States} {
		if _, err := parseCensus(c.Sample); err != nil {
			return err
		}
	}
	return nil
}

// campaignOf has the properties that all shards of a campaign share.
type campaignOf struct {
	scenario, protocol, digest, version, strategy string

	seed              uint64
	swarm             bool
	schedules, shards int
}

func (x *Exploration) campaign() campaignOf {
	return campaignOf{
		x.Scenario, x.Protocol, x.ScenarioDigest, x.Version, x.Strategy, x.Seed, x.Swarm, x.Schedules, x.Shard.Count,
	}
}

// group is the shards of a scenario under a protocol.
type group struct{ shards []shardOf }

type shardOf struct {
	*Exploration
	file string
}

// common returns the first shard of the campaign that has most of them.
func (g *group) common() shardOf {
	count := map[campaignOf]int{}
	for _, s := range g.shards {
		count[s.campaign()]++
	}
	return slices.MaxFunc(g.shards,
		func(a, b shardOf) int { return cmp.Compare(count[a.campaign()], count[b.campaign()]) })
}

// complaints names duplicates and shards of other campaigns. It removes them from the group and sorts the rest.
func (g *group) complaints() (all []string) {
	first, kept := g.common(), []shardOf{}
	for _, s := range g.shards {
		if what, got, want := s.differs(first.Exploration); what != "" {
			all = append(all,
				fmt.Sprintf("%s: found %s with the %s %v, expected %v as in %s: they are not of one campaign",
					s.file, s, what, got, want, first.file))
			continue
		}
		i, twice := slices.BinarySearchFunc(kept, s.Shard.Index,
			func(o shardOf, index int) int { return cmp.Compare(o.Shard.Index, index) })
		if !twice {
			kept = slices.Insert(kept, i, s)
			continue
		}
		how := "with another result"
		a, errA := json.Marshal(s.Exploration)
		b, errB := json.Marshal(kept[i].Exploration)
		if errA == nil && errB == nil && bytes.Equal(a, b) {
			how = "with the same result"
		}
		all = append(all, fmt.Sprintf("%s: found %s, which %s has, too, %s", s.file, s, kept[i].file, how))
	}
	g.shards = kept
	return all
}

// differs names the first property by which two explorations belong to different campaigns, or "".
func (x *Exploration) differs(from *Exploration) (what string, got, want any) {
	a, b := x.campaign(), from.campaign()
	return firstDifference([]trait{
		{"scenario", a.scenario, b.scenario},
		{"protocol", a.protocol, b.protocol},
		{"scenario digest", a.digest, b.digest},
		{"version of isr-sim", a.version, b.version},
		{"seed", a.seed, b.seed},
		{"strategy", a.strategy, b.strategy},
		{"swarm", a.swarm, b.swarm},
		{"number of schedules", a.schedules, b.schedules},
		{"number of shards", a.shards, b.shards},
	})
}

// trait is a property that all parts must share: the value found and the value expected.
type trait struct {
	what      string
	got, want any
}

func firstDifference(all []trait) (what string, got, want any) {
	for _, s := range all {
		if s.got != s.want {
			return s.what, s.got, s.want
		}
	}
	return "", nil, nil
}

// missing returns the shards that a sorted group lacks.
func (g *group) missing() (indices []int) {
	next := 1
	for _, s := range g.shards {
		for ; next < s.Shard.Index; next++ {
			indices = append(indices, next)
		}
		next++
	}
	for ; next <= g.shards[0].Shard.Count; next++ {
		indices = append(indices, next)
	}
	return indices
}

// numbers prints numbers in order, with ranges in the form of between: "3 5-7" for "%d-%d".
func numbers(all []int, between string) string {
	var words []string
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n] == all[0]+n {
			n++
		}
		if n > 2 {
			words = append(words, fmt.Sprintf(between, all[0], all[n-1]))
		} else {
			n = 1
			words = append(words, fmt.Sprint(all[0]))
		}
		all = all[n:]
	}
	return strings.Join(words, " ")
}

// remedy is a command that runs the missing shards of scenarios that lack the same ones.
type remedy struct {
	form         string // the format of the command after the program: flags, shard and shards, number and shard, files
	which, flags string
	of           int           // shards
	share        time.Duration // for each scenario; 0 is no limit
	files        []string
}

func remedyOf(x *Exploration, missing []int) remedy {
	const form = "explore %s --shard %s/%d --out missing-%d-%s.json %s"
	flags := fmt.Sprintf("--schedules %d --seed %d --strategy %s", x.Schedules, x.Seed, x.Strategy)
	if x.Swarm {
		flags += " --swarm"
	}
	if text, ok := strings.CutPrefix(x.Protocol, shell.ExecPrefix); ok {
		flags += " --exec " + shell.Quote(text)
	} else {
		flags += " --protocol " + x.Protocol
	}
	return remedy{form, numbers(missing, "$(seq %d %d)"), flags, x.Shard.Count, x.For, []string{x.File}}
}

// same reports whether one command will do for both.
func (r *remedy) same(o remedy) bool {
	return r.form == o.form && r.which == o.which && r.flags == o.flags && r.of == o.of && r.share == o.share
}

// command is the command for a shell. No other command writes files of the same names.
func (r *remedy) command(program string, number int) string {
	i := r.which
	if strings.Contains(i, " ") {
		i = "$i"
	}
	flags := r.flags
	if r.share > 0 {
		flags += fmt.Sprintf(" --for %v", r.share*time.Duration(len(r.files)))
	}
	command := program + " " + fmt.Sprintf(r.form, flags, i, r.of, number, i, strings.Join(r.files, " "))
	if i == "$i" {
		command = fmt.Sprintf("for i in %s; do %s; done", r.which, command)
	}
	return command
}

// Merge adds up the shards of campaigns. The result equals that of a single Explorer, except that its coverage is
// estimated from samples. If no campaign was ended by time, the files are equal byte for byte. The error, a
// mistake.Error, names everything that is wrong, and its hint has the commands that run the missing shards. program is
// the reader's name for isr-sim.
func (s *Shards) Merge(program string) ([]*Exploration, error) {
	var groups []*group
	for _, file := range s.Files {
		for _, x := range file.Explorations {
			i := slices.IndexFunc(groups, func(g *group) bool {
				first := g.shards[0].Exploration
				return first.Scenario == x.Scenario && first.Protocol == x.Protocol
			})
			if i < 0 {
				groups = append(groups, &group{})
				i = len(groups) - 1
			}
			groups[i].shards = append(groups[i].shards, shardOf{x, file.Name})
		}
	}
	wrong, again := slices.Clone(s.wrong), []remedy(nil)
	for _, g := range groups {
		wrong = append(wrong, g.complaints()...)
		missing, first := g.missing(), g.shards[0].Exploration
		if len(missing) == 0 {
			continue
		}
		wrong = append(wrong, fmt.Sprintf("found no shard %s of %d of %s under %s, expected all of them",
			numbers(missing, "%d-%d"), first.Shard.Count, first.Scenario, first.Protocol))
		r := remedyOf(first, missing)
		if i := slices.IndexFunc(again, func(o remedy) bool { return o.same(r) }); i >= 0 {
			again[i].files = append(again[i].files, first.File)
		} else {
			again = append(again, r)
		}
	}
	if len(wrong) > 0 {
		hint := "name all files of one campaign, each once"
		if len(again) > 0 {
			hint = "run what is missing:"
		}
		for i := range again {
			hint += "\n" + again[i].command(program, i+1)
		}
		return nil, &mistake.Error{Err: errors.New("merge: " + strings.Join(wrong, "\nmerge: ")), Hint: hint}
	}
	merged := make([]*Exploration, len(groups))
	for i, g := range groups {
		x, err := g.merge()
		if err != nil {
			return nil, err
		}
		merged[i] = x
	}
	return merged, nil
}

// merge adds up a complete group.
func (g *group) merge() (*Exploration, error) {
	first := g.shards[0]
	if len(g.shards) == 1 {
		return first.Exploration, nil
	}
	x := *first.Exploration
	x.Shard = Shard{1, 1}
	x.Ran, x.Steps, x.Unknown, x.Doubt, x.Interrupted = 0, 0, 0, nil, false
	x.Findings, x.Strategies, x.Corpus, x.Besides, x.Unmet = nil, nil, nil, nil, slices.Clone(first.Unmet)
	counts, orders, states, last, judged := schedules.MarkSet{}, census{}, census{}, 0, false
	for _, s := range g.shards {
		x.Ran += s.Ran
		x.Steps += s.Steps
		x.Unknown += s.Unknown
		x.Interrupted = x.Interrupted || s.Interrupted
		if s.Doubt != nil && (x.Doubt == nil || s.Doubt.Schedule < x.Doubt.Schedule) {
			x.Doubt = s.Doubt
		}
		x.Used(s.NotSimulated)
		judged = judged || s.Ran > 0 && !s.Unjudged
		x.Unmet = slices.DeleteFunc(x.Unmet, func(f string) bool { return !slices.Contains(s.Unmet, f) })
		besides := s.Besides
		if s.idle() && !s.Interrupted {
			besides = append(slices.Clone(besides),
				fmt.Sprintf("%s: no schedule of %d was run: the time was up", s, s.Shard.size(s.Schedules)))
		}
		for _, line := range besides {
			if !slices.Contains(x.Besides, line) {
				x.Besides = append(x.Besides, line)
			}
		}
		for _, r := range s.Reached {
			counts[r.Mark] += r.Runs
		}
		for _, f := range s.Findings {
			x.Findings = addFinding(x.Findings, f)
		}
		for _, t := range s.Strategies {
			x.tried(t)
		}
		for _, r := range s.Corpus {
			// Shards on several machines may have different files of the same name.
			same := func(o CorpusRun) bool {
				return o.File == r.File && o.Violates == r.Violates &&
					o.Problem == r.Problem
			}
			if !slices.ContainsFunc(x.Corpus, same) {
				x.Corpus = append(x.Corpus, r)
			}
		}
		for _, kind := range []struct {
			sample string
			into   *census
		}{{s.Orders.Sample, &orders}, {s.States.Sample, &states}} {
			sample, err := parseCensus(kind.sample)
			if err != nil {
				return nil, err
			}
			kind.into.merge(sample)
		}
		if s.Ran > 0 {
			last = max(last, s.Shard.schedule(s.Ran-1))
		}
	}
	x.Reached, x.Unjudged = reached(counts), x.Ran > 0 && !judged
	x.Orders = orders.coverage(x.Ran, last)
	x.States = states.coverage(x.Ran, last)
	return &x, nil
}
