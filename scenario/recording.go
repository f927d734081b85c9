package scenario

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/probe"
)

// record keeps the requests and answers on the wire, for a probe.
func (w *world) record(r *storeRequest) {
	keep := func(e probe.Exchange) {
		e.What = w.words().Input(e.Input)
		w.exchanges = append(w.exchanges, e)
	}
	if w.struck == ddbfake.FaultUnprocessed {
		if r.err == nil {
			keep(probe.Exchange{Input: donePart(r.call.Input, r.out), Hidden: true})
		}
		return
	}
	if w.struck == 0 || w.struck.Effective() { // a call without effect here would have one elsewhere
		if r.twice {
			keep(probe.Exchange{Input: r.call.Input, Hidden: true})
		}
		keep(probe.Exchange{Input: r.call.Input, Output: r.out, Err: r.err, Hidden: w.struck != 0 && !r.twice || w.behind(r.call.Input)})
	}
}

// behind reports whether a replica that lags may have answered: another store has no such replica.
func (w *world) behind(input any) bool {
	if w.scenario.ReplicaLag == 0 {
		return false
	}
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		return !aws.ToBool(in.ConsistentRead)
	case *dynamodb.QueryInput:
		return !aws.ToBool(in.ConsistentRead)
	default:
		return false
	}
}

// donePart returns the part of a batch that was done: elsewhere no fault would keep the rest from being done too. A
// batch of reads changes nothing and is returned as it is.
func donePart(in, out any) any {
	write, ok := in.(*dynamodb.BatchWriteItemInput)
	answer, answered := out.(*dynamodb.BatchWriteItemOutput)
	if !ok || !answered {
		return in
	}
	part := *write
	part.RequestItems = map[string][]types.WriteRequest{}
	for _, table := range slices.Sorted(maps.Keys(write.RequestItems)) {
		left := answer.UnprocessedItems[table]
		done := slices.DeleteFunc(slices.Clone(write.RequestItems[table]), func(q types.WriteRequest) bool { return slices.Contains(left, q) })
		if len(done) > 0 {
			part.RequestItems[table] = done
		}
	}
	return &part
}
