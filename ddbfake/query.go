package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
)

// query serves Query.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Query.html
func (db *DB) query(r *request, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
	q, err := newQuery(db, in)
	if err != nil {
		return nil, err
	}
	return q.serve(db, r)
}

// serve finds the table and reads one page.
func (q *query) serve(db *DB, r *request) (_ *dynamodb.QueryOutput, err error) {
	in := q.in
	if q.table, err = db.table(r, q.tableName); err != nil {
		return nil, err
	}
	if in.IndexName != nil {
		if db.behind(r, in.ConsistentRead) {
			q.table = db.replica(r, q.table, func(primaryKey) bool { return true })
		}
		return q.onIndex(db, r)
	}
	if err := q.checkPaths(); err != nil {
		return nil, err
	}
	if err := q.bind(); err != nil {
		return nil, err
	}
	if db.behind(r, in.ConsistentRead) {
		q.table = db.replica(r, q.table, func(k primaryKey) bool { return k.hash == q.read.hash })
	}
	return q.run(db, r)
}

// query is a Query that is being served.
type query struct {
	paging
	in   *dynamodb.QueryInput
	keys *expr.KeyCondition
	// statement means that the query is a PartiQL SELECT, whose filter may name any attribute.
	statement bool

	read      keyRange
	after     *primaryKey // ExclusiveStartKey
	sizeBytes int         // the size of the page
}

// newQuery checks everything that needs no table.
func newQuery(db *DB, in *dynamodb.QueryInput) (*query, error) {
	var c constraints
	if in.Limit != nil && *in.Limit < 1 {
		// The service prints this constraint in a different form than others.
		c.broken = append(c.broken, "Value at 'Limit' failed to satisfy constraint: "+
			"Member must have value greater than or equal to 1")
	}
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	name := c.table(in.TableName)
	if in.IndexName != nil {
		c.indexName(in.IndexName, "")
	}
	c.enum(string(in.Select), "select", selectValues)
	c.legacyQuery(in)
	if err := c.err(); err != nil {
		return nil, err
	}
	expressions := []expression{
		{projectionExpression, in.ProjectionExpression},
		{"FilterExpression", in.FilterExpression},
		{"KeyConditionExpression", in.KeyConditionExpression},
	}
	// KeyConditions is the only legacy parameter that may come with expressions. Source:
	// https://github.com/ExtendDB/extenddb/pull/213 (run on AWS)
	if err := checkMixed(expressions, legacy{"AttributesToGet", in.AttributesToGet != nil},
		legacy{"QueryFilter", in.QueryFilter != nil}, legacy{"ConditionalOperator", in.ConditionalOperator != ""},
		legacy{"KeyConditions", in.KeyConditions != nil && in.KeyConditionExpression != nil}); err != nil {
		return nil, err
	}
	if err := checkPlaceholders(expressions, in.ExpressionAttributeNames, in.ExpressionAttributeValues); err != nil {
		return nil, err
	}
	q := &query{in: in, paging: paging{tableName: name}}
	if err := q.legacyParts(); err != nil {
		return nil, err
	}
	if err := checkValues(in.ExclusiveStartKey); err != nil {
		return nil, invalidStart(err)
	}
	if in.KeyConditionExpression == nil && in.KeyConditions == nil {
		return nil, invalid(
			"Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.",
		)
	}
	selectable := checkSelect
	if in.IndexName != nil {
		selectable = checkIndexSelect
	}
	if err := selectable(in.Select, projectionGiven(in.ProjectionExpression, in.AttributesToGet)); err != nil {
		return nil, enveloped(err) // unlike those of a Scan
	}
	if err := q.parse(db); err != nil {
		return nil, err
	}
	if err := q.legacyKeys(); err != nil {
		return nil, err
	}
	return q, nil
}

// parse parses and checks the expressions.
func (q *query) parse(db *DB) (err error) {
	if q.in.QueryFilter != nil || q.in.AttributesToGet != nil {
		return nil // there are none
	}
	if q.args, err = db.callArgs(q.in.ExpressionAttributeNames, q.in.ExpressionAttributeValues); err != nil {
		return err
	}
	if q.keys, err = db.parsed.keyConditions.get(q.in.KeyConditionExpression, parseKeyCondition); err != nil {
		return err
	}
	if q.filter, err = db.parsed.filters.get(q.in.FilterExpression, parseFilter); err != nil {
		return err
	}
	if q.projection, err = db.parsed.projections.get(q.in.ProjectionExpression, parseProjection); err != nil {
		return err
	}
	used := make([]expr.Expression, 0, 3)
	if q.keys != nil {
		used = append(used, q.keys)
	}
	if q.filter != nil {
		used = append(used, q.filter)
	}
	if q.projection != nil {
		used = append(used, q.projection)
	}
	if err := checkExpressions(q.args, used...); err != nil || q.keys == nil {
		return err
	}
	if err := q.keys.CheckForm(q.args); err != nil {
		return invalid("%s", err.Error())
	}
	return nil
}

// bind finds the rows to read and where to start.
//
// Source: https://github.com/architect/dynalite/blob/main/test/query.js (order)
func (q *query) bind() error {
	schema := &q.table.schema
	var start primaryKey
	if q.in.ExclusiveStartKey != nil {
		var err error
		if start, err = schema.ofKey(q.in.ExclusiveStartKey); err != nil {
			return invalid(startInvalid)
		}
	}
	bounds, err := q.keys.Bind(q.args, schema.hash, schema.sort)
	if err != nil {
		return invalid("%s", err.Error())
	}
	q.read = newKeyRange(bounds)
	if err := schema.checkSize(primaryKey{q.read.hash, q.read.low}); err != nil {
		return err
	}
	if q.in.ExclusiveStartKey != nil {
		switch err := schema.check(start); {
		case err != nil:
			return invalidStart(err)
		case q.read.hasSort && !q.read.contains(start.sort):
			return invalid("The provided starting key does not match the range key predicate")
		case start.hash != q.read.hash:
			return otherPartition(q.read.hasSort)
		}
		after := start // a copy, so that start is not on the heap in every call
		q.after = &after
	}
	return q.checkFilter(schema.has)
}

// otherPartition is the error for an ExclusiveStartKey of another partition. If there is a condition on the sort key,
// of any kind, and the starting key fulfils it, the service has another text.
//
// Source: https://github.com/architect/dynalite/blob/main/test/query.js
func otherPartition(sorted bool) error {
	if sorted {
		return invalid("The query can return at most one row and cannot be restarted")
	}
	return invalid("The provided starting key is outside query boundaries based on provided conditions")
}

func (q *query) checkFilter(isKey func(name string) bool) error {
	if q.filter == nil || q.statement {
		return nil
	}
	for _, name := range q.filter.Attributes(q.args) {
		if isKey(name) {
			return invalid("%s can only contain non-primary key attributes: Primary key attribute: %s", q.filterText(),
				name)
		}
	}
	return nil
}

// run reads one page.
func (q *query) run(db *DB, r *request) (*dynamodb.QueryOutput, error) {
	p := q.newPage(r, q.in.Select, q.in.Limit)
	q.read.scan(q.table, q.in.ScanIndexForward == nil || *q.in.ScanIndexForward, q.after, p.read)
	if p.failure != nil {
		return nil, p.failure
	}
	q.sizeBytes = p.sizeBytes
	units := readUnits(p.sizeBytes, aws.ToBool(q.in.ConsistentRead))
	if err := db.spend(r, spending{table: q.table, hash: q.read.hash, keyed: true, units: units}); err != nil {
		return nil, err
	}
	return p.output(consumedBy(q.in.ReturnConsumedCapacity, q.table.name, units)), nil
}

// keyRange is the part of a table that a Query reads: one partition, from low to high.
type keyRange struct {
	hash              string
	hasSort           bool // there is a condition on the sort key
	low, high         string
	hasHigh           bool
	lowOpen, highOpen bool // the bound itself is left out
}

func newKeyRange(b expr.Bounds) keyRange {
	k := keyRange{hash: encodeKey(b.Hash), hasSort: b.Low != nil || b.High != nil}
	if b.Low != nil {
		k.low, k.lowOpen = encodeKey(b.Low), b.LowExclusive
	}
	if b.High != nil {
		k.high, k.highOpen, k.hasHigh = encodeKey(b.High), b.HighExclusive, true
	}
	return k
}

func (k *keyRange) contains(sort string) bool { return !k.below(sort) && !k.above(sort) }

func (k *keyRange) below(sort string) bool { return sort < k.low || k.lowOpen && sort == k.low }

func (k *keyRange) above(sort string) bool {
	return k.hasHigh && (sort > k.high || k.highOpen && sort == k.high)
}

// scan visits the rows in order, or backwards. If start is not nil, it visits only the rows after it. start lies within
// the range.
func (k *keyRange) scan(t *table, forward bool, start *primaryKey, visit func(*row) bool) {
	if forward {
		from := primaryKey{k.hash, k.low}
		if start != nil {
			from = *start
		}
		t.rows.Ascend(from, func(r *row) bool {
			switch {
			case r.key.hash != k.hash || k.above(r.key.sort):
				return false
			case k.below(r.key.sort), start != nil && r.key == *start:
				return true
			}
			return visit(r)
		})
		return
	}
	// The partition ends before the first key of the next possible hash.
	from := primaryKey{hash: k.hash + "\x00"}
	if k.hasHigh {
		from = primaryKey{k.hash, k.high}
	}
	if start != nil {
		from = *start
	}
	t.rows.Descend(from, func(r *row) bool {
		switch {
		case r.key.hash > k.hash, r.key.hash == k.hash && k.above(r.key.sort), start != nil && r.key == *start:
			return true
		case r.key.hash != k.hash || k.below(r.key.sort):
			return false
		}
		return visit(r)
	})
}
