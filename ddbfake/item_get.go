package ddbfake

import (
	"cmp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/awsjson"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
)

// getItem serves GetItem.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_GetItem.html
func (db *DB) getItem(r *request, in *dynamodb.GetItemInput) (*dynamodb.GetItemOutput, error) {
	var c constraints
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	name := c.table(in.TableName)
	if in.Key == nil {
		c.null("key")
	}
	c.attributesToGet(in.AttributesToGet, "attributesToGet")
	if err := c.err(); err != nil {
		return nil, err
	}
	g := get{
		tableName: name, values: in.Key, names: in.ExpressionAttributeNames, projectionSrc: in.ProjectionExpression,
	}
	if in.AttributesToGet != nil {
		g.attributesToGet = in.AttributesToGet
		if err := checkMixed(g.expressions(), legacy{"AttributesToGet", true}); err != nil {
			return nil, err
		}
	}
	if err := g.prepare(db); err != nil {
		return nil, err
	}
	err := g.find(db, r, in.ConsistentRead)
	if err != nil {
		return nil, err
	}
	out := &dynamodb.GetItemOutput{}
	if r.wire && g.projection == nil {
		r.read = g.row
	} else if out.Item, err = g.run(); err != nil {
		return nil, err
	}
	units := readUnits(sizeOf(g.row), aws.ToBool(in.ConsistentRead))
	if err := db.spend(r, spending{table: g.table, hash: g.key.hash, keyed: true, units: units}); err != nil {
		return nil, err
	}
	out.ConsumedCapacity = consumedBy(in.ReturnConsumedCapacity, g.table.name, units)
	return out, nil
}

// get is a read of one row: GetItem, or one of TransactGetItems.
type get struct {
	tableName     string
	values        map[string]types.AttributeValue
	names         map[string]string
	projectionSrc *string
	transact      bool // the read is one of TransactGetItems

	attributesToGet []string // the legacy parameter, instead of an expression

	// statement means that the read is a PartiQL SELECT, whose args and projection are already set.
	statement  bool
	args       expr.Args
	projection *expr.Projection

	found // set by locate and resolve, or earlier by fits
}

// find finds the row for the answer. A lagging replica answers with an earlier image of the row.
func (g *get) find(db *DB, r *request, consistentRead *bool) error {
	if err := g.locate(db, r, g.tableName); err != nil {
		return err
	}
	if err := g.resolve(); err != nil {
		return err
	}
	if db.behind(r, consistentRead) {
		key := g.key
		g.row = db.replica(r, g.table, func(k primaryKey) bool { return k == key }).get(key)
	}
	return g.table.schema.checkEmpty(g.key)
}

func (g *get) expressions() []expression {
	return []expression{{projectionExpression, g.projectionSrc}}
}

// prepare checks everything that needs no table.
func (g *get) prepare(db *DB) (err error) {
	if g.names != nil && !g.transact {
		if err := checkPlaceholders(g.expressions(), g.names, nil); err != nil {
			return err
		}
	}
	if !g.fits(db, g.tableName, g.values, false) {
		if err := checkValues(g.values); err != nil {
			return err
		}
	}
	if g.statement {
		return nil
	}
	if g.attributesToGet != nil {
		g.projection, g.args, err = attributesToGet(g.attributesToGet)
		return err
	}
	if g.args, err = db.callArgs(g.names, nil); err != nil {
		return err
	}
	if g.projection, err = db.parsed.projections.get(g.projectionSrc, parseProjection); err != nil ||
		g.projection == nil {
		return err
	}
	return checkExpressions(g.args, g.projection)
}

// resolve finds the row. Empty key values are left to the caller.
func (g *get) resolve() error {
	if !g.keyed {
		key, err := g.table.schema.ofKey(g.values)
		if err != nil {
			return err
		}
		g.look(key)
	}
	if g.projection != nil {
		if err := g.table.checkNested(g.projection, g.args); err != nil {
			return err
		}
	}
	return g.table.schema.checkSize(g.key)
}

// run returns the projected item; nil if there is none.
func (g *get) run() (map[string]types.AttributeValue, error) {
	return g.row.projected(g.projection, g.args)
}

// projected returns a row cut down to a projection, or the whole row if the projection is nil; nil if there is no row.
func (r *row) projected(p *expr.Projection, args expr.Args) (map[string]types.AttributeValue, error) {
	if r == nil || p == nil {
		return r.toSDK(), nil
	}
	out, err := p.Apply(itemOf(r), args)
	if err != nil {
		return nil, invalid("%s", err.Error())
	}
	if out == nil {
		out = attr.Item{}
	}
	return out.ToSDK(), nil
}

// Limits of BatchGetItem. The keys of the row that would exceed maxBatchGetBytes, and of all rows after it, come back
// in UnprocessedKeys.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
const (
	maxBatchGets     = 100
	maxBatchGetBytes = 16 << 20
)

// batchGetItem serves BatchGetItem. The items of a table come in the order of their keys in the request; AWS promises
// no order.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
func (db *DB) batchGetItem(r *request, in *dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error) {
	tables, err := batchGets(db, in)
	if err != nil {
		return nil, err
	}
	for i := range tables {
		if tables[i].table, err = db.table(r, tables[i].name); err != nil {
			return nil, err
		}
	}
	seen := batchKeys{}
	for i := range tables {
		if err := tables[i].resolve(seen); err != nil {
			return nil, err
		}
		tables[i].fromReplica(db, r)
	}
	out := &dynamodb.BatchGetItemOutput{
		Responses:       map[string][]map[string]types.AttributeValue{},
		UnprocessedKeys: map[string]types.KeysAndAttributes{},
	}
	var units tableUnits
	var refused error
	sizeBytes := 0
	done := 0
	for i := range tables {
		n, err := tables[i].run(db, r, out, &units, &sizeBytes, &refused)
		if err != nil {
			return nil, err
		}
		done += n
	}
	if done == 0 && r.withheld != nil {
		return nil, db.throttled(r, in, *r.withheld)
	}
	if done == 0 && refused != nil {
		return nil, refused
	}
	out.ConsumedCapacity = units.consumedByBatch(in.ReturnConsumedCapacity)
	return out, nil
}

type tableGets struct {
	name       string // the table's name or ARN, as in the request
	in         types.KeysAndAttributes
	args       expr.Args
	projection *expr.Projection
	table      *table
	rows       []*row // one per key; nil if there is none
}

// batchGets checks everything that needs no table.
func batchGets(db *DB, in *dynamodb.BatchGetItemInput) ([]tableGets, error) {
	names := sortedKeys(in.RequestItems)
	if err := checkBatchGet(in, names); err != nil {
		return nil, err
	}
	tables := make([]tableGets, len(names))
	var expressions []expression
	old, keys := false, 0
	for i, name := range names {
		t := in.RequestItems[name]
		tables[i] = tableGets{name: name, in: t}
		if t.ProjectionExpression != nil && expressions == nil {
			expressions = []expression{{projectionExpression, t.ProjectionExpression}}
		}
		old = old || t.AttributesToGet != nil
		keys += len(t.Keys)
	}
	// Expressions and AttributesToGet exclude each other, even for different tables. Source:
	// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/batchGetItem.test.ts
	if err := checkMixed(expressions, legacy{"AttributesToGet", old}); err != nil {
		return nil, err
	}
	for i := range tables {
		if err := tables[i].prepare(db); err != nil {
			return nil, err
		}
	}
	if keys > maxBatchGets {
		return nil, invalid("Too many items requested for the BatchGetItem call")
	}
	for i := range tables {
		if err := checkRepeated(tables[i].in.Keys); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

// checkRepeated refuses a key that comes twice, without looking at the table's key schema. Keys given by the table's
// name and by its ARN are compared later, by resolve.
//
// Source: https://github.com/ExtendDB/extenddb/pull/192 (before a missing table, captured at the service)
func checkRepeated(keys []map[string]types.AttributeValue) error {
	if len(keys) < 2 {
		return nil
	}
	seen := make(map[string]bool, len(keys))
	for _, values := range keys {
		key, err := attr.ItemFromSDK(values)
		if err != nil {
			return refused(err) // not reached: prepare has checked the values
		}
		text := key.String()
		if seen[text] {
			return invalid(duplicateKeys)
		}
		seen[text] = true
	}
	return nil
}

// checkBatchGet checks the parameters one by one. The service has error texts of two forms, and the fake has both.
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/batchGetItem.test.ts
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/validation-ordering/batchOperations.test.ts
func checkBatchGet(in *dynamodb.BatchGetItemInput, names []string) error {
	var c constraints
	c.mapKeys(names, func() string {
		whole := string(awsjson.Append(nil, &dynamodb.BatchGetItemInput{RequestItems: in.RequestItems}))
		return strings.TrimSuffix(strings.TrimPrefix(whole, `{"RequestItems":`), "}")
	})
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	switch {
	case in.RequestItems == nil:
		c.null("requestItems")
	case len(names) == 0:
		c.broken = append(c.broken,
			"Value at 'RequestItems' failed to satisfy constraint: Member must have length greater than or equal to 1")
	}
	for _, name := range names {
		length := func(relation, limit string) {
			c.broken = append(c.broken, "Value at 'RequestItems."+name+".member.Keys' failed to satisfy constraint: "+
				"Member must have length "+relation+" than or equal to "+limit)
		}
		switch keys := in.RequestItems[name].Keys; {
		case keys == nil:
			c.null("requestItems." + name + ".member.keys")
		case len(keys) == 0:
			length("greater", "1")
		case len(keys) > maxBatchGets:
			length("less", "100")
		}
		c.attributesToGet(in.RequestItems[name].AttributesToGet, "requestItems."+name+".member.attributesToGet")
	}
	return c.err()
}

// prepare checks everything that needs no table.
func (t *tableGets) prepare(db *DB) (err error) {
	expressions := []expression{{projectionExpression, t.in.ProjectionExpression}}
	if err := checkPlaceholders(expressions, t.in.ExpressionAttributeNames, nil); err != nil {
		return err
	}
	if t.in.AttributesToGet != nil {
		t.projection, t.args, err = attributesToGet(t.in.AttributesToGet)
	} else {
		err = t.parse(db)
	}
	if err != nil {
		return err
	}
	for _, key := range t.in.Keys {
		if err := checkValues(key); err != nil {
			return err
		}
	}
	return nil
}

// parse parses and checks the expression.
func (t *tableGets) parse(db *DB) (err error) {
	if t.args, err = db.callArgs(t.in.ExpressionAttributeNames, nil); err != nil {
		return err
	}
	if t.projection, err = db.parsed.projections.get(t.in.ProjectionExpression, parseProjection); err != nil ||
		t.projection == nil {
		return err
	}
	return checkExpressions(t.args, t.projection)
}

// resolve finds the rows.
func (t *tableGets) resolve(seen batchKeys) error {
	if t.projection != nil {
		if err := t.table.checkNested(t.projection, t.args); err != nil {
			return err
		}
	}
	t.rows = make([]*row, len(t.in.Keys))
	for i, values := range t.in.Keys {
		key, err := t.table.schema.ofKey(values)
		if err != nil {
			return err
		}
		if err := t.table.schema.check(key); err != nil {
			return err
		}
		if err := seen.add(t.table, key); err != nil {
			return err
		}
		t.rows[i] = t.table.get(key)
	}
	return nil
}

// fromReplica replaces the rows by those of a replica, if a replica serves the reads.
func (t *tableGets) fromReplica(db *DB, r *request) {
	if !db.behind(r, t.in.ConsistentRead) {
		return
	}
	for i, values := range t.in.Keys {
		key, _ := t.table.schema.ofKey(values) // resolve has checked it
		t.rows[i] = db.replica(r, t.table, func(k primaryKey) bool { return k == key }).get(key)
	}
}

// run reads the rows into the answer, which already has *sizeBytes bytes, and returns the number of keys that were
// served. Keys whose rows do not fit, keys that are withheld, and keys that a limit refuses come back unchanged, as
// unprocessed. refused becomes the error of the first key that a limit refuses.
func (t *tableGets) run(db *DB, r *request, out *dynamodb.BatchGetItemOutput, units *tableUnits, sizeBytes *int,
	refused *error) (int, error) {
	items := []map[string]types.AttributeValue{}
	var left []map[string]types.AttributeValue
	for i, row := range t.rows {
		if db.withholds(r, t.table.name, t.in.Keys[i]) {
			db.countThrottled(r, t.table, nil, false)
			left = append(left, t.in.Keys[i])
			continue
		}
		if *sizeBytes += sizeOf(row); *sizeBytes > maxBatchGetBytes {
			left = append(left, t.in.Keys[i])
			continue
		}
		n := readUnits(sizeOf(row), aws.ToBool(t.in.ConsistentRead))
		s := spending{table: t.table, units: n}
		if db.limits != nil {
			key, _ := t.table.schema.ofKey(t.in.Keys[i]) // resolve has checked it
			s.hash, s.keyed = key.hash, true
		}
		if err := db.spend(r, s); err != nil {
			*refused = cmp.Or(*refused, err)
			left = append(left, t.in.Keys[i])
			continue
		}
		units.add(t.table.name, n)
		item, err := row.projected(t.projection, t.args)
		if err != nil {
			return 0, err
		}
		if item != nil {
			items = append(items, item)
		}
	}
	out.Responses[t.name] = items
	if left != nil {
		rest := t.in
		rest.Keys = left
		out.UnprocessedKeys[t.name] = rest
	}
	return len(t.rows) - len(left), nil
}
