package scenario

import (
	"fmt"
	"time"

	yaml "github.com/goccy/go-yaml"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// YAML returns the scenario as a file that Parse reads back. Values that are defaults are left out.
func (s *Scenario) YAML() ([]byte, error) {
	d := defaults()
	var doc document
	doc.add("name", s.Name, s.Name != "")
	doc.add("about", s.About, s.About != "")
	doc.add("source", s.Source, len(s.Source) > 0)
	doc.add("broken", s.Broken, s.Broken != "")
	doc.add("protocol", s.Protocol, s.Protocol != d.Protocol)
	if rows := rowsDocument(s.Rows); rows != nil {
		doc.add("rows", rows, true)
	}
	doc.add("cache", s.Cache.document(d.Cache), s.Cache != d.Cache)
	var promise document
	promise.add("monotonic-reads", acrossNodes, s.Promise.AcrossNodes)
	promise.add("max-age", s.Promise.MaxAge.String(), s.Promise.MaxAge != 0)
	doc.add("promise", promise, len(promise) > 0)
	doc.add("ttl-lag", s.Lag.String(), s.Lag != d.Lag)
	doc.add("compare-lags", texts(s.CompareLags), len(s.CompareLags) > 0)
	doc.add("replica-lag", s.ReplicaLag.String(), s.ReplicaLag != 0)
	doc.add("max-clock-skew", s.Skew.String(), s.Skew != 0)
	actors := make([]yaml.MapSlice, len(s.Actors))
	for i, a := range s.Actors {
		actors[i] = yaml.MapSlice(a.document())
	}
	doc.add("actors", actors, true)
	doc.add("faults", texts(s.Faults), len(s.Faults) > 0)
	doc.add("settle", s.Settle.String(), s.Settle != 0)
	bounds := document{
		{Key: "schedules", Value: s.Bounds.Schedules}, {Key: "steps", Value: s.Bounds.Steps}, {Key: "ticks", Value: s.Bounds.Ticks},
	}
	bounds.add("sweeps", s.Bounds.Sweeps, s.Bounds.Sweeps != d.Bounds.Sweeps)
	doc.add("bounds", bounds, s.Bounds != d.Bounds)
	doc.add("reach", s.Reach, len(s.Reach) > 0)
	doc.add("invariants", s.Invariants, s.Invariants != nil)
	doc.add("without", s.Without, s.Without != nil)
	doc.add("expect", s.Expect.String(), s.Expect != d.Expect)
	doc.add("catches", s.Catches, len(s.Catches) > 0)
	if r := s.Replay; r != nil {
		replay := document{
			{Key: "protocol", Value: r.Protocol}, {Key: "seed", Value: r.Seed}, {Key: "choices", Value: r.Choices.String()},
		}
		replay.add("swarm", r.Swarm, r.Swarm)
		replay.add("goroutines", r.Goroutines, r.Goroutines)
		replay.add("trace", r.Digest, r.Digest != "")
		replay.add("violates", r.Violates, r.Violates != "")
		doc.add("replay", replay, true)
	}
	out, err := yaml.MarshalWithOptions(yaml.MapSlice(doc), yaml.UseLiteralStyleIfMultiline(true), yaml.IndentSequence(true))
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", s.Name, err)
	}
	return out, nil
}

// document is a mapping under construction, in order.
type document yaml.MapSlice

func (d *document) add(key string, value any, wanted bool) {
	if !wanted {
		return
	}
	if nested, ok := value.(document); ok {
		value = yaml.MapSlice(nested)
	}
	*d = append(*d, yaml.MapItem{Key: key, Value: value})
}

func (d *document) addDuration(key string, value, byItself time.Duration) {
	d.add(key, value.String(), value != byItself)
}

func (c Cache) document(d Cache) document {
	var doc document
	doc.addDuration("lease", c.Lease, d.Lease)
	doc.addDuration("revalidate", c.Revalidate, d.Revalidate)
	doc.addDuration("retention", c.Retention, d.Retention)
	doc.addDuration("ttl-buffer", c.TTLBuffer, d.TTLBuffer)
	doc.addDuration("render", c.Render, d.Render)
	doc.addDuration("keep-alive", c.KeepAlive, d.KeepAlive)
	doc.add("contention", "wait", c.Contention == isr.Wait)
	doc.add("failure", "error", c.Failure == isr.Fail)
	doc.addDuration("poll", c.Poll, d.Poll)
	doc.add("patience", c.Patience, c.Patience != d.Patience)
	doc.add("attempts", c.Attempts, c.Attempts != d.Attempts)
	return doc
}

func (a Actor) document() document {
	var doc, clock document
	doc.add("name", a.Name, true)
	doc.add("tenant", a.Tenant, a.Tenant != "")
	doc.add("script", texts(a.Script), true)
	clock.addDuration("offset", a.Drift.Offset, 0)
	clock.add("drift-ppm", a.Drift.PPM, a.Drift.PPM != 0)
	clock.add("steps", texts(a.ClockSteps), len(a.ClockSteps) > 0)
	doc.add("clock", clock, len(clock) > 0)
	doc.add("pauses", a.Pauses, a.Pauses != 0)
	doc.addDuration("pause-for", a.PauseFor, 0)
	doc.add("crashes", a.Crashes, a.Crashes != 0)
	doc.add("restarts", a.Restarts, a.Restarts != 0)
	doc.add("events", texts(a.Events), len(a.Events) > 0)
	return doc
}

func texts[T fmt.Stringer](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v.String()
	}
	return out
}
