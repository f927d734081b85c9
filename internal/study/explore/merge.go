package explore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/isr-sim/isr-sim/internal/search/schedules"
)

// explorationFile is the form of a file of WriteExplorations.
type explorationFile struct {
	Format       string         `json:"format"`
	Version      int            `json:"version"`
	Explorations []*Exploration `json:"explorations"`
}

// The format of files of explorations. The version goes up when an older program would misread a newer file, or the
// other way round.
const (
	explorationFormat  = "isr-sim explorations"
	explorationVersion = 1
)

// WriteExplorations writes explorations as JSON that ReadExplorations reads back.
func WriteExplorations(w io.Writer, xs []*Exploration) error {
	data, err := json.MarshalIndent(explorationFile{explorationFormat, explorationVersion, xs}, "", "  ")
	if err != nil {
		return fmt.Errorf("explorations: %w", err)
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// ReadExplorations reads a file of WriteExplorations. The file's name is for errors.
func ReadExplorations(file string, data []byte) ([]*Exploration, error) {
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil || head.Format != explorationFormat {
		return nil, fmt.Errorf("%s: found no explorations in it, expected a file that isr-sim explore --out has written", file)
	}
	if head.Version != explorationVersion {
		return nil, fmt.Errorf("%s: found version %d of the format, expected %d: explore and merge with one version of isr-sim", file, head.Version, explorationVersion)
	}
	var read explorationFile
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(read.Explorations) == 0 {
		return nil, fmt.Errorf("%s: found no exploration in it, expected one at least: explore was ended before its first scenario", file)
	}
	for _, x := range read.Explorations {
		if err := x.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return read.Explorations, nil
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
	if x.Unknown > 0 && x.Doubt == nil {
		return fmt.Errorf("found %d schedules without a verdict in %s, and no example", x.Unknown, x)
	}
	for _, c := range []Coverage{x.Orders, x.States} {
		if _, err := parseCensus(c.Sample); err != nil {
			return err
		}
	}
	return nil
}

// ShardFile is a file of explorations, for MergeExplorations.
type ShardFile struct {
	Name         string
	Explorations []*Exploration
}

// MergeExplorations adds up the shards of campaigns: the result equals that of a single Explorer, except for the
// coverage, which is estimated from samples. It refuses files that do not belong together, and shards that come twice
// or not at all.
func MergeExplorations(files []ShardFile) ([]*Exploration, error) {
	var groups []*group
	for _, file := range files {
		for _, x := range file.Explorations {
			i := slices.IndexFunc(groups, func(g *group) bool {
				first := g.shards[0].Exploration
				return first.Scenario == x.Scenario && first.Protocol == x.Protocol
			})
			if i < 0 {
				groups = append(groups, &group{})
				i = len(groups) - 1
			}
			if err := groups[i].add(shardOf{x, file.Name}); err != nil {
				return nil, fmt.Errorf("merge: %w", err)
			}
		}
	}
	merged := make([]*Exploration, len(groups))
	for i, g := range groups {
		x, err := g.merge()
		if err != nil {
			return nil, fmt.Errorf("merge: %w", err)
		}
		merged[i] = x
	}
	return merged, nil
}

// group is the shards of one campaign.
type group struct{ shards []shardOf }

type shardOf struct {
	*Exploration
	file string
}

// add takes in a shard that belongs to the others.
func (g *group) add(s shardOf) error {
	if len(g.shards) > 0 {
		first := g.shards[0]
		for _, same := range []struct {
			what      string
			got, want any
		}{
			{"scenario digest", s.ScenarioDigest, first.ScenarioDigest},
			{"seed", s.Seed, first.Seed},
			{"strategy", s.Strategy, first.Strategy},
			{"swarm", s.Swarm, first.Swarm},
			{"number of schedules", s.Schedules, first.Schedules},
			{"number of shards", s.Shard.Count, first.Shard.Count},
		} {
			if same.got != same.want {
				return fmt.Errorf("%s: found %s with the %s %v, expected %v as in %s: they are not of one campaign",
					s.file, s, same.what, same.got, same.want, first.file)
			}
		}
	}
	for _, other := range g.shards {
		if other.Shard == s.Shard {
			return fmt.Errorf("%s: found %s, which %s has, too", s.file, s, other.file)
		}
	}
	g.shards = append(g.shards, s)
	return nil
}

// merge adds up a group that is complete.
func (g *group) merge() (*Exploration, error) {
	first := g.shards[0]
	for i := 1; i <= first.Shard.Count; i++ {
		if !slices.ContainsFunc(g.shards, func(s shardOf) bool { return s.Shard.Index == i }) {
			return nil, fmt.Errorf("found no shard %d/%d of %s under %s, expected all of them", i, first.Shard.Count, first.Scenario, first.Protocol)
		}
	}
	if len(g.shards) == 1 {
		return first.Exploration, nil
	}
	x := *first.Exploration
	x.Shard = Shard{1, 1}
	x.Ran, x.Steps, x.Unknown, x.Doubt, x.Interrupted = 0, 0, 0, nil, false
	x.Findings, x.Strategies, x.Corpus, x.Unmet = nil, nil, nil, slices.Clone(first.Unmet)
	counts, orders, states, last := schedules.MarkSet{}, census{}, census{}, 0
	for _, s := range g.shards {
		x.Ran += s.Ran
		x.Steps += s.Steps
		x.Unknown += s.Unknown
		x.Interrupted = x.Interrupted || s.Interrupted
		if s.Doubt != nil && (x.Doubt == nil || s.Doubt.Schedule < x.Doubt.Schedule) {
			x.Doubt = s.Doubt
		}
		x.Unmet = slices.DeleteFunc(x.Unmet, func(f string) bool { return !slices.Contains(s.Unmet, f) })
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
			// Shards on several machines may have other files of one name.
			same := func(o CorpusRun) bool { return o.File == r.File && o.Violates == r.Violates && o.Problem == r.Problem }
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
	x.Reached = reached(counts)
	x.Orders = orders.coverage(x.Ran, last)
	x.States = states.coverage(x.Ran, last)
	return &x, nil
}
