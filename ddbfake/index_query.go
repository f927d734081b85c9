package ddbfake

import (
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
)

// onIndex answers a Query on an index, once its table is found.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Query.html
// Source: https://github.com/architect/dynalite/blob/main/test/query.js
func (q *query) onIndex(db *DB, r *request) (*dynamodb.QueryOutput, error) {
	x, err := q.readableIndex(*q.in.IndexName, q.in.ConsistentRead, q.in.ExclusiveStartKey)
	if err != nil {
		return nil, err
	}
	bounds, err := expr.IndexCondition{KeyCondition: q.keys}.Bind(q.args, x.hash, x.sort)
	if err != nil {
		return nil, invalid("%s", err.Error())
	}
	read, err := newIndexRange(bounds)
	if err != nil {
		return nil, err
	}
	var after *indexRow
	if q.in.ExclusiveStartKey != nil {
		if after, err = x.start(&q.table.schema, q.in.ExclusiveStartKey); err != nil {
			return nil, err
		}
		switch {
		case read.conditioned && !read.contains(after.sort):
			return nil, invalid("The provided starting key does not match the range key predicate")
		case after.hash != read.hash:
			return nil, otherPartition(read.conditioned)
		}
	}
	if err := q.checkFilter(x.has); err != nil {
		return nil, err
	}
	p := &indexPage{page: q.newPage(r, q.in.Select, q.in.Limit), index: x}
	if !q.statement {
		if err := p.checkFilter(); err != nil {
			return nil, err
		}
	}
	if err := p.check(q.in.Select); err != nil {
		return nil, err
	}
	read.scan(x, q.in.ScanIndexForward == nil || *q.in.ScanIndexForward, after, p.read)
	if p.failure != nil {
		return nil, p.failure
	}
	p.hash, p.keyed = read.hash, true
	q.sizeBytes = p.sizeBytes
	consumed, err := p.consumed(db, r, q.table, q.in.ReturnConsumedCapacity, aws.ToBool(q.in.ConsistentRead))
	if err != nil {
		return nil, err
	}
	return p.output(consumed), nil
}

// checkIndexSelect is checkSelect for a read of an index.
func checkIndexSelect(which types.Select, projected string) error {
	if which != types.SelectAllProjectedAttributes {
		return checkSelect(which, projected)
	}
	if projected != "" {
		return invalid("Cannot specify the %s when choosing to get ALL_PROJECTED_ATTRIBUTES", projected)
	}
	return nil
}

// readableIndex finds the index that a Query or a Scan reads, and checks paths and the starting key. The order of the
// first two checks is known from statements in PartiQL.
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/indexReads.test.ts
func (g *paging) readableIndex(name string, consistent *bool, start map[string]types.AttributeValue) (*index, error) {
	x := g.table.index(name)
	switch {
	case x == nil:
		return nil, invalid("The table does not have the specified index: %s", name)
	case x.global && aws.ToBool(consistent):
		return nil, invalid("Consistent reads are not supported on global secondary indexes")
	}
	err := g.checkPaths()
	if err == nil {
		err = x.checkStart(&g.table.schema, start)
	}
	return x, err
}

// checkStart refuses an ExclusiveStartKey if its attributes are not exactly the keys of the table and of the index, or
// if those of the index have other types.
func (x *index) checkStart(schema *keySchema, start map[string]types.AttributeValue) error {
	if start == nil {
		return nil
	}
	names := schema.names()
	for key := range x.all {
		if !slices.Contains(names, key.Name) {
			names = append(names, key.Name)
		}
	}
	if len(start) != len(names) {
		return invalid(startInvalid)
	}
	for key := range x.all {
		v, ok := start[key.Name]
		if !ok {
			return invalid(startInvalid)
		}
		if _, ok := encodeKeySDK(v, key.Kind); !ok {
			return invalid(keyMismatch)
		}
	}
	return nil
}

const startInvalid = "The provided starting key is invalid"

// invalidStart is the answer to an invalid ExclusiveStartKey. For a bad value in it, the newer layer of validation has
// the same text as for any other value.
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/valueLayers.test.ts
func invalidStart(err error) error {
	if two, ok := errors.AsType[*worded](err); ok {
		return &worded{two.error, startInvalid + ": " + two.older}
	}
	return invalid("%s: %s", startInvalid, messageOf(err))
}

// start returns the position of an ExclusiveStartKey in the index, whether or not there is a row.
func (x *index) start(schema *keySchema, start map[string]types.AttributeValue) (*indexRow, error) {
	item, err := itemOfSDK(start)
	if err != nil {
		return nil, err
	}
	var key primaryKey
	if key, err = schema.ofItem(item); err != nil {
		return nil, invalid("%s: %s", startInvalid, keyMismatch)
	}
	if err := schema.check(key); err != nil {
		return nil, invalidStart(err)
	}
	at, ok := x.keyOf(item)
	if !ok {
		return nil, invalid(startInvalid)
	}
	return &indexRow{at, &row{place: &place{key: key}}}, nil
}

type indexPage struct {
	page
	index *index
	// fetch means that the rows are fetched from the table: a local index answers with attributes that it does not
	// hold, at the cost of one more read per row.
	fetch     bool
	rowBlocks float64 // for the rows fetched
	// hash is the partition key that is read. It is used only if keyed is true.
	hash  string
	keyed bool
}

// check refuses a request for attributes that the index does not have. A local index fetches such attributes from the
// table.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LSI.html#LSI.Querying
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.Reading
func (p *indexPage) check(which types.Select) error {
	x := p.index
	if x.projected == nil {
		return nil
	}
	all := which == types.SelectAllAttributes
	var missing []string
	if p.projection != nil {
		missing = x.lacks(p.projection.Attributes(p.args))
	}
	switch {
	case x.global && all:
		return badParameter("Select type ALL_ATTRIBUTES is not supported for global secondary index %s because its "+
			"projection type is not ALL", x.name)
	case x.global && missing != nil:
		return badParameter("Global secondary index %s does not project [%s]", x.name, strings.Join(missing, ", "))
	}
	p.fetch = all || missing != nil
	return nil
}

// checkFilter refuses to filter a Query by attributes that the index does not have. In a Scan such attributes count as
// absent, even if rows are fetched. This check comes before the check of the projected attributes, as in DynamoDB Local
// 3.3.1.
//
// Source: https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier2/partiql/indexQualifier.test.ts
func (p *indexPage) checkFilter() error {
	if p.filter == nil || p.index.projected == nil {
		return nil
	}
	if missing := p.index.lacks(p.filter.Attributes(p.args)); missing != nil {
		return p.index.lacksFiltered(missing)
	}
	return nil
}

func (x *index) lacksFiltered(missing []string) error {
	return badParameter("Secondary index %s does not project one or more filter attributes: [%s]", x.name,
		strings.Join(missing, ", "))
}

// lacks returns the attributes that the index does not have.
func (x *index) lacks(names []string) (missing []string) {
	for _, name := range names {
		if !x.projects(name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// read is page.read for an index: only the attributes that the index holds count.
func (p *indexPage) read(r *row) bool {
	if p.request.full(p.sizeBytes) {
		p.last = p.index.lastKey(p.schema, p.latest)
		return false
	}
	p.latest = r
	p.request.evaluate(r)
	p.sizeBytes += p.index.sizeOf(r)
	p.scanned++
	seen := p.index.project(r)
	whole := seen
	if p.fetch {
		p.rowBlocks += blocks(r.sizeBytes, readBlockBytes)
		whole = r
	}
	if p.failure = p.collect(seen, whole); p.failure != nil {
		return false
	}
	if p.limit != nil && p.scanned >= *p.limit {
		p.last = p.index.lastKey(p.schema, r)
		return false
	}
	return true
}

// consumed spends the units of reading the page: units of the index, and units of the table for rows that were fetched.
// It reports the units if the request asks for them. A local index uses the units of its table.
func (p *indexPage) consumed(
	db *DB, r *request, t *table, asked types.ReturnConsumedCapacity, consistent bool,
) (*types.ConsumedCapacity, error) {
	rows, units := p.rowBlocks, readUnits(p.sizeBytes, consistent)
	if !consistent {
		rows /= 2
	}
	s := spending{table: t, index: p.index, hash: p.hash, keyed: p.keyed, units: units}
	if !p.index.global {
		s.index, s.units = nil, rows+units
		if p.keyed {
			s.hash = onlyPart(p.hash)
		}
	}
	if err := db.spend(r, s); err != nil {
		return nil, err
	}
	if !wanted(asked) {
		return nil, nil
	}
	c := consumedBy(asked, t.name, rows)
	addIndexes(c, []indexUnits{{p.index, units}})
	return c, nil
}

// indexRange is the part of an index that a Query reads: one partition, from low to high (exclusive).
type indexRange struct {
	hash        string
	conditioned bool // there is a condition on the sort key
	low, high   string
	hasHigh     bool
}

func newIndexRange(b expr.IndexBounds) (indexRange, error) {
	r := indexRange{conditioned: b.Prefix != nil || b.Low != nil || b.High != nil}
	var hash, prefix []byte
	hashBytes, sortBytes := 0, 0
	for _, v := range b.Hash {
		hash = appendPart(hash, v)
		hashBytes += keySize(v)
	}
	for _, v := range b.Prefix {
		prefix = appendPart(prefix, v)
		sortBytes += keySize(v)
	}
	if b.Low != nil {
		sortBytes += keySize(b.Low)
	}
	switch {
	case hashBytes > maxHashKeyBytes:
		return r, invalid(hashKeyTooLong)
	case sortBytes > maxSortKeyBytes:
		return r, invalid(sortKeyTooLong)
	}
	r.hash, r.low = string(hash), string(prefix)
	r.high, r.hasHigh = afterTuple(prefix)
	with := func(v attr.Value) []byte { return appendPart(slices.Clone(prefix), v) }
	if b.Low != nil {
		low := with(b.Low)
		r.low = string(low)
		if b.LowExclusive {
			r.low, _ = afterTuple(low)
		}
	}
	if b.High != nil {
		high := with(b.High)
		r.high, r.hasHigh = string(high), true
		if !b.HighExclusive {
			r.high, _ = afterTuple(high)
		}
	}
	return r, nil
}

func (r *indexRange) contains(sort string) bool {
	return sort >= r.low && (!r.hasHigh || sort < r.high)
}

// scan visits the rows in order, or backwards. If start is not nil, it visits only the rows after it. start lies within
// the range.
func (r *indexRange) scan(x *index, forward bool, start *indexRow, visit func(*row) bool) {
	from := start
	if forward {
		if from == nil {
			from = &indexRow{indexKey{r.hash, r.low}, &row{place: new(place)}}
		}
		x.entries.Ascend(from, func(e *indexRow) bool {
			switch {
			case e.hash != r.hash || !r.contains(e.sort):
				return false
			case start != nil && e.compare(start) == 0:
				return true
			}
			return visit(e.row)
		})
		return
	}
	if from == nil {
		// No row has an empty key, so this position is before all rows of the partition key.
		from = &indexRow{indexKey{r.hash, r.high}, &row{place: new(place)}}
		if !r.hasHigh {
			hash, _ := afterTuple([]byte(r.hash))
			from.indexKey = indexKey{hash: hash}
		}
	}
	x.entries.Descend(from, func(e *indexRow) bool {
		switch {
		case start != nil && e.compare(start) == 0:
			return true
		case e.hash != r.hash || !r.contains(e.sort):
			return false
		}
		return visit(e.row)
	})
}
