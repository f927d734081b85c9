package scenario

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// donePart returns the part of a batch that was done: elsewhere no fault would
// keep the rest from being done too. A batch of reads changes nothing and is
// returned as it is.
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
