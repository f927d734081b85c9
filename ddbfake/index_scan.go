package ddbfake

import (
	"crypto/md5"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// onIndex answers a Scan of an index, once its table is found. Select is checked after the form of the starting key,
// and before its values.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Scan.html#DDB-Scan-request-IndexName
// Source: https://github.com/architect/dynalite/blob/main/test/scan.js
func (s *scan) onIndex(db *DB, r *request) (*dynamodb.ScanOutput, error) {
	x, err := s.readableIndex(*s.in.IndexName, s.in.ConsistentRead, s.in.ExclusiveStartKey)
	if err != nil {
		return nil, err
	}
	p := &indexPage{page: s.newPage(r, s.in.Select, s.in.Limit), index: x}
	if err := p.check(s.in.Select); err != nil {
		return nil, err
	}
	var after *indexRow
	if s.in.ExclusiveStartKey != nil {
		if after, err = x.start(&s.table.schema, s.in.ExclusiveStartKey); err != nil {
			return nil, err
		}
		if err := s.part.checkStart(x.scanHash(after.hash)); err != nil {
			return nil, err
		}
	}
	x.scan(s.part, after, p.read)
	if p.failure != nil {
		return nil, p.failure
	}
	consumed, err := p.consumed(db, r, s.table, s.in.ReturnConsumedCapacity, aws.ToBool(s.in.ConsistentRead))
	if err != nil {
		return nil, err
	}
	return (*dynamodb.ScanOutput)(p.output(consumed)), nil
}

// scanHash returns the hash of a partition of the index. The service's hash of a key of several attributes is not
// known.
func (x *index) scanHash(tuple string) [md5.Size]byte {
	if len(x.hash) > 1 {
		return scanHash(tuple, "B")
	}
	return scanHash(onlyPart(tuple), x.hash[0].Kind)
}

// scanOrder returns the order of the index's partitions, as table.scanOrder does.
func (x *index) scanOrder() scanOrder {
	if x.order != nil {
		return x.order
	}
	x.order = newScanOrder(func(yield func(string) bool) {
		x.entries.Scan(func(e *indexRow) bool { return yield(e.hash) })
	}, x.scanHash)
	return x.order
}

// scan visits the rows of a segment in order. If there is a start, it visits only the rows after it.
func (x *index) scan(s segment, start *indexRow, visit func(*row) bool) {
	order := x.scanOrder()
	if start != nil {
		order = order.from(partition{x.scanHash(start.hash), start.hash})
	}
	for _, p := range order {
		if !s.has(p.hash) {
			continue
		}
		var after *indexRow
		if start != nil && p.key == start.hash {
			after = start
		}
		more := true
		(&indexRange{hash: p.key}).scan(x, true, after, func(r *row) bool {
			more = visit(r)
			return more
		})
		if !more {
			return
		}
	}
}

// onlyPart undoes appendPart for a tuple of one part.
func onlyPart(tuple string) string {
	return strings.ReplaceAll(strings.TrimSuffix(tuple, "\x00"+string(rune(partEnd))), "\x00\xff", "\x00")
}
