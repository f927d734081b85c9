package main

import (
	"fmt"
	"math"
	"slices"
)

// comparison is a set of related targets: a section of the report.
type comparison struct {
	title string
	about string
	peer  string // the name of the other side; empty if the target is an absolute figure
	lines []line
}

type line struct {
	name   string
	ours   measurement
	theirs measurement // none if peer is empty

	// The target: theirs/ours >= atLeast; or ours/theirs <= atMost; or, without a peer, ours < below. A line without a
	// target is only informative.
	atLeast, atMost, below float64
}

var operationNames = []string{"get", "conditional-put", "conditional-update", "publish-transaction"}

// comparisons returns isr-sim's promises about its speed.
func comparisons() []comparison {
	all := []comparison{
		against("DynamoDB Local", "Go door against DynamoDB Local",
			"Throughput: time for a call, by the wall clock, of the Go door and of the SDK with DynamoDB Local over "+
				"one connection.",
			"Door", "SDK", "dynamodb-local", "ns/op", []float64{500, 500, 500, 500}),
		against("minidyn", "Go door against minidyn in the process",
			"Processor time for a call, both called directly.",
			"Door", "Door", "minidyn", "cpu-ns/op", []float64{3, 6, 8, 200}),
	}
	floor := comparison{
		title: "SDK door against the SDK itself",
		about: "Processor time for a call through the same client, whose transport is the fake, or gives a " +
			"canned answer.",
		peer: "canned answer",
	}
	for _, op := range operationNames {
		floor.lines = append(floor.lines, line{
			name:   op,
			ours:   measurement{"SDK/op=" + op + "/by=isr-sim", "cpu-ns/op"},
			theirs: measurement{"SDK/op=" + op + "/by=floor", "cpu-ns/op"},
			atMost: 1.25,
		})
	}
	all = append(all, floor)
	for _, peer := range []struct {
		title, name string
		ratio       float64
	}{{"DynamoDB Local", "dynamodb-local", 15}, {"dynalite", "dynalite", 4}, {"minidyn", "minidyn", 2}} {
		all = append(all, against(peer.title, "HTTP door against "+peer.title,
			"Processor time of the server's process for a request, under one client that keeps eight connections.",
			"HTTP", "HTTP", peer.name, "cpu-ns/req", slices.Repeat([]float64{peer.ratio}, 4)))
	}
	for _, library := range []struct{ title, name, about string }{
		{"net/http", "net-http", "no server that is built on it costs less"},
		{"fasthttp", "fasthttp", "what the library itself costs isr-sim serve"},
	} {
		all = append(all, comparison{
			title: "HTTP door against " + library.title + " itself",
			about: "The same, against a server on " + library.title +
				" that reads the request and gives a canned answer: " +
				library.about + ". There is no target.",
			peer: library.title,
			lines: []line{{
				name:   "get",
				ours:   measurement{"HTTP/op=get/by=isr-sim", "cpu-ns/req"},
				theirs: measurement{"HTTP/op=get/by=" + library.name, "cpu-ns/req"},
			}},
		})
	}
	return append(all, comparison{
		title: "The fake alone",
		about: "Start: from nothing, in a new process, to the first row put and read. Memory: the heap for one " +
			"META row of 100,000, its entry in the change log included. Snapshot and restore: of 1,000 rows, each " +
			"after a write.",
		lines: []line{
			{name: "start", ours: measurement{"Start/process=new", "ns/op"}, below: 1e6},
			{name: "memory", ours: measurement{"Memory", "heap-B/row"}, below: 1500},
			{name: "snapshot", ours: measurement{"Snapshot", "snapshot-ns/op"}, below: 10_000},
			{name: "restore", ours: measurement{"Snapshot", "restore-ns/op"}, below: 10_000},
		},
	})
}

func against(peer, title, about, ours, theirs, by, unit string, ratios []float64) comparison {
	c := comparison{title: title, about: about, peer: peer}
	for i, op := range operationNames {
		if by == "dynalite" && op == "publish-transaction" {
			continue // it has none
		}
		c.lines = append(c.lines, line{
			name:    op,
			ours:    measurement{ours + "/op=" + op + "/by=isr-sim", unit},
			theirs:  measurement{theirs + "/op=" + op + "/by=" + by, unit},
			atLeast: ratios[i],
		})
	}
	return c
}

// verdict is a line with its measurement.
type verdict struct {
	line
	ours, theirs figures
	ratio        float64 // of the medians, in the direction of the target; without a peer, our figure
	low, high    float64 // the lowest and the highest ratio among the rounds
	met          bool
}

// judged is a comparison with its verdicts.
type judged struct {
	comparison
	verdicts []verdict
}

func judge(measured map[measurement]figures) (all []judged, err error) {
	for _, c := range comparisons() {
		j := judged{comparison: c}
		for _, l := range c.lines {
			v := verdict{line: l, ours: measured[l.ours], theirs: measured[l.theirs]}
			if len(v.ours) == 0 || c.peer != "" && len(v.theirs) != len(v.ours) {
				return nil, fmt.Errorf("%s, %s: %d figures of isr-sim and %d of the other side", c.title, l.name,
					len(v.ours), len(v.theirs))
			}
			v.weigh()
			j.verdicts = append(j.verdicts, v)
		}
		all = append(all, j)
	}
	return all, nil
}

func (v *verdict) weigh() {
	ratio := func(ours, theirs float64) float64 { return ours / theirs }
	switch {
	case v.atLeast > 0:
		ratio = func(ours, theirs float64) float64 { return theirs / ours }
	case v.below > 0:
		ratio = func(ours, _ float64) float64 { return ours }
	}
	if v.theirs == nil {
		v.theirs = make(figures, len(v.ours))
	}
	v.ratio = ratio(v.ours.median(), v.theirs.median())
	v.low, v.high = math.Inf(1), math.Inf(-1)
	for round := range v.ours {
		r := ratio(v.ours[round], v.theirs[round])
		v.low, v.high = min(v.low, r), max(v.high, r)
	}
	switch {
	case v.atLeast > 0:
		v.met = v.ratio >= v.atLeast
	case v.atMost > 0:
		v.met = v.ratio <= v.atMost
	case v.below > 0:
		v.met = v.ratio < v.below
	}
}

func countMissed(all []judged) (missed, total int) {
	for _, c := range all {
		for _, v := range c.verdicts {
			if v.outcome() != "" {
				total++
			}
			if v.outcome() == missedTarget {
				missed++
			}
		}
	}
	return missed, total
}
