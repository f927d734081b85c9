package property

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/base/heap"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/hooks/sim"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// BenchmarkBubble runs schedules of two contenders through the real SDK, each in a bubble of its own, on all processors.
func BenchmarkBubble(b *testing.B) {
	benchmarkSchedules(b, func(run scenario.Run, own hooks.Bubble, requests []hooks.Exchange) {
		began := processorTime()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := run.Do(hooks.InBubble(b.Context(), own)); err != nil {
					b.Error(err)
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "schedules/s")
		reportRequests(b, began, len(requests))
	})
}

// BenchmarkSDKAlone sends the requests of BenchmarkBubble, without bubbles, through clients of the SDK whose wire gives
// the answers that were recorded: what the SDK itself costs.
func BenchmarkSDKAlone(b *testing.B) {
	benchmarkSchedules(b, func(_ scenario.Run, _ hooks.Bubble, requests []hooks.Exchange) {
		wire := &recordedWire{}
		ctx := b.Context()
		for _, r := range requests {
			client := ddbfake.NewClient(func(context.Context, ddbfake.Call) (any, error) { return r.Output, r.Err }, func(o *dynamodb.Options) {
				o.HTTPClient = recording{o.HTTPClient, wire}
			})
			if err := sent(ctx, client, r.Input); (err != nil) != (r.Err != nil) {
				b.Fatalf("%T: %v, want %v", r.Input, err, r.Err)
			}
		}
		if len(wire.answers) != len(requests) {
			b.Fatalf("%d answers to %d requests", len(wire.answers), len(requests))
		}
		began := processorTime()
		b.RunParallel(func(pb *testing.PB) {
			again := &recordedWire{answers: wire.answers}
			client := ddbfake.NewClient(nil, func(o *dynamodb.Options) { o.HTTPClient = again })
			for pb.Next() {
				for _, r := range requests {
					if err := sent(ctx, client, r.Input); (err != nil) != (r.Err != nil) {
						b.Errorf("%T: %v, want %v", r.Input, err, r.Err)
					}
				}
			}
		})
		reportRequests(b, began, len(requests))
	})
}

// benchmarkSchedules hands over a run of two contenders, and its requests. A bubble needs a *testing.T, which a
// benchmark has not. RunTests has its own idea of -cpu, and of how often.
func benchmarkSchedules(b *testing.B, measure func(run scenario.Run, own hooks.Bubble, requests []hooks.Exchange)) {
	b.Helper()
	processors, done := runtime.GOMAXPROCS(0), false
	defer runtime.GOMAXPROCS(processors)
	ok := testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: b.Name(), F: func(t *testing.T) {
		if done {
			return
		}
		done = true
		defer heap.CollectRarely()() // as Check does
		runtime.GOMAXPROCS(processors)
		r := newRunner(t, Check{Protocol: defaultName, Goroutines: true}, func(n Node) (isr.Handler, error) { return recipe.New(n.Config) })
		run := scenario.Run{
			Scenario: twelve(), Protocol: r.guard(r.answers, twelve()).protocol(r.name, r.newStore), Strategy: sim.POS,
			Options: scenario.Options{SDK: true},
		}
		recorded := hooks.Probe{Record: true}
		o, err := run.Do(hooks.With(hooks.InBubble(t.Context(), r.own), &recorded))
		if err != nil || o.Verdict != invariant.OK {
			t.Fatalf("got %+v, %v", o, err)
		}
		b.ReportAllocs()
		b.ResetTimer()
		measure(run, r.own, recorded.Exchanges)
	}}})
	if !ok {
		b.Fail()
	}
}

// reportRequests reports the processor time of a schedule since began, and the number of its requests.
func reportRequests(b *testing.B, began time.Duration, requests int) {
	b.Helper()
	b.ReportMetric(float64(processorTime()-began)/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(requests), "requests")
}

// recordedWire answers requests in turn, with answers that were recorded.
type recordedWire struct {
	answers []recordedAnswer
	next    int
}

type recordedAnswer struct {
	response *http.Response
	body     []byte
}

func (w *recordedWire) Do(request *http.Request) (*http.Response, error) {
	a := w.answers[w.next]
	w.next = (w.next + 1) % len(w.answers)
	again := *a.response
	again.Request, again.Header, again.Body = request, a.response.Header.Clone(), io.NopCloser(bytes.NewReader(a.body))
	return &again, nil
}

// recording is a wire whose answers are kept.
type recording struct {
	dynamodb.HTTPClient
	to *recordedWire
}

func (r recording) Do(request *http.Request) (*http.Response, error) {
	response, err := r.HTTPClient.Do(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(body))
	r.to.answers = append(r.to.answers, recordedAnswer{response, body})
	return response, err
}

// sent sends one request of a run.
func sent(ctx context.Context, client *dynamodb.Client, input any) (err error) {
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		_, err = client.GetItem(ctx, in)
	case *dynamodb.PutItemInput:
		_, err = client.PutItem(ctx, in)
	case *dynamodb.UpdateItemInput:
		_, err = client.UpdateItem(ctx, in)
	case *dynamodb.DeleteItemInput:
		_, err = client.DeleteItem(ctx, in)
	case *dynamodb.TransactWriteItemsInput:
		_, err = client.TransactWriteItems(ctx, in)
	default:
		return fmt.Errorf("found a %T, expected a request of recipe A", input)
	}
	return err
}

// twelve returns a world of a dozen requests.
func twelve() *scenario.Scenario {
	s := simple()
	s.Actors[0].Script = append(s.Actors[0].Script, scenario.Command{Verb: "get", Key: "/home"})
	return s
}
