package attr

// Size returns the bytes that DynamoDB counts for a value, without its attribute's name: strings and binaries by
// length, numbers by significant digits (two a byte, plus one), booleans and null 1, sets the sum of their elements,
// lists and maps 3 plus their content and 1 for each element.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
func Size(v Value) int {
	switch v := v.(type) {
	case S:
		return len(v)
	case N:
		return v.size()
	case B:
		return len(v)
	case BOOL, NULL:
		return 1
	case M:
		n := 3 + len(v)
		//isrsim:unordered a sum has no order
		for name, e := range v {
			n += len(name) + Size(e)
		}
		return n
	case L:
		n := 3 + len(v)
		for _, e := range v {
			n += Size(e)
		}
		return n
	case SS:
		n := 0
		for _, e := range v {
			n += len(e)
		}
		return n
	case NS:
		n := 0
		for _, e := range v {
			n += e.size()
		}
		return n
	case BS:
		n := 0
		for _, e := range v {
			n += len(e)
		}
		return n
	}
	return 0
}

// Size returns the bytes that DynamoDB counts for a row: its names and values.
func (it Item) Size() int {
	n := 0
	//isrsim:unordered a sum has no order
	for name, v := range it {
		n += len(name) + Size(v)
	}
	return n
}

// size counts the significant digits before and after the point separately, two a byte, plus one byte, plus one for the
// sign. The guide only says "about one byte per two significant digits plus one"; the exact rule was measured on the
// service.
//
// Source: https://github.com/nubo-db/dynamodb-conformance/blob/main/src/item-size.ts
func (n Number) size() int {
	coef, exp := n.coef, int(n.exp)
	if coef == (uint128{}) {
		return 1
	}
	if exp == 0 { // integers keep their trailing zeros
		for coef.hi == 0 && coef.lo%10 == 0 { // the fast path: 64 bits suffice
			coef.lo, exp = coef.lo/10, exp+1
		}
		for q, r := coef.divmod10(); r == 0; q, r = coef.divmod10() {
			coef, exp = q, exp+1
		}
	}
	whole, fraction := coef.digits(), 0
	if exp < 0 {
		fraction = min(-exp, whole)
		whole -= fraction
	}
	size := 1 + (whole+1)/2 + (fraction+1)/2
	if n.neg {
		size++
	}
	return size
}
