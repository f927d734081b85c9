package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
)

// pageBytes is the number of bytes after which a Query or a Scan stops reading. The bytes count before filter and
// projection. The row that reaches it is part of the page, as it is in DynamoDB Local 3.3.1.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.Pagination.html
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Scan.html
const pageBytes = 1 << 20

var selectValues = []string{"SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"}

// checkSelect checks Select against ProjectionExpression or AttributesToGet, if one of them is there. The texts speak
// of querying even if the request is a Scan.
//
// Source: https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier1/scan/select.test.ts
func checkSelect(which types.Select, projected string) error {
	switch which {
	case types.SelectAllAttributes:
		if projected != "" {
			return invalid("Cannot specify the %s when choosing to get ALL_ATTRIBUTES", projected)
		}
	case types.SelectCount:
		if projected != "" {
			return invalid("Cannot specify the %s when choosing to get only the Count", projected)
		}
	case types.SelectSpecificAttributes:
		if projected == "" {
			return invalid("Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES")
		}
	case types.SelectAllProjectedAttributes:
		return invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	}
	return nil
}

// projectionGiven returns the name of the parameter that projects: ProjectionExpression or AttributesToGet; "" if there
// is none.
func projectionGiven(expression *string, attributesToGet []string) string {
	switch {
	case expression != nil:
		return projectionExpression
	case attributesToGet != nil:
		return "AttributesToGet"
	}
	return ""
}

// page is one page of a Query or a Scan: rows until Limit or 1 MB is reached, both counted before the filter. After
// Limit rows, it does not check whether there are more rows.
type page struct {
	schema     *keySchema
	limit      *int32
	filter     *expr.Condition
	projection *expr.Projection
	args       expr.Args

	items          []map[string]types.AttributeValue // nil if only the count is wanted
	count, scanned int32
	sizeBytes      int
	latest         *row      // read so far
	last           attr.Item // LastEvaluatedKey; nil if there is nothing more
	failure        error
}

// paging is what a Query and a Scan have in common while they are served.
type paging struct {
	tableName  string
	args       expr.Args
	filter     *expr.Condition
	projection *expr.Projection
	table      *table
}

func (g *paging) newPage(which types.Select, limit *int32) page {
	p := page{schema: &g.table.schema, limit: limit, filter: g.filter, projection: g.projection, args: g.args}
	if which != types.SelectCount {
		p.items = []map[string]types.AttributeValue{}
	}
	return p
}

// checkPaths is checkNested for the filter and the projection.
func (g *paging) checkPaths() error {
	if g.filter != nil {
		if err := g.table.checkNested(g.filter, g.args); err != nil {
			return err
		}
	}
	if g.projection != nil {
		return g.table.checkNested(g.projection, g.args)
	}
	return nil
}

// output is the answer to a Query. A Scan has one of the same form.
func (p *page) output(consumed *types.ConsumedCapacity) *dynamodb.QueryOutput {
	return &dynamodb.QueryOutput{
		Items: p.items, Count: p.count, ScannedCount: p.scanned, LastEvaluatedKey: p.last.ToSDK(), ConsumedCapacity: consumed,
	}
}

// read reads the next row, and reports whether there is room for another.
func (p *page) read(r *row) bool {
	if p.sizeBytes >= pageBytes {
		p.last = p.schema.idOf(p.latest)
		return false
	}
	p.latest = r
	p.sizeBytes += r.sizeBytes
	p.scanned++
	if p.failure = p.collect(r, r); p.failure != nil {
		return false
	}
	if p.limit != nil && p.scanned >= *p.limit {
		p.last = p.schema.idOf(r)
		return false
	}
	return true
}

// collect adds one row to the page, if its visible attributes pass the filter.
func (p *page) collect(seen, whole *row) error {
	if p.filter != nil {
		holds, err := p.filter.Eval(&seen.record, p.args)
		if err != nil {
			return invalid("%s", err.Error())
		}
		if !holds {
			return nil
		}
	}
	p.count++
	if p.items == nil {
		return nil
	}
	item, err := whole.projected(p.projection, p.args)
	if err != nil {
		return err
	}
	p.items = append(p.items, item)
	return nil
}
