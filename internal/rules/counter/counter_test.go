package counter_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// counters are a fourth subject: scripts add to a counter and read it, and porcupine judges the answers.
type counters struct{}

func (counters) Name() string { return "counters" }

func (counters) Verbs() []subject.Verb {
	return []subject.Verb{{Name: "add", Form: "add COUNTER", Do: ask}, {Name: "read", Form: "read COUNTER", Do: ask}}
}

func (counters) Marks() []string { return nil }

func (counters) Basic() [][]string { return nil }

func (counters) Invariants() []invariant.Invariant {
	return []invariant.Invariant{{
		Name: "exact-count", Statement: "a counter has the value of all additions before", Check: checkCounts,
		Memory: func(invariant.Promise) recorder.Memory { return new(heard) },
	}}
}

func (counters) Asks(k history.Kind) bool { return k == history.Asked }

func (counters) Judged() subject.Judged { return subject.Judged{Times: true} }

func (counters) Memories(subject.Past) []recorder.Memory { return []recorder.Memory{new(heard)} }

func (counters) Wire() subject.Wire {
	return subject.Wire{
		Can: []string{"add", "read"}, Client: func(p subject.Program) isr.Handler { return asked{p} },
	}
}

// asked is a counter in another process.
type asked struct{ subject.Program }

func (a asked) count(ctx context.Context, key string, add bool) (string, error) {
	verb := map[bool]string{true: "add", false: "read"}[add]
	reply, err := a.Ask(ctx, verb, subject.Line{Verb: verb, Key: key})
	return reply.Body, err
}

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

// ask executes a command, and records the question and the answer.
func ask(n subject.Node, handler isr.Handler, c subject.Command) {
	counter := subject.Able[interface {
		count(ctx context.Context, key string, add bool) (string, error)
	}](n, handler, c.Verb)
	e := history.Event{Kind: history.Asked, Key: c.Key, Inputs: c.Verb}
	n.Record(e)
	var value string
	var err error
	n.Enter(func() { value, err = counter.count(n.Life(), c.Key, c.Verb == "add") })
	n.Turn()
	if e.Kind, e.Body = history.Served, value; err != nil {
		e.Kind, e.Note = history.Failed, err.Error()
	}
	n.Record(e)
}

// heard is a hash of what clients asked and of the answers.
type heard fingerprint.Hash

func (h heard) Clone() recorder.Memory       { return &h }
func (heard) Heeds(e *history.Event) bool    { return e != nil }
func (heard) Change(ddbfake.Change)          {}
func (h heard) Fingerprint(time.Time) uint64 { return uint64(h) }
func (h *heard) Event(e history.Event) {
	*h = heard(fingerprint.Hash(*h).Number(uint64(e.Kind)).Text(e.Actor).Text(e.Key).Text(e.Inputs).Text(e.Body))
}

// checkCounts has porcupine look for an order. An addition that failed may have happened at any time afterwards.
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

// rowCounter is a counter in one row. If races is true, it reads the value and puts one more.
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
