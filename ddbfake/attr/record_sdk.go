package attr

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// RecordFromSDK converts a row, with the errors of [ItemFromSDK], and measures it as [Item.Size] does: both go through
// the map, so one pass does both. The record shares values and names with like where it can: a record that is probably
// similar, such as the row's former image. A nil like shares nothing.
func RecordFromSDK(m map[string]types.AttributeValue, like *Record) (r Record, sizeBytes int, err error) {
	if like != nil {
		if r, sizeBytes, ok := recordLike(m, like); ok {
			return r, sizeBytes, nil
		}
	}
	var failed string
	var failure error
	attributes := make([]attribute, 0, len(m))
	//isrsim:unordered sorted below; the failure reported is that of the first name
	for name, e := range m {
		v, err := fromSDK(e, 1)
		if name == "" {
			err = errNoName
		}
		if err != nil && (failure == nil || name < failed) {
			failed, failure = name, err
		}
		attributes = append(attributes, attribute{name, v})
		sizeBytes += len(name) + Size(v)
	}
	if failure != nil {
		return Record{}, 0, failure
	}
	return sortedRecord(attributes), sizeBytes, nil
}

// recordLike converts a row that has the attributes of another one. It takes over names, order and unchanged values. It
// is not ok if the names differ or a value is refused.
func recordLike(m map[string]types.AttributeValue, like *Record) (r Record, sizeBytes int, ok bool) {
	if len(m) != len(like.attributes) {
		return Record{}, 0, false
	}
	r = *like
	for i := range like.attributes {
		a := &like.attributes[i]
		e, ok := m[a.name]
		if !ok {
			return Record{}, 0, false
		}
		v := a.value
		if !unchanged(e, v) {
			var err error
			if v, err = fromSDK(e, 1); err != nil {
				return Record{}, 0, false
			}
			if &r.attributes[0] == &like.attributes[0] {
				r.attributes = make([]attribute, len(like.attributes))
				copy(r.attributes, like.attributes)
			}
			r.attributes[i].value = v
		}
		sizeBytes += len(a.name) + Size(v)
	}
	return r, sizeBytes, true
}

// FromSDKLike is [FromSDK] with a value that is probably equal, or nil: if both are equal texts or numbers, it returns
// like, and allocates nothing.
func FromSDKLike(v types.AttributeValue, like Value) (Value, error) {
	if unchanged(v, like) {
		return like, nil
	}
	return fromSDK(v, 1)
}

// unchanged reports whether a value is equal to another one, for the cases that are cheap to decide: texts, and whole
// numbers in plain digits.
func unchanged(v types.AttributeValue, like Value) bool {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		s, ok := like.(S)
		return ok && v != nil && string(s) == v.Value
	case *types.AttributeValueMemberN:
		n, ok := like.(N)
		if !ok || v == nil || v.Value == "" {
			return false
		}
		i, ok := parseShort(v.Value)
		return ok && n.Number == FromInt64(i)
	}
	return false
}

// Texts are the printed numbers of a record, for a record that is converted many times.
type Texts struct{ texts []string }

// Texts prints the record's numbers.
func (r *Record) Texts() *Texts {
	_, numbers := r.count()
	t := &Texts{make([]string, 0, numbers)}
	s := newSlab(numbers)
	for i := range r.attributes {
		if n, ok := r.attributes[i].value.(N); ok {
			t.texts = append(t.texts, s.text(n.Number))
		}
	}
	return t
}

// ToSDK converts the record as [Item.ToSDK] does. Texts that are not nil are used in place of printing numbers again.
func (r *Record) ToSDK(t *Texts) map[string]types.AttributeValue {
	var s slab
	s.expectStrings, s.expectNumbers = r.count()
	if s.expectStrings > 0 && s.expectNumbers > 0 {
		s.both()
	}
	out := make(map[string]types.AttributeValue, len(r.attributes))
	number := 0
	for i := range r.attributes {
		a := &r.attributes[i]
		switch v := a.value.(type) {
		case S:
			out[a.name] = s.string(string(v))
		case N:
			if t == nil {
				out[a.name] = s.number(s.text(v.Number))
				continue
			}
			out[a.name] = s.number(t.texts[number])
			number++
		default:
			out[a.name] = s.value(v)
		}
	}
	return out
}

// count returns how many attributes are strings and how many are numbers.
func (r *Record) count() (strings, numbers int) {
	for i := range r.attributes {
		switch r.attributes[i].value.(type) {
		case S:
			strings++
		case N:
			numbers++
		}
	}
	return strings, numbers
}
