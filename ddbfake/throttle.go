package ddbfake

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// throttlingReasons names the resources of a data operation that a fault throttles: its tables, without repetitions, or
// the index that it reads. It also returns the first of the tables; nil if there is none.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ThrottlingReason.html
func (db *DB) throttlingReasons(r *request, in any, f Fault) (reasons []types.ThrottlingReason, first *table) {
	operation, index := consumes(in)
	for _, t := range db.targets(r.region, in) {
		table := db.state.tables[address(r.region, t.table)]
		if table == nil || !db.hits(f, r.region, t) {
			continue
		}
		if first == nil {
			first = table
		}
		reason := throttlingReason(table, index, operation, table.limitType())
		if !slices.ContainsFunc(reasons,
			func(o types.ThrottlingReason) bool { return *o.Resource == *reason.Resource }) {
			reasons = append(reasons, reason)
		}
	}
	return reasons, first
}

// throttlingReason names the limit that is exceeded, and the table; if index is not nil, it names the index and not the
// table.
func throttlingReason(t *table, index *string, operation, limit string) types.ThrottlingReason {
	kind, arn := "Table", tableARN(t.region, t.name)
	if index != nil {
		kind, arn = "Index", arn+"/index/"+*index
	}
	return types.ThrottlingReason{Reason: aws.String(kind + operation + limit), Resource: aws.String(arn)}
}

// consumes returns "Read" for a data operation that takes read units, "Write" for one that takes write units, and ""
// for any other operation. It also returns the index that the operation reads.
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
	case *dynamodb.ExecuteStatementInput:
		reads, index := readsBy(in.Statement)
		if reads {
			return "Read", index
		}
		return "Write", nil
	case *dynamodb.BatchExecuteStatementInput:
		for i := range in.Statements {
			if reads, _ := readsBy(in.Statements[i].Statement); reads {
				return "Read", nil
			}
		}
		return "Write", nil
	}
	return "", nil
}

// limitType names the limit that throttles a table: its provisioned units, or the limits of a single partition if it is
// paid per request.
func (t *table) limitType() string {
	if t.billing == types.BillingModePayPerRequest {
		return limitKey
	}
	return limitProvisioned
}
