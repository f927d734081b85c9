package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
)

// pageBytes is the number of bytes after which a Query or a Scan stops reading. The bytes count before filter and
// projection. The row that reaches the limit is part of the page, as in DynamoDB Local 3.3.1.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.Pagination.html
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Scan.html
const pageBytes = 1 << 20

var selectValues = []string{"SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"}

// checkSelect checks Select against ProjectionExpression or AttributesToGet, if either is present. The texts mention
// querying even for a Scan.
//
// Source: https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier1/scan/select.test.ts
// Source: https://github.com/getmoto/moto/blob/master/tests/test_dynamodb/test_dynamodb_select.py (verified at the
// service: the errors of a Query have the envelope, those of a Scan do not)
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
			return invalid(
				"Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES",
			)
		}
	case types.SelectAllProjectedAttributes:
		return invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	}
	return nil
}

// projectionGiven returns the name of the parameter that projects, ProjectionExpression or AttributesToGet, or "".
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
// Limit rows, nothing checks whether there are more.
type page struct {
	request    *request
	schema     *keySchema
	limit      *int32
	filter     *expr.Condition
	projection *expr.Projection
	args       expr.Args

	items          []map[string]types.AttributeValue // nil if only the count is asked for
	count, scanned int32
	sizeBytes      int
	latest         *row      // read so far
	last           attr.Item // LastEvaluatedKey; nil after the last page
	failure        error
}

// paging is the state that a Query and a Scan have in common.
type paging struct {
	tableName  string
	args       expr.Args
	filter     *expr.Condition
	projection *expr.Projection
	table      *table
}

func (g *paging) newPage(r *request, which types.Select, limit *int32) page {
	p := page{
		request: r, schema: &g.table.schema, limit: limit, filter: g.filter, projection: g.projection, args: g.args,
	}
	if which != types.SelectCount {
		p.items = []map[string]types.AttributeValue{}
	}
	return p
}

// full reports whether a page that has read that many bytes has no room for another row.
func (r *request) full(sizeBytes int) bool {
	return sizeBytes >= pageBytes || r.most > 0 && r.evaluated >= r.most
}

// evaluate counts a row that a page reads.
func (r *request) evaluate(read *row) {
	r.evaluated++
	if r.trial {
		r.rows = append(r.rows, read)
	}
}

// pages reports whether the answer to a call could be paged: the call reads at least two rows at once. To find out, it
// reads up to three.
func (db *DB) pages(region string, in any) bool {
	switch in := in.(type) {
	case *dynamodb.QueryInput, *dynamodb.ScanInput:
	case *dynamodb.ExecuteStatementInput:
		if in == nil {
			return false
		}
		if reads, _ := readsBy(in.Statement); !reads {
			return false
		}
	default:
		return false
	}
	op := operationOf(in)
	if op.isNil(in) {
		return false
	}
	r := &request{op: op, region: region, now: db.clock.Now(), most: 3, trial: true}
	if _, err := op.serve(db, r, in); err != nil || len(r.rows) != 2 || db.together == nil {
		return err == nil && len(r.rows) > 1
	}
	table := db.targets(region, in)[0].table
	schema := &db.state.tables[address(region, table)].schema
	return !db.together(table, schema.idOf(r.rows[0]).ToSDK(), schema.idOf(r.rows[1]).ToSDK())
}

// together reports whether two rows, given by their keys, are always in one page.
type together func(table string, a, b map[string]types.AttributeValue) bool

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

// output is the answer to a Query; that of a Scan has the same form.
func (p *page) output(consumed *types.ConsumedCapacity) *dynamodb.QueryOutput {
	return &dynamodb.QueryOutput{
		Items: p.items, Count: p.count, ScannedCount: p.scanned, LastEvaluatedKey: p.last.ToSDK(),
		ConsumedCapacity: consumed,
	}
}

// read reads the next row, and reports whether there is room for another.
func (p *page) read(r *row) bool {
	if p.request.full(p.sizeBytes) {
		p.last = p.schema.idOf(p.latest)
		return false
	}
	p.latest = r
	p.request.evaluate(r)
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
