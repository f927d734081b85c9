package scenario

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/locking"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// memoryLock is a lock that all nodes of one run share, without a request: it
// lasts until it is given back. With leaks it is never given back.
type memoryLock struct {
	holder *string
	clock  func() time.Time
	leaks  bool
}

func (memoryLock) Get(context.Context, string) (isr.Served, error) {
	return isr.Served{}, errors.New("no pages")
}
func (memoryLock) Terms() invariant.LockTerms { return invariant.LockTerms{Wait: time.Second} }

func (l memoryLock) Acquire(_ context.Context, name string) (*locking.Held, error) {
	if *l.holder != "" {
		return nil, errors.New("taken")
	}
	*l.holder = name
	return &locking.Held{
		Holds: func(context.Context) (bool, error) { return true, nil },
		Release: func(context.Context) error {
			if !l.leaks {
				*l.holder = ""
			}
			return nil
		},
	}, nil
}

// TestHold runs scripts that hold a lock, and finds one that stays taken.
func TestHold(t *testing.T) {
	const file = "name: f\nprotocol: recipe-a\nactors:\n  - name: alice\n    script: [hold job for 3s]\n  - name: bob\n    script: [sleep 4s, hold job for 1s]\nsettle: 5s\n"
	s, err := Parse("f.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if text := s.Actors[0].Script[0].String(); text != "hold job for 3s" {
		t.Errorf("the command prints as %q", text)
	}
	for _, leaks := range []bool{false, true} {
		var trace strings.Builder
		o, err := Run{Scenario: s, Trace: &trace, Protocol: isr.Protocol{Name: "memory", New: func() func(isr.Config) (isr.Handler, error) {
			holder := ""
			return func(c isr.Config) (isr.Handler, error) { return memoryLock{&holder, c.Clock.Now, leaks}, nil }
		}()}}.Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]invariant.Verdict{false: invariant.OK, true: invariant.Violated}[leaks]; o.Verdict != want {
			t.Errorf("leaks %v: got %v, want %v\n%s", leaks, o.Verdict, want, &trace)
		}
		for _, line := range []string{"alice asks for lock job (alice-hold-1)", "alice takes lock job", "alice writes what is guarded by lock job", "alice has given back lock job", "visitor asks for lock job"} {
			if !strings.Contains(trace.String(), line) {
				t.Errorf("the trace lacks %q:\n%s", line, &trace)
			}
		}
	}
	// A cache has no locks, and says so.
	p, err := ProtocolNamed("recipe-a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (Run{Scenario: s, Protocol: p}).Do(t.Context()); err == nil || !strings.Contains(err.Error(), "protocol recipe-a cannot hold") {
		t.Errorf("a cache holds a lock: %v", err)
	}
}

func TestHoldIsParsed(t *testing.T) {
	for text, want := range map[string]string{
		"hold job for 3s": "", "hold job": "expected hold LOCK for DURATION", "hold job for ever": "expected a duration of more than 0s, up to a year",
		"hold job for 0s": "expected a duration of more than 0s, up to a year", "hold job for 3s more": "expected hold LOCK for DURATION",
	} {
		_, wrong := parseCommand(text)
		switch {
		case wrong == nil && want != "", wrong != nil && (want == "" || !strings.Contains(wrong.problem, want)):
			t.Errorf("%q: got %+v, want %q", text, wrong, want)
		}
	}
}
