package ddbfake

import (
	"encoding/base64"
	"encoding/binary"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/awsjson"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/partiql"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// Texts about a SELECT.
//
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/partiqlGrammar.test.ts
// Source:
// https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier3/error-messages/partiqlIndexQualifier.test.ts
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/partiqlMultiAttributeIndex.test.ts
const (
	noSuchIndex      = "The table does not have the specified index"
	consistentGlobal = "Strongly consistent read is not supported on Global Secondary Indexes"
	manyAttributes   = "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or " +
		"multi-attribute RANGE keys."
	overlapping = "Overlapping conditions with range keys are not supported in where clause"
)

// selection is a SELECT once its table is found.
type selection struct {
	*statement
	in          *dynamodb.ExecuteStatementInput
	table       *table
	index       *index // nil to read the table
	hash, sort  expr.Key
	branches    []partiql.Branch
	keyed       bool      // the branches are read one by one; otherwise as a scan
	readings    []reading // one per branch
	backwards   bool      // the order within a partition
	descending  bool      // the order of the partitions
	fingerprint fingerprint.Wide
}

// reading is one branch, with the range that its query reads.
type reading struct {
	branch    *partiql.Branch
	bounds    expr.Bounds
	condition *expr.KeyCondition
}

// page serves one page of a SELECT.
func (s *statement) page(
	db *DB, r *request, in *dynamodb.ExecuteStatementInput,
) (*dynamodb.ExecuteStatementOutput, error) {
	x, err := s.selection(db, r, in)
	if err != nil {
		return nil, err
	}
	start, err := x.start()
	if err != nil {
		return nil, err
	}
	out := &dynamodb.ExecuteStatementOutput{Items: []map[string]types.AttributeValue{}}
	var next *position
	if x.keyed {
		next, err = x.query(db, r, start, out)
	} else {
		next, err = x.scan(db, r, start, out)
	}
	if err != nil {
		return nil, err
	}
	if next != nil {
		out.NextToken = aws.String(x.token(next))
	}
	return out, nil
}

// selection finds the ranges to read, and checks them.
func (s *statement) selection(db *DB, r *request, in *dynamodb.ExecuteStatementInput) (*selection, error) {
	x := &selection{statement: s, in: in}
	var err error
	if x.table, err = db.table(r, s.Table()); err != nil {
		return nil, err
	}
	x.hash, x.sort = x.table.schema.hash, x.table.schema.sort
	if s.Index() != "" {
		if err := x.findIndex(); err != nil {
			return nil, err
		}
	}
	if x.branches, x.keyed, err = s.Branches(x.hash, x.sort); err != nil {
		return nil, statementError(err)
	}
	if err := x.order(); err != nil {
		return nil, err
	}
	if x.keyed {
		if err := x.bind(); err != nil {
			return nil, err
		}
	}
	var f payload
	f.statement(in.Statement, in.Parameters)
	x.fingerprint = f.Wide()
	return x, nil
}

func (x *selection) findIndex() error {
	x.index = x.table.index(x.Index())
	switch {
	case x.index == nil:
		return invalid(noSuchIndex)
	case len(x.index.hash) > 1, len(x.index.sort) > 1:
		return invalid(manyAttributes)
	case x.index.global && aws.ToBool(x.in.ConsistentRead):
		return invalid(consistentGlobal)
	}
	x.hash, x.sort = x.index.hash[0], expr.Key{}
	if len(x.index.sort) > 0 {
		x.sort = x.index.sort[0]
	}
	return nil
}

// order checks ORDER BY. If ORDER BY names the partition key alone, the rows of a partition come backwards.
//
// Source:
// https://github.com/floci-io/floci/blob/main/src/test/java/io/github/hectorvent/floci/services/dynamodb/DynamoDbPartiQLDocumentedSyntaxIntegrationTest.java
func (x *selection) order() error {
	by, err := x.Order()
	if err != nil {
		return statementError(err)
	}
	if by != nil && !x.Filters() {
		return invalid("Must have WHERE clause in the statement when using ORDER BY clause.")
	}
	byHash, bySort := false, false
	for _, o := range by {
		switch o.Attribute {
		case x.hash.Name:
			byHash, x.descending = true, o.Descending
		case x.sort.Name:
			bySort, x.backwards = true, o.Descending
		default:
			return invalid("Attribute %s in ORDER BY clause must be part of the primary key", o.Attribute)
		}
	}
	x.backwards = x.backwards || byHash && !bySort
	if by != nil && !x.keyed {
		return invalid(
			"Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.",
		)
	}
	another := func(b partiql.Branch) bool { return !attr.Equal(b.Hash, x.branches[0].Hash) }
	if by != nil && !byHash && slices.ContainsFunc(x.branches, another) {
		return invalid(
			"Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause.",
		)
	}
	return nil
}

// bind turns the branches into query ranges, which must not overlap. The ranges come in the order of the partition keys
// and, within a partition, in the order of their bounds.
func (x *selection) bind() error {
	if err := x.KeyKinds(x.branches, x.hash, x.sort); err != nil {
		return statementError(err)
	}
	x.readings = make([]reading, len(x.branches))
	for i := range x.branches {
		b := &x.branches[i]
		tests := []expr.Test{{Attribute: x.hash.Name, Operator: "EQ", Values: []attr.Value{b.Hash}}}
		if b.Sort != nil {
			tests = append(tests, *b.Sort)
		}
		condition := new(expr.Builder).KeyCondition(tests)
		bounds, err := condition.Bind(expr.Args{}, x.hash, x.sort)
		if err != nil {
			return statementError(err)
		}
		x.readings[i] = reading{b, bounds, condition}
	}
	slices.SortStableFunc(x.readings, func(a, b reading) int {
		hash, _ := attr.Compare(a.bounds.Hash, b.bounds.Hash)
		if hash != 0 {
			return reversed(hash, x.descending)
		}
		return reversed(compareLow(a.bounds, b.bounds), x.backwards)
	})
	for i := range x.readings {
		for j := range i {
			if overlap(x.readings[j].bounds, x.readings[i].bounds) {
				return invalid(overlapping)
			}
		}
	}
	return x.checkProjected()
}

func reversed(order int, backwards bool) int {
	if backwards {
		return -order
	}
	return order
}

// compareLow orders ranges by where they begin.
func compareLow(a, b expr.Bounds) int {
	switch {
	case a.Low == nil && b.Low == nil:
		return 0
	case a.Low == nil:
		return -1
	case b.Low == nil:
		return 1
	}
	order, _ := attr.Compare(a.Low, b.Low)
	if order == 0 && a.LowExclusive != b.LowExclusive {
		return reversed(-1, a.LowExclusive)
	}
	return order
}

// overlap reports whether two ranges have a key in common.
func overlap(a, b expr.Bounds) bool {
	before := func(a, b expr.Bounds) bool {
		if a.High == nil || b.Low == nil {
			return false
		}
		order, _ := attr.Compare(a.High, b.Low)
		return order < 0 || order == 0 && (a.HighExclusive || b.LowExclusive)
	}
	return attr.Equal(a.Hash, b.Hash) && !before(a, b) && !before(b, a)
}

// checkProjected refuses a SELECT if every branch filters by attributes that the index does not have.
//
// Deviation: the service names the attributes of one branch in the order of a hash table.
//
// Source: https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier2/partiql/indexQualifier.test.ts
func (x *selection) checkProjected() error {
	if x.index == nil || x.index.projected == nil {
		return nil
	}
	var missing []string
	for i := range x.readings {
		if missing = x.index.lacks(x.readings[i].branch.Others); missing == nil {
			return nil
		}
	}
	if missing == nil {
		return nil
	}
	return x.index.lacksFiltered(missing)
}

// position is where the next page begins: in a reading, after a key. If the key is nil, it begins at the start of the
// reading.
type position struct {
	reading int
	after   map[string]types.AttributeValue
}

// token prints a position, together with the statement to which it belongs.
func (x *selection) token(p *position) string {
	var b []byte
	b = binary.BigEndian.AppendUint64(b, x.fingerprint[0])
	b = binary.BigEndian.AppendUint64(b, x.fingerprint[1])
	b = append(b, byte(p.reading))
	if p.after != nil {
		b = awsjson.Append(b, &dynamodb.ScanInput{ExclusiveStartKey: p.after})
	}
	return base64.StdEncoding.EncodeToString(b)
}

// start reads NextToken.
//
// Source:
// https://github.com/floci-io/floci/blob/main/src/test/java/io/github/hectorvent/floci/services/dynamodb/DynamoDbAccessPathIntegrationTest.java
func (x *selection) start() (position, error) {
	if x.in.NextToken == nil {
		return position{}, nil
	}
	const head = 17
	b, err := base64.StdEncoding.DecodeString(*x.in.NextToken)
	if err != nil || len(b) < head {
		return position{}, invalid("Invalid NextToken")
	}
	if binary.BigEndian.Uint64(b) != x.fingerprint[0] || binary.BigEndian.Uint64(b[8:]) != x.fingerprint[1] {
		return position{}, invalid("NextToken does not match request")
	}
	var key dynamodb.ScanInput
	if len(b) > head && awsjson.Decode(b[head:], &key) != nil || x.keyed && int(b[head-1]) >= len(x.readings) {
		return position{}, invalid("Invalid NextToken")
	}
	return position{int(b[head-1]), key.ExclusiveStartKey}, nil
}

// query reads from a position on, one reading after another, until Limit or 1 MB is reached.
func (x *selection) query(db *DB, r *request, from position, out *dynamodb.ExecuteStatementOutput) (*position, error) {
	var scanned int32
	sizeBytes := 0
	for i := from.reading; i < len(x.readings); i++ {
		if x.in.Limit != nil && scanned >= *x.in.Limit || r.full(sizeBytes) {
			return &position{reading: i}, nil
		}
		in := &dynamodb.QueryInput{
			TableName: aws.String(x.Table()), IndexName: x.indexName(), ConsistentRead: x.in.ConsistentRead,
			ScanIndexForward: aws.Bool(!x.backwards), ReturnConsumedCapacity: x.in.ReturnConsumedCapacity,
		}
		if i == from.reading {
			in.ExclusiveStartKey = from.after
		}
		if x.in.Limit != nil {
			in.Limit = aws.Int32(*x.in.Limit - scanned)
		}
		q := &query{
			in: in, paging: x.paging(), keys: x.readings[i].condition, statement: true,
		}
		page, err := q.serve(db, r)
		if err != nil {
			return nil, err
		}
		scanned += page.ScannedCount
		sizeBytes += q.sizeBytes
		out.Items = append(out.Items, page.Items...)
		out.ConsumedCapacity = consumedToo(out.ConsumedCapacity, page.ConsumedCapacity)
		if page.LastEvaluatedKey != nil {
			return &position{i, page.LastEvaluatedKey}, nil
		}
	}
	return nil, nil
}

// scan reads the whole table, or the whole index.
func (x *selection) scan(db *DB, r *request, from position, out *dynamodb.ExecuteStatementOutput) (*position, error) {
	s := &scan{
		in: &dynamodb.ScanInput{
			TableName: aws.String(x.Table()), IndexName: x.indexName(), ConsistentRead: x.in.ConsistentRead,
			ReturnConsumedCapacity: x.in.ReturnConsumedCapacity, Limit: x.in.Limit, ExclusiveStartKey: from.after,
		},
		paging: x.paging(), part: segment{of: 1},
	}
	page, err := s.serve(db, r)
	if err != nil {
		return nil, err
	}
	out.Items, out.ConsumedCapacity = page.Items, page.ConsumedCapacity
	if page.LastEvaluatedKey == nil {
		return nil, nil
	}
	return &position{after: page.LastEvaluatedKey}, nil
}

func (x *selection) paging() paging {
	return paging{tableName: x.Table(), args: x.Args(), filter: x.condition, projection: x.columns}
}

func (x *selection) indexName() *string {
	if x.index == nil {
		return nil
	}
	return aws.String(x.index.name)
}

// consumedToo adds the consumption of one more query of the same table or index.
func consumedToo(sum, more *types.ConsumedCapacity) *types.ConsumedCapacity {
	if sum == nil || more == nil {
		return more
	}
	*sum.CapacityUnits += *more.CapacityUnits
	if sum.Table != nil {
		*sum.Table.CapacityUnits += *more.Table.CapacityUnits
	}
	//isrsim:unordered there is one
	for name, c := range more.GlobalSecondaryIndexes {
		*sum.GlobalSecondaryIndexes[name].CapacityUnits += *c.CapacityUnits
	}
	//isrsim:unordered there is one
	for name, c := range more.LocalSecondaryIndexes {
		*sum.LocalSecondaryIndexes[name].CapacityUnits += *c.CapacityUnits
	}
	return sum
}
