package ddbfake

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
)

// maxSegments is the largest TotalSegments.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Scan.html#DDB-Scan-request-TotalSegments
const maxSegments = 1_000_000

// scan serves Scan. Partitions come in the order of a hash (see scanOrder), the rows of a partition in the order of
// their sort key.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Scan.html
func (db *DB) scan(r *request, in *dynamodb.ScanInput) (*dynamodb.ScanOutput, error) {
	s, err := newScan(db, in)
	if err != nil {
		return nil, err
	}
	return s.serve(db, r)
}

// serve finds the table and reads one page.
func (s *scan) serve(db *DB, r *request) (_ *dynamodb.ScanOutput, err error) {
	in := s.in
	if s.table, err = db.table(r, s.tableName); err != nil {
		return nil, err
	}
	if in.IndexName == nil {
		if err := s.checkPaths(); err != nil {
			return nil, err
		}
		if err := s.bind(); err != nil {
			return nil, err
		}
	}
	if db.behind(r, in.ConsistentRead) {
		s.table = db.replica(r, s.table, func(primaryKey) bool { return true })
	}
	if in.IndexName != nil {
		return s.onIndex(db, r)
	}
	return s.run(db, r)
}

// scan is a Scan that is being served.
type scan struct {
	paging
	in    *dynamodb.ScanInput
	part  segment
	after *primaryKey // ExclusiveStartKey
}

// newScan checks everything that needs no table.
func newScan(db *DB, in *dynamodb.ScanInput) (*scan, error) {
	s := &scan{in: in, part: segment{of: 1}}
	var err error
	if s.tableName, err = checkScan(in); err != nil {
		return nil, err
	}
	expressions := []expression{{projectionExpression, in.ProjectionExpression},
		{"FilterExpression", in.FilterExpression}}
	if err := checkMixed(expressions, legacy{"AttributesToGet", in.AttributesToGet != nil},
		legacy{"ScanFilter", in.ScanFilter != nil},
		legacy{"ConditionalOperator", in.ConditionalOperator != ""}); err != nil {
		return nil, err
	}
	if err := checkPlaceholders(expressions, in.ExpressionAttributeNames, in.ExpressionAttributeValues); err != nil {
		return nil, err
	}
	if err := s.legacyParts(); err != nil {
		return nil, err
	}
	if err := checkValues(in.ExclusiveStartKey); err != nil {
		return nil, invalidStart(err)
	}
	if err := checkSegment(in.Segment, in.TotalSegments); err != nil {
		return nil, err
	}
	if in.TotalSegments != nil {
		s.part = segment{uint64(*in.Segment), uint64(*in.TotalSegments)}
	}
	selectable := checkSelect
	if in.IndexName != nil {
		selectable = checkIndexSelect
	}
	if err := selectable(in.Select, projectionGiven(in.ProjectionExpression, in.AttributesToGet)); err != nil {
		return nil, err
	}
	if err := s.parse(db); err != nil {
		return nil, err
	}
	return s, nil
}

// checkScan checks the parameters one by one and returns the table's name. The order is that of eleven broken
// constraints in an answer of the service.
//
// Source: https://github.com/architect/dynalite/blob/main/test/scan.js
func checkScan(in *dynamodb.ScanInput) (string, error) {
	var c constraints
	c.enum(string(in.Select), "select", selectValues)
	if in.IndexName != nil {
		c.indexName(in.IndexName, "")
	}
	c.between(in.TotalSegments, "totalSegments", 1, maxSegments)
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	name := c.table(in.TableName)
	c.conditionalOperator(in.ConditionalOperator)
	c.conditions(in.ScanFilter, "scanFilter")
	c.between(in.Segment, "segment", 0, maxSegments-1)
	c.between(in.Limit, "limit", 1, math.MaxInt32)
	c.attributesToGet(in.AttributesToGet, "attributesToGet")
	return name, c.err()
}

// between checks the bounds of a number, if it is given.
func (c *constraints) between(n *int32, member string, low, high int) {
	switch {
	case n == nil:
	case int(*n) < low:
		c.add(fmt.Sprintf("'%d'", *n), member, fmt.Sprintf("Member must have value greater than or equal to %d", low))
	case int(*n) > high:
		c.add(fmt.Sprintf("'%d'", *n), member, fmt.Sprintf("Member must have value less than or equal to %d", high))
	}
}

// checkSegment checks that Segment and TotalSegments fit together.
//
// Source: https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier3/error-messages/scan.test.ts
func checkSegment(segment, total *int32) error {
	switch {
	case segment == nil && total == nil:
		return nil
	case total == nil:
		return invalid("The TotalSegments parameter is required but was not present in the request when Segment " +
			"parameter is present")
	case segment == nil:
		return invalid("The Segment parameter is required but was not present in the request when parameter " +
			"TotalSegments is present")
	case *segment >= *total:
		return invalid("The Segment parameter is zero-based and must be less than parameter TotalSegments: "+
			"Segment: %d is not less than TotalSegments: %d", *segment, *total)
	}
	return nil
}

// parse parses and checks the expressions.
func (s *scan) parse(db *DB) (err error) {
	if s.in.ScanFilter != nil || s.in.AttributesToGet != nil {
		return nil // there are none
	}
	if s.args, err = db.callArgs(s.in.ExpressionAttributeNames, s.in.ExpressionAttributeValues); err != nil {
		return err
	}
	if s.filter, err = db.parsed.filters.get(s.in.FilterExpression, parseFilter); err != nil {
		return err
	}
	if s.projection, err = db.parsed.projections.get(s.in.ProjectionExpression, parseProjection); err != nil {
		return err
	}
	var used []expr.Expression
	if s.filter != nil {
		used = append(used, s.filter)
	}
	if s.projection != nil {
		used = append(used, s.projection)
	}
	return checkExpressions(s.args, used...)
}

// bind finds where to start. The filter of a Scan, unlike that of a Query, may use the key.
func (s *scan) bind() error {
	if s.in.ExclusiveStartKey == nil {
		return nil
	}
	schema := &s.table.schema
	key, err := schema.ofKey(s.in.ExclusiveStartKey)
	if err == nil {
		err = schema.check(key)
	}
	if err != nil {
		return invalidStart(err)
	}
	if err := s.part.checkStart(scanHash(key.hash, schema.hash.Kind)); err != nil {
		return err
	}
	s.after = &key
	return nil
}

// checkStart refuses a starting key whose partition is in another segment.
func (s segment) checkStart(hash [md5.Size]byte) error {
	if s.has(hash) {
		return nil
	}
	return invalidStart(invalid("Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. "+
		"TotalSegments: %d Segment: %d", s.of, s.number))
}

// run reads one page.
func (s *scan) run(db *DB, r *request) (*dynamodb.ScanOutput, error) {
	p := s.newPage(r, s.in.Select, s.in.Limit)
	s.table.scan(s.part, s.after, p.read)
	if p.failure != nil {
		return nil, p.failure
	}
	units := readUnits(p.sizeBytes, aws.ToBool(s.in.ConsistentRead))
	if err := db.spend(r, spending{table: s.table, units: units}); err != nil {
		return nil, err
	}
	return (*dynamodb.ScanOutput)(p.output(consumedBy(s.in.ReturnConsumedCapacity, s.table.name, units))), nil
}

// AWS promises no order of the partitions in a Scan. The service orders them by a hash of the partition key. A public
// test suite that runs against the service shows the hash, so the order and the segment of each key are the service's.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Scan.html
// Source: https://github.com/architect/dynalite/blob/main/test/scan.js ("hash order", "hash segments")

// scanOrder lists the partitions of a table in the order of a Scan. Some may have no rows any more.
type scanOrder []partition

type partition struct {
	hash [md5.Size]byte
	key  string // as in primaryKey
}

func (p partition) compare(q partition) int {
	return cmp.Or(bytes.Compare(p.hash[:], q.hash[:]), cmp.Compare(p.key, q.key))
}

// from returns the partitions from first on. first need not be one of them.
func (o scanOrder) from(first partition) scanOrder {
	i, _ := slices.BinarySearchFunc(o, first, partition.compare)
	return o[i:]
}

// scanHash returns the hash of a partition key, which is encoded as in primaryKey.
func scanHash(key string, kind attr.Kind) [md5.Size]byte {
	const salt = "Outliers"
	text := make([]byte, 0, 64)
	text = append(text, salt...)
	if kind == "N" {
		return md5.Sum(appendScanNumber(text, key))
	}
	return md5.Sum(append(text, key...))
}

// appendScanNumber converts a number from encodeNumber's encoding to the one that is hashed: a byte for the power of
// 100, then a byte for every two digits, plus one. For a negative number, all bytes are complemented, and a high byte
// is added at the end if there is room.
func appendScanNumber(b []byte, key string) []byte {
	const zero, positive = 1, 2
	if key[0] == zero {
		return append(b, 0x80)
	}
	const bias = 129 // the bias of encodeNumber
	negative := key[0] != positive
	place, digits := int(key[1])-bias, []byte(key[2:])
	if negative {
		place = int(^key[1]) - bias
		digits = digits[:len(digits)-1] // the high byte
		for i := range digits {
			digits[i] = '0' + '9' - digits[i]
		}
	}
	if place%2 != 0 {
		place++
		digits = slices.Insert(digits, 0, '0')
	}
	if len(digits)%2 != 0 {
		digits = append(digits, '0')
	}
	power := byte(place/2 - 64)
	if negative {
		power = ^power
	}
	b = append(b, power)
	for i := 0; i < len(digits); i += 2 {
		pair := (digits[i]-'0')*10 + digits[i+1] - '0'
		if negative {
			b = append(b, 101-pair)
		} else {
			b = append(b, pair+1)
		}
	}
	const full = 20
	if negative && len(digits)/2 < full {
		b = append(b, 102)
	}
	return b
}

// segment is one of the equal parts into which the hashes are divided.
type segment struct {
	number, of uint64
}

func (s segment) has(hash [md5.Size]byte) bool {
	number, _ := bits.Mul64(binary.BigEndian.Uint64(hash[:]), s.of)
	return number == s.number
}

// scanOrder returns the order of the table's partitions. The result is kept until a row is added.
func (t *table) scanOrder() scanOrder {
	if t.order != nil {
		return t.order
	}
	t.order = newScanOrder(func(yield func(string) bool) {
		t.rows.Scan(func(r *row) bool { return yield(r.key.hash) })
	}, func(key string) [md5.Size]byte { return scanHash(key, t.schema.hash.Kind) })
	return t.order
}

// newScanOrder returns the order of partitions. keys yields their keys in sorted order, once per row of the partition.
func newScanOrder(keys iter.Seq[string], hash func(key string) [md5.Size]byte) scanOrder {
	order := scanOrder{}
	for key := range keys {
		if n := len(order); n == 0 || order[n-1].key != key {
			order = append(order, partition{hash(key), key})
		}
	}
	slices.SortFunc(order, partition.compare)
	return order
}

// scan visits the rows of a segment in order. If start is not nil, it visits only the rows after it.
func (t *table) scan(s segment, start *primaryKey, visit func(*row) bool) {
	order := t.scanOrder()
	if start != nil {
		order = order.from(partition{scanHash(start.hash, t.schema.hash.Kind), start.hash})
	}
	for _, p := range order {
		if !s.has(p.hash) {
			continue
		}
		more := true
		from := primaryKey{hash: p.key}
		if start != nil && p.key == start.hash {
			from = *start
		}
		t.rows.Ascend(from, func(r *row) bool {
			switch {
			case r.key.hash != p.key:
				return false
			case start != nil && r.key == *start:
				return true
			}
			more = visit(r)
			return more
		})
		if !more {
			return
		}
	}
}
