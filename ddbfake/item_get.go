package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
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

	// statement says that the read is a SELECT of PartiQL, which has args and projection already.
	statement  bool
	args       expr.Args
	projection *expr.Projection

	found // set by locate and resolve, or before by fits
}

// find finds the row for the answer. A lagging replica answers with a former image of the row.
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
