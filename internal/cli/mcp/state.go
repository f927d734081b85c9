package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/internal/show/record"
)

// State is the state of the world after a step of a run.
type State struct {
	Step int `json:"step"`
	// Of is the number of steps of the run, and Text the step in words.
	Of   int    `json:"of"`
	Text string `json:"text"`
	// Time is true time, which no node knows.
	Time  time.Time  `json:"time"`
	Rows  []StateRow `json:"rows"`
	Nodes []Node     `json:"nodes"`
}

// StateRow is a row of a table, in DynamoDB's JSON.
type StateRow struct {
	Table string     `json:"table"`
	Row   record.Row `json:"row"`
}

// Node is a node of the run.
type Node struct {
	Name string `json:"name"`
	// State is the state of the node's machine: waiting to start, running, paused or crashed.
	State string `json:"state" jsonschema:"enum=waiting,enum=running,enum=paused,enum=crashed"`
	// Clock is what its clock shows, and Ahead by how much the clock is ahead of true time.
	Clock time.Time `json:"clock"`
	Ahead string    `json:"ahead"`
	// Last is its last step, in words.
	Last string `json:"last,omitempty"`
}

// stateAfter is the state after step k of a record. 0 means the step of the violation or, without one, the last step.
func stateAfter(r *record.Record, k int) (*State, error) {
	if k == 0 && r.Violation != nil {
		k = r.Violation.Step
	}
	if last := r.Steps[len(r.Steps)-1].N; k == 0 {
		k = last
	} else if k < 1 || k > last {
		return nil, &CallError{BadArguments, fmt.Sprintf("step: found %d, expected one from 1 to %d", k, last), ""}
	}
	s := &State{Step: k, Of: len(r.Steps), Rows: []StateRow{}, Nodes: make([]Node, len(r.Actors))}
	var keys []string
	steps := map[string]time.Duration{} // of clocks
	for i, a := range r.Actors {
		s.Nodes[i] = Node{Name: a.Name, State: "waiting"}
		steps[a.Name], _ = time.ParseDuration(a.Offset) // "" is none
	}
	for _, step := range r.Steps {
		if step.N > k {
			break
		}
		s.Time, s.Text = step.Time, step.Lane+": "+step.Text
		if i := slices.IndexFunc(s.Nodes, func(n Node) bool { return n.Name == step.Actor }); i >= 0 {
			s.Nodes[i].step(step)
		}
		if step.Kind == "clock-step" {
			by, _ := time.ParseDuration(step.Text) // as schedules write it
			steps[step.Actor] += by
		}
		for _, c := range step.Changes {
			name, _ := json.Marshal([]any{c.Region, c.Table, c.Key}) // a key is JSON
			at := slices.Index(keys, string(name))
			switch {
			case at < 0 && c.After != nil:
				keys, s.Rows = append(keys, string(name)), append(s.Rows, StateRow{c.Table, c.After})
			case at >= 0 && c.After == nil:
				keys, s.Rows = slices.Delete(keys, at, at+1), slices.Delete(s.Rows, at, at+1)
			case at >= 0:
				s.Rows[at].Row = c.After
			}
		}
	}
	for i, a := range r.Actors {
		ahead := steps[a.Name] + s.Time.Sub(r.Start)*time.Duration(a.PPM)/1_000_000
		s.Nodes[i].Clock, s.Nodes[i].Ahead = s.Time.Add(ahead), ahead.String()
	}
	return s, nil
}

func (n *Node) step(s record.Step) {
	n.Last = s.Kind + ": " + s.Text
	switch s.Kind {
	case "start", "resume", "restart":
		n.State = "running"
	case "pause":
		n.State = "paused"
	case "crash":
		n.State = "crashed"
	}
}
