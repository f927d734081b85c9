package ddbfake

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// throttlingReasons names the resources of a data operation that a fault throttles: its tables, each once, or the index
// that it reads. Other operations consume no throughput and have no reasons.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ThrottlingReason.html
func (db *DB) throttlingReasons(r *request, in any, f Fault) []types.ThrottlingReason {
	operation, index := consumes(in)
	if operation == "" {
		return nil
	}
	var reasons []types.ThrottlingReason
	for _, t := range db.targets(r.region, in) {
		table := db.state.tables[address(r.region, t.table)]
		if table == nil || !db.hits(f, r.region, t) {
			continue
		}
		reason := types.ThrottlingReason{
			Reason:   aws.String("Table" + operation + table.limitType()),
			Resource: aws.String(tableARN(table.region, table.name)),
		}
		if index != nil {
			*reason.Reason = strings.Replace(*reason.Reason, "Table", "Index", 1)
			*reason.Resource += "/index/" + *index
		}
		if !slices.ContainsFunc(reasons, func(o types.ThrottlingReason) bool { return *o.Resource == *reason.Resource }) {
			reasons = append(reasons, reason)
		}
	}
	return reasons
}

// consumes returns whether a data operation takes "Read" or "Write" units, "" for any other, and the index that it
// reads.
func consumes(in any) (operation string, index *string) {
	switch in := in.(type) {
	case *dynamodb.QueryInput:
		return "Read", in.IndexName
	case *dynamodb.ScanInput:
		return "Read", in.IndexName
	case *dynamodb.GetItemInput, *dynamodb.BatchGetItemInput:
		return "Read", nil
	case *dynamodb.PutItemInput, *dynamodb.UpdateItemInput, *dynamodb.DeleteItemInput, *dynamodb.BatchWriteItemInput:
		return "Write", nil
	}
	return "", nil
}

// limitType names the limit that throttles a table: its provisioned units, or the limits of a single partition if it
// has none.
func (t *table) limitType() string {
	if t.billing == types.BillingModePayPerRequest {
		return "KeyRangeThroughputExceeded"
	}
	return "ProvisionedThroughputExceeded"
}
