package list_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/search/engine"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/subject/list"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// counters are a fourth subject: scripts add to a counter and read it, and porcupine judges what they were told.
type counters struct{}

func (counters) Name() string { return "counters" }

func (counters) Verbs() []subject.Verb {
	return []subject.Verb{{Name: "add", Form: "add COUNTER", Do: ask}, {Name: "read", Form: "read COUNTER", Do: ask}}
}

func (counters) Marks() []string { return nil }

func (counters) Invariants() []invariant.Invariant {
	return []invariant.Invariant{{
		Name: "exact-count", Statement: "a counter has the value of all additions before", Check: checkCounts,
	}}
}

func (counters) Asks(k history.Kind) bool { return k == history.Asked }

func (counters) Judged() subject.Judged { return subject.Judged{Times: true} }

func (counters) Memories(subject.Past) []recorder.Memory { return []recorder.Memory{new(heard)} }

func (counters) Wire() subject.Wire { return subject.Wire{} }

func (counters) New(w subject.World) subject.State { return counting{world: w} }

// counting reads every counter once more at the end.
type counting struct {
	subject.Stateless
	world subject.World
}

func (s counting) Visit(p *sim.Proc) {
	n, handler := s.world.Visitor(p, "", 1, map[string]int{})
	for _, k := range s.world.Keys() {
		ask(n, handler, subject.Command{Verb: "read", Key: k.Name})
	}
}

// ask carries a command out, and records the question and the answer.
func ask(n subject.Node, handler isr.Handler, c subject.Command) {
	counter := subject.Able[interface {
		count(ctx context.Context, key string, add bool) (string, error)
	}](n, handler, c.Verb)
	e := history.Event{Kind: history.Asked, Key: c.Key, Inputs: c.Verb}
	n.Record(e)
	value, err := counter.count(n.Life(), c.Key, c.Verb == "add")
	n.Turn()
	if e.Kind, e.Body = history.Served, value; err != nil {
		e.Kind, e.Note = history.Failed, err.Error()
	}
	n.Record(e)
}

// heard remembers what clients asked and were told.
type heard fingerprint.Hash

func (h heard) Clone() recorder.Memory       { return &h }
func (heard) Heeds(e *history.Event) bool    { return e != nil }
func (heard) Change(ddbfake.Change)          {}
func (h heard) Fingerprint(time.Time) uint64 { return uint64(h) }
func (h *heard) Event(e history.Event) {
	*h = heard(fingerprint.Hash(*h).Number(uint64(e.Kind)).Text(e.Actor).Text(e.Key).Text(e.Inputs).Text(e.Body))
}

// checkCounts has porcupine look for an order. An addition that failed may have happened, at any time after.
func checkCounts(ev invariant.Evidence) invariant.Finding {
	byKey, last := map[string][]porcupine.Operation{}, len(ev.History)
	for i, asked := range ev.History {
		if asked.Kind != history.Asked {
			continue
		}
		o := porcupine.Operation{Input: asked.Inputs, Call: int64(asked.Seq), Return: int64(last + 1)}
		own := func(e history.Event) bool { return e.Actor == asked.Actor }
		if at := slices.IndexFunc(ev.History[i+1:], own); at >= 0 && ev.History[i+1+at].Kind == history.Served {
			told := ev.History[i+1+at]
			o.Output, o.Return = told.Body, int64(told.Seq)
		}
		if asked.Inputs == "add" || o.Output != nil {
			byKey[asked.Key] = append(byKey[asked.Key], o)
		}
	}
	model := porcupine.Model{
		Init: func() any { return 0 },
		Step: func(state, in, out any) (bool, any) {
			n, _ := state.(int)
			if in == "add" {
				return true, n + 1
			}
			return out == strconv.Itoa(n), n
		},
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		if !porcupine.CheckOperations(model, byKey[key]) {
			return invariant.Finding{
				Verdict: invariant.Violated, Why: "no order of the additions explains what " + key + " read",
				Events: []int{1, last},
			}
		}
	}
	return invariant.Finding{Verdict: invariant.OK}
}

// rowCounter is a counter in one row. If it races, it reads the value and puts one more.
type rowCounter struct {
	isr.Config
	races bool
}

func (rowCounter) Get(context.Context, string) (isr.Served, error) { return isr.Served{}, isr.ErrMiss }

func (c rowCounter) count(ctx context.Context, key string, add bool) (string, error) {
	row := map[string]types.AttributeValue{
		"pk": &types.AttributeValueMemberS{Value: key}, "sk": &types.AttributeValueMemberS{Value: "COUNT"},
	}
	if add && !c.races {
		one := map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}}
		_, err := c.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &c.Table, Key: row,
			UpdateExpression: aws.String("ADD n :one"), ExpressionAttributeValues: one})
		return "", err
	}
	out, err := c.Client.GetItem(ctx,
		&dynamodb.GetItemInput{TableName: &c.Table, Key: row, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return "", err
	}
	value := "0"
	if n, is := out.Item["n"].(*types.AttributeValueMemberN); is {
		value = n.Value
	}
	if !add {
		return value, nil
	}
	next, err := strconv.Atoi(value)
	row = maps.Clone(row)
	row["n"] = &types.AttributeValueMemberN{Value: strconv.Itoa(next + 1)}
	_, failed := c.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &c.Table, Item: row})
	return "", errors.Join(err, failed)
}

func init() { list.Add(counters{}) } // before anything reads a scenario

// TestAFourthSubject: a subject that nothing else knows runs, is judged, proved, shrunk and checked.
func TestAFourthSubject(t *testing.T) {
	s := must.Of(kernel.Parse("f.yaml", []byte("name: count\nactors:\n  - {name: alice, script: [add n, sleep 1s, "+
		"read n]}\n  - {name: bob, script: [sleep 1s, add n, add n]}\nsettle: 10s\nbounds: {ticks: 1}\n")))(t)
	counter := func(races bool) isr.Protocol {
		return isr.Protocol{Name: "counter",
			New: func(c isr.Config) (isr.Handler, error) { return rowCounter{c, races}, nil }}
	}
	for _, races := range []bool{false, true} {
		proof := must.Of(campaign.Prove{Scenario: s, Protocol: counter(races)}.Run(t.Context()))(t)
		if (proof.Verdict == invariant.Violated) != races || !races && !proof.Explored.Complete {
			t.Errorf("races %v: got %v, complete %v", races, proof.Verdict, proof.Explored.Complete)
		}
	}
	found := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: counter(true), Seed: 1})
	if found.Verdict != invariant.Violated {
		t.Fatalf("a counter that races: got %v", found.Verdict)
	}
	result := found.Failure.Result
	shrunk := scenariotest.Ran(t, campaign.Shrink{Failed: kernel.Run{
		Scenario: s, Protocol: counter(true), Seed: result.Seed, Strategy: strategy.Replay(result.Choices),
	}})
	if shrunk.Outcome.Verdict != invariant.Violated || shrunk.After.Commands > 2 {
		t.Errorf("got %v, want two additions:\n%s", shrunk.After, shrunk.Outcome.Explain(s.Name, "counter"))
	}
	for _, races := range []bool{false, true} {
		r, err := (&engine.Check{
			Of: counted(s), Protocol: counter(races), Seed: 1, Worlds: 3, Schedules: 20,
		}).Run(t.Context())
		if err != nil || (r.Failed != nil) != races || !r.Asked {
			t.Errorf("races %v: %+v, error %v", races, r, err)
		}
	}
}

// counted has checks draw one world of counters.
func counted(s *kernel.Scenario) *worlds.Subject {
	return &worlds.Subject{Verb: "add", Draw: func(string, string, int, worlds.Extras) *rapid.Generator[worlds.World] {
		return rapid.Just(worlds.World{Scenario: s})
	}}
}
