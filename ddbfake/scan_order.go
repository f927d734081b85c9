package ddbfake

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"iter"
	"math/bits"
	"slices"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// AWS promises no order of the partitions in a Scan. The service orders them by a hash of the partition key. We know
// the hash from a public suite that runs against the service. So the order and the segment of each key are the same as
// at the service.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Scan.html
// Source: https://github.com/architect/dynalite/blob/main/test/scan.js ("hash order", "hash segments")

// scanOrder is the partitions of a table in the order of a Scan. Some of them may have no rows any more.
type scanOrder []partition

type partition struct {
	hash [md5.Size]byte
	key  string // as in primaryKey
}

func (p partition) compare(q partition) int {
	return cmp.Or(bytes.Compare(p.hash[:], q.hash[:]), cmp.Compare(p.key, q.key))
}

// from returns the partitions from the given one on. The given partition need not be among them.
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

// appendScanNumber turns a number from our own encoding (see encodeNumber) into the one that is hashed: a byte for the
// power of 100, then a byte for every two digits, plus one. For a negative number, all bytes are complemented, and a
// high byte is added at the end if there is room.
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

// has reports whether a hash belongs to the segment.
func (s segment) has(hash [md5.Size]byte) bool {
	number, _ := bits.Mul64(binary.BigEndian.Uint64(hash[:]), s.of)
	return number == s.number
}

// scanOrder returns the order of the table's partitions. It is worked out once and kept until a row is added.
func (t *table) scanOrder() scanOrder {
	if t.order != nil {
		return t.order
	}
	t.order = newScanOrder(func(yield func(string) bool) {
		t.rows.Scan(func(r *row) bool { return yield(r.key.hash) })
	}, func(key string) [md5.Size]byte { return scanHash(key, t.schema.hash.Kind) })
	return t.order
}

// newScanOrder returns the order of partitions. keys yields their keys in sorted order, each as often as the partition
// has rows.
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

// scan visits the rows of a segment in order. If there is a start key, it visits only the rows after it.
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
