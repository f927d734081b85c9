package main

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/lab/programs"
	"github.com/isr-sim/isr-sim/internal/sim"
)

// smallPrograms returns the programs of the literature as subjects.
func smallPrograms() ([]subject, error) {
	var subjects []subject
	for _, p := range programs.All() {
		subjects = append(subjects, subject{
			name: p.Name,
			once: func(_ context.Context, seed uint64, s sim.Strategy, expected int) (bool, int, error) {
				shown, result := p.Run(sim.Config{Seed: seed, Strategy: s, ExpectedSteps: expected})
				return shown, result.Steps, result.Err
			},
		})
	}
	return subjects, nil
}

// published is a paper's figures for a program: mean schedules to the first bug, as printed. "" is no figure.
type published struct{ randomWalk, pct3, pos string }

// asplos25 is from the evaluation of SURW. There were 20 trials; a figure in parentheses is the number of trials that
// found the bug.
//
// Source: Zhao, Wolff, Mathur, Roychoudhury: Selectively uniform concurrency testing (ASPLOS 2025),
// https://doi.org/10.1145/3669940.3707214
var asplos25 = map[string]published{
	"reorder_3":    {"-", "185", "86"},
	"reorder_5":    {"-", "647", "2169"},
	"reorder_10":   {"-", "3225 (16)", "-"},
	"twostage":     {"464", "13", "15"},
	"account":      {"18", "4", "4"},
	"stack":        {"176", "3", "2"},
	"wronglock":    {"36", "51", "10"},
	"stringbuffer": {"2243", "281", "23"},
}
