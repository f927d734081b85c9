package expr

import (
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// IndexCondition is a key condition on a secondary index. It differs from the key condition on a table, because the key
// of a global index may have up to four attributes for its partition and up to four for its order, each each with its
// own condition.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.DesignPattern.MultiAttributeKeys.html
type IndexCondition struct{ *KeyCondition }

// IndexBounds is the range that a Query on an index reads: in the partition Hash, the rows whose sort attributes begin
// with Prefix, and whose next sort attribute lies within the bounds. Bounds.Hash is not used.
type IndexBounds struct {
	Hash   []attr.Value
	Prefix []attr.Value
	Bounds
}

// Bind applies the condition to the key of an index. The condition must test all partition attributes by equality. It
// may test any number of the sort attributes, from the left. All of these except the last must be tested by equality. A
// condition that does not fit is refused with the service's texts.
func (k IndexCondition) Bind(args Args, hash, sort []Key) (IndexBounds, error) {
	terms, err := k.terms(args)
	if err != nil {
		return IndexBounds{}, err
	}
	if err := k.count(terms, len(hash)+len(sort)); err != nil {
		return IndexBounds{}, err
	}
	if len(hash) == 1 && len(sort) <= 1 {
		err = checkPlain(terms, hash[0], sort)
	} else {
		err = checkMany(terms, hash, sort)
	}
	if err != nil {
		return IndexBounds{}, err
	}
	var b IndexBounds
	for _, key := range hash {
		t, err := find(terms, key)
		if err != nil {
			return IndexBounds{}, err
		}
		if err := t.refuseEmpty(); err != nil {
			return IndexBounds{}, err
		}
		b.Hash = append(b.Hash, t.values[0])
	}
	conditioned := len(terms) - len(hash)
	for i, key := range sort[:min(conditioned, len(sort))] {
		t, err := find(terms, key)
		if err != nil {
			return IndexBounds{}, err
		}
		if err := t.refuseEmpty(); err != nil {
			return IndexBounds{}, err
		}
		if i < conditioned-1 {
			b.Prefix = append(b.Prefix, t.values[0])
		} else {
			b.sortBy(t)
		}
	}
	return b, nil
}

// checkPlain checks the conditions on a key of the same form as a table's key, in the same way as for a table.
func checkPlain(terms []term, hash Key, sort []Key) error {
	t, err := find(terms, hash)
	switch {
	case err != nil:
		return err
	case t.op != "=", len(terms) > 1 && len(sort) == 0:
		return plainError("Query key condition not supported")
	case len(terms) > 1:
		_, err = find(terms, sort[0])
	}
	return err
}

// checkMany checks the conditions on a key of several attributes. AWS does not document what happens to a condition on
// an attribute outside of the key: here it is refused as on a table.
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier1/query/multiAttributeGsiKey.test.ts
func checkMany(terms []term, hash, sort []Key) error {
	equal := func(key Key) bool {
		return slices.ContainsFunc(terms, func(t term) bool { return t.attribute == key.Name && t.op == "=" })
	}
	present := func(key Key) bool {
		return slices.ContainsFunc(terms, func(t term) bool { return t.attribute == key.Name })
	}
	if names := namesOf(hash, equal); names != "" {
		return plainError("HASH key attributes %s must have equality conditions specified in the query", names)
	}
	last := -1
	found := len(hash)
	for i, key := range sort {
		if present(key) {
			last = i
			found++
		}
	}
	if last > 0 {
		if names := namesOf(sort[:last], equal); names != "" {
			return plainError("RANGE key attributes %s must have equality conditions specified in the query "+
				"because a condition is present on key attribute %s", names, sort[last].Name)
		}
	}
	switch {
	case len(terms) == found:
		return nil
	case last+1 < len(sort):
		return plainError("Query condition missed key schema element: %s", sort[last+1].Name)
	}
	return plainError("Query key condition not supported")
}

// namesOf lists the names of the keys for which are is false.
func namesOf(keys []Key, are func(Key) bool) string {
	var names []string
	for _, key := range keys {
		if !are(key) {
			names = append(names, key.Name)
		}
	}
	return strings.Join(names, ", ")
}
