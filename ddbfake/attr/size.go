package attr

// Size returns the bytes that DynamoDB counts for a value, without its
// attribute's name: strings and binaries by length, numbers by significant
// digits (two a byte, plus one), booleans and null 1, sets the sum of their
// elements, lists and maps 3 plus their content and 1 for each element.
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
	for name, v := range it {
		n += len(name) + Size(v)
	}
	return n
}

func (n Number) size() int {
	if n.coef == (uint128{}) {
		return 1
	}
	digits := n.coef
	if n.exp == 0 { // integers keep their trailing zeros
		for q, r := digits.divmod10(); r == 0; q, r = digits.divmod10() {
			digits = q
		}
	}
	size := (digits.digits()+1)/2 + 1
	if n.neg {
		size++
	}
	return size
}
