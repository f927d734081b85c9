package counter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli/check"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/internal/subject/list"
	"github.com/isr-sim/isr-sim/internal/subject/list/draw"
	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

const counterUnderTest, environment = "counter-under-test", "COUNTER_UNDER_TEST"

// drawn is the world that checks of counters draw.
var drawn = []byte("name: count\nactors:\n  - {name: alice, script: [add n, sleep 1s, read n]}\n" +
	"  - {name: bob, script: [sleep 1s, add n, add n]}\nsettle: 10s\nbounds: {ticks: 1}\n")

func init() { // before anything reads a scenario
	list.Add(counters{})
	draw.Add(&worlds.Subject{
		Verb: "add", UnderTest: counterUnderTest, Program: worlds.Program{Flag: "counter"},
		Fill: func(_ *rapid.T, s *spec.Scenario, _ worlds.Extras) {
			parsed, err := spec.Parse("count.yaml", drawn)
			if err != nil {
				panic(err)
			}
			parsed.Name, parsed.Protocol = s.Name, s.Protocol
			*s = *parsed
		},
		Settle: func(s *spec.Scenario, _ worlds.Extras) time.Duration { return s.Settle },
	})
	if behaviour := os.Getenv(environment); behaviour != "" {
		program(behaviour == "races")
		os.Exit(0)
	}
}

// program is a counter that speaks the protocol of docs/NODES.md.
func program(races bool) {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	say := func(line map[string]any) { _ = out.Encode(line) } // nobody listens: the process is about to end
	say(map[string]any{"type": "hello", "versions": []int{1}, "can": []string{"add", "read", "reset"}})
	c := rowCounter{races: races}
	for {
		var line struct {
			Type, Actor, Endpoint, Region, Table, Verb, Key string
			ID                                              int
		}
		switch err := in.Decode(&line); {
		case err != nil || line.Type == "end":
			return
		case line.Type == "command":
			reply := map[string]any{"type": "reply", "id": line.ID}
			value, err := c.count(context.Background(), line.Key, line.Verb == "add")
			if reply["body"] = value; err != nil {
				reply["error"] = "failed"
			}
			say(reply)
			continue
		case line.Type == "init":
			c.Table, c.Client = line.Table, dynamodb.New(dynamodb.Options{
				Region: line.Region, BaseEndpoint: &line.Endpoint, Retryer: aws.NopRetryer{},
				Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
					return aws.Credentials{AccessKeyID: line.Actor, SecretAccessKey: "none"}, nil
				}),
			})
		}
		say(map[string]any{"type": "ready"})
	}
}

func counter(races bool) func(isr.Config) (isr.Handler, error) {
	return func(c isr.Config) (isr.Handler, error) { return rowCounter{c, races}, nil }
}

// TestAFourthSubject checks that a subject that nothing else knows is proved and shrunk.
func TestAFourthSubject(t *testing.T) {
	s := must.Of(spec.Parse("f.yaml", drawn))(t)
	for _, races := range []bool{false, true} {
		p := isr.Protocol{Name: "counter", New: counter(races)}
		proof := must.Of(campaign.Prove{Scenario: s, Protocol: p}.Run(t.Context()))(t)
		if (proof.Verdict == invariant.Violated) != races ||
			!races && (!proof.Explored.Complete || len(proof.Missing) > 0) {
			t.Errorf("races %v: got %v, complete %v, missing %v", races, proof.Verdict, proof.Explored.Complete,
				proof.Missing)
		}
	}
	races := isr.Protocol{Name: "counter", New: counter(true)}
	found := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: races, Seed: 1})
	if found.Verdict != invariant.Violated {
		t.Fatalf("a counter that races: got %v", found.Verdict)
	}
	result := found.Failure.Result
	shrunk := scenariotest.Ran(t, campaign.Shrink{Failed: kernel.Run{
		Scenario: s, Protocol: races, Seed: result.Seed, Strategy: strategy.Replay(result.Choices),
	}})
	if shrunk.Outcome.Verdict != invariant.Violated || shrunk.After.Commands > 2 {
		t.Errorf("got %v, want two additions:\n%s", shrunk.After, shrunk.Outcome.Explain(s.Name, "counter"))
	}
}

// TestAFourthSubjectAsProgram checks that isr-sim check judges a program of it, and leaves a report about its verbs.
func TestAFourthSubjectAsProgram(t *testing.T) {
	for _, behaviour := range []string{"adds", "races"} {
		folder := t.TempDir()
		cmd := check.NewCommand()
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		cmd.SetArgs([]string{"--counter", "--worlds", "2", "--keep", folder, "--exec",
			fmt.Sprintf("%s=%s exec %s", environment, behaviour, shell.Quote(os.Args[0]))})
		err := cmd.ExecuteContext(t.Context())
		report, unread := os.ReadFile(filepath.Join(folder, "failed.html"))
		switch fails := behaviour == "races"; {
		case fails != (err != nil) || fails != strings.Contains(out.String(), "exact-count"):
			t.Errorf("%s: %v\n%s", behaviour, err, out.String())
		case fails && (unread != nil || !bytes.Contains(report, []byte("add n"))):
			t.Errorf("%s: a report without its verbs, error %v", behaviour, unread)
		}
	}
}

// TestAFourthSubjectInGo checks that package property judges it, by the name of the code under test.
func TestAFourthSubjectInGo(t *testing.T) {
	adds := func(n property.Node) (isr.Handler, error) { return counter(false)(n.Config) }
	property.Check{Protocol: counterUnderTest, Schedules: 1}.Run(t, adds)
	file := filepath.Join(t.TempDir(), "count.yaml")
	must.OK(t, os.WriteFile(file, drawn, 0o600))
	property.Check{Protocol: counterUnderTest}.Prove(t, file, adds)
}
